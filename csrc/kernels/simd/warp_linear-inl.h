// Linear warps of interleaved pixels, a channel of many pixels at a time, once per instruction set. For warp_mix-inl.h,
// whose Positions it takes.
#if defined(FASTAUG_SIMD_WARP_LINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WARP_LINEAR_INL_H_
#undef FASTAUG_SIMD_WARP_LINEAR_INL_H_
#else
#define FASTAUG_SIMD_WARP_LINEAR_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/simd/lane-inl.h"
#include "kernels/simd/warp_fetch-inl.h"
#include "kernels/simd/warp_pairs-inl.h"
#include "kernels/simd/warp_positions-inl.h"
#include "kernels/simd/wide-inl.h"
#include "kernels/warp_row.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

// Of two pixels in 16 bytes, each kStride bytes before its neighbour to the right: channels 0 and 1 of both pixels,
// then channels 2 and 3. Four bytes of a pixel are those of its first channel, of its second, and of its neighbour's.
template <int kStride>
constexpr Lookup channel_pairs() {
  Lookup lookup{};
  for (int k = 0; k < 16; ++k) {
    const int pixel = k / 4 % 2;
    const int channel = k / 8 * 2 + k % 2;
    const int right = k % 4 / 2;
    lookup.at[k] = channel < kStride ? static_cast<uint8_t>(8 * pixel + right * kStride + channel) : kNone;
  }
  return lookup;
}

// Mixes the four taps a b (above) and c d (below) of a position as a + dx P + dy (Q + dx R), where P = b - a, Q = c - a
// and R = d - c - P are differences of integers, and so exact. Everything is in units of 2^-14 of a level.
//
// How far that is from Pillow's double arithmetic: positions agree within 1.2e-8, fractions are rounded by 2^-25, and
// over both axes that moves a result by less than 2.2e-5. Where products are not fused, dx R is rounded by 2^-16 at
// most, the other two products and the three sums by 2^-17 each: 5.4e-5. Together that is less than 1.3 units, and
// rounding to whole units adds a half: Pillow's result is on the same side of a whole level as one that is more than
// kDoubt units from it. Where P, Q and R are zero both are a.
class LinearMix {
 public:
  static constexpr int kUnitBits = 14;
  static constexpr int kDoubt = 1;

  using Floats = hn::ScalableTag<float>;
  using Ints = hn::RebindToSigned<Floats>;
  using Unsigned = hn::RebindToUnsigned<Floats>;
  using IntV = hn::Vec<Ints>;

  HWY_INLINE LinearMix(const float* dx, const float* dy)
      : dx_(hn::Load(Floats(), dx)), dy_(hn::Load(Floats(), dy)), least_(hn::Set(Unsigned(), ~uint32_t{0})) {}

  // Results of one channel, whose taps are int16: that of the pixel, then that of its neighbour.
  HWY_INLINE IntV channel(IntV above, IntV below) {
    const Ints d;
    const hn::Repartition<int16_t, Ints> d16;
    const auto weigh = [&](IntV taps, int32_t weights)
                           HWY_ATTR { return madd(hn::BitCast(d16, taps), hn::BitCast(d16, hn::Set(d, weights))); };
    constexpr int32_t kUnit = 1 << kUnitBits;
    constexpr int32_t kLeft = kUnit;
    constexpr int32_t kRise = (kUnit << 16) | (-kUnit & 0xffff);
    const IntV down = hn::BitCast(d, hn::Sub(hn::BitCast(d16, below), hn::BitCast(d16, above)));
    const IntV a = weigh(above, kLeft);
    const IntV p = weigh(above, kRise);
    const auto q = hn::ConvertTo(Floats(), weigh(down, kLeft));
    const auto r = hn::ConvertTo(Floats(), weigh(down, kRise));
    const auto top = hn::MulAdd(dx_, hn::ConvertTo(Floats(), p), hn::ConvertTo(Floats(), a));
    const IntV mixed = nearest_ints(hn::MulAdd(dy_, hn::MulAdd(dx_, r, q), top));
    const IntV flat = hn::VecFromMask(d, hn::Eq(hn::Or(down, p), hn::Zero(d)));
    const IntV above_whole = hn::And(hn::Add(mixed, hn::Set(d, kDoubt)), hn::Set(d, kUnit - 1));
    least_ = hn::Min(least_, hn::BitCast(Unsigned(), hn::Or(above_whole, flat)));
    return hn::ShiftRight<kUnitBits>(mixed);
  }

