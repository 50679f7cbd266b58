// Mixing the taps of linear and cubic warps, once per instruction set. Included by affine.cc and perspective.cc.
//
// The arithmetic is float32, within a proven distance of Pillow's double arithmetic. Pillow truncates, so only a result
// that close to an integer can differ; those pixels are redone by the scalar body.
//
// A pixel's channels lie side by side in a vector, as they do in the source: a load fetches two neighbouring pixels,
// all channels, and nothing needs to be gathered. Rows are mixed before columns.
#if defined(FASTAUG_SIMD_WARP_MIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WARP_MIX_INL_H_
#undef FASTAUG_SIMD_WARP_MIX_INL_H_
#else
#define FASTAUG_SIMD_WARP_MIX_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/simd/lane-inl.h"
#include "kernels/simd/warp_linear-inl.h"
#include "kernels/simd/warp_positions-inl.h"
#include "kernels/warp_row.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Pixels that are mixed together.
constexpr int kBlock = 8;
// A multiple of kBlock and of the lanes of any float vector.
constexpr int kStep = 16;

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

// The axes along which taps other than that at the floor have a weight.
enum class Axes { kBoth, kAcross, kDown };

// The two interpolations: taps at pixels -kBefore .. kAfter from the position's floor, along each axis.
struct Linear {
  static constexpr int kBefore = 0;
  static constexpr int kAfter = 1;
  static constexpr int kRead = 2;  // neighbouring pixels that are read together, four bytes for each
  // Bounds how far the float32 result is from Pillow's. Positions agree within 1.2e-8, fractions are rounded by 2^-25:
  // over both axes that moves a result by less than 2.2e-5. Four products and sums below 256, none of them fused, round
  // by 2^-17 each, and so does one difference: 3.9e-5.
  static constexpr float kDoubt = 1e-4f;

  void prepare(const Positions& at) { at_ = &at; }

