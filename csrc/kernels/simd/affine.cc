// Affine maps, one output row at a time. A row is cut into spans: outside the source (fill), near its border (the
// scalar bodies), and the interior, where no tap leaves the source and no read leaves its samples.
//
// Linear and cubic interiors are computed in float32, within a proven distance of Pillow's double arithmetic. Pillow
// truncates, so only a result that close to an integer can differ; those pixels are redone by the scalar body. Rounded
// rows (WarpRow::rounded) are computed in fixed point instead, and nothing is redone.
#define HWY_TARGET_INCLUDE "kernels/simd/affine.cc"

#include <cstring>

#include "kernels/simd/family-inl.h"
#include "kernels/warp_row.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/affine_mix-inl.h"
#include "kernels/simd/warp_fetch-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Ints = hn::ScalableTag<int32_t>;

// Vectors of positions in a block: as many as fetch_pixels takes at once.
constexpr int kVectors = kFetched * 4 / HWY_MAX_BYTES;

// Columns of the span, at least a block of them. A block past the end is moved back instead, so that every offset is
// one of an interior pixel.
void nearest_interior(const WarpRow& row, const FixedRow& f, Span span, uint8_t* const* dst) {
  const Ints d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const int block = kVectors * lanes;
  const View& v = row.source;
  const auto row_stride = hn::Set(d, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(d, static_cast<int32_t>(v.pixel_stride));
  const auto step_x = static_cast<int32_t>(f.step_x);
  const auto step_y = static_cast<int32_t>(f.step_y);
  const auto lane_x = hn::Mul(hn::Iota(d, 0), hn::Set(d, step_x));
  const auto lane_y = hn::Mul(hn::Iota(d, 0), hn::Set(d, step_y));
  const auto leap_x = hn::Set(d, step_x * lanes);
  const auto leap_y = hn::Set(d, step_y * lanes);
  alignas(64) int32_t offsets[kFetch];
  for (int next = span.begin; next < span.end; next += block) {
    const int column = std::min(next, span.end - block);
    auto x = hn::Add(lane_x, hn::Set(d, static_cast<int32_t>(f.x + f.step_x * column)));
    auto y = hn::Add(lane_y, hn::Set(d, static_cast<int32_t>(f.y + f.step_y * column)));
    for (int k = 0; k < kVectors; ++k) {
      const auto offset =
          hn::Add(hn::Mul(hn::ShiftRight<16>(y), row_stride), hn::Mul(hn::ShiftRight<16>(x), pixel_stride));
      hn::Store(offset, d, offsets + k * lanes);
      x = hn::Add(x, leap_x);
      y = hn::Add(y, leap_y);
    }
    fetch_pixels(v, offsets, block, dst, column);
  }
}

// Columns whose pixel lies in the source.
Span inside_fixed(const WarpRow& row, const FixedRow& f) {
  const View& v = row.source;
  const Span columns = clip_span({0, row.width}, f.x, f.step_x, int64_t{0}, (int64_t{v.width} << 16) - 1);
  return clip_span(columns, f.y, f.step_y, int64_t{0}, (int64_t{v.height} << 16) - 1);
}

void fixed_row(const WarpRow& row, const FixedRow& f, uint8_t* const* dst) {
  const View& v = row.source;
  const Span inside = inside_fixed(row, f);
  const int safe_width = v.width - pixels_after(v, 1);
  const Span interior = clip_span(inside, f.x, f.step_x, int64_t{0}, (int64_t{safe_width} << 16) - 1);
  fill_span(row, {0, inside.begin}, dst);
  if (interior.end - interior.begin < kFetched) {
    affine_nearest_span(row, inside, dst);
  } else {
    affine_nearest_span(row, {inside.begin, interior.begin}, dst);
    nearest_interior(row, f, interior, dst);
    affine_nearest_span(row, {interior.end, inside.end}, dst);
  }
  fill_span(row, {inside.end, row.width}, dst);
}

void affine_nearest(const WarpRow& row, uint8_t* const* dst) {
  FixedRow fixed;
  if (offsets_fit(row.source) && walks_fixed(row, false, &fixed)) return fixed_row(row, fixed, dst);
  affine_nearest_span(row, {0, row.width}, dst);
}

// Columns of the span, at least a block of them, as nearest_interior.
void nearest_pixels_interior(const WarpRow& row, const FixedRow& f, Span span, uint8_t* foreign) {
  const Ints d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const View& v = row.source;
  const auto row_stride = hn::Set(d, static_cast<int32_t>(v.row_stride));
  const auto lane_x = hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<int32_t>(f.step_x)));
  const auto lane_y = hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<int32_t>(f.step_y)));
  alignas(64) int32_t offsets[hn::MaxLanes(d)];
  for (int next = span.begin; next < span.end; next += lanes) {
    const int column = std::min(next, span.end - lanes);
    const auto x = hn::Add(lane_x, hn::Set(d, static_cast<int32_t>(f.x + f.step_x * column)));
    const auto y = hn::Add(lane_y, hn::Set(d, static_cast<int32_t>(f.y + f.step_y * column)));
    const auto offset = hn::Add(hn::Mul(hn::ShiftRight<16>(y), row_stride), hn::ShiftLeft<2>(hn::ShiftRight<16>(x)));
    hn::Store(offset, d, offsets);
    uint8_t* out = foreign + ptrdiff_t{column} * 4;
    for (int k = 0; k < lanes; ++k) std::memcpy(out + 4 * k, v.data + offsets[k], 4);
  }
}

