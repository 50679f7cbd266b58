// Affine maps, one output row at a time. A row is cut into spans: outside the source (fill), near its border (the
// scalar bodies), and the interior, where no tap leaves the source and no read leaves its samples.
//
// Linear and cubic interiors are computed in float32, within a proven distance of Pillow's double arithmetic. Pillow
// truncates, so only a result that close to an integer can differ; those pixels are redone by the scalar body.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/affine.cc"
#include "simd/targets.h"
// clang-format off: after targets.h, in this order
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include <cstring>

#include "simd/affine_row.h"
#include "simd/table.h"

#if FASTAUG_SIMD_TARGET
#include "simd/affine_mix-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Ints = hn::ScalableTag<int32_t>;

// Columns of the span, at least a block of them. A block past the end is moved back instead, so that every offset is
// one of an interior pixel.
template <bool kInterleaved>
void nearest_interior(const AffineRow& row, const FixedRow& f, Span span, uint8_t* const* dst) {
  const Ints d;
  const hn::ScalableTag<uint8_t> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kMost = hn::MaxLanes(bytes);
  const int block = 4 * lanes;
  const View& v = row.source;
  const auto row_stride = hn::Set(d, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(d, static_cast<int32_t>(v.pixel_stride));
  const auto step_x = static_cast<int32_t>(f.step_x);
  const auto step_y = static_cast<int32_t>(f.step_y);
  const auto lane_x = hn::Mul(hn::Iota(d, 0), hn::Set(d, step_x));
  const auto lane_y = hn::Mul(hn::Iota(d, 0), hn::Set(d, step_y));
  const auto leap_x = hn::Set(d, step_x * lanes);
  const auto leap_y = hn::Set(d, step_y * lanes);
  alignas(64) int32_t offsets[kMost];
  alignas(64) int32_t pixels[kMost];
  for (int next = span.begin; next < span.end; next += block) {
    const int column = std::min(next, span.end - block);
    auto x = hn::Add(lane_x, hn::Set(d, static_cast<int32_t>(f.x + f.step_x * column)));
    auto y = hn::Add(lane_y, hn::Set(d, static_cast<int32_t>(f.y + f.step_y * column)));
    for (int k = 0; k < 4; ++k) {
      const auto offset =
          hn::Add(hn::Mul(hn::ShiftRight<16>(y), row_stride), hn::Mul(hn::ShiftRight<16>(x), pixel_stride));
      if constexpr (kInterleaved) {
        hn::Store(hn::GatherOffset(d, reinterpret_cast<const int32_t*>(v.data), offset), d, pixels + k * lanes);
      } else {
        hn::Store(offset, d, offsets + k * lanes);
      }
      x = hn::Add(x, leap_x);
      y = hn::Add(y, leap_y);
    }
    if constexpr (kInterleaved) {
      hn::Vec<decltype(bytes)> v0, v1, v2, v3;
      hn::LoadInterleaved4(bytes, reinterpret_cast<const uint8_t*>(pixels), v0, v1, v2, v3);
      hn::StoreU(v0, bytes, dst[0] + column);
      if (v.channels > 1) hn::StoreU(v1, bytes, dst[1] + column);
      if (v.channels > 2) hn::StoreU(v2, bytes, dst[2] + column);
      if (v.channels > 3) hn::StoreU(v3, bytes, dst[3] + column);
    } else {
      for (int k = 0; k < block; ++k) dst[0][column + k] = v.data[offsets[k]];
    }
  }
}

void fixed_row(const AffineRow& row, const FixedRow& f, uint8_t* const* dst) {
  const View& v = row.source;
  const Span all = {0, row.width};
  Span inside = clip_span(all, f.x, f.step_x, int64_t{0}, (int64_t{v.width} << 16) - 1);
  inside = clip_span(inside, f.y, f.step_y, int64_t{0}, (int64_t{v.height} << 16) - 1);
  // A pixel is read as four bytes, which must not reach past the row's last sample.
  const int safe_width = v.pixel_stride == 1 || v.channels == 4 ? v.width : v.width - 1;
  const Span interior = clip_span(inside, f.x, f.step_x, int64_t{0}, (int64_t{safe_width} << 16) - 1);
  fill_span(row, {0, inside.begin}, dst);
  if (interior.end - interior.begin < static_cast<int>(hn::Lanes(hn::ScalableTag<uint8_t>()))) {
    affine_nearest_span(row, inside, dst);
  } else {
    affine_nearest_span(row, {inside.begin, interior.begin}, dst);
    if (v.pixel_stride == 1) {
      nearest_interior<false>(row, f, interior, dst);
    } else {
      nearest_interior<true>(row, f, interior, dst);
    }
    affine_nearest_span(row, {interior.end, inside.end}, dst);
  }
  fill_span(row, {inside.end, row.width}, dst);
}

void affine_nearest(const AffineRow& row, uint8_t* const* dst) {
  FixedRow fixed;
  if (offsets_fit(row.source) && walks_fixed(row, false, &fixed)) return fixed_row(row, fixed, dst);
  affine_nearest_span(row, {0, row.width}, dst);
}

template <class Kind>
void interpolated_row(const AffineRow& row, uint8_t* const* dst,
                      void (*scalar_span)(const AffineRow&, Span, uint8_t* const*)) {
  const Span all = {0, row.width};
  FixedRow fixed;
  if (!offsets_fit(row.source)) return scalar_span(row, all, dst);
  if (walks_fixed(row, true, &fixed)) return fixed_row(row, fixed, dst);
  const Span inside = inside_span(row);
  const Span interior = interior_span<Kind>(row, inside);
  fill_span(row, {0, inside.begin}, dst);
  if (interior.begin == interior.end) {
    scalar_span(row, inside, dst);
  } else {
    scalar_span(row, {inside.begin, interior.begin}, dst);
    interior_columns<Kind>(row, interior, dst, scalar_span);
    scalar_span(row, {interior.end, inside.end}, dst);
  }
  fill_span(row, {inside.end, row.width}, dst);
}

void affine_linear(const AffineRow& row, uint8_t* const* dst) {
  interpolated_row<Linear>(row, dst, affine_linear_span);
}

void affine_cubic(const AffineRow& row, uint8_t* const* dst) { interpolated_row<Cubic>(row, dst, affine_cubic_span); }

}  // namespace

void fill_affine(Kernels* table) {
  table->affine_nearest = affine_nearest;
  table->affine_linear = affine_linear;
  table->affine_cubic = affine_cubic;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fastaug {

void set_affine(Isa isa, Kernels* table) {
  switch (isa) {
    case Isa::kScalar:
      return scalar::fill_affine(table);
      FASTAUG_SIMD_CASES(fill_affine, table)
    default:
      return;
  }
}

}  // namespace fastaug
#endif  // HWY_ONCE
