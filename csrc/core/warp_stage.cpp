// Rows of a warp: an op that walks through its source in any direction.
#include <algorithm>
#include <cmath>

#include "core/moves.h"
#include "core/stages.h"

namespace fastaug {
namespace {

// An affine map walks through its source on a diagonal, which no hardware prefetcher follows. Before each block of
// output rows this asks for the source lines that the block after it will read.
class DiagonalPrefetch {
 public:
  DiagonalPrefetch(const View& view, const double* matrix, Region region, bool affine)
      : view_(view),
        a_(matrix),
        region_(region),
        on_(affine && std::abs(view.row_stride) * view.height > kWorthwhile) {}

  void row(int y) {
    const int k = y - region_.y;
    if (!on_ || k % kBlock != 0) return;
    if (k == 0) block(y);
    block(y + kBlock);
  }

 private:
  static constexpr int kBlock = 8;
  static constexpr ptrdiff_t kLine = 64;
  // Smaller images are in a cache by the second row anyway.
  static constexpr ptrdiff_t kWorthwhile = ptrdiff_t{1} << 18;

  // The preimage of rows [y, y + kBlock) is a parallelogram; for each source row that it crosses, its columns.
  void block(int y) const {
    if (y >= region_.y + region_.height) return;
    const double x = region_.x + 0.5;
    const double width = region_.width;
    const double from_x = a_[0] * x + a_[1] * (y + 0.5) + a_[2];
    const double from_y = a_[3] * x + a_[4] * (y + 0.5) + a_[5];
    const double along = a_[3] * width;    // source rows along the output row
    const double across = a_[4] * kBlock;  // and across the block
    const double low = from_y + std::min(0.0, along) + std::min(0.0, across);
    const double high = from_y + std::max(0.0, along) + std::max(0.0, across);
    const int first = static_cast<int>(std::clamp(low - 1.0, 0.0, double{view_.height - 1.0}));
    const int last = static_cast<int>(std::clamp(high + 2.0, 0.0, double{view_.height - 1.0}));
    // Position along the output row at which its first and its last line cross a source row, and the step from row to
    // row.
    const bool steep = std::abs(along) > 1.0;
    const double step = steep ? 1.0 / a_[3] : 0.0;
    for (int row = first; row <= last; ++row) {
      const double near = steep ? std::clamp((row - from_y) * step, 0.0, width) : 0.0;
      const double far = steep ? std::clamp((row - from_y - across) * step, 0.0, width) : width;
      const double x0 = from_x + a_[0] * near;
      const double x1 = from_x + a_[0] * far + a_[1] * kBlock;
      const double begin = std::clamp(std::min(x0, x1) - 1.0, 0.0, view_.width - 1.0);
      const double end = std::clamp(std::max(x0, x1) + 2.0, 0.0, view_.width - 1.0);
      const uint8_t* p = view_.at(row, static_cast<int>(begin), 0);
      const uint8_t* stop = view_.at(row, static_cast<int>(end), 0);
      // Some processors drop a prefetch whose page is not in the TLB; a load of one byte, at the end that is new to
      // this block, brings the page in first.
      static_cast<void>(*static_cast<const volatile uint8_t*>(a_[3] > 0 ? stop : p));
      for (; p <= stop; p += kLine) __builtin_prefetch(p, 0, 3);
    }
  }

  const View view_;
  const double* a_;
  Region region_;
  bool on_;
};

// AFFINE and PERSPECTIVE as Pillow computes them.
class WarpStage final : public Stage {
 public:
  WarpStage(Context& context, const View& view, const Op& op, Region wanted)
      : row_(warp_row(op, view)), prefetch_(view, row_.matrix, wanted, op.id == OpId::AFFINE) {
    region = wanted;
    channels = view.channels;
    row_.x = region.x;
    row_.width = region.width;
    kernel_ = warp_kernel(op, kernels_in_reach(context.kernels, view));
  }

  void row(int y, const Planes& dst) override {
    prefetch_.row(y);
    row_.y = y;
    kernel_(row_, dst.row);
  }

 private:
  WarpRow row_;
  DiagonalPrefetch prefetch_;
  WarpKernel kernel_;
};

// AFFINE as torchvision computes it on tensors: a grid of positions, then torch's grid_sample.
class GridStage final : public Stage {
 public:
  GridStage(Context& context, const View& view, const Op& op, Region wanted)
      : kernels_(kernels_in_reach(context.kernels, view)), positions_(affine_grid(op, view)), row_(grid_row(op, view)) {
    region = wanted;
    channels = view.channels;
    positions_.x = region.x;
    positions_.width = row_.width = region.width;
    grid_ = reinterpret_cast<float*>(context.arena.bytes(static_cast<size_t>(region.width) * 8 + kRowPad));
    row_.grid = grid_;
    kernel_ = grid_kernel(op, kernels_);
  }

