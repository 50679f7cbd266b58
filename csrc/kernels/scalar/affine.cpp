// Plain C++ twins of the affine kernels, from the bodies in pixel/warp.h.
#include "kernels/table.h"
#include "kernels/warp_row.h"

namespace fastaug {
namespace {

using Body = void (*)(const WarpSource&, double, double, const uint8_t*, uint8_t*);

// put(pixel, x) takes the pixel of every column of the span.
template <int kChannels, class Put>
void each_nearest(const WarpRow& row, Span span, Put put) {
  const WarpSource source = warp_source(row);
  const double* m = row.matrix;
  uint8_t pixel[kChannels];
  if (nearest_route(m, row.out_height, row.out_width) == NearestRoute::kFixed) {
    const FixedMap map = make_fixed(m);
    for (int x = span.begin; x < span.end; ++x) {
      const int ix = map.x_at(row.x + x, row.y) >> 16;
      const int iy = map.y_at(row.x + x, row.y) >> 16;
      nearest_pixel<kChannels>(source, ix, iy, row.fill, pixel);
      put(pixel, x);
    }
    return;
  }
  double xx = nearest_start_x(m, row.x + span.begin, row.y);
  double yy = nearest_start_y(m, row.x + span.begin, row.y);
  for (int x = span.begin; x < span.end; ++x, xx += m[0], yy += m[3]) {
    nearest_pixel<kChannels>(source, pixel_index(xx, source.width), pixel_index(yy, source.height), row.fill, pixel);
    put(pixel, x);
  }
}

template <int kChannels>
void nearest_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  each_nearest<kChannels>(row, span, [&](const uint8_t* pixel, int x) { put_pixel<kChannels>(pixel, dst, x); });
}

template <int kChannels, Body body>
void interpolated_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  const WarpSource source = warp_source(row);
  uint8_t pixel[kChannels];
  for (int x = span.begin; x < span.end; ++x) {
    body(source, affine_x(row.matrix, row.x + x, row.y), affine_y(row.matrix, row.x + x, row.y), row.fill, pixel);
    put_pixel<kChannels>(pixel, dst, x);
  }
}

using RoundedBody = void (*)(const WarpSource&, FixedPosition, uint8_t*);

template <int kChannels, RoundedBody body>
void rounded_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  const WarpSource source = warp_source(row);
  const double* m = row.matrix;
  const bool walks = walks_rounded(row);
  FixedWalk walk{};
  int start = -kWalk;
  uint8_t pixel[kChannels];
  for (int x = span.begin; x < span.end; ++x) {
    const int column = row.x + x;
    const Position at = {affine_x(m, column, row.y), affine_y(m, column, row.y)};
    if (!warp_inside(source, at.x, at.y)) {
      put_pixel<kChannels>(row.fill, dst, x);
      continue;
    }
    if (walks && column - start >= kWalk) {
      start = column & -kWalk;
      walk = fixed_walk(m, start, row.y);
    }
    body(source, walks ? walk.at(column - start) : fixed_position(at), pixel);
    put_pixel<kChannels>(pixel, dst, x);
  }
}

template <int kChannels>
void linear_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (row.rounded) return rounded_span<kChannels, rounded_linear_pixel<kChannels>>(row, span, dst);
  interpolated_span<kChannels, linear_pixel<kChannels>>(row, span, dst);
}

template <int kChannels>
void cubic_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (row.rounded) return rounded_span<kChannels, rounded_cubic_pixel<kChannels>>(row, span, dst);
  interpolated_span<kChannels, cubic_pixel<kChannels>>(row, span, dst);
}

}  // namespace

void affine_nearest_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (span.begin == span.end) return;
  FASTAUG_BY_CHANNELS(row.source.channels, nearest_span, row, span, dst)
}

void affine_nearest_pixels_span(const WarpRow& row, Span span, uint8_t* foreign) {
  each_nearest<4>(row, span, [&](const uint8_t* pixel, int x) { std::memcpy(foreign + ptrdiff_t{x} * 4, pixel, 4); });
}

void affine_linear_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (span.begin == span.end) return;
  FASTAUG_BY_CHANNELS(row.source.channels, linear_span, row, span, dst)
}

