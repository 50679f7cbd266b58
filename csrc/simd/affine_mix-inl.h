// The interiors of linear and cubic affine rows, once per instruction set. Included by affine.cc only.
//
// A pixel's channels lie side by side in a vector, as they do in the source: a load fetches two neighbouring pixels,
// all channels, and nothing needs to be gathered. Rows are mixed before columns.
#if defined(FASTAUG_SIMD_AFFINE_MIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_AFFINE_MIX_INL_H_
#undef FASTAUG_SIMD_AFFINE_MIX_INL_H_
#else
#define FASTAUG_SIMD_AFFINE_MIX_INL_H_
#endif

#include "hwy/highway.h"
#include "simd/affine_row.h"
#include "simd/lane-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Pixels whose positions are computed together, then fetched one by one.
constexpr int kChunk = 64;
// Pixels that are mixed together.
constexpr int kBlock = 8;

// Where the pixels of a chunk read: offset of the tap at (floor(x), floor(y)), and the fractions.
struct Positions {
  alignas(64) int32_t offset[kChunk];
  alignas(64) float dx[kChunk];
  alignas(64) float dy[kChunk];
  // A position so close to a source row or column that rounding may have put it on the other side.
  bool on_edge = false;
};
constexpr float kEdge = 1e-5f;

// Positions of the first column of a chunk, less half a pixel, and the steps per column.
struct Walk {
  double x;
  double y;
  double step_x;
  double step_y;
};

// Positions in the interior are positive, so truncation is floor. Within a chunk a position is off by no more than the
// rounding of a few double operations.
HWY_INLINE void locate(const View& v, const Walk& walk, int count, Positions* out) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<int32_t, decltype(dd)> di;
  const hn::Rebind<float, decltype(dd)> df;
  const auto lanes = static_cast<int>(hn::Lanes(dd));
  const auto row_stride = hn::Set(di, static_cast<int32_t>(v.row_stride));
  const auto pixel_stride = hn::Set(di, static_cast<int32_t>(v.pixel_stride));
  const auto step_x = hn::Set(dd, walk.step_x);
  const auto step_y = hn::Set(dd, walk.step_y);
  const auto start_x = hn::Set(dd, walk.x);
  const auto start_y = hn::Set(dd, walk.y);
  const auto leap = hn::Set(dd, static_cast<double>(lanes));
  auto column = hn::Iota(dd, 0.0);
  auto low = hn::Set(df, 0.5f);
  auto high = hn::Set(df, 0.5f);
  for (int k = 0; k < count; k += lanes) {
    const auto x = hn::MulAdd(column, step_x, start_x);
    const auto y = hn::MulAdd(column, step_y, start_y);
    column = hn::Add(column, leap);
    const auto ix = hn::DemoteTo(di, x);
    const auto iy = hn::DemoteTo(di, y);
    const auto dx = hn::DemoteTo(df, hn::Sub(x, hn::PromoteTo(dd, ix)));
    const auto dy = hn::DemoteTo(df, hn::Sub(y, hn::PromoteTo(dd, iy)));
    low = hn::Min(low, hn::Min(dx, dy));
    high = hn::Max(high, hn::Max(dx, dy));
    hn::StoreU(dx, df, out->dx + k);
    hn::StoreU(dy, df, out->dy + k);
    hn::StoreU(hn::Add(hn::Mul(iy, row_stride), hn::Mul(ix, pixel_stride)), di, out->offset + k);
  }
  out->on_edge = !hn::AllFalse(df, hn::Or(hn::Lt(low, hn::Set(df, kEdge)), hn::Gt(high, hn::Set(df, 1.0f - kEdge))));
}

// As many one-channel pixels as fit.
using SampleTag = hn::ScalableTag<float>;
using Samples = hn::Vec<SampleTag>;

// Four floats: the channels of one pixel.
using Pixel = hn::FixedTag<float, 4>;
using PixelV = hn::Vec<Pixel>;

#if HWY_MAX_BYTES >= 32
// Two neighbouring pixels of a source row.
using Pair = hn::FixedTag<float, 8>;
struct PairV {
  hn::Vec<Pair> v;
};

