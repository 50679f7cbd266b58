// Affine and perspective maps, pixel by pixel, as Pillow's Geometry.c computes them: the arithmetic for scalar code and
// CUDA, and what the vector kernels fall back on at edges and in doubt.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pixel/lane.h"

namespace fastaug {

// Samples that a warp reads, interleaved or of one channel. The functions below take any Source that has a height, a
// width and pixels at(y, x), whose channels are at(y, x)[c].
struct WarpSource {
  const uint8_t* data;
  ptrdiff_t row_stride;
  int pixel_stride;
  int height;
  int width;

  FASTAUG_FN const uint8_t* at(int y, int x) const {
    return data + y * row_stride + static_cast<ptrdiff_t>(x) * pixel_stride;
  }
};

// How ImagingTransformAffine finds the source pixel of a nearest map.
enum class NearestRoute : uint8_t {
  kScale,       // no shear: column and row positions accumulate in double, each axis for itself
  kFixed,       // 16.16 fixed point, when all corners of the output lie within +-32768
  kAccumulate,  // otherwise: positions accumulate in double, along the row and down the first column
};

// Pillow, Geometry.c, check_fixed, and the tests around it in ImagingTransformAffine.
FASTAUG_FN NearestRoute nearest_route(const double* m, int out_height, int out_width) {
  if (m[1] == 0 && m[3] == 0) return NearestRoute::kScale;
  for (int corner = 0; corner < 4; ++corner) {
    const int x = (corner & 1) != 0 ? out_width : 0;
    const int y = (corner & 2) != 0 ? out_height : 0;
    const bool fits = fabs(x * m[0] + y * m[1] + m[2]) < 32768.0 && fabs(x * m[3] + y * m[4] + m[5]) < 32768.0;
    if (!fits) return NearestRoute::kAccumulate;
  }
  return NearestRoute::kFixed;
}

// The matrix in 16.16, with the offset taken to the centre of output pixel (0, 0). Sums wrap around, as Pillow's do.
struct FixedMap {
  uint32_t m[6];

  FASTAUG_FN int32_t x_at(int x, int y) const { return wrapped(m[2], m[0], x, m[1], y); }
  FASTAUG_FN int32_t y_at(int x, int y) const { return wrapped(m[5], m[3], x, m[4], y); }

