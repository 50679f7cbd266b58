// What the scalar and the vector affine kernels share. Private to csrc/simd.
#pragma once

#include "pixel/warp.h"
#include "simd/kernels.h"

namespace fastaug {

inline WarpSource warp_source(const AffineRow& row) {
  const View& v = row.source;
  return {v.data, v.row_stride, static_cast<int>(v.pixel_stride), v.height, v.width};
}

// True when every output pixel hits the centre of a source pixel exactly: then every interpolation gives that pixel.
inline bool hits_centres(const double* m) {
  const auto whole = [](double v) { return std::floor(v) == v && std::fabs(v) < 32768.0; };
  return whole(m[0]) && whole(m[1]) && whole(m[3]) && whole(m[4]) && whole(m[0] * 0.5 + m[1] * 0.5 + m[2] - 0.5) &&
         whole(m[3] * 0.5 + m[4] * 0.5 + m[5] - 0.5);
}

// Columns [begin, end) of the row, counted from row.x, pixel by pixel. Defined in scalar_affine.cpp.
void affine_nearest_span(const AffineRow& row, int begin, int end, uint8_t* const* dst);
void affine_linear_span(const AffineRow& row, int begin, int end, uint8_t* const* dst);
void affine_cubic_span(const AffineRow& row, int begin, int end, uint8_t* const* dst);

}  // namespace fastaug
