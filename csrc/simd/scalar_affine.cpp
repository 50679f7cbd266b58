// Plain C++ twins of the affine kernels, from the bodies in pixel/warp.h.
#include "simd/affine_row.h"
#include "simd/table.h"

namespace fastaug {
namespace {

using Body = void (*)(const WarpSource&, double, double, const uint8_t*, uint8_t*);

template <int kChannels>
void put(const uint8_t* pixel, uint8_t* const* dst, int x) {
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

template <int kChannels>
void nearest_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  const WarpSource source = warp_source(row);
  const double* m = row.matrix;
  uint8_t pixel[kChannels];
  if (nearest_route(m, row.out_height, row.out_width) == NearestRoute::kFixed) {
    const FixedMap map = make_fixed(m);
    for (int x = begin; x < end; ++x) {
      const int ix = map.x_at(row.x + x, row.y) >> 16;
      const int iy = map.y_at(row.x + x, row.y) >> 16;
      nearest_pixel<kChannels>(source, ix, iy, row.fill, pixel);
      put<kChannels>(pixel, dst, x);
    }
    return;
  }
  double xx = nearest_start_x(m, row.x + begin, row.y);
  double yy = nearest_start_y(m, row.x + begin, row.y);
  for (int x = begin; x < end; ++x, xx += m[0], yy += m[3]) {
    nearest_pixel<kChannels>(source, pixel_index(xx, source.width), pixel_index(yy, source.height), row.fill, pixel);
    put<kChannels>(pixel, dst, x);
  }
}

template <int kChannels, Body body>
void interpolated_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  const WarpSource source = warp_source(row);
  uint8_t pixel[kChannels];
  for (int x = begin; x < end; ++x) {
    body(source, affine_x(row.matrix, row.x + x, row.y), affine_y(row.matrix, row.x + x, row.y), row.fill, pixel);
    put<kChannels>(pixel, dst, x);
  }
}

template <int kChannels>
void linear_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  interpolated_span<kChannels, linear_pixel<kChannels>>(row, begin, end, dst);
}

template <int kChannels>
void cubic_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  interpolated_span<kChannels, cubic_pixel<kChannels>>(row, begin, end, dst);
}

}  // namespace

void affine_nearest_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, nearest_span, row, begin, end, dst)
}

void affine_linear_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, linear_span, row, begin, end, dst)
}

void affine_cubic_span(const AffineRow& row, int begin, int end, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, cubic_span, row, begin, end, dst)
}

namespace scalar {

void fill_affine(Kernels* table) {
  table->affine_nearest = [](const AffineRow& row, uint8_t* const* dst) { affine_nearest_span(row, 0, row.width, dst); };
  table->affine_linear = [](const AffineRow& row, uint8_t* const* dst) { affine_linear_span(row, 0, row.width, dst); };
  table->affine_cubic = [](const AffineRow& row, uint8_t* const* dst) { affine_cubic_span(row, 0, row.width, dst); };
}

}  // namespace scalar
}  // namespace fastaug
