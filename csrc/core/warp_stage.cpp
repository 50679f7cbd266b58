// Rows of a warp: an op that walks through its source in any direction.
#include <algorithm>
#include <cmath>

#include "core/diagonal_prefetch.h"
#include "core/moves.h"
#include "core/stages.h"

namespace fastaug {
namespace {

// Terms of positions are smaller, so that float32 and 16.16 round them by less than half a pixel; for others any pixel
// may be read.
constexpr double kKnown = 0x1p20;

// AFFINE and PERSPECTIVE as Pillow computes them, or nearly so.
class WarpStage final : public Stage {
 public:
  WarpStage(Context& context, const View& view, const Op& op, Region wanted, Region needs, bool rounded)
      : row_(warp_row(op, view)), prefetch_(view, row_.matrix, wanted, needs, op.id == OpId::PERSPECTIVE) {
    row_.rounded = rounded;
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

Stage* warp_stage(Context& context, const View& view, const Op& op, Region region, Region needs, bool rounded) {
  if (op.flags & kTorch) return context.arena.make<GridStage>(context, view, op, region);
  return context.arena.make<WarpStage>(context, view, op, region, needs, rounded);
}

Region warp_needs(const Op& op, Shape in, Region out) {
  const double* m = op.f;
  const bool perspective = op.id == OpId::PERSPECTIVE;
  const bool torch = (op.flags & kTorch) != 0;
  // torch's matrices are between centres, and give the index of a pixel.
  const double move_x = torch ? 0.5 * op.i[1] : 0.0;
  const double move_y = torch ? 0.5 * op.i[0] : 0.0;
  const double shift_x = torch ? 0.5 * in.width : 0.0;
  const double shift_y = torch ? 0.5 * in.height : 0.0;
  double low_x = HUGE_VAL, high_x = -HUGE_VAL, low_y = HUGE_VAL, high_y = -HUGE_VAL;
  int positive = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const double x = out.x + 0.5 + ((corner & 1) != 0 ? out.width - 1 : 0) - move_x;
    const double y = out.y + 0.5 + ((corner & 2) != 0 ? out.height - 1 : 0) - move_y;
    const double below = perspective ? m[6] * x + m[7] * y + 1.0 : 1.0;
    const double terms = perspective ? std::abs(m[6] * x) + std::abs(m[7] * y) + 1.0 : 1.0;
    const double at_x = (m[0] * x + m[1] * y + m[2]) / below;
    const double at_y = (m[3] * x + m[4] * y + m[5]) / below;
    // Also what is not a number. Terms that cancel must not leave a position to their rounding.
    const double sum_x = std::abs(m[0] * x) + std::abs(m[1] * y) + std::abs(m[2]);
    const double sum_y = std::abs(m[3] * x) + std::abs(m[4] * y) + std::abs(m[5]);
    const bool known = std::abs(below) > 1e-6 * terms && std::max(sum_x, sum_y) < kKnown * std::abs(below);
    if (!known) return whole(in);
    positive += below > 0.0 ? 1 : 0;
    low_x = std::min(low_x, at_x + shift_x);
    high_x = std::max(high_x, at_x + shift_x);
    low_y = std::min(low_y, at_y + shift_y);
    high_y = std::max(high_y, at_y + shift_y);
  }
  if (positive != 0 && positive != 4) return whole(in);
  // Two and a half pixels for the taps of a cubic; half of one for the roundings of 16.16, of each column and row.
  const double margin = 3.0 + 0x1p-16 * (static_cast<double>(op.i[0]) + op.i[1]);
  const int x0 = static_cast<int>(std::clamp(std::floor(low_x - margin), 0.0, in.width - 1.0));
  const int x1 = static_cast<int>(std::clamp(std::ceil(high_x + margin), x0 + 1.0, 1.0 * in.width));
  const int y0 = static_cast<int>(std::clamp(std::floor(low_y - margin), 0.0, in.height - 1.0));
  const int y1 = static_cast<int>(std::clamp(std::ceil(high_y + margin), y0 + 1.0, 1.0 * in.height));
  return {y0, x0, y1 - y0, x1 - x0};
}

bool execute_nearest_warp(const OpList& ops, const View& source, const Target& target, const Kernels& kernels) {
  if (ops.size() != 1 || ops[0].id != OpId::AFFINE || ops[0].flags != 0) return false;
  const bool pixels = source.pixel_stride == 4 && source.channel_stride == 1 && target.pixel_stride == 4 &&
                      target.channel_stride == 1 && target.dtype == DType::kUint8 &&
                      source.channels == target.channels && (target.fill_gaps || target.channels == 4);
  if (!pixels || &kernels_in_reach(kernels, source) != &kernels) return false;
  const Region everything = {0, 0, target.height, target.width};
  WarpRow row = warp_row(ops[0], source);
  row.source.channels = 4;
  for (int c = source.channels; c < 4; ++c) row.fill[c] = 255;
  const Region needs = warp_needs(ops[0], {source.height, source.width, source.channels}, everything);
  DiagonalPrefetch prefetch(source, row.matrix, everything, needs, false);
  auto* out = static_cast<uint8_t*>(target.data);
  for (row.y = 0; row.y < target.height; ++row.y, out += target.row_stride) {
    prefetch.row(row.y);
    kernels.affine_nearest_pixels(row, out);
  }
  return true;
}

}  // namespace fastaug
