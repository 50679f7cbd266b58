// Mixing the taps of linear and cubic warps in fixed point, once per instruction set: fast mode's way, rounded to
// nearest (WarpRow::rounded), in the very integers of the rounded bodies in pixel/warp.h. Included by affine.cc and
// perspective.cc.
#if defined(FASTAUG_SIMD_WARP_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WARP_ROUND_INL_H_
#undef FASTAUG_SIMD_WARP_ROUND_INL_H_
#else
#define FASTAUG_SIMD_WARP_ROUND_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/simd/warp_fetch-inl.h"
#include "kernels/simd/warp_mix-inl.h"
#include "kernels/simd/warp_pairs-inl.h"
#include "kernels/simd/wide-inl.h"
#include "pixel/warp.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

constexpr int32_t kOne = kFractionOne;

using RoundInts = hn::ScalableTag<int32_t>;
using RoundBytes = hn::Repartition<uint8_t, RoundInts>;
using RoundShorts = hn::Repartition<int16_t, RoundInts>;
using RoundIntV = hn::Vec<RoundInts>;
using RoundByteV = hn::Vec<RoundBytes>;

// Where the pixels of a chunk read, as Positions, and the fractions in units of 2^-14.
struct RoundedPositions {
  alignas(64) int32_t offset[kChunk];
  alignas(64) int32_t dx[kChunk];
  alignas(64) int32_t dy[kChunk];
};

// sum over two int16 at a time.
HWY_INLINE RoundIntV dot2(RoundByteV pairs, RoundIntV weights) {
  return madd(hn::BitCast(RoundShorts(), pairs), hn::BitCast(RoundShorts(), weights));
}
HWY_INLINE RoundIntV pair_of(RoundIntV first, RoundIntV second) {
  return hn::Or(hn::And(first, hn::Set(RoundInts(), 0xffff)), hn::ShiftLeft<16>(second));
}

// For each of the two pixel pairs in 16 bytes, kStride apart: both samples of channels kFirst and kFirst + 1, as int16.
template <int kStride, int kFirst>
constexpr Lookup two_channels() {
  Lookup lookup{};
  for (int k = 0; k < 16; ++k) {
    const int channel = kFirst + (k % 8) / 4;
    const int right = (k % 4) / 2;
    lookup.at[k] = k % 2 == 1 ? kNone : static_cast<uint8_t>(8 * (k / 8) + right * kStride + channel);
  }
  return lookup;
}
// For each of four words: bytes kFirst and kFirst + 1, as int16.
template <int kFirst>
constexpr Lookup two_bytes() {
  Lookup lookup{};
  for (int k = 0; k < 16; ++k) {
    lookup.at[k] = k % 2 == 1 ? kNone : static_cast<uint8_t>(4 * (k / 4) + kFirst + (k % 4) / 2);
  }
  return lookup;
}

struct RoundedLinear {
  static constexpr int kBefore = 0;
  static constexpr int kAfter = 1;
  static constexpr int kRead = 2;

  void prepare(const RoundedPositions& at) { at_ = &at; }

  // Columns [from, to) of a chunk that begins at column `begin` of the row. `from` is a multiple of the lanes, and
  // offsets are given to the next multiple after `to`, up to which columns are written.
  template <int kStride>
  HWY_INLINE void mix(const View& v, int begin, int from, int to, uint8_t* const* dst) const {
    const RoundInts d;
    const RoundBytes d8;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    const auto half = hn::Set(d, kOne / 2);
    static constexpr Lookup kRedGreen = two_channels<kStride, 0>();
    static constexpr Lookup kBlueAlpha = two_channels<kStride, 2>();
    static constexpr Lookup kPlanes = {{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}};
    const auto red_green = load_lookup(kRedGreen);
    const auto blue_alpha = load_lookup(kBlueAlpha);
    const auto planes = load_lookup(kPlanes);
    for (int k = from; k < to; k += lanes) {
      const Weights w = weights(k);
      const auto above_low = hn::InterleaveLower(d, w.above, w.above);
      const auto above_high = hn::InterleaveUpper(d, w.above, w.above);
      const auto below_low = hn::InterleaveLower(d, w.below, w.below);
      const auto below_high = hn::InterleaveUpper(d, w.below, w.below);
      const FetchedPairs low(v.data, v.row_stride, at_->offset + k);
      const FetchedPairs high(v.data, v.row_stride, at_->offset + k + 2);
      const auto mixed = [&](const FetchedPairs& pixels, RoundIntV above, RoundIntV below, RoundByteV lookup) HWY_ATTR {
        const auto sum = hn::Add(dot2(hn::TableLookupBytesOr0(pixels.north, lookup), above),
                                 dot2(hn::TableLookupBytesOr0(pixels.south, lookup), below));
        return hn::ShiftRight<kFractionBits>(hn::Add(sum, half));
      };
      const auto packed =
          narrow(mixed(low, above_low, below_low, red_green), mixed(high, above_high, below_high, red_green),
                 mixed(low, above_low, below_low, blue_alpha), mixed(high, above_high, below_high, blue_alpha));
      store_planes(hn::TableLookupBytes(hn::BitCast(d8, packed), planes), v.channels, dst, begin + k);
    }
  }

