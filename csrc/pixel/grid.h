// torch's grid_sample on the CPU (align_corners=False, padding with zeros) and torchvision's use of it for uint8
// tensors, pixel by pixel: the arithmetic for scalar code and CUDA, and what the vector kernels fall back on at edges.
//
// ATen is compiled with contraction for AVX2 and AVX-512, so some of its products and sums are fused. Here each of
// those is spelled out, and every machine gives the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/fma.h"
#include "pixel/lane.h"
#include "pixel/warp.h"
#include "program/op.h"

namespace fastaug {

// Value of torchvision's affine grid for the centre of output pixel `at` of `size`, from one row of theta.
// _functional_tensor.py, _gen_affine_grid, where bmm sums in this order. MKL's bmm fuses on Intel's processors only.
FASTAUG_FN float grid_base(int at, int size) { return static_cast<float>(at) - static_cast<float>(size - 1) * 0.5f; }
FASTAUG_FN float affine_grid_value(const float* theta, float x, float y, bool fuse) {
  const float across = x * theta[0];
  return (fuse ? fused(y, theta[1], across) : y * theta[1] + across) + theta[2];
}
// Products of so few numbers do not reach MKL. ATen, LinearAlgebra.cpp, bmm.
FASTAUG_FN bool grid_fuses(bool fuse, int out_height, int out_width) {
  return fuse && static_cast<int64_t>(out_height) * out_width * 6 >= 400;
}

// torchvision's perspective grid, from one row of its numerators, divided by half a side, and the denominators'.
// _functional_tensor.py, _perspective_grid.
FASTAUG_FN float perspective_base(int at) { return static_cast<float>(at) + 0.5f; }
FASTAUG_FN float perspective_grid_value(const float* theta, const float* below, float x, float y, bool fuse) {
  return affine_grid_value(theta, x, y, fuse) / affine_grid_value(below, x, y, fuse) - 1.0f;
}

// How a grid is made: by an affine map, or by a perspective.
struct GridMap {
  float theta[6];
  float below[3];
  bool perspective;
  bool fused;  // torch's matrix product fuses on this machine
  int out_height;
  int out_width;
};

struct GridPoint {
  float x;
  float y;
};

FASTAUG_FN GridPoint grid_point(const GridMap& map, int x, int y) {
  const bool fuse = grid_fuses(map.fused, map.out_height, map.out_width);
  if (map.perspective) {
    const float at_x = perspective_base(x);
    const float at_y = perspective_base(y);
    return {perspective_grid_value(map.theta, map.below, at_x, at_y, fuse),
            perspective_grid_value(map.theta + 3, map.below, at_x, at_y, fuse)};
  }
  const float at_x = grid_base(x, map.out_width);
  const float at_y = grid_base(y, map.out_height);
  return {affine_grid_value(map.theta, at_x, at_y, fuse), affine_grid_value(map.theta + 3, at_x, at_y, fuse)};
}

// Where in pixels, from the centre of the first, a coordinate lies. ATen, GridSamplerKernel.cpp, ComputeLocation.
FASTAUG_FN float grid_position(float g, int size) { return fused(g + 1.0f, static_cast<float>(size) * 0.5f, -0.5f); }

// How pixels outside the image look: like `fill`, by torchvision's mask of ones, or like zeros.
struct GridFill {
  Filling filling;
  const float* fill;  // from 0 to 255
};

// ATen, GridSamplerKernel.cpp, ApplyGridSample (nearest); torchvision, _functional_tensor.py, _apply_grid_transform.
template <int kChannels, class Source>
FASTAUG_FN void grid_nearest_pixel(const Source& s, float gx, float gy, GridFill outside, uint8_t* out) {
  const float x = rintf(grid_position(gx, s.width));
  const float y = rintf(grid_position(gy, s.height));
  if (x >= 0.0f && x < static_cast<float>(s.width) && y >= 0.0f && y < static_cast<float>(s.height)) {
    copy_pixel<kChannels>(s.at(static_cast<int>(y), static_cast<int>(x)), out);
  } else {
    for (int c = 0; c < kChannels; ++c) {
      out[c] = outside.filling != Filling::kNone ? static_cast<uint8_t>(static_cast<int>(rintf(outside.fill[c])))
                                                 : uint8_t{0};
    }
  }
}

// The same, bilinear.
template <int kChannels, class Source>
FASTAUG_FN void grid_linear_pixel(const Source& s, float gx, float gy, GridFill outside, uint8_t* out) {
  const float x = grid_position(gx, s.width);
  const float y = grid_position(gy, s.height);
  const float west = floorf(x);
  const float north = floorf(y);
  const float dx = x - west;
  const float dy = y - north;
  if (!(dx + dy <= 2.0f)) {
    // Infinite or not a number. So are the weights, and the result becomes zero.
    for (int c = 0; c < kChannels; ++c) out[c] = 0;
    return;
  }
  const float rest_x = 1.0f - dx;
  const float rest_y = 1.0f - dy;
  const float weight[4] = {rest_x * rest_y, dx * rest_y, rest_x * dy, dx * dy};
  bool shown[4] = {};
  int ix = 0;
  int iy = 0;
  if (west >= -1.0f && west < static_cast<float>(s.width) && north >= -1.0f && north < static_cast<float>(s.height)) {
    ix = static_cast<int>(west);
    iy = static_cast<int>(north);
    for (int k = 0; k < 4; ++k) {
      const int tx = ix + (k & 1);
      const int ty = iy + (k >> 1);
      shown[k] = tx >= 0 && tx < s.width && ty >= 0 && ty < s.height;
    }
  }
  float mask = 0.0f;
  for (int k = 0; k < 4; ++k) mask += shown[k] ? weight[k] : 0.0f;
  for (int c = 0; c < kChannels; ++c) {
    float v = 0.0f;
    for (int k = 0; k < 4; ++k) v = shown[k] ? fused(s.at(iy + (k >> 1), ix + (k & 1))[c], weight[k], v) : v;
    // torchvision, _functional_tensor.py and v2/functional/_geometry.py, _apply_grid_transform.
    if (outside.filling == Filling::kTorch) v = v * mask + (1.0f - mask) * outside.fill[c];
    if (outside.filling == Filling::kV2) v = (v - outside.fill[c]) * mask + outside.fill[c];
    out[c] = static_cast<uint8_t>(static_cast<int>(rintf(v)));
  }
}

}  // namespace fastaug
