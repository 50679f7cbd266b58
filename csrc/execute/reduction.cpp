#include "execute/reduction.h"

#include <algorithm>
#include <cstring>

#include "pixel/adjust.h"

namespace fastaug {

Reduction::Reduction(const Op& op, Shape in, const Kernels& kernels) : op_(op), in_(in), kernels_(kernels) {
  std::fill_n(low_, kMaxChannels, uint8_t{255});
  if (op.id == OpId::EQUALIZE) std::memset(counts_, 0, sizeof counts_[0] * static_cast<size_t>(in.channels));
}

void Reduction::add(const uint8_t* const* planes) {
  switch (op_.id) {
    case OpId::CONTRAST:
      sum_ += (op_.flags & kTorch) ? kernels_.gray_sum(planes, in_.channels, in_.width)
                                   : kernels_.luma_sum(planes, in_.channels, in_.width);
      return;
    case OpId::AUTOCONTRAST:
      for (int c = 0; c < in_.channels; ++c) kernels_.extremes(planes[c], in_.width, &low_[c], &high_[c]);
      return;
    default:
      for (int c = 0; c < in_.channels; ++c) kernels_.histogram(planes[c], in_.width, counts_[c]);
  }
}

float Reduction::mean() const {
  const double pixels = static_cast<double>(in_.height) * in_.width;
  // torch.mean adds up in float32, which is exact up to a sum of 2^24; beyond, its last bits depend on torch's number
  // of threads, and whoever wants them has to ask torch.
  if (op_.flags & kTorch) return static_cast<float>(sum_) / static_cast<float>(pixels);
  // Pillow, ImageEnhance.Contrast: int(mean + 0.5), in double.
  return static_cast<float>(static_cast<int>(static_cast<double>(sum_) / pixels + 0.5));
}

void Reduction::tables(ChannelTables* out) const {
  for (int c = 0; c < in_.channels; ++c) {
    if (op_.id == OpId::AUTOCONTRAST) {
      const auto make = (op_.flags & kTorch) ? torch_autocontrast_table : autocontrast_table;
      make(low_[c], high_[c], out->table[c]);
    } else {
      uint32_t counts[256];
      for (int v = 0; v < 256; ++v) {
        counts[v] = counts_[c][0][v] + counts_[c][1][v] + counts_[c][2][v] + counts_[c][3][v];
      }
      equalize_table(counts, out->table[c]);
    }
  }
}

void plain_table(const Op& op, uint8_t* table) {
  switch (op.id) {
    case OpId::INVERT:
      for (int v = 0; v < 256; ++v) table[v] = static_cast<uint8_t>(255 - v);
      return;
    case OpId::POSTERIZE: {
      const int mask = posterize_mask(op.i[0]);
      for (int v = 0; v < 256; ++v) table[v] = static_cast<uint8_t>(v & mask);
      return;
    }
    case OpId::SOLARIZE: {
      const int threshold = solarize_threshold(op.f[0]);
      for (int v = 0; v < 256; ++v) table[v] = static_cast<uint8_t>(v < threshold ? v : 255 - v);
      return;
    }
    default:
      return gamma_table(op.f[0], op.f[1], table);
  }
}

}  // namespace fastaug
