// Stages of table ops, and of those that sharpen.
#include <algorithm>
#include <cstring>
#include <span>

#include "execute/stages/stages.h"
#include "pixel/smooth.h"
#include "pixel/table.h"
#include "plan/colour_run.h"

namespace fastaug {
namespace {

void cheap(const Kernels& kernels, const Op& op, uint8_t* row, int width) {
  switch (op.id) {
    case OpId::POSTERIZE:
      return kernels.posterize(posterize_mask(op.i[0]), row, width);
    case OpId::INVERT:
      return kernels.solarize(0, row, width);
    case OpId::SOLARIZE:
      return kernels.solarize(solarize_threshold(op.f[0]), row, width);
    default:
      fail_on("TableStage", op.id);
  }
}

// The op on the samples of a table, by the kernels that would do it on those of an image. `own` is the table of a
// reduction.
void apply(const Kernels& kernels, const Op& op, const uint8_t* own, float mean, const Planes& ramp) {
  if (has(op.id, Trait::kCheap)) return cheap(kernels, op, ramp.row[0], 256);
  if (!has(op.id, Trait::kTable)) {
    Op plain = op;
    plain.flags = static_cast<uint16_t>(op.flags & ~kHasAlpha);
    return kernels.pointwise(&plain, &mean, 1, 1, ramp.row, 256);
  }
  uint8_t table[256];
  if (own == nullptr) plain_table(op, table);
  kernels.lookup(own == nullptr ? table : own, ramp.row[0], 256);
}

// A run of ops on samples is one lookup, whatever its length, unless all of them have kernels of their own.
class TableStage final : public Stage {
 public:
  TableStage(Context& context, Stage* input, const Step* steps, const ChannelTables* const* reduced, int count,
             const float* means)
      : kernels_(context.kernels), input_(input) {
    region = input->region;
    channels = input->channels;
    in_order = input->in_order;
    if (goes_one_by_one(steps, count, context.kernels.costs)) {
      cheap_ = std::span(bare_ops(context.arena, steps, count), static_cast<size_t>(count));
    } else {
      tables_ = run_tables(context, steps, reduced, means, count, channels);
    }
  }

  void row(int y, const Planes& dst) override {
    input_->row(y, dst);
    for (int c = 0; c < channels; ++c) {
      if (tables_ != nullptr) {
        if (tables_->changed[c]) kernels_.lookup(tables_->table[c], dst.row[c], region.width);
        continue;
      }
      for (const Op& op : cheap_) cheap(kernels_, op, dst.row[c], region.width);
    }
  }

 private:
  const Kernels& kernels_;
  Stage* input_;
  std::span<const Op> cheap_;
  const RunTables* tables_ = nullptr;  // null: cheap_ one by one
};

class SharpenStage final : public Stage {
 public:
  SharpenStage(Context& context, Stage* input, const Op& op, Shape in, Region wanted)
      : kernels_(context.kernels), kernel_(sharpen_kernel(op, kernels_)), input_(input), op_(op), in_(in) {
    region = wanted;
    channels = input->channels;
    in_order = true;
    colors_ = colours_of(op, channels);
    if (op.id == OpId::TORCH_SHARPNESS && torch_sharpens(in.height, in.width)) blend_border();
    for (Planes& planes : ring_) planes = make_planes(context.arena, input->region.width);
    next_ = input->region.y;
  }

  void row(int y, const Planes& dst) override {
    const bool inside = y > 0 && y + 1 < in_.height;
    const int last = inside ? y + 1 : y;
    if (next_ < y - 1) next_ = y - 1;
    for (; next_ <= last; ++next_) input_->row(next_, ring_[next_ % kRows]);
    const int shift = region.x - input_->region.x;
    const auto width = static_cast<size_t>(region.width);
    for (int c = 0; c < channels; ++c) {
      const uint8_t* centre = at(y, c) + shift;
      std::memcpy(dst.row[c], centre, width);
      if (c >= colors_) continue;
      if (!inside) {
        if (border_ != nullptr) kernels_.lookup(border_, dst.row[c], region.width);
        continue;
      }
      const int begin = region.x == 0 ? 1 : 0;
      const int end = region.x + region.width == in_.width ? region.width - 1 : region.width;
      const uint8_t first = at_border(centre[0]);
      const uint8_t last_one = at_border(centre[region.width - 1]);
      if (begin < end) {
        kernel_(at(y - 1, c) + shift + begin, centre + begin, at(y + 1, c) + shift + begin, end - begin, op_.f[0],
                dst.row[c] + begin);
      }
      if (begin > 0) dst.row[c][0] = first;
      if (end < region.width) dst.row[c][region.width - 1] = last_one;
    }
  }

 private:
  static constexpr int kRows = 3;

  // The kernel over pixels whose neighbours equal them.
  void blend_border() {
    uint8_t same[3 * 256 + kRowPad] = {};
    uint8_t blended[sizeof same];
    for (int k = 0; k < 3 * 256; ++k) same[k] = static_cast<uint8_t>(k / 3);
    kernel_(same + 1, same + 1, same + 1, 3 * 256 - 2, op_.f[0], blended);
    for (int v = 0; v < 256; ++v) table_[v] = blended[3 * v];
    border_ = table_;
  }
  uint8_t at_border(uint8_t sample) const { return border_ == nullptr ? sample : border_[sample]; }

  const uint8_t* at(int y, int c) const { return ring_[y % kRows].row[c]; }

  const Kernels& kernels_;
  SharpenKernel kernel_;
  Stage* input_;
  const Op& op_;
  Shape in_;
  int colors_;
  uint8_t table_[256];
  const uint8_t* border_ = nullptr;  // what becomes of samples at the border; null when nothing does
  Planes ring_[kRows];               // input row y lies in ring_[y % kRows]
  int next_;                         // first input row that has not been read
};

}  // namespace

const RunTables* run_tables(Context& context, const Step* ops, const ChannelTables* const* reduced, const float* means,
                            int count, int channels) {
  RunTables* tables = context.arena.make<RunTables>();
  const Planes ramp = make_planes(context.arena, 256);
  for (int c = 0; c < channels; ++c) {
    tables->changed[c] = false;
    for (int v = 0; v < 256; ++v) ramp.row[0][v] = static_cast<uint8_t>(v);
    for (int k = 0; k < count; ++k) {
      if (!has(ops[k].id, Trait::kTable) && c >= colours_of(ops[k], channels)) continue;
      apply(context.kernels, ops[k], reduced[k] == nullptr ? nullptr : reduced[k]->table[c],
            means == nullptr ? 0.0f : means[k], ramp);
      tables->changed[c] = true;
    }
    std::memcpy(tables->table[c], ramp.row[0], 256);
  }
  return tables;
}

Stage* table_stage(Context& context, Stage* input, const Step* ops, const ChannelTables* const* reduced, int count,
                   const float* means) {
  return context.arena.make<TableStage>(context, input, ops, reduced, count, means);
}

SharpenKernel sharpen_kernel(const Op& op, const Kernels& kernels) {
  switch (op.id) {
    case OpId::SHARPNESS:
      return kernels.sharpen;
    case OpId::TORCH_SHARPNESS:
      return kernels.torch_sharpen;
    case OpId::V2_SHARPNESS:
      return kernels.v2_sharpen;
    default:
      fail_on("sharpen_kernel", op.id);
  }
}

Stage* sharpen_stage(Context& context, Stage* input, const Op& op, Shape in, Region region) {
  return context.arena.make<SharpenStage>(context, input, op, in, region);
}

}  // namespace fastaug