  void row(int y, const Planes& dst) override {
    positions_.y = y;
    kernels_.affine_grid(positions_, grid_);
    kernel_(row_, dst.row);
  }

 private:
  const Kernels& kernels_;
  AffineGrid positions_;
  GridRow row_;
  float* grid_;
  GridKernel kernel_;
};

}  // namespace

bool walkable(const View& view) {
  if (view.channels == 1 && view.pixel_stride == 1) return true;
  return view.channel_stride == 1 && (view.pixel_stride == 3 || view.pixel_stride == 4) &&
         view.channels <= view.pixel_stride;
}

const Kernels& kernels_in_reach(const Kernels& wanted, const View& view) {
  const auto reach = std::abs(view.row_stride) * static_cast<ptrdiff_t>(view.height);
  return reach < (ptrdiff_t{1} << 31) - 64 ? wanted : *kernels("scalar");
}

WarpRow warp_row(const Op& op, const View& source) {
  WarpRow row{};
  row.source = source;
  std::copy_n(op.f, 8, row.matrix);
  std::copy_n(op.fill, kMaxChannels, row.fill);
  row.out_height = op.i[0];
  row.out_width = row.width = op.i[1];
  return row;
}

WarpKernel warp_kernel(const Op& op, const Kernels& kernels) {
  const bool affine = op.id == OpId::AFFINE;
  switch (static_cast<Interpolation>(op.flags & kFilterMask)) {
    case Interpolation::kNearest:
      return affine ? kernels.affine_nearest : kernels.perspective_nearest;
    case Interpolation::kBilinear:
      return affine ? kernels.affine_linear : kernels.perspective_linear;
    default:
      return affine ? kernels.affine_cubic : kernels.perspective_cubic;
  }
}

// torchvision, _functional_tensor.py, _gen_affine_grid: the matrix in float32, each row over half a side of the input.
AffineGrid affine_grid(const Op& op, const View& source) {
  AffineGrid grid{};
  const float half[] = {0.5f * static_cast<float>(source.width), 0.5f * static_cast<float>(source.height)};
  for (int k = 0; k < 6; ++k) grid.theta[k] = static_cast<float>(op.f[k]) / half[k / 3];
  grid.fused = (op.flags & kFused) != 0;
  grid.out_height = op.i[0];
  grid.out_width = grid.width = op.i[1];
  return grid;
}

GridRow grid_row(const Op& op, const View& source) {
  GridRow row{};
  row.source = source;
  row.width = op.i[1];
  row.filled = (op.flags & kFilled) != 0;
  std::copy_n(op.fill, kMaxChannels, row.fill);
  return row;
}

GridKernel grid_kernel(const Op& op, const Kernels& kernels) {
  return (op.flags & kFilterMask) == 0 ? kernels.grid_nearest : kernels.grid_linear;
}

Stage* warp_stage(Context& context, const View& view, const Op& op, Region region) {
  if (op.flags & kTorch) return context.arena.make<GridStage>(context, view, op, region);
  return context.arena.make<WarpStage>(context, view, op, region);
}

bool execute_nearest_warp(const OpList& ops, const View& source, const Target& target, const Kernels& kernels) {
  if (ops.size() != 1 || ops[0].id != OpId::AFFINE || ops[0].flags != 0) return false;
  const bool pixels = source.pixel_stride == 4 && source.channel_stride == 1 && target.pixel_stride == 4 &&
                      target.channel_stride == 1 && target.dtype == DType::kUint8 &&
                      source.channels == target.channels && (target.fill_gaps || target.channels == 4);
  if (!pixels || &kernels_in_reach(kernels, source) != &kernels) return false;
  WarpRow row = warp_row(ops[0], source);
  row.source.channels = 4;
  for (int c = source.channels; c < 4; ++c) row.fill[c] = 255;
  DiagonalPrefetch prefetch(source, row.matrix, {0, 0, target.height, target.width}, true);
  auto* out = static_cast<uint8_t*>(target.data);
  for (row.y = 0; row.y < target.height; ++row.y, out += target.row_stride) {
    prefetch.row(row.y);
    kernels.affine_nearest_pixels(row, out);
  }
  return true;
}

}  // namespace fastaug