 private:
  static FASTAUG_FN int32_t wrapped(uint32_t start, uint32_t by_x, int x, uint32_t by_y, int y) {
    return static_cast<int32_t>(start + by_x * static_cast<uint32_t>(x) + by_y * static_cast<uint32_t>(y));
  }
};

// Pillow's FIX. What does not fit becomes INT32_MIN, as x86 converts it.
FASTAUG_FN uint32_t to_fixed(double v) {
  const double scaled = floor(v * 65536.0 + 0.5);
  const bool fits = scaled >= -2147483648.0 && scaled < 2147483648.0;
  return fits ? static_cast<uint32_t>(static_cast<int32_t>(scaled)) : 0x80000000u;
}

FASTAUG_FN FixedMap make_fixed(const double* m) {
  return {{to_fixed(m[0]), to_fixed(m[1]), to_fixed(m[2] + m[0] * 0.5 + m[1] * 0.5), to_fixed(m[3]), to_fixed(m[4]),
           to_fixed(m[5] + m[3] * 0.5 + m[4] * 0.5)}};
}

// Pillow's COORD: the index of the pixel that holds this position, -1 when there is none among `size` of them.
FASTAUG_FN int pixel_index(double position, int size) {
  return position >= 0.0 && position < size ? static_cast<int>(position) : -1;
}

// start + step + step ... (count steps), rounded at every addition.
FASTAUG_FN double accumulate(double start, double step, int count) {
  if (step == 0.0) return start;
  for (int k = 0; k < count; ++k) start += step;
  return start;
}

// Positions of output pixel (x, y) on the routes that accumulate (Pillow, Geometry.c, ImagingScaleAffine and
// ImagingTransformAffine): down column 0, then along the row, whatever part of the output is asked for. Without shear
// m[1] and m[3] are zero, and adding them changes nothing.
FASTAUG_FN double nearest_start_x(const double* m, int x, int y) {
  return accumulate(accumulate(m[2] + m[1] * 0.5 + m[0] * 0.5, m[1], y), m[0], x);
}
FASTAUG_FN double nearest_start_y(const double* m, int x, int y) {
  return accumulate(accumulate(m[5] + m[4] * 0.5 + m[3] * 0.5, m[4], y), m[3], x);
}

// Where affine_transform sends the centre of output pixel (x, y).
FASTAUG_FN double affine_x(const double* m, int x, int y) { return m[0] * (x + 0.5) + m[1] * (y + 0.5) + m[2]; }
FASTAUG_FN double affine_y(const double* m, int x, int y) { return m[3] * (x + 0.5) + m[4] * (y + 0.5) + m[5]; }

template <class Source>
FASTAUG_FN bool warp_inside(const Source& s, double x, double y) {
  return x >= 0.0 && x < s.width && y >= 0.0 && y < s.height;
}

FASTAUG_FN int clamp_index(int v, int size) { return v < 0 ? 0 : v < size ? v : size - 1; }

template <int kChannels, class Pixel>
FASTAUG_FN void copy_pixel(Pixel from, uint8_t* out) {
  for (int c = 0; c < kChannels; ++c) out[c] = from[c];
}

// Source pixel (x, y), or fill when it is outside.
template <int kChannels, class Source>
FASTAUG_FN void nearest_pixel(const Source& s, int x, int y, const uint8_t* fill, uint8_t* out) {
  const bool inside = x >= 0 && x < s.width && y >= 0 && y < s.height;
  if (!inside) return copy_pixel<kChannels>(fill, out);
  copy_pixel<kChannels>(s.at(y, x), out);
}

// Pillow, Geometry.c, BILINEAR_HEAD and BILINEAR_BODY, truncation included.
template <int kChannels, class Source>
FASTAUG_FN void linear_pixel(const Source& s, double x, double y, const uint8_t* fill, uint8_t* out) {
  if (!warp_inside(s, x, y)) return copy_pixel<kChannels>(fill, out);
  x -= 0.5;
  y -= 0.5;
  const int ix = static_cast<int>(floor(x));
  const int iy = static_cast<int>(floor(y));
  const double dx = x - ix;
  const double dy = y - iy;
  const int x0 = clamp_index(ix, s.width);
  const int x1 = clamp_index(ix + 1, s.width);
  const int y0 = clamp_index(iy, s.height);
  const bool below = iy + 1 < s.height;
  for (int c = 0; c < kChannels; ++c) {
    const int a = s.at(y0, x0)[c];
    const double v1 = a + (s.at(y0, x1)[c] - a) * dx;
    double v2 = v1;
    if (below) {
      const int b = s.at(iy + 1, x0)[c];
      v2 = b + (s.at(iy + 1, x1)[c] - b) * dx;
    }
    out[c] = static_cast<uint8_t>(v1 + (v2 - v1) * dy);
  }
}

// Pillow, Geometry.c, BICUBIC: the cubic with A = -1.
FASTAUG_FN double cubic_mix(double v1, double v2, double v3, double v4, double d) {
  const double p2 = -v1 + v3;
  const double p3 = 2 * (v1 - v2) + v3 - v4;
  const double p4 = -v1 + v2 - v3 + v4;
  return v2 + d * (p2 + d * (p3 + d * p4));
}

// Pillow, Geometry.c, BICUBIC_HEAD and BICUBIC_BODY.
template <int kChannels, class Source>
FASTAUG_FN void cubic_pixel(const Source& s, double x, double y, const uint8_t* fill, uint8_t* out) {
  if (!warp_inside(s, x, y)) return copy_pixel<kChannels>(fill, out);
  x -= 0.5;
  y -= 0.5;
  const int ix = static_cast<int>(floor(x));
  const int iy = static_cast<int>(floor(y));
  const double dx = x - ix;
  const double dy = y - iy;
  int column[4];
  for (int k = 0; k < 4; ++k) column[k] = clamp_index(ix - 1 + k, s.width);
  for (int c = 0; c < kChannels; ++c) {
    double v[4];
    for (int k = 0; k < 4; ++k) {
      const int row = iy - 1 + k;
      if (k > 0 && (row < 0 || row >= s.height)) {
        v[k] = v[k - 1];
      } else {
        const int near = clamp_index(row, s.height);
        v[k] = cubic_mix(s.at(near, column[0])[c], s.at(near, column[1])[c], s.at(near, column[2])[c],
                         s.at(near, column[3])[c], dx);
      }
    }
    const double mixed = cubic_mix(v[0], v[1], v[2], v[3], dy);
    out[c] = mixed <= 0.0 ? 0 : mixed >= 255.0 ? 255 : static_cast<uint8_t>(mixed);
  }
}

struct Position {
  double x;
  double y;
};

// Where perspective_transform sends the centre of output pixel (x, y). The denominator may be anything, zero included.
FASTAUG_FN Position perspective_at(const double* m, int x, int y) {
  const double in_x = x + 0.5;
  const double in_y = y + 0.5;
  const double below = m[6] * in_x + m[7] * in_y + 1.0;
  return {(m[0] * in_x + m[1] * in_y + m[2]) / below, (m[3] * in_x + m[4] * in_y + m[5]) / below};
}

// True for a position, not a number, that Pillow's bilinear and bicubic do not find outside: its comparisons are all
// false. What they make of it becomes zero on x86, whatever the pixels.
template <class Source>
FASTAUG_FN bool warp_lost(const Source& s, double x, double y) {
  const bool outside = x < 0.0 || x >= s.width || y < 0.0 || y >= s.height;
  return (x != x || y != y) && !outside;
}

// A pixel of a perspective map. Pillow, Geometry.c, ImagingGenericTransform and the filters that it is given.
template <int kChannels, class Source>
FASTAUG_FN void perspective_nearest_pixel(const Source& s, Position at, const uint8_t* fill, uint8_t* out) {
  nearest_pixel<kChannels>(s, pixel_index(at.x, s.width), pixel_index(at.y, s.height), fill, out);
}

template <int kChannels, class Source>
FASTAUG_FN void perspective_linear_pixel(const Source& s, Position at, const uint8_t* fill, uint8_t* out) {
  const uint8_t zero[kChannels] = {};
  if (warp_lost(s, at.x, at.y)) return copy_pixel<kChannels>(zero, out);
  linear_pixel<kChannels>(s, at.x, at.y, fill, out);
}

template <int kChannels, class Source>
FASTAUG_FN void perspective_cubic_pixel(const Source& s, Position at, const uint8_t* fill, uint8_t* out) {
  const uint8_t zero[kChannels] = {};
  if (warp_lost(s, at.x, at.y)) return copy_pixel<kChannels>(zero, out);
  cubic_pixel<kChannels>(s, at.x, at.y, fill, out);
}

// Fast mode's interpolation, rounded to nearest where Pillow truncates. Fractions and weights have kFractionBits bits,
// which 16-bit multiply-adds take, and weights add up to one exactly, so that flat areas stay flat. Results are within
// 0.1 of exact ones before they are rounded.
constexpr int kFractionBits = 14;
constexpr int32_t kFractionOne = 1 << kFractionBits;

// A position among the centres of pixels: after centre (x, y) by fractions of at most one.
struct FixedPosition {
  int x;
  int y;
  int32_t dx;
  int32_t dy;
};

// `at` is a position inside the source, as affine_x and perspective_at give it.
FASTAUG_FN FixedPosition fixed_position(Position at) {
  const double x = at.x - 0.5;
  const double y = at.y - 0.5;
  const auto fraction = [](double v) { return static_cast<int32_t>((v - floor(v)) * kFractionOne + 0.5); };
  return {static_cast<int>(floor(x)), static_cast<int>(floor(y)), fraction(x), fraction(y)};
}

// Positions of an affine row in fixed point with kWalkBits bits, in walks of kWalk columns. A walk begins at a multiple
// of kWalk columns of the whole output, where its position is exact, and strays by kWalk * 2^-21 = 3e-5 of a pixel.
constexpr int kWalkBits = 20;
constexpr int kWalk = 64;

struct FixedWalk {
  int whole_x;
  int whole_y;
  int32_t x;
  int32_t y;
  int32_t step_x;
  int32_t step_y;

