// Code that scalar and vector warp kernels share, independent of the instruction set. Private to csrc/kernels.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/kernels.h"
#include "pixel/warp.h"

namespace fastaug {

inline WarpSource warp_source(const View& v) {
  return {v.data, v.row_stride, static_cast<int>(v.pixel_stride), v.height, v.width};
}
inline WarpSource warp_source(const WarpRow& row) { return warp_source(row.source); }

// Columns [begin, end) of a row, counted from row.x.
struct Span {
  int begin;
  int end;
};

// Channels of one pixel to planes.
template <int kChannels>
inline void put_pixel(const uint8_t* pixel, uint8_t* const* dst, int x) {
  for (int c = 0; c < kChannels; ++c) dst[c][x] = pixel[c];
}

// Calls body<channels>.
#define FASTAUG_BY_CHANNELS(channels, body, ...) \
  switch (channels) {                            \
    case 1:                                      \
      return body<1>(__VA_ARGS__);               \
    case 2:                                      \
      return body<2>(__VA_ARGS__);               \
    case 3:                                      \
      return body<3>(__VA_ARGS__);               \
    default:                                     \
      return body<4>(__VA_ARGS__);               \
  }

using SpanBody = void (*)(const WarpRow&, Span, uint8_t* const*);

// Columns of the span, which may be empty, pixel by pixel. Defined in scalar_affine.cpp and scalar_perspective.cpp.
void affine_nearest_span(const WarpRow& row, Span span, uint8_t* const* dst);
void affine_nearest_pixels_span(const WarpRow& row, Span span, uint8_t* foreign);
void affine_linear_span(const WarpRow& row, Span span, uint8_t* const* dst);
void affine_cubic_span(const WarpRow& row, Span span, uint8_t* const* dst);
void perspective_nearest_span(const WarpRow& row, Span span, uint8_t* const* dst);
void perspective_linear_span(const WarpRow& row, Span span, uint8_t* const* dst);
void perspective_cubic_span(const WarpRow& row, Span span, uint8_t* const* dst);

inline void fill_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (span.begin == span.end) return;
  for (int c = 0; c < row.source.channels; ++c) {
    std::memset(dst[c] + span.begin, row.fill[c], static_cast<size_t>(span.end - span.begin));
  }
}

// The columns of `span` with lo <= start + step * column <= hi, up to rounding.
Span clip_span(Span span, double start, double step, double lo, double hi);

// The same in integers, exactly: what start + step * column exceeds the bounds by is below 2^52.
Span clip_span(Span span, int64_t start, int64_t step, int64_t lo, int64_t hi);

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
bool walks_fixed(const WarpRow& row, bool centres, FixedRow* out);

// True when every term of an affine map's positions is below 2^24, so that their rounding stays below 6e-9.
bool moderate(const WarpRow& row);

// True when the positions of a rounded affine row are those of FixedWalk; else each is rounded for itself.
bool walks_rounded(const WarpRow& row);

// True when any byte of the source can be reached from its first with an int32 offset.
inline bool offsets_fit(const View& v) {
  const int64_t reach = std::abs(static_cast<int64_t>(v.row_stride)) * v.height + int64_t{v.width} * v.pixel_stride;
  return reach < (int64_t{1} << 31) - 64;
}

// Samples of `pixels` neighbouring pixels are read as four bytes for each. How many pixels must follow them in their
// row, so that every one of these bytes lies between samples of the row.
inline int pixels_after(const View& v, int pixels) {
  if (v.pixel_stride == 1) return 0;
  const auto stride = static_cast<int>(v.pixel_stride);
  return (4 * pixels - v.channels + stride - 1) / stride - (pixels - 1);
}

inline uint64_t low_bits(int count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// Calls run(begin, end) for every run of ones.
template <class Run>
inline void for_runs(uint64_t bits, const Run& run) {
  while (bits != 0) {
    const int begin = std::countr_zero(bits);
    const int end = begin + std::countr_one(bits >> begin);
    run(begin, end);
    bits &= ~low_bits(end);
  }
}

}  // namespace fastaug