HWY_INLINE PairV load_pair(const uint8_t* p, int) {
  const hn::Rebind<uint8_t, Pair> bytes;
  const hn::Rebind<int32_t, Pair> ints;
  return {hn::ConvertTo(Pair(), hn::PromoteTo(ints, hn::LoadU(bytes, p)))};
}
HWY_INLINE PairV mix(PairV a, PairV b, float t) { return {hn::MulAdd(hn::Sub(b.v, a.v), hn::Set(Pair(), t), a.v)}; }
HWY_INLINE PairV add_difference(PairV sum, PairV v, PairV base, float weight) {
  return {hn::MulAdd(hn::Sub(v.v, base.v), hn::Set(Pair(), weight), sum.v)};
}
HWY_INLINE PixelV first(PairV p) { return hn::LowerHalf(Pixel(), p.v); }
template <int kStride>
HWY_INLINE PixelV second(PairV p) {
  if constexpr (kStride == 4) {
    return hn::UpperHalf(Pixel(), p.v);
  } else {
    alignas(32) static constexpr int32_t kMove[8] = {3, 4, 5, 6, 7, 7, 7, 7};
    return hn::LowerHalf(Pixel(), hn::TableLookupLanes(p.v, hn::SetTableIndices(Pair(), kMove)));
  }
}
#else
struct PairV {
  PixelV a;
  PixelV b;
};

HWY_INLINE PixelV load_pixel(const uint8_t* p) {
  const hn::Rebind<uint8_t, Pixel> bytes;
  const hn::Rebind<int32_t, Pixel> ints;
  return hn::ConvertTo(Pixel(), hn::PromoteTo(ints, hn::LoadU(bytes, p)));
}
HWY_INLINE PairV load_pair(const uint8_t* p, int stride) { return {load_pixel(p), load_pixel(p + stride)}; }
HWY_INLINE PixelV mix_pixels(PixelV a, PixelV b, PixelV t) { return hn::MulAdd(hn::Sub(b, a), t, a); }
HWY_INLINE PairV mix(PairV a, PairV b, float t) {
  const auto weight = hn::Set(Pixel(), t);
  return {mix_pixels(a.a, b.a, weight), mix_pixels(a.b, b.b, weight)};
}
HWY_INLINE PairV add_difference(PairV sum, PairV v, PairV base, float weight) {
  const auto w = hn::Set(Pixel(), weight);
  return {hn::MulAdd(hn::Sub(v.a, base.a), w, sum.a), hn::MulAdd(hn::Sub(v.b, base.b), w, sum.b)};
}
HWY_INLINE PixelV first(PairV p) { return p.a; }
template <int kStride>
HWY_INLINE PixelV second(PairV p) {
  return p.b;
}
#endif

// Sixteen bytes of four channels, of pixels 0..3: stored to rows at x.
template <class IntV>
HWY_INLINE void store_quarter(IntV packed, int channels, uint8_t* const* dst, int x) {
  alignas(16) uint32_t rows[4];
  hn::Store(hn::BitCast(hn::FixedTag<uint32_t, 4>(), packed), hn::FixedTag<uint32_t, 4>(), rows);
  for (int c = 0; c < channels; ++c) std::memcpy(dst[c] + x, rows + c, 4);
}