  // The same for one channel: the four samples of a pixel are one word.
  HWY_INLINE void mix_one(const View& v, int begin, int from, int to, uint8_t* const* dst) const {
    const RoundInts d;
    const hn::Rebind<uint8_t, RoundInts> bytes;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    static constexpr Lookup kNorth = two_bytes<0>();
    static constexpr Lookup kSouth = two_bytes<2>();
    const auto north = load_lookup(kNorth);
    const auto south = load_lookup(kSouth);
    alignas(64) uint16_t sample[2 * kChunk];
    for (int k = from; k < to; ++k) {
      const uint8_t* p = v.data + at_->offset[k];
      std::memcpy(sample + 2 * k, p, 2);
      std::memcpy(sample + 2 * k + 1, p + v.row_stride, 2);
    }
    for (int k = from; k < to; k += lanes) {
      const Weights w = weights(k);
      const auto word = hn::Load(RoundBytes(), reinterpret_cast<const uint8_t*>(sample + 2 * k));
      const auto sum = hn::Add(dot2(hn::TableLookupBytesOr0(word, north), w.above),
                               dot2(hn::TableLookupBytesOr0(word, south), w.below));
      const auto mixed = hn::ShiftRight<kFractionBits>(hn::Add(sum, hn::Set(d, kOne / 2)));
      hn::StoreU(hn::DemoteTo(bytes, mixed), bytes, dst[0] + begin + k);
    }
  }

 private:
  // Of the left and the right tap in the two source rows.
  struct Weights {
    RoundIntV above;
    RoundIntV below;
  };
  HWY_INLINE Weights weights(int k) const {
    const RoundInts d;
    const auto dx = hn::Load(d, at_->dx + k);
    const auto dy = hn::Load(d, at_->dy + k);
    const auto product = madd(hn::BitCast(RoundShorts(), dx), hn::BitCast(RoundShorts(), dy));
    const auto south_east = hn::ShiftRight<kFractionBits>(hn::Add(product, hn::Set(d, kOne / 2)));
    const auto north_east = hn::Sub(dx, south_east);
    const auto south_west = hn::Sub(dy, south_east);
    const auto north_west = hn::Sub(hn::Set(d, kOne), hn::Add(north_east, dy));
    return {hn::Or(north_west, hn::ShiftLeft<16>(north_east)), hn::Or(south_west, hn::ShiftLeft<16>(south_east))};
  }

  const RoundedPositions* at_ = nullptr;
};

struct RoundedCubic {
  static constexpr int kBefore = 1;
  static constexpr int kAfter = 2;
  static constexpr int kRead = 4;

  HWY_INLINE void prepare(const RoundedPositions& at) {
    at_ = &at;
    weigh(at.dx, x_);
    weigh(at.dy, y_);
  }

  template <int kStride>
  HWY_INLINE void mix(const View& v, int begin, int from, int to, uint8_t* const* dst) const {
    const hn::FixedTag<int32_t, 4> d;
    const hn::FixedTag<uint8_t, 16> d8;
    static constexpr Lookup kPlanes = {{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}};
    const auto planes = hn::Load(d8, kPlanes.at);
    for (int k = from; k < to; k += 4) {
      hn::Vec<decltype(d)> pixel[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const uint8_t* p = v.data + at_->offset[k + j] - v.row_stride - kStride;
        pixel[j] = hn::ShiftRight<kCubicFinal>(
            hn::Add(pixel_sum<kStride>(p, v.row_stride, k + j), hn::Set(d, kCubicRounding)));
      }
      const auto packed = narrow(pixel[0], pixel[1], pixel[2], pixel[3]);
      store_quarter(hn::TableLookupBytes(packed, planes), v.channels, dst, begin + k);
    }
  }

