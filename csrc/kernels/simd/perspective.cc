// Perspective maps, one output row at a time, in chunks. Every position is computed as Pillow computes it, in double
// and with its roundings, so that what is outside, at the border or inside is known exactly. The inside of a chunk is
// done in vectors as if the whole chunk were there; the rest is then written over it.
#define HWY_TARGET_INCLUDE "kernels/simd/perspective.cc"

#include "kernels/simd/family-inl.h"
#include "kernels/warp_row.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/warp_fetch-inl.h"
#include "kernels/simd/warp_mix-inl.h"
#include "kernels/simd/warp_round-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Doubles = hn::ScalableTag<double>;
using DoubleV = hn::Vec<Doubles>;
using DoubleMask = hn::Mask<Doubles>;

struct PositionV {
  DoubleV x;
  DoubleV y;
};

// perspective_at for a vector of neighbouring columns of one row: the same operations in the same order.
class Map {
 public:
  explicit Map(const WarpRow& row) {
    const double* m = row.matrix;
    const double in_y = row.y + 0.5;
    for (int k = 0; k < 3; ++k) {
      const int base = 3 * k;
      across_[k] = hn::Set(Doubles(), m[base]);
      down_[k] = hn::Set(Doubles(), m[base + 1] * in_y);
      start_[k] = hn::Set(Doubles(), k == 2 ? 1.0 : m[base + 2]);
    }
  }
  HWY_INLINE PositionV at(DoubleV in_x) const {
    const auto term = [&](int k) HWY_ATTR { return hn::Add(hn::Add(hn::Mul(across_[k], in_x), down_[k]), start_[k]); };
    const DoubleV below = term(2);
    return {hn::Div(term(0), below), hn::Div(term(1), below)};
  }
  // With one division: what is not sure to be inside is not to be told by it.
  HWY_INLINE PositionV near(DoubleV in_x) const {
    const auto term = [&](int k) HWY_ATTR { return hn::MulAdd(across_[k], in_x, hn::Add(down_[k], start_[k])); };
    const DoubleV scale = hn::Div(hn::Set(Doubles(), 1.0), term(2));
    return {hn::Mul(term(0), scale), hn::Mul(term(1), scale)};
  }

 private:
  DoubleV across_[3];
  DoubleV down_[3];
  DoubleV start_[3];
};

// Bounds of the positions in a rectangle of the source: low <= position < high.
struct Box {
  double low_x, high_x, low_y, high_y;

  bool empty() const { return !(low_x < high_x && low_y < high_y); }
  HWY_INLINE DoubleMask holds(PositionV p) const {
    const Doubles d;
    return hn::And(hn::And(hn::Ge(p.x, hn::Set(d, low_x)), hn::Lt(p.x, hn::Set(d, high_x))),
                   hn::And(hn::Ge(p.y, hn::Set(d, low_y)), hn::Lt(p.y, hn::Set(d, high_y))));
  }
};

// Tells without looking at every column whether a chunk lies in a box. Where the denominator keeps its sign positions
// are monotone, so the ends of the chunk tell, but for rounding. Terms are rounded by 2^-51 of their sum at most, and
// the denominator is asked not to be small beside its terms, nor beside those of the numerators: that moves a position
// by less than 2^-45 of itself and 2^-21 more.
class Sure {
 public:
  explicit Sure(const WarpRow& row) : row_(row) {
    const double* m = row.matrix;
    const double x = row.x + row.width;
    const double y = row.y + 1;
    const auto terms = [&](int k) { return std::fabs(m[k]) * x + std::fabs(m[k + 1]) * y; };
    const double below = terms(6) + 1.0;
    const double above = std::max(terms(0) + std::fabs(m[2]), terms(3) + std::fabs(m[5]));
    least_ = std::max(below * 0x1p-6, above * 0x1p-30);
  }

  // True if the box holds the positions of columns [begin, end) of the row, after `shift` is taken off them.
  bool holds(const Box& box, double shift, int begin, int end) const {
    const auto below = [&](int x) {
      return row_.matrix[6] * (row_.x + x + 0.5) + row_.matrix[7] * (row_.y + 0.5) + 1.0;
    };
    const double first = below(begin);
    const double last = below(end - 1);
    const bool one_sign = (first > least_ && last > least_) || (first < -least_ && last < -least_);
    return one_sign && holds_end(box, shift, begin) && holds_end(box, shift, end - 1);
  }

