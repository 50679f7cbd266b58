// Rows of a warp: an op that walks through its source in any direction.
#include <algorithm>
#include <cmath>

#include "execute/blit.h"
#include "execute/diagonal_prefetch.h"
#include "execute/stages/stages.h"
#include "plan/plan.h"
#include "plan/warp_region.h"

namespace fastaug {
namespace {

// AFFINE and PERSPECTIVE as Pillow computes them, or nearly so.
class WarpStage final : public Stage {
 public:
  WarpStage(Context& context, const View& view, const Op& op, Region wanted, Region read, bool rounded)
      : row_(warp_row(op, view)), prefetch_(view, row_.matrix, wanted, read, op.id == OpId::PERSPECTIVE) {
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

// Warps as torchvision computes them on tensors: a grid of positions, then torch's grid_sample.
class GridStage final : public Stage {
 public:
  GridStage(Context& context, const View& view, const Op& op, Region wanted)
      : kernels_(kernels_in_reach(context.kernels, view)),
        positions_{grid_map(op, view), 0, wanted.x, wanted.width},
        row_(grid_row(op, view)) {
    region = wanted;
    channels = view.channels;
    row_.width = region.width;
    grid_ = reinterpret_cast<float*>(context.arena.bytes(static_cast<size_t>(region.width) * 8 + kRowPad));
    row_.grid = grid_;
    kernel_ = grid_kernel(op, kernels_);
  }

  void row(int y, const Planes& dst) override {
    positions_.y = y;
    kernels_.map_grid(positions_, grid_);
    kernel_(row_, dst.row);
  }

 private:
  const Kernels& kernels_;
  MapRow positions_;
  GridRow row_;
  float* grid_;
  GridKernel kernel_;
};

}  // namespace

const Kernels& kernels_in_reach(const Kernels& wanted, const View& view) {
  return is_in_reach(view) ? wanted : *kernels("scalar");
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

static_assert(registry::for_every_op([](OpId id) {
                return registry::follows(has(id, Trait::kWarp),
                                         id == OpId::AFFINE || id == OpId::PERSPECTIVE || samples_grid(id));
              }),
              "a warp has no kernel");

WarpKernel warp_kernel(const Op& op, const Kernels& kernels) {
  const bool affine = op.id == OpId::AFFINE;
  switch (static_cast<Interpolation>(op.flags & kFilterMask)) {
    case Interpolation::kNearest:
      return affine ? kernels.affine_nearest : kernels.perspective_nearest;
    case Interpolation::kBilinear:
      return affine ? kernels.affine_linear : kernels.perspective_linear;
    case Interpolation::kBicubic:
      return affine ? kernels.affine_cubic : kernels.perspective_cubic;
  }
  fail_on("warp_kernel", op.id);
}

// torchvision, _functional_tensor.py, _gen_affine_grid and _perspective_grid: the numbers in float32, each row over
// half a side, an affine map's of the input, a perspective's of the output.
GridMap grid_map(const Op& op, const View& source) {
  GridMap map{};
  map.perspective = is_perspective(op.id);
  map.fused = (op.flags & kFused) != 0;
  map.out_height = op.i[0];
  map.out_width = op.i[1];
  const int side[] = {map.perspective ? op.i[1] : source.width, map.perspective ? op.i[0] : source.height};
  for (int k = 0; k < 6; ++k) {
    map.theta[k] = static_cast<float>(op.f[k]) / (0.5f * static_cast<float>(side[k / 3]));
  }
  map.below[0] = static_cast<float>(op.f[6]);
  map.below[1] = static_cast<float>(op.f[7]);
  map.below[2] = 1.0f;
  return map;
}

GridRow grid_row(const Op& op, const View& source) {
  GridRow row{};
  row.source = source;
  row.width = op.i[1];
  row.filling = filling_of(op);
  for (int c = 0; c < kMaxChannels; ++c) row.fill[c] = fill_of(op, c);
  return row;
}

GridKernel grid_kernel(const Op& op, const Kernels& kernels) {
  return (op.flags & kFilterMask) == 0 ? kernels.grid_nearest : kernels.grid_linear;
}

Stage* warp_stage(Context& context, const View& view, const Op& op, Region region, Region read, bool rounded) {
  if (samples_grid(op.id)) return context.arena.make<GridStage>(context, view, op, region);
  return context.arena.make<WarpStage>(context, view, op, region, read, rounded);
}

void blit_warped(const Op& op, const View& source, const Target& target, const Kernels& kernels) {
  const Region everything = {0, 0, target.height, target.width};
  WarpRow row = warp_row(op, source);
  row.source.channels = 4;
  for (int c = source.channels; c < 4; ++c) row.fill[c] = 255;
  const Region read = warp_region(op, {source.height, source.width, source.channels}, everything);
  DiagonalPrefetch prefetch(source, row.matrix, everything, read, false);
  auto* out = static_cast<uint8_t*>(target.data);
  for (row.y = 0; row.y < target.height; ++row.y, out += target.row_stride) {
    prefetch.row(row.y);
    kernels.affine_nearest_pixels(row, out);
  }
}

}  // namespace fastaug
