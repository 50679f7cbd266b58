// Affine maps, one output row at a time. A row is cut into spans: outside the source (fill), near its border (the scalar
// bodies), and the interior, where no tap leaves the source and no read leaves its samples.
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

// Byte offsets of source pixels for `count` columns from `begin` on; writes up to a vector more.
HWY_INLINE void fixed_offsets(const View& v, const FixedRow& f, int begin, int count, int32_t* offsets) {
  const Ints d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto first = hn::Iota(d, begin);
  const auto step_x = hn::Set(d, static_cast<int32_t>(f.step_x));
  const auto step_y = hn::Set(d, static_cast<int32_t>(f.step_y));
  auto x = hn::Add(hn::Set(d, static_cast<int32_t>(f.x)), hn::Mul(first, step_x));
  auto y = hn::Add(hn::Set(d, static_cast<int32_t>(f.y)), hn::Mul(first, step_y));
  const auto leap = hn::Set(d, lanes);
  const auto leap_x = hn::Mul(step_x, leap);
  const auto leap_y = hn::Mul(step_y, leap);
  const auto row_stride = hn::Set(d, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(d, static_cast<int32_t>(v.pixel_stride));
  for (int k = 0; k < count; k += lanes) {
    const auto row = hn::Mul(hn::ShiftRight<16>(y), row_stride);
    hn::Store(hn::Add(row, hn::Mul(hn::ShiftRight<16>(x), pixel_stride)), d, offsets + k);
    x = hn::Add(x, leap_x);
    y = hn::Add(y, leap_y);
  }
}

void nearest_interior(const AffineRow& row, const FixedRow& f, Span span, uint8_t* const* dst) {
  alignas(64) int32_t offsets[kChunk];
  alignas(64) uint32_t pixels[kChunk];
  const uint8_t* data = row.source.data;
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (int begin = span.begin; begin < span.end; begin += kChunk) {
    const int count = std::min(kChunk, span.end - begin);
    fixed_offsets(row.source, f, begin, count, offsets);
    if (row.source.pixel_stride == 1) {
      for (int k = 0; k < count; ++k) dst[0][begin + k] = data[offsets[k]];
      continue;
    }
    for (int k = 0; k < count; ++k) pixels[k] = load32(data + offsets[k]);
    for (int k = 0; k < count; k += lanes) {
      hn::Vec<decltype(d)> v0, v1, v2, v3;
      hn::LoadInterleaved4(d, reinterpret_cast<const uint8_t*>(pixels + k), v0, v1, v2, v3);
      hn::StoreU(v0, d, dst[0] + begin + k);
      if (row.source.channels > 1) hn::StoreU(v1, d, dst[1] + begin + k);
      if (row.source.channels > 2) hn::StoreU(v2, d, dst[2] + begin + k);
      if (row.source.channels > 3) hn::StoreU(v3, d, dst[3] + begin + k);
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
  if (interior.begin == interior.end) {
    affine_nearest_span(row, inside, dst);
  } else {
    affine_nearest_span(row, {inside.begin, interior.begin}, dst);
    nearest_interior(row, f, interior, dst);
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
void interpolated_row(const AffineRow& row, uint8_t* const* dst, void (*scalar_span)(const AffineRow&, Span, uint8_t* const*)) {
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

void affine_linear(const AffineRow& row, uint8_t* const* dst) { interpolated_row<Linear>(row, dst, affine_linear_span); }

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