 private:
  static constexpr double kMargin = 1e-3;

  bool holds_end(const Box& box, double shift, int x) const {
    const Position at = perspective_at(row_.matrix, row_.x + x, row_.y);
    return at.x - shift >= box.low_x + kMargin && at.x - shift < box.high_x - kMargin &&
           at.y - shift >= box.low_y + kMargin && at.y - shift < box.high_y - kMargin;
  }

  const WarpRow& row_;
  double least_;
};

HWY_INLINE uint64_t bits_of(DoubleMask mask, int shift) {
  uint8_t bits[8] = {};
  hn::StoreMaskBits(Doubles(), mask, bits);
  return static_cast<uint64_t>(bits[0]) << shift;
}

HWY_INLINE PositionV choose(DoubleMask mask, PositionV yes, double x, double y) {
  const Doubles d;
  return {hn::IfThenElse(mask, yes.x, hn::Set(d, x)), hn::IfThenElse(mask, yes.y, hn::Set(d, y))};
}

// Which of a chunk's columns have a position in the source, and which can be read in vectors. `lost` columns have
// neither bit, and are for the scalar body.
struct Columns {
  uint64_t inside = 0;
  uint64_t interior = 0;
  uint64_t lost = 0;
};

// Writes fill, or the scalar body's pixels, where the vectors did not go.
HWY_INLINE void complete(const WarpRow& row, int begin, uint64_t all, const Columns& is, uint8_t* const* dst,
                         SpanBody scalar_span) {
  if (HWY_LIKELY(is.interior == all)) return;
  const uint64_t scalar = (is.inside & ~is.interior) | is.lost;
  for_runs(scalar, [&](int from, int to) { scalar_span(row, {begin + from, begin + to}, dst); });
  for_runs(all & ~is.interior & ~scalar, [&](int from, int to) { fill_span(row, {begin + from, begin + to}, dst); });
}

