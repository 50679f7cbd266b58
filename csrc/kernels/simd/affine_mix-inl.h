// The interiors of linear and cubic affine rows, once per instruction set. Included by affine.cc only.
#if defined(FASTAUG_SIMD_AFFINE_MIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_AFFINE_MIX_INL_H_
#undef FASTAUG_SIMD_AFFINE_MIX_INL_H_
#else
#define FASTAUG_SIMD_AFFINE_MIX_INL_H_
#endif

#include "kernels/simd/warp_mix-inl.h"
#include "kernels/simd/warp_round-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

// Positions in the interior are positive, so truncation is floor. Within a chunk a position is off by no more than the
// rounding of a few double operations.
HWY_INLINE void locate(const View& v, Position first, const double* m, int count, Positions* out) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<int32_t, decltype(dd)> di;
  const hn::Rebind<float, decltype(dd)> df;
  const auto lanes = static_cast<int>(hn::Lanes(dd));
  const auto row_stride = hn::Set(di, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(di, static_cast<int32_t>(v.pixel_stride));
  const auto step_x = hn::Set(dd, m[0]);
  const auto step_y = hn::Set(dd, m[3]);
  const auto start_x = hn::Set(dd, first.x);
  const auto start_y = hn::Set(dd, first.y);
  const auto leap = hn::Set(dd, static_cast<double>(lanes));
  auto column = hn::Iota(dd, 0.0);
  auto low_x = hn::Set(df, 0.5f);
  auto high_x = low_x;
  auto low_y = low_x;
  auto high_y = low_x;
  for (int k = 0; k < count; k += lanes) {
    const auto x = hn::MulAdd(column, step_x, start_x);
    const auto y = hn::MulAdd(column, step_y, start_y);
    column = hn::Add(column, leap);
    const auto ix = hn::DemoteTo(di, x);
    const auto iy = hn::DemoteTo(di, y);
    const auto dx = hn::DemoteTo(df, hn::Sub(x, hn::PromoteTo(dd, ix)));
    const auto dy = hn::DemoteTo(df, hn::Sub(y, hn::PromoteTo(dd, iy)));
    low_x = hn::Min(low_x, dx);
    high_x = hn::Max(high_x, dx);
    low_y = hn::Min(low_y, dy);
    high_y = hn::Max(high_y, dy);
    hn::StoreU(dx, df, out->dx + k);
    hn::StoreU(dy, df, out->dy + k);
    hn::StoreU(hn::Add(hn::Mul(iy, row_stride), hn::Mul(ix, pixel_stride)), di, out->offset + k);
  }
  const auto on_edge = [&](auto low, auto high) HWY_ATTR {
    return !hn::AllFalse(df, hn::Or(hn::Lt(low, hn::Set(df, kEdge)), hn::Gt(high, hn::Set(df, 1.0f - kEdge))));
  };
  out->on_edge = (!out->whole_x && on_edge(low_x, high_x)) || (!out->whole_y && on_edge(low_y, high_y));
}

// Positions along one axis in fixed point, of columns around the middle of a chunk. What kBits bits leave of them is
// added to their fractions, which are thus as precise as locate()'s.
class FixedAxis {
 public:
  static constexpr int kBits = 24;
  // Half a chunk goes less than 2^7 pixels far.
  static constexpr double kMostStep = 1.98;

  HWY_INLINE explicit FixedAxis(double step) {
    const auto lanes = static_cast<int>(hn::Lanes(d_));
    const auto fixed = static_cast<int32_t>(step * kPoint);
    const auto rest = static_cast<float>(step - fixed / kPoint);
    const auto columns = hn::Add(hn::Iota(d_, 0), hn::Set(d_, -kChunk / 2));
    first_ = hn::Mul(columns, hn::Set(d_, fixed));
    first_rest_ = hn::Mul(hn::ConvertTo(df_, columns), hn::Set(df_, rest));
    leap_ = hn::Set(d_, fixed * lanes);
    rest_leap_ = hn::Set(df_, rest * static_cast<float>(lanes));
  }

  // The first columns of the chunk whose middle is at `position`. Returns the pixel that whole() counts from.
  HWY_INLINE int32_t start(double position) {
    const auto fixed = static_cast<int64_t>(position * kPoint);
    const auto rest = static_cast<float>(position - static_cast<double>(fixed) / kPoint);
    at_ = hn::Add(first_, hn::Set(d_, static_cast<int32_t>(fixed & kMask)));
    rest_ = hn::Add(first_rest_, hn::Set(df_, rest));
    return static_cast<int32_t>(fixed >> kBits);
  }
  HWY_INLINE auto whole() const { return hn::ShiftRight<kBits>(at_); }
  HWY_INLINE auto fraction() const {
    return hn::MulAdd(hn::ConvertTo(df_, hn::And(at_, hn::Set(d_, kMask))),
                      hn::Set(df_, static_cast<float>(1 / kPoint)), rest_);
  }
  HWY_INLINE void advance() {
    at_ = hn::Add(at_, leap_);
    rest_ = hn::Add(rest_, rest_leap_);
  }