void affine_cubic_span(const WarpRow& row, Span span, uint8_t* const* dst) {
  if (span.begin == span.end) return;
  FASTAUG_BY_CHANNELS(row.source.channels, cubic_span, row, span, dst)
}

Span clip_span(Span span, double start, double step, double lo, double hi) {
  // Most rows of a crop keep to the inside: they need no division.
  const double ends[] = {start + step * span.begin, start + step * (span.end - 1)};
  if (std::min(ends[0], ends[1]) >= lo && std::max(ends[0], ends[1]) <= hi) return span;
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

Span clip_span(Span span, int64_t start, int64_t step, int64_t lo, int64_t hi) {
  if (step < 0) return clip_span(span, -start, -step, -hi, -lo);
  const int64_t first = start + step * span.begin;
  const int64_t last = start + step * (span.end - 1);
  if (span.begin >= span.end || first > hi || last < lo) return {span.begin, span.begin};
  // Rounded up. Doubles divide several times as fast as integers of 64 bits on many processors, and as exactly here: no
  // quotient that is not whole is rounded past a whole number, which is at least 1 / step away from it, where a
  // rounding is at most 2^-53 of it.
  const auto columns = [&](int64_t excess) {
    return static_cast<int>(static_cast<double>(excess + step - 1) / static_cast<double>(step));
  };
  if (first < lo) span.begin += columns(lo - first);
  if (last > hi) span.end -= columns(last - hi);
  return {span.begin, std::max(span.begin, span.end)};
}

bool moderate(const WarpRow& row) {
  const double* m = row.matrix;
  const auto terms = [&](int k) {
    return std::fabs(m[k]) * row.out_width + std::fabs(m[k + 1]) * row.out_height + std::fabs(m[k + 2]);
  };
  return terms(0) < 0x1p24 && terms(3) < 0x1p24;
}

bool walks_rounded(const WarpRow& row) {
  return std::fabs(row.matrix[0]) < 16.0 && std::fabs(row.matrix[3]) < 16.0 && moderate(row);
}

bool walks_fixed(const WarpRow& row, bool centres, FixedRow* out) {
  const double* m = row.matrix;
  const auto exact = [](double v) { return std::fabs(v) < 32768.0 && std::floor(v * 65536.0) == v * 65536.0; };
  const auto whole = [](double v) { return std::fabs(v) < 32768.0 && std::floor(v) == v; };
  const double start_x = m[2] + m[1] * 0.5 + m[0] * 0.5;
  const double start_y = m[5] + m[4] * 0.5 + m[3] * 0.5;
  if (centres) {
    if (!whole(start_x - 0.5) || !whole(start_y - 0.5)) return false;
    for (const int k : {0, 1, 3, 4}) {
      if (!whole(m[k])) return false;
    }
  } else {
    const NearestRoute route = nearest_route(m, row.out_height, row.out_width);
    const auto steps = [&] { return exact(start_x) && exact(start_y) && exact(m[0]) && exact(m[4]); };
    if (route == NearestRoute::kAccumulate || (route == NearestRoute::kScale && !steps())) return false;
  }
  const FixedMap map = make_fixed(m);
  const auto of = [&](int k) { return static_cast<int64_t>(static_cast<int32_t>(map.m[k])); };
  *out = {of(2) + of(1) * row.y + of(0) * row.x, of(5) + of(4) * row.y + of(3) * row.x, of(0), of(3)};
  const auto fits = [](int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; };
  return fits(out->x) && fits(out->y) && fits(out->x + out->step_x * row.width) &&
         fits(out->y + out->step_y * row.width);
}

namespace scalar {

void fill_affine(Kernels* table) {
  table->affine_nearest = [](const WarpRow& row, uint8_t* const* dst) {
    affine_nearest_span(row, {0, row.width}, dst);
  };
  table->affine_nearest_pixels = [](const WarpRow& row, uint8_t* foreign) {
    affine_nearest_pixels_span(row, {0, row.width}, foreign);
  };
  table->affine_linear = [](const WarpRow& row, uint8_t* const* dst) { affine_linear_span(row, {0, row.width}, dst); };
  table->affine_cubic = [](const WarpRow& row, uint8_t* const* dst) { affine_cubic_span(row, {0, row.width}, dst); };
}

}  // namespace scalar
}  // namespace fastaug