// Stores a block, truncated. Returns a bit for every sample that is within eps of an integer: 4 * pixel + channel.
HWY_INLINE uint32_t store_block(const PixelV* v, float eps, int channels, uint8_t* const* dst, int x) {
  const uint32_t used = 0x11111111u * ((1u << channels) - 1);
#if HWY_MAX_BYTES >= 32
  const hn::Rebind<int32_t, Pair> ints;
  const auto limit = hn::Set(Pair(), eps);
  hn::Vec<decltype(ints)> packed = hn::Zero(ints);
  uint32_t close = 0;
  const auto take = [&](int k, auto shift) HWY_ATTR {
    // Pixel k below, pixel k + 4 above.
    const auto pair = hn::Combine(Pair(), v[k + 4], v[k]);
    const auto whole = to_ints(pair);
    const auto near = hn::Lt(hn::Abs(hn::Sub(pair, hn::Round(pair))), limit);
    packed = hn::Or(packed, hn::ShiftLeft<decltype(shift)::value>(whole));
    uint8_t bits = 0;
    hn::StoreMaskBits(Pair(), near, &bits);
    close |= (static_cast<uint32_t>(bits & 15) << (4 * k)) | (static_cast<uint32_t>(bits >> 4) << (4 * k + 16));
  };
  take(0, std::integral_constant<int, 0>());
  take(1, std::integral_constant<int, 8>());
  take(2, std::integral_constant<int, 16>());
  take(3, std::integral_constant<int, 24>());
  const hn::Half<decltype(ints)> half;
  const hn::FixedTag<uint64_t, 2> words;
  const auto low = hn::LowerHalf(half, packed);
  const auto high = hn::UpperHalf(half, packed);
  const auto v01 = hn::BitCast(words, hn::InterleaveLower(half, low, high));
  const auto v23 = hn::BitCast(words, hn::InterleaveUpper(half, low, high));
  const hn::FixedTag<uint64_t, 1> word;
  const auto put = [&](auto value, uint8_t* to) HWY_ATTR {
    hn::StoreU(hn::BitCast(hn::FixedTag<uint8_t, 8>(), value), hn::FixedTag<uint8_t, 8>(), to + x);
  };
  put(hn::LowerHalf(word, v01), dst[0]);
  if (channels > 1) put(hn::UpperHalf(word, v01), dst[1]);
  if (channels > 2) put(hn::LowerHalf(word, v23), dst[2]);
  if (channels > 3) put(hn::UpperHalf(word, v23), dst[3]);
#else
  const auto limit = hn::Set(Pixel(), eps);
  uint32_t close = 0;
  for (int h = 0; h < 2; ++h) {
    const PixelV* p = v + 4 * h;
    auto packed = to_ints(p[0]);
    packed = hn::Or(packed, hn::ShiftLeft<8>(to_ints(p[1])));
    packed = hn::Or(packed, hn::ShiftLeft<16>(to_ints(p[2])));
    packed = hn::Or(packed, hn::ShiftLeft<24>(to_ints(p[3])));
    store_quarter(packed, channels, dst, x + 4 * h);
    for (int k = 0; k < 4; ++k) {
      uint8_t bits = 0;
      hn::StoreMaskBits(Pixel(), hn::Lt(hn::Abs(hn::Sub(p[k], hn::Round(p[k]))), limit), &bits);
      close |= static_cast<uint32_t>(bits & 15) << (16 * h + 4 * k);
    }
  }
#endif
  return close & used;
}

// The two interpolations: taps at pixels -kBefore .. kAfter from the position's floor, along each axis.
struct Linear {
  static constexpr int kBefore = 0;
  static constexpr int kAfter = 1;
  // Bounds how far the float32 result is from Pillow's. Positions agree within 1.2e-8, fractions are rounded by 2^-25:
  // over both axes that moves a result by less than 2.2e-5. Four products and sums below 256, none of them fused, round
  // by 2^-17 each, and so does one difference: 3.9e-5.
  static constexpr float kDoubt = 1e-4f;

  void prepare(const Positions& at) { at_ = &at; }

  template <int kStride>
  HWY_INLINE PixelV pixel(const uint8_t* p, ptrdiff_t row_stride, int k) const {
    const PairV column = mix(load_pair(p, kStride), load_pair(p + row_stride, kStride), at_->dy[k]);
    const PixelV left = first(column);
    return hn::MulAdd(hn::Sub(second<kStride>(column), left), hn::Set(Pixel(), at_->dx[k]), left);
  }

  // The same for a vector of one-channel pixels, from column k of the chunk; tap(i, j) gives row i, column j.
  template <class Tap>
  HWY_INLINE Samples samples(const Tap& tap, int k) const {
    const auto column = [&](int j) HWY_ATTR {
      return hn::MulAdd(hn::Sub(tap(1, j), tap(0, j)), hn::Load(SampleTag(), at_->dy + k), tap(0, j));
    };
    const Samples left = column(0);
    return hn::MulAdd(hn::Sub(column(1), left), hn::Load(SampleTag(), at_->dx + k), left);
  }

