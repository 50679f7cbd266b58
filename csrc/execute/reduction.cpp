#include "execute/reduction.h"

#include <algorithm>
#include <cstring>

#include "pixel/statistics.h"
#include "pixel/table.h"

namespace fastaug {

namespace {

// True if the functions below have a case for a reduction with these numbers; they fail on others.
constexpr bool knows(OpId id, WholeInput numbers) {
  switch (numbers) {
    case WholeInput::kMean:
      return id == OpId::CONTRAST || takes_torch_mean(id);
    case WholeInput::kExtremes:
      return id == OpId::AUTOCONTRAST || id == OpId::TORCH_AUTOCONTRAST || id == OpId::V2_AUTOCONTRAST;
    case WholeInput::kHistogram:
      return id == OpId::EQUALIZE;
    default:
      return false;
  }
}
static_assert(registry::for_every_op([](OpId id) {
                return (kind_of(id) == OpKind::kReduction) == knows(id, whole_input_of(id));
              }),
              "a reduction has no numbers");

}  // namespace

Reduction::Reduction(const Op& op, Shape in, const Kernels& kernels) : op_(op), in_(in), kernels_(kernels) {
  std::fill_n(low_, kMaxChannels, uint8_t{255});
  if (whole_input_of(op.id) == WholeInput::kHistogram) {
    std::memset(counts_, 0, sizeof counts_[0] * static_cast<size_t>(in.channels));
  }
  if (takes_torch_mean(op.id)) grays_.resize(static_cast<size_t>(torch_order(pixels()).size()));
}

void Reduction::add(const uint8_t* const* planes) {
  switch (op_.id) {
    case OpId::CONTRAST:
      sum_ += kernels_.luma_sum(planes, in_.channels, in_.width);
      return;
    case OpId::TORCH_CONTRAST:
    case OpId::V2_CONTRAST:
      return add_grays(planes);
    case OpId::AUTOCONTRAST:
    case OpId::TORCH_AUTOCONTRAST:
    case OpId::V2_AUTOCONTRAST:
      for (int c = 0; c < in_.channels; ++c) kernels_.extremes(planes[c], in_.width, &low_[c], &high_[c]);
      return;
    case OpId::EQUALIZE:
      for (int c = 0; c < in_.channels; ++c) kernels_.histogram(planes[c], in_.width, counts_[c]);
      return;
    default:
      fail_on("Reduction::add", op_.id);
  }
}

// A row may end in another chunk of torch's sum than it began in, and begin in any class.
void Reduction::add_grays(const uint8_t* const* planes) {
  const TorchOrder order = torch_order(pixels());
  const auto gray_sums = op_.id == OpId::V2_CONTRAST ? kernels_.v2_gray_sums : kernels_.gray_sums;
  const int64_t end = place_ + in_.width;
  const uint8_t* from[kMaxChannels];
  std::copy_n(planes, in_.channels, from);
  while (place_ < end) {
    const auto count = static_cast<int>(std::min(end, order.next(place_)) - place_);
    uint32_t sums[kTorchClasses] = {};
    gray_sums(from, in_.channels, count, sums);
    const int begin = static_cast<int>(place_ % kTorchClasses);
    uint32_t* chunk = grays_.data() + order.place(place_) - begin;
    for (int k = 0; k < kTorchClasses; ++k) chunk[(begin + k) % kTorchClasses] += sums[k];
    for (int c = 0; c < in_.channels; ++c) from[c] += count;
    place_ += count;
  }
}

float Reduction::mean(bool unrounded) const {
  if (takes_torch_mean(op_.id)) return torch_mean(grays_.data(), pixels());
  return mean_of(op_.id, sum_, pixels(), unrounded);
}

void Reduction::tables(ChannelTables* out) const {
  for (int c = 0; c < in_.channels; ++c) {
    switch (op_.id) {
      case OpId::AUTOCONTRAST:
        autocontrast_table(low_[c], high_[c], out->table[c]);
        break;
      case OpId::TORCH_AUTOCONTRAST:
        torch_autocontrast_table(low_[c], high_[c], out->table[c]);
        break;
      case OpId::V2_AUTOCONTRAST:
        v2_autocontrast_table(low_[c], high_[c], out->table[c]);
        break;
      case OpId::EQUALIZE: {
        uint32_t counts[256];
        for (int v = 0; v < 256; ++v) {
          counts[v] = counts_[c][0][v] + counts_[c][1][v] + counts_[c][2][v] + counts_[c][3][v];
        }
        equalize_table(counts, out->table[c]);
        break;
      }
      default:
        fail_on("Reduction::tables", op_.id);
    }
  }
}

}  // namespace fastaug
