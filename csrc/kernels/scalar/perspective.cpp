// Plain C++ twins of the perspective kernels, from the bodies in pixel/warp.h.
#include "kernels/table.h"
#include "kernels/warp_row.h"

namespace fastaug {
namespace {

using Body = void (*)(const WarpSource&, Position, const uint8_t*, uint8_t*);

template <int kChannels, Body body>
void body_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  const WarpSource source = warp_source(row);
  uint8_t pixel[kChannels];
  for (int x = span.begin; x < span.end; ++x) {
    body(source, perspective_at(row.matrix, row.x + x, row.y), row.fill, pixel);
    put_pixel<kChannels>(pixel, dst, x);
  }
}

using RoundedBody = void (*)(const WarpSource&, FixedPosition, uint8_t*);

template <int kChannels, RoundedBody body>
void rounded_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  const WarpSource source = warp_source(row);
  uint8_t pixel[kChannels];
  for (int x = span.begin; x < span.end; ++x) {
    const Position at = perspective_at(row.matrix, row.x + x, row.y);
    if (warp_lost(source, at.x, at.y)) {
      std::fill_n(pixel, kChannels, uint8_t{0});
    } else if (!warp_inside(source, at.x, at.y)) {
      copy_pixel<kChannels>(row.fill, pixel);
    } else {
      body(source, fixed_position(at), pixel);
    }
    put_pixel<kChannels>(pixel, dst, x);
  }
}

template <int kChannels>
void nearest_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  body_span<kChannels, perspective_nearest_pixel<kChannels>>(row, span, dst);
}

template <int kChannels>
void linear_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (row.rounded) return rounded_span<kChannels, rounded_linear_pixel<kChannels>>(row, span, dst);
  body_span<kChannels, perspective_linear_pixel<kChannels>>(row, span, dst);
}

template <int kChannels>
void cubic_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (row.rounded) return rounded_span<kChannels, rounded_cubic_pixel<kChannels>>(row, span, dst);
  body_span<kChannels, perspective_cubic_pixel<kChannels>>(row, span, dst);
}

}  // namespace

void perspective_nearest_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, nearest_span, row, span, dst)
}

void perspective_linear_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, linear_span, row, span, dst)
}

void perspective_cubic_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, cubic_span, row, span, dst)
}

namespace scalar {

void fill_perspective(Kernels* table) {
  table->perspective_nearest = [](const WarpRow& row, uint8_t* const* dst) {
    perspective_nearest_span(row, {0, row.width}, dst);
  };
  table->perspective_linear = [](const WarpRow& row, uint8_t* const* dst) {
    perspective_linear_span(row, {0, row.width}, dst);
  };
  table->perspective_cubic = [](const WarpRow& row, uint8_t* const* dst) {
    perspective_cubic_span(row, {0, row.width}, dst);
  };
}

}  // namespace scalar
}  // namespace fastaug