  // `column` counts from the first of the walk.
  FASTAUG_FN FixedPosition at(int column) const {
    constexpr int kCut = kWalkBits - kFractionBits;
    const int32_t at_x = x + column * step_x;
    const int32_t at_y = y + column * step_y;
    return {whole_x + (at_x >> kWalkBits), whole_y + (at_y >> kWalkBits), (at_x >> kCut) & (kFractionOne - 1),
            (at_y >> kCut) & (kFractionOne - 1)};
  }
};

// Positions must be below 2^24, and steps below 16.
FASTAUG_FN FixedWalk fixed_walk(const double* m, int column, int y) {
  const double unit = 1 << kWalkBits;
  const double start_x = affine_x(m, column, y) - 0.5;
  const double start_y = affine_y(m, column, y) - 0.5;
  // So that cutting a fraction rounds it.
  const int32_t half = 1 << (kWalkBits - kFractionBits - 1);
  const auto fixed = [&](double v) { return static_cast<int32_t>(floor(v * unit + 0.5)); };
  return {static_cast<int>(floor(start_x)),
          static_cast<int>(floor(start_y)),
          static_cast<int32_t>((start_x - floor(start_x)) * unit) + half,
          static_cast<int32_t>((start_y - floor(start_y)) * unit) + half,
          fixed(m[0]),
          fixed(m[3])};
}

// Borders are repeated, as Pillow repeats them.
template <int kChannels, class Source>
FASTAUG_FN void rounded_linear_pixel(const Source& s, FixedPosition at, uint8_t* out) {
  const int x0 = clamp_index(at.x, s.width);
  const int x1 = clamp_index(at.x + 1, s.width);
  const int y0 = clamp_index(at.y, s.height);
  const int y1 = clamp_index(at.y + 1, s.height);
  const int32_t half = kFractionOne / 2;
  const int32_t south_east = (at.dx * at.dy + half) >> kFractionBits;
  const int32_t north_east = at.dx - south_east;
  const int32_t south_west = at.dy - south_east;
  const int32_t north_west = kFractionOne - (north_east + at.dy);
  for (int c = 0; c < kChannels; ++c) {
    const int32_t sum = s.at(y0, x0)[c] * north_west + s.at(y0, x1)[c] * north_east + s.at(y1, x0)[c] * south_west +
                        s.at(y1, x1)[c] * south_east;
    out[c] = static_cast<uint8_t>((sum + half) >> kFractionBits);
  }
}

// Sums down the columns are kept with 6 bits after the point, cut off, so that they fit int16: at most 1.25 * 255 * 64.
constexpr int kCubicDropped = 8;
constexpr int kCubicFinal = 2 * kFractionBits - kCubicDropped;
// Half of one, and what the cut took on average.
constexpr int32_t kCubicRounding = (1 << (kCubicFinal - 1)) + (1 << (kFractionBits - 1));

// Of four taps around a fraction, as cubic_mix has them. Tap 1 has what the others leave of one.
FASTAUG_FN void rounded_cubic_weights(int32_t fraction, int32_t* weight) {
  const float one = static_cast<float>(kFractionOne);
  const float t = static_cast<float>(fraction) * (1.0f / one);
  const float tt = t * t;
  const float rest = 1.0f - t;
  weight[0] = -static_cast<int32_t>(t * rest * rest * one + 0.5f);
  weight[2] = static_cast<int32_t>((t + tt * rest) * one + 0.5f);
  weight[3] = -static_cast<int32_t>(tt * rest * one + 0.5f);
  weight[1] = kFractionOne - weight[0] - weight[2] - weight[3];
}

template <int kChannels, class Source>
FASTAUG_FN void rounded_cubic_pixel(const Source& s, FixedPosition at, uint8_t* out) {
  int32_t across[4];
  int32_t down[4];
  rounded_cubic_weights(at.dx, across);
  rounded_cubic_weights(at.dy, down);
  int row[4];
  for (int k = 0; k < 4; ++k) row[k] = clamp_index(at.y - 1 + k, s.height);
  int32_t total[kChannels] = {};
  for (int k = 0; k < 4; ++k) {
    const int column = clamp_index(at.x - 1 + k, s.width);
    for (int c = 0; c < kChannels; ++c) {
      int32_t sum = 0;
      for (int j = 0; j < 4; ++j) sum += s.at(row[j], column)[c] * down[j];
      total[c] += (sum >> kCubicDropped) * across[k];
    }
  }
  for (int c = 0; c < kChannels; ++c) {
    const int32_t rounded = (total[c] + kCubicRounding) >> kCubicFinal;
    out[c] = static_cast<uint8_t>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
  }
}

}  // namespace fastaug