  // A bit for every pixel that has a channel in doubt.
  HWY_INLINE uint32_t in_doubt() const {
    uint8_t bits[8] = {};
    // What is flat everywhere is -1 as a signed number.
    const auto least = hn::And(least_, hn::Set(Unsigned(), ~uint32_t{0} >> 1));
    hn::StoreMaskBits(Ints(), hn::Lt(hn::BitCast(Ints(), least), hn::Set(Ints(), 2 * kDoubt + 1)), bits);
    return bits[0] | static_cast<uint32_t>(bits[1]) << 8;
  }

  // A bit for every pixel whose position may be in the next cell of pixels.
  HWY_INLINE uint32_t on_edge() const {
    const Floats d;
    const auto low = hn::Min(dx_, dy_);
    const auto high = hn::Max(dx_, dy_);
    uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Or(hn::Lt(low, hn::Set(d, kEdge)), hn::Gt(high, hn::Set(d, 1.0f - kEdge))), bits);
    return bits[0] | static_cast<uint32_t>(bits[1]) << 8;
  }

 private:
  hn::Vec<Floats> dx_;
  hn::Vec<Floats> dy_;
  hn::Vec<Unsigned> least_;
};

// Columns [from, to) of a chunk that begins at column `begin` of the row; `from` is a multiple of the lanes, `to` is at
// most kChunk. May write columns up to the next multiple of the lanes.
template <int kStride, int kChannels>
HWY_INLINE void mix_linear_of(const WarpRow& row, int begin, int from, int to, uint8_t* const* dst,
                              SpanBody scalar_span, Positions* at) {
  const hn::ScalableTag<int32_t> d;
  const hn::Repartition<int16_t, decltype(d)> d16;
  const hn::Repartition<int64_t, decltype(d)> d64;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const View& v = row.source;
  static constexpr Lookup kPairs = channel_pairs<kStride>();
  const auto lookup = load_lookup(kPairs);
  const auto first = [&](auto pairs) HWY_ATTR { return hn::And(pairs, hn::Set(d, 0x00ff00ff)); };
  const auto second = [&](auto pairs) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<decltype(d16)>(), pairs)));
  };
  // The last vector may be short: its other pixels read what the last one reads.
  for (int k = to; k % lanes != 0; ++k) at->offset[k] = at->offset[to - 1];
  for (int k = from; k < to; k += lanes) {
    const FetchedPairs low(v.data, v.row_stride, at->offset + k);
    const FetchedPairs high(v.data, v.row_stride, at->offset + k + 2);
    const auto paired = [&](PairByteV pixels)
                            HWY_ATTR { return hn::BitCast(d64, hn::TableLookupBytesOr0(pixels, lookup)); };
    const auto low_north = paired(low.north);
    const auto low_south = paired(low.south);
    const auto high_north = paired(high.north);
    const auto high_south = paired(high.south);
    const auto above01 = hn::BitCast(d, hn::InterleaveLower(d64, low_north, high_north));
    const auto above23 = hn::BitCast(d, hn::InterleaveUpper(d64, low_north, high_north));
    const auto below01 = hn::BitCast(d, hn::InterleaveLower(d64, low_south, high_south));
    const auto below23 = hn::BitCast(d, hn::InterleaveUpper(d64, low_south, high_south));
    LinearMix mix(at->dx + k, at->dy + k);
    const auto c0 = mix.channel(first(above01), first(below01));
    const auto c1 = kChannels > 1 ? mix.channel(second(above01), second(below01)) : c0;
    const auto c2 = kChannels > 2 ? mix.channel(first(above23), first(below23)) : c0;
    const auto c3 = kChannels > 3 ? mix.channel(second(above23), second(below23)) : c0;
    store_planes(narrow(c0, c1, c2, c3), kChannels, dst, begin + k);
    uint32_t redone = mix.in_doubt();
    if (HWY_UNLIKELY(at->on_edge)) redone |= mix.on_edge();
    for (redone &= static_cast<uint32_t>(low_bits(to - k)); redone != 0; redone &= redone - 1) {
      const int column = begin + k + std::countr_zero(redone);
      scalar_span(row, {column, column + 1}, dst);
    }
  }
}

template <int kStride>
HWY_INLINE void mix_linear(const WarpRow& row, int begin, int from, int to, uint8_t* const* dst, SpanBody scalar_span,
                           Positions* at) {
  switch (row.source.channels) {
    case 1:
      return mix_linear_of<kStride, 1>(row, begin, from, to, dst, scalar_span, at);
    case 2:
      return mix_linear_of<kStride, 2>(row, begin, from, to, dst, scalar_span, at);
    case 3:
      return mix_linear_of<kStride, 3>(row, begin, from, to, dst, scalar_span, at);
    default:
      return mix_linear_of<kStride, kStride>(row, begin, from, to, dst, scalar_span, at);
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