  HWY_INLINE void mix_one(const View& v, int begin, int from, int to, uint8_t* const* dst) const {
    const RoundInts d;
    const hn::Rebind<uint8_t, RoundInts> bytes;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    alignas(64) uint32_t sample[4][kChunk];
    for (int k = from; k < to; ++k) {
      const uint8_t* p = v.data + at_->offset[k] - v.row_stride - 1;
      for (int i = 0; i < 4; ++i, p += v.row_stride) std::memcpy(&sample[i][k], p, 4);
    }
    const RoundShorts d16;
    const auto low_bytes = hn::Set(d, 0x00ff00ff);
    const auto shorts = [&](RoundIntV v32) HWY_ATTR { return hn::BitCast(d16, v32); };
    for (int k = from; k < to; k += lanes) {
      // Samples of columns 0 and 2, and of 1 and 3, of every row.
      RoundIntV even[4], odd[4];
      for (int i = 0; i < 4; ++i) {
        const auto word = hn::BitCast(d, hn::Load(hn::Repartition<uint32_t, RoundInts>(), sample[i] + k));
        even[i] = hn::And(word, low_bytes);
        odd[i] = hn::And(hn::ShiftRight<8>(word), low_bytes);
      }
      const auto y01 = shorts(hn::Load(d, y_[0] + k));
      const auto y23 = shorts(hn::Load(d, y_[1] + k));
      // Sums down the first and the second column of such a pair, as they are before the cut.
      const auto first = [&](const RoundIntV* rows) HWY_ATTR {
        const auto north = hn::OddEven(shorts(hn::ShiftLeft<16>(rows[1])), shorts(rows[0]));
        const auto south = hn::OddEven(shorts(hn::ShiftLeft<16>(rows[3])), shorts(rows[2]));
        return hn::Add(madd(north, y01), madd(south, y23));
      };
      const auto second = [&](const RoundIntV* rows) HWY_ATTR {
        const auto north = hn::OddEven(shorts(rows[1]), shorts(hn::ShiftRight<16>(rows[0])));
        const auto south = hn::OddEven(shorts(rows[3]), shorts(hn::ShiftRight<16>(rows[2])));
        return hn::Add(madd(north, y01), madd(south, y23));
      };
      const auto across = [&](RoundIntV left, RoundIntV right, const int32_t* weights) HWY_ATTR {
        const auto pairs =
            hn::OddEven(shorts(hn::ShiftLeft<16 - kCubicDropped>(right)), shorts(hn::ShiftRight<kCubicDropped>(left)));
        return madd(pairs, shorts(hn::Load(d, weights + k)));
      };
      const auto sum = hn::Add(across(first(even), first(odd), x_[0]), across(second(even), second(odd), x_[1]));
      const auto mixed = hn::ShiftRight<kCubicFinal>(hn::Add(sum, hn::Set(d, kCubicRounding)));
      hn::StoreU(hn::DemoteTo(bytes, mixed), bytes, dst[0] + begin + k);
    }
  }

 private:
  // rounded_cubic_weights of taps 0 and 1, and of taps 2 and 3, as pairs of int16.
  HWY_INLINE void weigh(const int32_t* fraction, int32_t (*weight)[kChunk]) {
    const RoundInts d;
    const hn::RebindToFloat<RoundInts> df;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    const auto one = hn::Set(df, 1.0f);
    for (int k = 0; k < kChunk; k += lanes) {
      const auto t = hn::Mul(hn::ConvertTo(df, hn::Load(d, fraction + k)), hn::Set(df, 1.0f / kOne));
      const auto tt = hn::Mul(t, t);
      const auto rest = hn::Sub(one, t);
      // As in Cubic, of which the first and the last are negated here.
      const auto fixed = [&](auto w) HWY_ATTR {
        return to_ints(hn::MulAdd(w, hn::Set(df, static_cast<float>(kOne)), hn::Set(df, 0.5f)));
      };
      const auto w0 = fixed(hn::Mul(hn::Mul(t, rest), rest));
      const auto w2 = fixed(hn::Add(t, hn::Mul(tt, rest)));
      const auto w3 = fixed(hn::Mul(tt, rest));
      const auto w1 = hn::Sub(hn::Add(hn::Set(d, kOne), hn::Add(w0, w3)), w2);
      hn::Store(pair_of(hn::Neg(w0), w1), d, weight[0] + k);
      hn::Store(pair_of(w2, hn::Neg(w3)), d, weight[1] + k);
    }
  }

  // Four pixels of a source row, four bytes for each.
  template <int kStride>
  static HWY_INLINE hn::Vec128<uint8_t> four(const uint8_t* p) {
    const hn::FixedTag<uint8_t, 16> d;
    if constexpr (kStride == 4) return hn::LoadU(d, p);
    static constexpr Lookup kSpread = {{0, 1, 2, kNone, 3, 4, 5, kNone, 6, 7, 8, kNone, 9, 10, 11, kNone}};
    return hn::TableLookupBytesOr0(hn::LoadU(d, p), hn::Load(d, kSpread.at));
  }