// With kSure every column is interior: the chunk was found to be in the safe box.
template <bool kSure>
HWY_INLINE Columns locate_nearest(const Map& map, const View& v, const Box& box, const Box& safe, int column, int count,
                                  int32_t* offset) {
  const Doubles dd;
  const hn::Rebind<int32_t, Doubles> di;
  const auto lanes = static_cast<int>(hn::Lanes(dd));
  const auto row_stride = hn::Set(di, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(di, static_cast<int32_t>(v.pixel_stride));
  Columns is;
  for (int k = 0; k < count; k += lanes) {
    PositionV q = map.at(hn::Iota(dd, column + k + 0.5));
    if constexpr (!kSure) {
      const auto interior = safe.holds(q);
      is.inside |= bits_of(box.holds(q), k);
      is.interior |= bits_of(interior, k);
      q = choose(interior, q, 0.0, 0.0);
    }
    const auto ix = hn::DemoteTo(di, q.x);
    const auto iy = hn::DemoteTo(di, q.y);
    hn::StoreU(hn::Add(hn::Mul(iy, row_stride), hn::Mul(ix, pixel_stride)), di, offset + k);
  }
  return is;
}

void perspective_nearest(const WarpRow& row, uint8_t* const* dst) {
  const View& v = row.source;
  const Box box = {0.0, static_cast<double>(v.width), 0.0, static_cast<double>(v.height)};
  Box safe = box;
  safe.high_x -= pixels_after(v, 1);
  if (safe.empty() || !offsets_fit(v)) return perspective_nearest_span(row, {0, row.width}, dst);
  const Map map(row);
  const Sure sure(row);
  alignas(64) int32_t offset[kFetch];
  for (int begin = 0; begin < row.width; begin += kFetch) {
    const int count = std::min(kFetch, row.width - begin);
    if (sure.holds(safe, 0.0, begin, begin + count)) {
      locate_nearest<true>(map, v, box, safe, row.x + begin, count, offset);
      fetch_pixels(v, offset, count, dst, begin);
      continue;
    }
    const uint64_t all = low_bits(count);
    Columns is = locate_nearest<false>(map, v, box, safe, row.x + begin, count, offset);
    is.inside &= all;
    is.interior &= all;
    if (is.interior != 0) {
      redirect(is.interior, count, offset);
      fetch_pixels(v, offset, count, dst, begin);
    }
    complete(row, begin, all, is, dst, perspective_nearest_span);
  }
}

// Positions in `safe` are those whose taps, and bytes read with them, are samples of the source.
template <bool kSure>
HWY_INLINE Columns locate_mixed(const Map& map, const View& v, const Box& box, const Box& safe, int column, int count,
                                Positions* out) {
  const Doubles dd;
  const hn::Rebind<int32_t, Doubles> di;
  const hn::Rebind<float, Doubles> df;
  const auto lanes = static_cast<int>(hn::Lanes(dd));
  const auto row_stride = hn::Set(di, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(di, static_cast<int32_t>(v.pixel_stride));
  const auto half = hn::Set(dd, 0.5);
  auto low = hn::Set(df, 0.5f);
  auto high = hn::Set(df, 0.5f);
  Columns is;
  for (int k = 0; k < count; k += lanes) {
    const PositionV p = map.at(hn::Iota(dd, column + k + 0.5));
    PositionV q = {hn::Sub(p.x, half), hn::Sub(p.y, half)};
    if constexpr (!kSure) {
      const auto interior = safe.holds(q);
      is.inside |= bits_of(box.holds(p), k);
      is.lost |= bits_of(hn::Or(hn::IsNaN(p.x), hn::IsNaN(p.y)), k);
      is.interior |= bits_of(interior, k);
      q = choose(interior, q, safe.low_x, safe.low_y);
    }
    // Not negative: truncation is floor.
    const auto ix = hn::DemoteTo(di, q.x);
    const auto iy = hn::DemoteTo(di, q.y);
    const auto dx = hn::DemoteTo(df, hn::Sub(q.x, hn::PromoteTo(dd, ix)));
    const auto dy = hn::DemoteTo(df, hn::Sub(q.y, hn::PromoteTo(dd, iy)));
    low = hn::Min(low, hn::Min(dx, dy));
    high = hn::Max(high, hn::Max(dx, dy));
    hn::StoreU(dx, df, out->dx + k);
    hn::StoreU(dy, df, out->dy + k);
    hn::StoreU(hn::Add(hn::Mul(iy, row_stride), hn::Mul(ix, pixel_stride)), di, out->offset + k);
  }
  out->on_edge = !hn::AllFalse(df, hn::Or(hn::Lt(low, hn::Set(df, kEdge)), hn::Gt(high, hn::Set(df, 1.0f - kEdge))));
  return is;
}

// The same for rounded rows, which do not mind roundings of a position, but for its side of a border.
template <bool kSure>
HWY_INLINE Columns locate_mixed(const Map& map, const View& v, const Box& box, const Box& safe, int column, int count,
                                RoundedPositions* out) {
  const Doubles dd;
  const hn::Rebind<int32_t, Doubles> di;
  const auto lanes = static_cast<int>(hn::Lanes(dd));
  const auto row_stride = hn::Set(di, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(di, static_cast<int32_t>(v.pixel_stride));
  const auto half = hn::Set(dd, 0.5);
  Columns is;
  for (int k = 0; k < count; k += lanes) {
    const auto in_x = hn::Iota(dd, column + k + 0.5);
    const PositionV p = kSure ? map.near(in_x) : map.at(in_x);
    PositionV q = {hn::Sub(p.x, half), hn::Sub(p.y, half)};
    if constexpr (!kSure) {
      const auto interior = safe.holds(q);
      is.inside |= bits_of(box.holds(p), k);
      is.lost |= bits_of(hn::Or(hn::IsNaN(p.x), hn::IsNaN(p.y)), k);
      is.interior |= bits_of(interior, k);
      q = choose(interior, q, safe.low_x, safe.low_y);
    }
    const auto ix = hn::DemoteTo(di, q.x);
    const auto iy = hn::DemoteTo(di, q.y);
    const auto fraction = [&](DoubleV position, auto whole) HWY_ATTR {
      const auto rest = hn::Sub(position, hn::PromoteTo(dd, whole));
      return hn::DemoteTo(di, hn::MulAdd(rest, hn::Set(dd, static_cast<double>(kOne)), half));
    };
    hn::StoreU(fraction(q.x, ix), di, out->dx + k);
    hn::StoreU(fraction(q.y, iy), di, out->dy + k);
    hn::StoreU(hn::Add(hn::Mul(iy, row_stride), hn::Mul(ix, pixel_stride)), di, out->offset + k);
  }
  return is;
}

template <class Kind, int kStride>
HWY_INLINE void mix_columns(const WarpRow& row, int begin, int from, int to, Kind* kind, uint8_t* const* dst,
                            SpanBody scalar_span, Positions* at) {
  kind->prepare(*at);
  mix_chunk<Kind, kStride>(row, begin, from, to, *kind, dst, scalar_span, at);
}
template <class Kind, int kStride>
HWY_INLINE void mix_columns(const WarpRow& row, int begin, int from, int to, Kind* kind, uint8_t* const* dst, SpanBody,
                            RoundedPositions* at) {
  kind->prepare(*at);
  mix_rounded<Kind, kStride>(row, begin, from, to, *kind, dst, at);
}

template <class Kind, class At, int kStride>
void mixed_row(const WarpRow& row, uint8_t* const* dst, SpanBody scalar_span) {
  const View& v = row.source;
  const Box box = {0.0, static_cast<double>(v.width), 0.0, static_cast<double>(v.height)};
  const Box safe = {static_cast<double>(Kind::kBefore),
                    static_cast<double>(v.width - pixels_after(v, Kind::kRead) - Kind::kAfter),
                    static_cast<double>(Kind::kBefore), static_cast<double>(v.height - Kind::kAfter)};
  if (safe.empty() || !offsets_fit(v)) return scalar_span(row, {0, row.width}, dst);
  const Map map(row);
  const Sure sure(row);
  At at;
  Kind kind;
  for (int begin = 0; begin < row.width; begin += kChunk) {
    const int count = std::min(kChunk, row.width - begin);
    if (sure.holds(safe, 0.5, begin, begin + count)) {
      locate_mixed<true>(map, v, box, safe, row.x + begin, count, &at);
      mix_columns<Kind, kStride>(row, begin, 0, count, &kind, dst, scalar_span, &at);
      continue;
    }
    const uint64_t all = low_bits(count);
    Columns is = locate_mixed<false>(map, v, box, safe, row.x + begin, count, &at);
    is.inside &= all;
    is.interior &= all;
    is.lost &= all;
    if (is.interior != 0) {
      redirect(is.interior, count, at.offset);
      const int from = std::countr_zero(is.interior) & -kStep;
      const int to = 64 - std::countl_zero(is.interior);
      mix_columns<Kind, kStride>(row, begin, from, to, &kind, dst, scalar_span, &at);
    }
    complete(row, begin, all, is, dst, scalar_span);
  }
}

template <class Kind, class At>
void mixed_row_of(const WarpRow& row, uint8_t* const* dst, SpanBody scalar_span) {
  switch (row.source.pixel_stride) {
    case 3:
      return mixed_row<Kind, At, 3>(row, dst, scalar_span);
    case 4:
      return mixed_row<Kind, At, 4>(row, dst, scalar_span);
    default:
      return mixed_row<Kind, At, 1>(row, dst, scalar_span);
  }
}

void perspective_linear(const WarpRow& row, uint8_t* const* dst) {
  if (row.rounded) return mixed_row_of<RoundedLinear, RoundedPositions>(row, dst, perspective_linear_span);
  mixed_row_of<Linear, Positions>(row, dst, perspective_linear_span);
}

void perspective_cubic(const WarpRow& row, uint8_t* const* dst) {
  if (row.rounded) return mixed_row_of<RoundedCubic, RoundedPositions>(row, dst, perspective_cubic_span);
  mixed_row_of<Cubic, Positions>(row, dst, perspective_cubic_span);
}

}  // namespace

void fill_perspective(Kernels* table) {
  table->perspective_nearest = perspective_nearest;
  table->perspective_linear = perspective_linear;
  table->perspective_cubic = perspective_cubic;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(perspective)