void affine_nearest_pixels(const WarpRow& row, uint8_t* foreign) {
  FixedRow f;
  if (!offsets_fit(row.source) || !walks_fixed(row, false, &f)) {
    return affine_nearest_pixels_span(row, {0, row.width}, foreign);
  }
  const Span inside = inside_fixed(row, f);
  const auto fill = [&](int begin, int end) {
    for (int x = begin; x < end; ++x) std::memcpy(foreign + ptrdiff_t{x} * 4, row.fill, 4);
  };
  fill(0, inside.begin);
  if (inside.end - inside.begin < static_cast<int>(hn::Lanes(Ints()))) {
    affine_nearest_pixels_span(row, inside, foreign);
  } else {
    nearest_pixels_interior(row, f, inside, foreign);
  }
  fill(inside.end, row.width);
}

template <class Kind, class Rounded>
void interpolated_row(const WarpRow& row, uint8_t* const* dst, SpanBody scalar_span) {
  const Span all = {0, row.width};
  FixedRow fixed;
  if (!offsets_fit(row.source)) return scalar_span(row, all, dst);
  if (walks_fixed(row, true, &fixed)) return fixed_row(row, fixed, dst);
  const Span inside = inside_span(row);
  const bool rounded = row.rounded && walks_rounded(row);
  const Span interior = rounded       ? interior_span<Rounded>(row, inside)
                        : row.rounded ? Span{inside.begin, inside.begin}
                                      : interior_span<Kind>(row, inside);
  fill_span(row, {0, inside.begin}, dst);
  if (interior.begin == interior.end) {
    scalar_span(row, inside, dst);
  } else {
    scalar_span(row, {inside.begin, interior.begin}, dst);
    if (rounded) {
      rounded_columns<Rounded>(row, interior, dst);
    } else {
      interior_columns<Kind>(row, interior, dst, scalar_span);
    }
    scalar_span(row, {interior.end, inside.end}, dst);
  }
  fill_span(row, {inside.end, row.width}, dst);
}

void affine_linear(const WarpRow& row, uint8_t* const* dst) {
  interpolated_row<Linear, RoundedLinear>(row, dst, affine_linear_span);
}

void affine_cubic(const WarpRow& row, uint8_t* const* dst) {
  interpolated_row<Cubic, RoundedCubic>(row, dst, affine_cubic_span);
}

}  // namespace

void fill_affine(Kernels* table) {
  table->affine_nearest = affine_nearest;
  table->affine_nearest_pixels = affine_nearest_pixels;
  table->affine_linear = affine_linear;
  table->affine_cubic = affine_cubic;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(affine)