 private:
  const Positions* at_ = nullptr;
};

struct Cubic {
  static constexpr int kBefore = 1;
  static constexpr int kAfter = 2;
  // As for Linear. Three weights are off by less than 3.8e-7 together; a column's differences are at most 255, its six
  // products and sums below 1024: 2.4e-4. Across, |weights| add up to 1.5 at most, differences to 383: 6.7e-4 in all.
  static constexpr float kDoubt = 1e-3f;

  // Weights of taps 0, 2 and 3; that of tap 1 makes the sum one, and enters by taking differences to it: a flat
  // neighbourhood comes out exact.
  HWY_INLINE void prepare(const Positions& at) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    const auto weigh = [&](const float* fraction, float (*weight)[kChunk]) HWY_ATTR {
      for (int k = 0; k < kChunk; k += lanes) {
        const auto t = hn::Load(d, fraction + k);
        const auto tt = hn::Mul(t, t);
        const auto rest = hn::Sub(hn::Set(d, 1.0f), t);
        // -t (1 - t)^2,  t + t^2 - t^3,  -t^2 (1 - t)
        hn::Store(hn::Neg(hn::Mul(hn::Mul(t, rest), rest)), d, weight[0] + k);
        hn::Store(hn::Add(t, hn::Mul(tt, rest)), d, weight[1] + k);
        hn::Store(hn::Neg(hn::Mul(tt, rest)), d, weight[2] + k);
      }
    };
    weigh(at.dx, wx_);
    weigh(at.dy, wy_);
  }

  template <int kStride>
  HWY_INLINE PixelV pixel(const uint8_t* p, ptrdiff_t row_stride, int k) const {
    const uint8_t* corner = p - row_stride - kStride;
    const PairV left = pair<kStride>(corner, row_stride, k);
    const PairV right = pair<kStride>(corner + 2 * kStride, row_stride, k);
    const PixelV base = second<kStride>(left);
    PixelV sum = hn::MulAdd(hn::Sub(first(left), base), hn::Set(Pixel(), wx_[0][k]), base);
    sum = hn::MulAdd(hn::Sub(first(right), base), hn::Set(Pixel(), wx_[1][k]), sum);
    sum = hn::MulAdd(hn::Sub(second<kStride>(right), base), hn::Set(Pixel(), wx_[2][k]), sum);
    return clip(sum);
  }

  template <class Tap>
  HWY_INLINE Samples samples(const Tap& tap, int k) const {
    const auto mixed = [&](const auto& v, const float (*weight)[kChunk]) HWY_ATTR {
      const Samples base = v(1);
      Samples sum = hn::MulAdd(hn::Sub(v(0), base), hn::Load(SampleTag(), weight[0] + k), base);
      sum = hn::MulAdd(hn::Sub(v(2), base), hn::Load(SampleTag(), weight[1] + k), sum);
      return hn::MulAdd(hn::Sub(v(3), base), hn::Load(SampleTag(), weight[2] + k), sum);
    };
    const auto column = [&](int j) HWY_ATTR { return mixed([&](int i) HWY_ATTR { return tap(i, j); }, wy_); };
    const Samples sum = mixed(column, wx_);
    return clip(sum);
  }

 private:
  // Clips to values that truncate to 0 and 255 and are not close to an integer: what is clipped is not in doubt.
  template <class T>
  static HWY_INLINE T clip(T sum) {
    return min(max(sum, set<T>(0.25f)), set<T>(255.5f));
  }

  template <int kStride>
  HWY_INLINE PairV pair(const uint8_t* p, ptrdiff_t row_stride, int k) const {
    const PairV base = load_pair(p + row_stride, kStride);
    PairV sum = add_difference(base, load_pair(p, kStride), base, wy_[0][k]);
    sum = add_difference(sum, load_pair(p + 2 * row_stride, kStride), base, wy_[1][k]);
    return add_difference(sum, load_pair(p + 3 * row_stride, kStride), base, wy_[2][k]);
  }

  alignas(64) float wx_[3][kChunk];
  alignas(64) float wy_[3][kChunk];
};

