// What the scalar and the vector affine kernels share, none of it bound to an instruction set. Private to csrc/simd.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pixel/warp.h"
#include "simd/kernels.h"

namespace fastaug {

inline WarpSource warp_source(const AffineRow& row) {
  const View& v = row.source;
  return {v.data, v.row_stride, static_cast<int>(v.pixel_stride), v.height, v.width};
}

// Columns [begin, end) of a row, counted from row.x.
struct Span {
  int begin;
  int end;
};

// Columns of the span, pixel by pixel. Defined in scalar_affine.cpp.
void affine_nearest_span(const AffineRow& row, Span span, uint8_t* const* dst);
void affine_linear_span(const AffineRow& row, Span span, uint8_t* const* dst);
void affine_cubic_span(const AffineRow& row, Span span, uint8_t* const* dst);

inline void fill_span(const AffineRow& row, Span span, uint8_t* const* dst) {
  for (int c = 0; c < row.source.channels; ++c) {
    std::memset(dst[c] + span.begin, row.fill[c], static_cast<size_t>(span.end - span.begin));
  }
}

// The columns of `span` with lo <= start + step * column <= hi, up to rounding.
inline Span clip_span(Span span, double start, double step, double lo, double hi) {
  if (!(lo <= hi)) return {span.begin, span.begin};
  if (std::fabs(step) < 1e-9) {
    // The whole row is less than a thousandth of a pixel wide.
    const double last = start + step * span.end;
    return std::min(start, last) >= lo && std::max(start, last) <= hi ? span : Span{span.begin, span.begin};
  }
  double first = (lo - start) / step;
  double last = (hi - start) / step;
  if (first > last) std::swap(first, last);
  const double begin = std::clamp(std::ceil(first), static_cast<double>(span.begin), static_cast<double>(span.end));
  const double end = std::clamp(std::floor(last) + 1.0, begin, static_cast<double>(span.end));
  return {static_cast<int>(begin), static_cast<int>(end)};
}

// The same in integers, exactly.
inline Span clip_span(Span span, int64_t start, int64_t step, int64_t lo, int64_t hi) {
  const auto floor_div = [](int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); };
  if (step == 0) return start >= lo && start <= hi ? span : Span{span.begin, span.begin};
  const int64_t first = step > 0 ? -floor_div(start - lo, step) : -floor_div(start - hi, step);
  const int64_t last = step > 0 ? floor_div(hi - start, step) : floor_div(lo - start, step);
  const int64_t begin = std::clamp<int64_t>(first, span.begin, span.end);
  return {static_cast<int>(begin), static_cast<int>(std::clamp<int64_t>(last + 1, begin, span.end))};
}

// A row's positions in 16.16: of column 0 of the row, and per column. They do not wrap around within the row.
struct FixedRow {
  int64_t x;
  int64_t y;
  int64_t step_x;
  int64_t step_y;
};

// True, and the row, when the nearest map of this row can be walked in 16.16: Pillow does so, or adds in double without
// ever rounding. `centres` asks instead whether every column hits the centre of a source pixel exactly, so that linear
// and cubic give that very pixel.
bool walks_fixed(const AffineRow& row, bool centres, FixedRow* out);

// True when any byte of the source can be reached from its first with an int32 offset.
inline bool offsets_fit(const View& v) {
  const int64_t reach = std::abs(static_cast<int64_t>(v.row_stride)) * v.height + int64_t{v.width} * v.pixel_stride;
  return reach < (int64_t{1} << 31) - 64;
}

}  // namespace fastaug
