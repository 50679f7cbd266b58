// Affine and perspective maps on the device: one output pixel from the bodies in csrc/pixel.
#pragma once

#include <cstdint>

#include "pixel/grid.h"
#include "pixel/warp.h"
#include "program/program.h"

namespace fastaug::cuda {

// What the host prepares for ops of kWarp.
struct WarpOperands {
  WarpSource source;
  NearestRoute route;  // AFFINE, nearest
  FixedMap fixed;
  float theta[6];  // TORCH_AFFINE, as in AffineGrid
  bool fused;
};

template <int kChannels>
__device__ void affine_pixel(const Op& op, const WarpOperands& w, int y, int x, uint8_t* pixel) {
  const double* m = op.f;
  switch (static_cast<Interpolation>(op.flags & kFilterMask)) {
    case Interpolation::kBilinear:
      return linear_pixel<kChannels>(w.source, affine_x(m, x, y), affine_y(m, x, y), op.fill, pixel);
    case Interpolation::kBicubic:
      return cubic_pixel<kChannels>(w.source, affine_x(m, x, y), affine_y(m, x, y), op.fill, pixel);
    case Interpolation::kNearest: {
      const bool fixed = w.route == NearestRoute::kFixed;
      const int ix = fixed ? w.fixed.x_at(x, y) >> 16 : pixel_index(nearest_start_x(m, x, y), w.source.width);
      const int iy = fixed ? w.fixed.y_at(x, y) >> 16 : pixel_index(nearest_start_y(m, x, y), w.source.height);
      return nearest_pixel<kChannels>(w.source, ix, iy, op.fill, pixel);
    }
  }
}

// TORCH_AFFINE.
template <int kChannels>
__device__ void grid_pixel(const Op& op, const WarpOperands& w, int y, int x, uint8_t* pixel) {
  const bool fuse = affine_grid_fuses(w.fused, op.i[0], op.i[1]);
  const float base_x = grid_base(x, op.i[1]);
  const float base_y = grid_base(y, op.i[0]);
  const float gx = affine_grid_value(w.theta, base_x, base_y, fuse);
  const float gy = affine_grid_value(w.theta + 3, base_x, base_y, fuse);
  const GridFill outside = {(op.flags & kFilled) != 0, op.fill};
  if (static_cast<Interpolation>(op.flags & kFilterMask) == Interpolation::kNearest) {
    return grid_nearest_pixel<kChannels>(w.source, gx, gy, outside, pixel);
  }
  grid_linear_pixel<kChannels>(w.source, gx, gy, outside, pixel);
}

template <int kChannels>
__device__ void perspective_pixel(const Op& op, const WarpOperands& w, int y, int x, uint8_t* pixel) {
  const Position at = perspective_at(op.f, x, y);
  switch (static_cast<Interpolation>(op.flags & kFilterMask)) {
    case Interpolation::kBilinear:
      return perspective_linear_pixel<kChannels>(w.source, at, op.fill, pixel);
    case Interpolation::kBicubic:
      return perspective_cubic_pixel<kChannels>(w.source, at, op.fill, pixel);
    case Interpolation::kNearest:
      return perspective_nearest_pixel<kChannels>(w.source, at, op.fill, pixel);
  }
}

template <OpId kId, int kChannels>
__device__ void warp_pixel(const Op& op, const WarpOperands& w, int y, int x, uint8_t* pixel) {
  if constexpr (kId == OpId::PERSPECTIVE) {
    perspective_pixel<kChannels>(op, w, y, x, pixel);
  } else if constexpr (kId == OpId::TORCH_AFFINE) {
    grid_pixel<kChannels>(op, w, y, x, pixel);
  } else {
    static_assert(kId == OpId::AFFINE);
    affine_pixel<kChannels>(op, w, y, x, pixel);
  }
}

}  // namespace fastaug::cuda