// True when every term of the positions in this row is below 2^24, so that their rounding stays below 6e-9.
inline bool moderate(const AffineRow& row) {
  const double* m = row.matrix;
  const double x = row.x + row.width;
  const double y = row.y + 1;
  return std::fabs(m[0]) * x + std::fabs(m[1]) * y + std::fabs(m[2]) < 0x1p24 &&
         std::fabs(m[3]) * x + std::fabs(m[4]) * y + std::fabs(m[5]) < 0x1p24;
}
constexpr double kMargin = 1e-3;

// Columns whose position lies in the source; the scalar bodies would fill the others. Exact, for it asks their formula
// at the ends.
inline Span inside_span(const AffineRow& row) {
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
Span interior_span(const AffineRow& row, Span inside) {
  if (!moderate(row)) return {inside.begin, inside.begin};
  const View& v = row.source;
  const double* m = row.matrix;
  // Two pixels are read as eight bytes; with fewer than four channels the last of them belongs to a third pixel.
  const int unread = v.pixel_stride == 1 || v.channels == 4 ? 0 : 1;
  const double x = affine_x(m, row.x, row.y) - 0.5;
  const double y = affine_y(m, row.x, row.y) - 0.5;
  const Span span = clip_span(inside, x, m[0], Kind::kBefore + kMargin, v.width - unread - Kind::kAfter - kMargin);
  return clip_span(span, y, m[3], Kind::kBefore + kMargin, v.height - Kind::kAfter - kMargin);
}

// True when the flagged channels (bits) have one value in all taps, and the position is clearly inside this cell: then
// the float32 result is exact, however close to an integer.
template <class Kind>
bool flat(const uint8_t* p, const View& v, float dx, float dy, uint32_t bits) {
  if (std::min(dx, dy) < kEdge || std::max(dx, dy) > 1.0f - kEdge) return false;
  for (int c = 0; c < v.channels; ++c) {
    if ((bits >> c & 1) == 0) continue;
    for (int i = -Kind::kBefore; i <= Kind::kAfter; ++i) {
      for (int j = -Kind::kBefore; j <= Kind::kAfter; ++j) {
        if (p[i * v.row_stride + j * v.pixel_stride + c] != p[c]) return false;
      }
    }
  }
  return true;
}

// flat() for all flagged samples of a block of linear pixels at once, none of which is on an edge: the two pixels of
// each source row are one word, so that four bytes of a few words tell.
template <int kStride>
HWY_INLINE bool flat_block(const View& v, const int32_t* offset, uint32_t close) {
  static constexpr uint32_t kBytes[16] = {0x00000000, 0x000000ff, 0x0000ff00, 0x0000ffff, 0x00ff0000, 0x00ff00ff,
                                          0x00ffff00, 0x00ffffff, 0xff000000, 0xff0000ff, 0xff00ff00, 0xff00ffff,
                                          0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff};
  uint64_t differs = 0;
  for (int j = 0; j < kBlock; ++j) {
    uint64_t above = 0;
    uint64_t below = 0;
    std::memcpy(&above, v.data + offset[j], sizeof above);
    std::memcpy(&below, v.data + offset[j] + v.row_stride, sizeof below);
    const uint64_t rows = above ^ below;
    const uint64_t columns = above ^ (above >> (8 * kStride));
    differs |= (rows | rows >> (8 * kStride) | columns) & kBytes[close >> (4 * j) & 15];
  }
  return differs == 0;
}

using ScalarSpan = void (*)(const AffineRow&, Span, uint8_t* const*);

template <class Kind, int kStride>
void interior_pixels(const AffineRow& row, Span span, uint8_t* const* dst, ScalarSpan scalar_span) {
  Positions at;
  Kind kind;
  const View& v = row.source;
  const double* m = row.matrix;
  for (int begin = span.begin; begin < span.end; begin += kChunk) {
    const int count = std::min(kChunk, span.end - begin);
    const int column = row.x + begin;
    locate(v, {affine_x(m, column, row.y) - 0.5, affine_y(m, column, row.y) - 0.5, m[0], m[3]}, count, &at);
    // The last block may be short: its other pixels read what the last one reads.
    for (int k = count; k % kBlock != 0; ++k) at.offset[k] = at.offset[count - 1];
    kind.prepare(at);
    for (int k = 0; k < count; k += kBlock) {
      PixelV mixed[kBlock];
#pragma GCC unroll 8
      for (int j = 0; j < kBlock; ++j) {
        mixed[j] = kind.template pixel<kStride>(v.data + at.offset[k + j], v.row_stride, k + j);
      }
      const uint32_t close = store_block(mixed, Kind::kDoubt, v.channels, dst, begin + k);
      if (HWY_LIKELY(close == 0)) continue;
      if constexpr (std::is_same_v<Kind, Linear>) {
        if (!at.on_edge && flat_block<kStride>(v, at.offset + k, close)) continue;
      }
      for (int j = k; j < std::min(count, k + kBlock); ++j) {
        const uint32_t bits = close >> (4 * (j - k)) & 15;
        if (bits == 0 || flat<Kind>(v.data + at.offset[j], v, at.dx[j], at.dy[j], bits)) continue;
        scalar_span(row, {begin + j, begin + j + 1}, dst);
      }
    }
  }
}

// One channel: the taps of a source row are fetched as one word.
template <class Kind>
void interior_samples(const AffineRow& row, Span span, uint8_t* const* dst, ScalarSpan scalar_span) {
  constexpr int kTaps = Kind::kBefore + 1 + Kind::kAfter;
  const SampleTag d;
  const hn::RebindToSigned<SampleTag> ints;
  const hn::RebindToUnsigned<SampleTag> words;
  const hn::Rebind<uint8_t, SampleTag> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) uint32_t word[kTaps][kChunk];
  Positions at;
  Kind kind;
  const View& v = row.source;
  const double* m = row.matrix;
  for (int begin = span.begin; begin < span.end; begin += kChunk) {
    const int count = std::min(kChunk, span.end - begin);
    const int column = row.x + begin;
    locate(v, {affine_x(m, column, row.y) - 0.5, affine_y(m, column, row.y) - 0.5, m[0], m[3]}, count, &at);
    kind.prepare(at);
    for (int k = 0; k < count; ++k) {
      const uint8_t* p = v.data + at.offset[k] - Kind::kBefore * (v.row_stride + 1);
      for (int i = 0; i < kTaps; ++i, p += v.row_stride) {
        std::conditional_t<kTaps == 2, uint16_t, uint32_t> taps;
        std::memcpy(&taps, p, sizeof(taps));
        word[i][k] = taps;
      }
    }
    for (int k = 0; k < count; k += lanes) {
      const auto tap = [&](int i, int j) HWY_ATTR {
        const auto shifted = hn::ShiftRightSame(hn::Load(words, word[i] + k), 8 * j);
        return hn::ConvertTo(d, hn::BitCast(ints, hn::And(shifted, hn::Set(words, 255))));
      };
      const Samples mixed = kind.samples(tap, k);
      hn::StoreU(hn::DemoteTo(bytes, to_ints(mixed)), bytes, dst[0] + begin + k);
      const auto close = hn::Lt(hn::Abs(hn::Sub(mixed, hn::Round(mixed))), hn::Set(d, Kind::kDoubt));
      if (HWY_LIKELY(hn::AllFalse(d, close))) continue;
      uint8_t mask[8] = {};
      hn::StoreMaskBits(d, close, mask);
      for (int j = 0; j < std::min(lanes, count - k); ++j) {
        if ((mask[j / 8] >> (j % 8) & 1) == 0) continue;
        if (flat<Kind>(v.data + at.offset[k + j], v, at.dx[k + j], at.dy[k + j], 1)) continue;
        scalar_span(row, {begin + k + j, begin + k + j + 1}, dst);
      }
    }
  }
}

template <class Kind>
void interior_columns(const AffineRow& row, Span span, uint8_t* const* dst, ScalarSpan scalar_span) {
  switch (row.source.pixel_stride) {
    case 3:
      return interior_pixels<Kind, 3>(row, span, dst, scalar_span);
    case 4:
      return interior_pixels<Kind, 4>(row, span, dst, scalar_span);
    default:
      return interior_samples<Kind>(row, span, dst, scalar_span);
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