  // Along one axis. LinearMix mixes along both.
  template <int kStride, Axes kAxes>
  HWY_INLINE PixelV pixel(const uint8_t* p, ptrdiff_t row_stride, int k) const {
    static_assert(kAxes != Axes::kBoth);
    const PairV column = load_pair(p, kStride);
    if constexpr (kAxes == Axes::kDown) return first(mix(column, load_pair(p + row_stride, kStride), at_->dy[k]));
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
  static constexpr int kRead = 2;
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

  template <int kStride, Axes kAxes>
  HWY_INLINE PixelV pixel(const uint8_t* p, ptrdiff_t row_stride, int k) const {
    const auto columns = [&](const uint8_t* at) HWY_ATTR {
      return kAxes == Axes::kAcross ? load_pair(at, kStride) : pair<kStride>(at - row_stride, row_stride, k);
    };
    if constexpr (kAxes == Axes::kDown) return clip(first(columns(p)));
    const PairV left = columns(p - kStride);
    const PairV right = columns(p + kStride);
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

// True when the flagged channels (bits) have one value in all taps that have a weight, and the position is clearly
// inside this cell: then the float32 result is exact, however close to an integer. `k` is the column of the chunk.
template <class Kind>
bool flat(const View& v, const Positions& at, int k, uint32_t bits) {
  const auto near_edge = [](float fraction) { return fraction < kEdge || fraction > 1.0f - kEdge; };
  if ((!at.whole_x && near_edge(at.dx[k])) || (!at.whole_y && near_edge(at.dy[k]))) return false;
  const int before_x = at.whole_x ? 0 : Kind::kBefore, after_x = at.whole_x ? 0 : Kind::kAfter;
  const int before_y = at.whole_y ? 0 : Kind::kBefore, after_y = at.whole_y ? 0 : Kind::kAfter;
  const uint8_t* p = v.data + at.offset[k];
  for (int c = 0; c < v.channels; ++c) {
    if ((bits >> c & 1) == 0) continue;
    for (int i = -before_y; i <= after_y; ++i) {
      for (int j = -before_x; j <= after_x; ++j) {
        if (p[i * v.row_stride + j * v.pixel_stride + c] != p[c]) return false;
      }
    }
  }
  return true;
}

// flat() for all flagged samples of a block of linear pixels at once, none of which is on an edge: the two pixels of
// each source row are one word, so that four bytes of a few words tell.
template <int kStride>
HWY_INLINE bool flat_block(const View& v, const Positions& at, int k, uint32_t close) {
  static constexpr uint32_t kBytes[16] = {0x00000000, 0x000000ff, 0x0000ff00, 0x0000ffff, 0x00ff0000, 0x00ff00ff,
                                          0x00ffff00, 0x00ffffff, 0xff000000, 0xff0000ff, 0xff00ff00, 0xff00ffff,
                                          0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff};
  const uint64_t down = at.whole_y ? 0 : ~uint64_t{0};
  const uint64_t across = at.whole_x ? 0 : ~uint64_t{0};
  const int32_t* offset = at.offset + k;
  uint64_t differs = 0;
  for (int j = 0; j < kBlock; ++j) {
    uint64_t above = 0;
    uint64_t below = 0;
    std::memcpy(&above, v.data + offset[j], sizeof above);
    std::memcpy(&below, v.data + offset[j] + v.row_stride, sizeof below);
    const uint64_t rows = above ^ below;
    const uint64_t columns = above ^ (above >> (8 * kStride));
    differs |=
        ((rows & down) | (rows >> (8 * kStride) & down & across) | (columns & across)) & kBytes[close >> (4 * j) & 15];
  }
  return differs == 0;
}

// Columns [from, to) of a chunk that begins at column `begin` of the row; `from` is a multiple of kBlock, `to` is at
// most kChunk. May write kBlock - 1 columns more. Only taps along kAxes are read.
template <class Kind, int kStride, Axes kAxes>
HWY_INLINE void mix_pixels(const WarpRow& row, int begin, int from, int to, const Kind& kind, uint8_t* const* dst,
                           SpanBody scalar_span, Positions* at) {
  const View& v = row.source;
  // The last block may be short: its other pixels read what the last one reads.
  for (int k = to; k % kBlock != 0; ++k) at->offset[k] = at->offset[to - 1];
  for (int k = from; k < to; k += kBlock) {
    PixelV mixed[kBlock];
#pragma GCC unroll 8
    for (int j = 0; j < kBlock; ++j) {
      mixed[j] = kind.template pixel<kStride, kAxes>(v.data + at->offset[k + j], v.row_stride, k + j);
    }
    const uint32_t close = store_block(mixed, Kind::kDoubt, v.channels, dst, begin + k);
    if (HWY_LIKELY(close == 0)) continue;
    if constexpr (std::is_same_v<Kind, Linear>) {
      if (!at->on_edge && flat_block<kStride>(v, *at, k, close)) continue;
    }
    for (int j = k; j < std::min(to, k + kBlock); ++j) {
      const uint32_t bits = close >> (4 * (j - k)) & 15;
      if (bits == 0 || flat<Kind>(v, *at, j, bits)) continue;
      scalar_span(row, {begin + j, begin + j + 1}, dst);
    }
  }
}

// The same for one channel, whose taps in a source row are fetched as one word; `from` is a multiple of the lanes.
template <class Kind>
HWY_INLINE void mix_samples(const WarpRow& row, int begin, int from, int to, const Kind& kind, uint8_t* const* dst,
                            SpanBody scalar_span, Positions* at) {
  constexpr int kTaps = Kind::kBefore + 1 + Kind::kAfter;
  const SampleTag d;
  const hn::RebindToSigned<SampleTag> ints;
  const hn::RebindToUnsigned<SampleTag> words;
  const hn::Rebind<uint8_t, SampleTag> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) uint32_t word[kTaps][kChunk];
  const View& v = row.source;
  for (int k = from; k < to; ++k) {
    const uint8_t* p = v.data + at->offset[k] - Kind::kBefore * (v.row_stride + 1);
    for (int i = 0; i < kTaps; ++i, p += v.row_stride) {
      std::conditional_t<kTaps == 2, uint16_t, uint32_t> taps;
      std::memcpy(&taps, p, sizeof(taps));
      word[i][k] = taps;
    }
  }
  for (int k = from; k < to; k += lanes) {
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
    for (int j = 0; j < std::min(lanes, to - k); ++j) {
      if ((mask[j / 8] >> (j % 8) & 1) == 0) continue;
      if (flat<Kind>(v, *at, k + j, 1)) continue;
      scalar_span(row, {begin + k + j, begin + k + j + 1}, dst);
    }
  }
}

// Either, by the distance of pixels in the source.
template <class Kind, int kStride, Axes kAxes = Axes::kBoth>
HWY_INLINE void mix_chunk(const WarpRow& row, int begin, int from, int to, const Kind& kind, uint8_t* const* dst,
                          SpanBody scalar_span, Positions* at) {
  if constexpr (kStride == 1) {
    mix_samples(row, begin, from, to, kind, dst, scalar_span, at);
  } else if constexpr (std::is_same_v<Kind, Linear> && kAxes == Axes::kBoth) {
    mix_linear<kStride>(row, begin, from, to, dst, scalar_span, at);
  } else {
    mix_pixels<Kind, kStride, kAxes>(row, begin, from, to, kind, dst, scalar_span, at);
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