 private:
  static constexpr int32_t kMask = (1 << kBits) - 1;
  static constexpr double kPoint = 1 << kBits;

  const hn::ScalableTag<int32_t> d_;
  const hn::ScalableTag<float> df_;
  hn::Vec<hn::ScalableTag<int32_t>> at_, first_, leap_;
  hn::Vec<hn::ScalableTag<float>> rest_, first_rest_, rest_leap_;
};

// The same for both axes. False where a position is so close to an edge of its pixel that only locate() can decide.
HWY_INLINE bool locate_fixed(const View& v, Position middle, int count, FixedAxis* across, FixedAxis* down,
                             Positions* out) {
  const hn::ScalableTag<float> df;
  const hn::ScalableTag<int32_t> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const ptrdiff_t left = across->start(middle.x) * v.pixel_stride;
  const auto corner = hn::Set(d, static_cast<int32_t>(left + down->start(middle.y) * v.row_stride));
  const auto row_stride = hn::Set(d, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(d, static_cast<int32_t>(v.pixel_stride));
  auto low = hn::Set(df, 0.5f);
  auto high = low;
  for (int k = 0; k < count; k += lanes) {
    const auto dx = across->fraction();
    const auto dy = down->fraction();
    const auto offset = hn::Add(hn::Mul(down->whole(), row_stride), hn::Mul(across->whole(), pixel_stride));
    low = hn::Min(low, hn::Min(dx, dy));
    high = hn::Max(high, hn::Max(dx, dy));
    hn::Store(dx, df, out->dx + k);
    hn::Store(dy, df, out->dy + k);
    hn::Store(hn::Add(offset, corner), d, out->offset + k);
    across->advance();
    down->advance();
  }
  out->on_edge = false;
  return hn::AllFalse(df, hn::Or(hn::Lt(low, hn::Set(df, kEdge)), hn::Gt(high, hn::Set(df, 1.0f - kEdge))));
}

// True when a row's positions on one axis, of which `start` is one, are all centres of pixels. No term of Pillow's sums
// has a bit that they could round, so that this is true of each of them if it is of one.
inline bool whole_axis(double by_column, double by_row, double offset, double start) {
  const auto whole = [](double v) { return std::floor(v) == v; };
  const auto exact = [&](double v) { return std::fabs(v) < 0x1p24 && whole(v * 0x1p20); };
  return whole(by_column) && exact(by_column) && exact(by_row) && exact(offset) && whole(start - 0.5);
}

constexpr double kMargin = 1e-3;

// Columns whose position lies in the source; the scalar bodies would fill the others. Exact, for it asks their formula
// at the ends.
inline Span inside_span(const WarpRow& row) {
  const double* m = row.matrix;
  const WarpSource s = warp_source(row);
  const auto position_x = [&](int x) { return affine_x(m, row.x + x, row.y); };
  const auto position_y = [&](int x) { return affine_y(m, row.x + x, row.y); };
  const auto inside = [&](int x) { return warp_inside(s, position_x(x), position_y(x)); };
  Span span = {0, row.width};
  if (moderate(row)) {
    span = clip_span(span, position_x(0), m[0], -kMargin, s.width + kMargin);
    span = clip_span(span, position_y(0), m[3], -kMargin, s.height + kMargin);
  }
  while (span.begin < span.end && !inside(span.begin)) ++span.begin;
  while (span.begin < span.end && !inside(span.end - 1)) --span.end;
  return span;
}

// Columns all of whose taps, and bytes read with them, are samples of the source.
template <class Kind>
Span interior_span(const WarpRow& row, Span inside) {
  if (!moderate(row)) return {inside.begin, inside.begin};
  const View& v = row.source;
  const double* m = row.matrix;
  const int unread = pixels_after(v, Kind::kRead);
  const double x = affine_x(m, row.x, row.y) - 0.5;
  const double y = affine_y(m, row.x, row.y) - 0.5;
  const Span span = clip_span(inside, x, m[0], Kind::kBefore + kMargin, v.width - unread - Kind::kAfter - kMargin);
  return clip_span(span, y, m[3], Kind::kBefore + kMargin, v.height - Kind::kAfter - kMargin);
}

template <class Kind, int kStride>
void interior_pixels(const WarpRow& row, Span span, uint8_t* const* dst, SpanBody scalar_span) {
  Positions at;
  Kind kind;
  const View& v = row.source;
  const double* m = row.matrix;
  const double down = row.y + 0.5;
  at.whole_x = whole_axis(m[0], m[1] * down, m[2], affine_x(m, row.x, row.y));
  at.whole_y = whole_axis(m[3], m[4] * down, m[5], affine_y(m, row.x, row.y));
  const bool fixed =
      !at.whole_x && !at.whole_y && std::fabs(m[0]) < FixedAxis::kMostStep && std::fabs(m[3]) < FixedAxis::kMostStep;
  FixedAxis across(fixed ? m[0] : 0.0);
  FixedAxis down_axis(fixed ? m[3] : 0.0);
  const auto position = [&](int x) -> Position {
    return {affine_x(m, row.x + x, row.y) - 0.5, affine_y(m, row.x + x, row.y) - 0.5};
  };
  for (int begin = span.begin; begin < span.end; begin += kChunk) {
    const int count = std::min(kChunk, span.end - begin);
    if (!fixed || !locate_fixed(v, position(begin + kChunk / 2), count, &across, &down_axis, &at)) {
      locate(v, position(begin), m, count, &at);
    }
    kind.prepare(at);
    if (at.whole_y) {
      mix_chunk<Kind, kStride, Axes::kAcross>(row, begin, 0, count, kind, dst, scalar_span, &at);
    } else if (at.whole_x) {
      mix_chunk<Kind, kStride, Axes::kDown>(row, begin, 0, count, kind, dst, scalar_span, &at);
    } else {
      mix_chunk<Kind, kStride>(row, begin, 0, count, kind, dst, scalar_span, &at);
    }
  }
}

// The positions of FixedWalk, from one of its columns on.
HWY_INLINE void locate_rounded(const View& v, const FixedWalk& walk, int column, int count, RoundedPositions* out) {
  const RoundInts d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kCut = kWalkBits - kFractionBits;
  const auto corner = static_cast<int32_t>(static_cast<ptrdiff_t>(walk.whole_y) * v.row_stride +
                                           static_cast<ptrdiff_t>(walk.whole_x) * v.pixel_stride);
  const auto row_stride = hn::Set(d, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(d, static_cast<int32_t>(v.pixel_stride));
  const auto base = hn::Set(d, corner);
  const auto mask = hn::Set(d, kFractionOne - 1);
  const auto leap_x = hn::Set(d, walk.step_x * lanes);
  const auto leap_y = hn::Set(d, walk.step_y * lanes);
  // Lanes counted from a number that is not known yet would go through memory one by one.
  const auto columns = hn::Add(hn::Iota(d, 0), hn::Set(d, column));
  auto x = hn::Add(hn::Mul(columns, hn::Set(d, walk.step_x)), hn::Set(d, walk.x));
  auto y = hn::Add(hn::Mul(columns, hn::Set(d, walk.step_y)), hn::Set(d, walk.y));
  for (int k = 0; k < count; k += lanes) {
    const auto down = hn::Mul(hn::ShiftRight<kWalkBits>(y), row_stride);
    const auto across = hn::Mul(hn::ShiftRight<kWalkBits>(x), pixel_stride);
    hn::Store(hn::Add(hn::Add(down, across), base), d, out->offset + k);
    hn::Store(hn::And(hn::ShiftRight<kCut>(x), mask), d, out->dx + k);
    hn::Store(hn::And(hn::ShiftRight<kCut>(y), mask), d, out->dy + k);
    x = hn::Add(x, leap_x);
    y = hn::Add(y, leap_y);
  }
}

template <class Kind, int kStride>
void rounded_pixels(const WarpRow& row, Span span, uint8_t* const* dst) {
  static_assert(kWalk == kChunk);
  RoundedPositions at;
  Kind kind;
  for (int begin = span.begin; begin < span.end;) {
    const int start = (row.x + begin) & -kWalk;
    const int end = std::min(start + kWalk - row.x, span.end);
    locate_rounded(row.source, fixed_walk(row.matrix, start, row.y), row.x + begin - start, end - begin, &at);
    kind.prepare(at);
    mix_rounded<Kind, kStride>(row, begin, 0, end - begin, kind, dst, &at);
    begin = end;
  }
}

template <class Kind>
void rounded_columns(const WarpRow& row, Span span, uint8_t* const* dst) {
  switch (row.source.pixel_stride) {
    case 3:
      return rounded_pixels<Kind, 3>(row, span, dst);
    case 4:
      return rounded_pixels<Kind, 4>(row, span, dst);
    default:
      return rounded_pixels<Kind, 1>(row, span, dst);
  }
}

template <class Kind>
void interior_columns(const WarpRow& row, Span span, uint8_t* const* dst, SpanBody scalar_span) {
  switch (row.source.pixel_stride) {
    case 3:
      return interior_pixels<Kind, 3>(row, span, dst, scalar_span);
    case 4:
      return interior_pixels<Kind, 4>(row, span, dst, scalar_span);
    default:
      return interior_pixels<Kind, 1>(row, span, dst, scalar_span);
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