  // The channels of one pixel. Columns first: p is the tap in the corner.
  template <int kStride>
  HWY_INLINE hn::Vec128<int32_t> pixel_sum(const uint8_t* p, ptrdiff_t row_stride, int k) const {
    const hn::FixedTag<uint8_t, 16> d8;
    const hn::FixedTag<int16_t, 8> d16;
    const hn::FixedTag<int32_t, 4> d;
    const auto r0 = four<kStride>(p);
    const auto r1 = four<kStride>(p + row_stride);
    const auto r2 = four<kStride>(p + 2 * row_stride);
    const auto r3 = four<kStride>(p + 3 * row_stride);
#if HWY_MAX_BYTES >= 32
    const hn::FixedTag<int16_t, 16> w16;
    const hn::FixedTag<int32_t, 8> w;
    const auto y01 = hn::BitCast(w16, hn::Set(w, y_[0][k]));
    const auto y23 = hn::BitCast(w16, hn::Set(w, y_[1][k]));
    const auto column = [&](auto a, auto b) HWY_ATTR {
      return hn::Add(madd(hn::PromoteTo(w16, a), y01), madd(hn::PromoteTo(w16, b), y23));
    };
    // Taps 0 and 1, and 2 and 3.
    const auto low = column(hn::InterleaveLower(d8, r0, r1), hn::InterleaveLower(d8, r2, r3));
    const auto high = column(hn::InterleaveUpper(d8, r0, r1), hn::InterleaveUpper(d8, r2, r3));
    const auto even = hn::ShiftRight<kCubicDropped>(hn::ConcatLowerLower(w, high, low));
    const auto odd = hn::ShiftLeft<16 - kCubicDropped>(hn::ConcatUpperUpper(w, high, low));
    const auto pairs = hn::OddEven(hn::BitCast(w16, odd), hn::BitCast(w16, even));
    const auto weights = hn::Combine(w, hn::Set(d, x_[1][k]), hn::Set(d, x_[0][k]));
    const auto sum = madd(pairs, hn::BitCast(w16, weights));
    return hn::Add(hn::LowerHalf(d, sum), hn::UpperHalf(d, sum));
#else
    const auto zero = hn::Zero(d8);
    const auto y01 = hn::BitCast(d16, hn::Set(d, y_[0][k]));
    const auto y23 = hn::BitCast(d16, hn::Set(d, y_[1][k]));
    const auto column = [&](auto a, auto b) HWY_ATTR {
      return hn::Add(madd(hn::BitCast(d16, a), y01), madd(hn::BitCast(d16, b), y23));
    };
    const auto across = [&](auto a, auto b, int32_t weights) HWY_ATTR {
      const auto even =
          hn::ShiftRight<kCubicDropped>(column(hn::InterleaveLower(d8, a, zero), hn::InterleaveLower(d8, b, zero)));
      const auto odd =
          hn::ShiftLeft<16 - kCubicDropped>(column(hn::InterleaveUpper(d8, a, zero), hn::InterleaveUpper(d8, b, zero)));
      const auto pairs = hn::OddEven(hn::BitCast(d16, odd), hn::BitCast(d16, even));
      return madd(pairs, hn::BitCast(d16, hn::Set(d, weights)));
    };
    return hn::Add(across(hn::InterleaveLower(d8, r0, r1), hn::InterleaveLower(d8, r2, r3), x_[0][k]),
                   across(hn::InterleaveUpper(d8, r0, r1), hn::InterleaveUpper(d8, r2, r3), x_[1][k]));
#endif
  }

  const RoundedPositions* at_ = nullptr;
  alignas(64) int32_t x_[2][kChunk];
  alignas(64) int32_t y_[2][kChunk];
};

// Either, by the distance of pixels in the source. `from` is a multiple of kStep.
template <class Kind, int kStride>
HWY_INLINE void mix_rounded(const WarpRow& row, int begin, int from, int to, const Kind& kind, uint8_t* const* dst,
                            RoundedPositions* at) {
  // The last vector may be short: its other pixels read what the last one reads.
  for (int k = to; k % kStep != 0; ++k) at->offset[k] = at->offset[to - 1];
  if constexpr (kStride == 1) {
    kind.mix_one(row.source, begin, from, to, dst);
  } else {
    kind.template mix<kStride>(row.source, begin, from, to, dst);
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
