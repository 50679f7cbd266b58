// The two passes of Pillow's 8-bit resize (Resample.c, ImagingResampleHorizontal_8bpc and
// ImagingResampleVertical_8bpc), and of filters with shorter weights.
//
// A 22-bit weight w is split into high = w >> 12 (signed) and low = w & 4095, so that both fit the 16-bit multiply-add,
// and sum(w * v) = (sum(high * v) << 12) + sum(low * v), exactly, in whatever order. Shorter weights fit as they are.
#define FASTAUG_VBMI
#define HWY_TARGET_INCLUDE "kernels/simd/resample.cc"

#include <algorithm>
#include <cstring>

#include "kernels/simd/family-inl.h"
#include "kernels/simd/resample_layout.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/turn-inl.h"
#include "kernels/simd/wide-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using resample::kLowBits;
using resample::Layout;
using resample::TwoTaps;

using Bytes = hn::ScalableTag<uint8_t>;
using SignedBytes = hn::Repartition<int8_t, Bytes>;
using Shorts = hn::Repartition<int16_t, Bytes>;
using Words = hn::Repartition<int32_t, Bytes>;
using Sum = hn::Vec<Words>;

constexpr int kLanes = HWY_LANES(uint8_t);
constexpr int kBlocks = kLanes / 16;

// Of the windows of kTwo.
constexpr int kPairWindow = HWY_TARGET == HWY_AVX3_DL ? 64 : 16;

// The dot products are short: vectors of at most 256 bits.
using DotShorts = hn::CappedTag<int16_t, 16>;
using DotBytes = hn::Repartition<uint8_t, DotShorts>;
constexpr int kDotBlocks = kLanes >= 32 ? 2 : 1;

constexpr int kHalf = 1 << (kWeightBits - 1);

// Sums of samples times weights, rounded: `low` has half a unit of the result already. kShort: `high` is not used.
template <bool kShort, class V>
HWY_INLINE V finish(V high, V low, int bits) {
  if constexpr (kShort) return hn::ShiftRightSame(low, bits);
  return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<kLowBits>(high), low));
}

#if HWY_TARGET == HWY_AVX3_DL
using resample::Digits;

#include "kernels/simd/resample_vbmi-inl.h"
#endif

// ---- Rows ----

void build_row_table(const Taps& taps, RowTable* table) {
  if (resample::build_two<kBlocks, kPairWindow>(taps, table)) return;
  const resample::Extent extent = resample::extent_of(taps);
#if HWY_TARGET == HWY_AVX3_DL
  if (resample::fit_digits(taps)) {
    if (!resample::build_wide(taps, extent, table)) resample::build_digit_dots(taps, extent, table);
    return;
  }
#endif
  if (!resample::build_windows<kBlocks>(taps, extent, table))
    resample::build_dots<8 * kDotBlocks>(taps, extent, Layout::kDots, table);
}

// One window per block, the first one in the lowest block.
HWY_INLINE hn::Vec<Bytes> load_windows(const uint8_t* src, const int32_t* base) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Half<Bytes> half;
#endif
#if HWY_TARGET == HWY_AVX2
  return hn::Combine(Bytes(), hn::LoadU(half, src + base[1]), hn::LoadU(half, src + base[0]));
#elif HWY_TARGET <= HWY_AVX3
  const hn::Half<hn::Half<Bytes>> quarter;
  return hn::Combine(Bytes(), hn::Combine(half, hn::LoadU(quarter, src + base[3]), hn::LoadU(quarter, src + base[2])),
                     hn::Combine(half, hn::LoadU(quarter, src + base[1]), hn::LoadU(quarter, src + base[0])));
#else
  return hn::LoadU(Bytes(), src + base[0]);
#endif
}

// The samples of a vector's outputs, a pair for each.
HWY_INLINE hn::Vec<Bytes> load_pairs(const uint8_t* src, const int32_t* base, const uint8_t* lookup) {
  const auto at = hn::LoadU(Bytes(), lookup);
#if HWY_TARGET == HWY_AVX3_DL
  return hn::Vec<Bytes>{_mm512_permutexvar_epi8(at.raw, _mm512_loadu_si512(src + base[0]))};
#else
  return hn::TableLookupBytes(load_windows(src, base), at);
#endif
}

// As TwoTaps has it, of pairs of samples. Twice the difference of a pair fits a byte's weights, too, and the rounding
// product with 2^8 is a rounding shift by 7.
HWY_INLINE hn::Vec<Shorts> mix_pairs(hn::Vec<Bytes> pairs, hn::Vec<SignedBytes> high, hn::Vec<Shorts> low) {
  const Shorts d16;
  const auto twice = hn::BitCast(SignedBytes(), hn::Set(d16, 0x02fe));
  const auto sum = hn::Add(madd_bytes(pairs, high), hn::MulHigh(madd_bytes(pairs, twice), low));
  return hn::MulFixedPoint15(sum, hn::Set(d16, 1 << 8));
}

void two_row(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
             int channels) {
  const Bytes d;
  const SignedBytes signs;
  const uint8_t* data = table.data.data() + layout.offset;
  const int32_t* base = table.base.data();
  for (int x = 0; x < table.out; x += kLanes, base += 2 * kBlocks, data += 6 * kLanes) {
    for (int c = 0; c < channels; ++c) {
      const auto mixed = [&](const int32_t* at, const uint8_t* vector) HWY_ATTR {
        const auto pairs = load_pairs(src[c], at, vector);
        const auto high = hn::BitCast(signs, hn::LoadU(d, vector + kLanes));
        return mix_pairs(pairs, high, hn::BitCast(Shorts(), hn::LoadU(d, vector + 2 * kLanes)));
      };
      hn::StoreU(narrow(mixed(base, data), mixed(base + kBlocks, data + 3 * kLanes)), d, dst[c] + x);
    }
  }
}

template <int kPairs, bool kShort>
HWY_INLINE Sum windows_vector(const uint8_t* src, const int32_t* base, const uint8_t* data, int windows, int bits) {
  constexpr int kParts = kShort ? 1 : 2;
  const Bytes d;
  const Shorts d16;
  const Words d32;
  const auto advance = hn::Set(d16, 2);
  const auto first = hn::BitCast(d16, hn::LoadU(d, data));
  const uint8_t* weights = data + kLanes;
  Sum high = hn::Zero(d32);
  Sum low = hn::Set(d32, kShort ? 1 << (bits - 1) : kHalf);
  for (int w = 0; w < windows; ++w, src += 2 * kPairs) {
    const auto window = load_windows(src, base);
    auto lookup = first;
    HWY_UNROLL(8)
    for (int p = 0; p < kPairs; ++p, weights += kParts * kLanes) {
      const auto samples = hn::BitCast(d16, hn::TableLookupBytesOr0(window, hn::BitCast(d, lookup)));
      if constexpr (!kShort) high = hn::Add(high, madd(samples, hn::BitCast(d16, hn::LoadU(d, weights))));
      low = hn::Add(low, madd(samples, hn::BitCast(d16, hn::LoadU(d, weights + (kParts - 1) * kLanes))));
      lookup = hn::Add(lookup, advance);
    }
  }
  return finish<kShort>(high, low, bits);
}

template <int kPairs, bool kOneWindow, bool kShort>
void windows_row(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
                 int channels) {
  const Bytes d;
  const int windows = kOneWindow ? 1 : table.groups;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(kLanes) * (1 + (kShort ? 1 : 2) * kPairs * windows);
  const uint8_t* data = table.data.data() + layout.offset;
  const int32_t* base = table.base.data();
  for (int x = 0; x < table.out; x += kLanes, base += 4 * kBlocks, data += 4 * stride) {
    for (int c = 0; c < channels; ++c) {
      const uint8_t* from = src[c];
      const Sum s0 = windows_vector<kPairs, kShort>(from, base, data, windows, table.bits);
      const Sum s1 = windows_vector<kPairs, kShort>(from, base + kBlocks, data + stride, windows, table.bits);
      const Sum s2 = windows_vector<kPairs, kShort>(from, base + 2 * kBlocks, data + 2 * stride, windows, table.bits);
      const Sum s3 = windows_vector<kPairs, kShort>(from, base + 3 * kBlocks, data + 3 * stride, windows, table.bits);
      hn::StoreU(narrow(s0, s1, s2, s3), d, dst[c] + x);
    }
  }
}

using DotSum = hn::Vec<hn::Repartition<int32_t, DotShorts>>;

// The sum for one output, spread over the lanes.
template <bool kShort>
HWY_INLINE DotSum dot(const uint8_t* src, const uint8_t* data, int groups) {
  const DotShorts d16;
  const hn::Repartition<int32_t, DotShorts> d32;
  const hn::Repartition<uint8_t, DotShorts> d8;
  constexpr int kStep = 8 * kDotBlocks;
  constexpr int kBytes = kShort ? 2 * kStep : 4 * kStep;
  DotSum high = hn::Zero(d32);
  DotSum low = hn::Zero(d32);
  for (int g = 0; g < groups; ++g, src += kStep, data += kBytes) {
    const auto samples = hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, DotShorts>(), src));
    if constexpr (!kShort) high = hn::Add(high, madd(samples, hn::BitCast(d16, hn::LoadU(d8, data))));
    low = hn::Add(low, madd(samples, hn::BitCast(d16, hn::LoadU(d8, data + kBytes - 2 * kStep))));
  }
  if constexpr (kShort) return low;
  return hn::Add(hn::ShiftLeft<kLowBits>(high), low);
}

// Four outputs, summed up.
template <bool kShort>
HWY_INLINE hn::Vec128<int32_t> dots(const uint8_t* src, const int32_t* base, const uint8_t* data, ptrdiff_t stride,
                                    int groups, int bits) {
  const hn::Repartition<int32_t, DotShorts> d32;
  const DotSum s0 = dot<kShort>(src + base[0], data, groups);
  const DotSum s1 = dot<kShort>(src + base[1], data + stride, groups);
  const DotSum s2 = dot<kShort>(src + base[2], data + 2 * stride, groups);
  const DotSum s3 = dot<kShort>(src + base[3], data + 3 * stride, groups);
  const DotSum s02 = hn::Add(hn::InterleaveLower(d32, s0, s2), hn::InterleaveUpper(d32, s0, s2));
  const DotSum s13 = hn::Add(hn::InterleaveLower(d32, s1, s3), hn::InterleaveUpper(d32, s1, s3));
  const DotSum all = hn::Add(hn::InterleaveLower(d32, s02, s13), hn::InterleaveUpper(d32, s02, s13));
  const hn::Full128<int32_t> d128;
#if HWY_TARGET <= HWY_AVX2
  const auto sum = hn::Add(hn::LowerHalf(d128, all), hn::UpperHalf(d128, all));
#else
  const auto sum = all;
#endif
  return finish<true>(sum, hn::Add(sum, hn::Set(d128, 1 << (bits - 1))), bits);
}

template <bool kShort>
void dots_row(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
              int channels) {
  const hn::Full128<uint8_t> d;
  const int groups = table.groups;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(kShort ? 2 : 4) * 8 * kDotBlocks * groups;
  const uint8_t* data = table.data.data() + layout.offset;
  const int32_t* base = table.base.data();
  for (int x = 0; x < table.out; x += 16, base += 16, data += 16 * stride) {
    for (int c = 0; c < channels; ++c) {
      const auto s0 = dots<kShort>(src[c], base, data, stride, groups, table.bits);
      const auto s1 = dots<kShort>(src[c], base + 4, data + 4 * stride, stride, groups, table.bits);
      const auto s2 = dots<kShort>(src[c], base + 8, data + 8 * stride, stride, groups, table.bits);
      const auto s3 = dots<kShort>(src[c], base + 12, data + 12 * stride, stride, groups, table.bits);
      hn::StoreU(narrow(s0, s1, s2, s3), d, dst[c] + x);
    }
  }
}

constexpr int kPixelGroup = 4 * kDotBlocks;  // bytes of weights

bool build_pixel_table(const Taps& taps, const RowTable& planar, RowTable* table) {
  if (Layout::unpack(planar.layout).kind != Layout::kDots) return false;
  resample::build_dots<2 * kDotBlocks>(taps, resample::extent_of(taps), Layout::kPixels, table);
  return true;
}

// 2 * kDotBlocks weights, two to a block, for each of its channels.
HWY_INLINE hn::Vec<DotShorts> spread_weights(const uint8_t* data) {
#if HWY_TARGET <= HWY_AVX2
  const DotBytes d8;
  alignas(32) static constexpr uint8_t kByBlocks[32] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
                                                        4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7};
  int64_t weights;
  std::memcpy(&weights, data, sizeof weights);
  const auto all = hn::BitCast(d8, hn::Set(hn::Repartition<int64_t, DotShorts>(), weights));
  return hn::BitCast(DotShorts(), hn::TableLookupBytes(all, hn::Load(d8, kByBlocks)));
#else
  int32_t weights;
  std::memcpy(&weights, data, sizeof weights);
  return hn::BitCast(DotShorts(), hn::Set(hn::Repartition<int32_t, DotShorts>(), weights));
#endif
}

// The sums of the four channels of each of four outputs, whose weights lie `stride` apart; `lookup` finds their samples
// of 2 * kDotBlocks taps.
template <bool kShort>
HWY_INLINE void pixel_sums(const uint8_t* const* src, const uint8_t* data, ptrdiff_t stride, hn::Vec<DotBytes> lookup,
                           int step, hn::Vec128<int32_t>* sums) {
  const DotBytes d8;
  const DotShorts d16;
  const hn::Repartition<int32_t, DotShorts> d32;
  DotSum high[4], low[4];
  HWY_UNROLL(4)
  for (int k = 0; k < 4; ++k) high[k] = low[k] = hn::Zero(d32);
  const uint8_t* const end = data + stride;
  for (ptrdiff_t at = 0; data != end; at += step) {
    hn::Vec<DotShorts> samples[4];
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      samples[k] = hn::BitCast(d16, hn::TableLookupBytesOr0(hn::LoadDup128(d8, src[k] + at), lookup));
    }
    if constexpr (!kShort) {
      HWY_UNROLL(4)
      for (int k = 0; k < 4; ++k) high[k] = hn::Add(high[k], madd(samples[k], spread_weights(data + k * stride)));
      data += kPixelGroup;
    }
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) low[k] = hn::Add(low[k], madd(samples[k], spread_weights(data + k * stride)));
    data += kPixelGroup;
  }
  HWY_UNROLL(4)
  for (int k = 0; k < 4; ++k) {
    if constexpr (!kShort) low[k] = hn::Add(hn::ShiftLeft<kLowBits>(high[k]), low[k]);
#if HWY_TARGET <= HWY_AVX2
    const hn::Full128<int32_t> block;
    sums[k] = hn::Add(hn::LowerHalf(block, low[k]), hn::UpperHalf(block, low[k]));
#else
    sums[k] = low[k];
#endif
  }
}

template <bool kShort>
void pixels_row(const RowTable& table, const uint8_t* src, const uint8_t* next, int pixel_stride, uint8_t* const* dst,
                int channels) {
  const hn::Full128<uint8_t> d;
  const hn::Full128<int32_t> d32;
  constexpr int kTaps = 2 * kDotBlocks;
  alignas(32) uint8_t at[16 * kDotBlocks];
  for (int k = 0; k < 4 * kDotBlocks; ++k) {
    const int first = k / 4 * 2 * pixel_stride + k % 4;
    const uint8_t pair[4] = {static_cast<uint8_t>(first), 0x80, static_cast<uint8_t>(first + pixel_stride), 0x80};
    std::memcpy(at + 4 * k, pair, 4);
  }
  const auto lookup = hn::Load(DotBytes(), at);
  // Samples of four pixels by channels.
  alignas(16) static constexpr uint8_t kByChannels[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const auto by_channels = hn::Load(d, kByChannels);
  const auto half = hn::Set(d32, 1 << (table.bits - 1));
  const ptrdiff_t stride = ptrdiff_t{(kShort ? 1 : 2) * kPixelGroup} * table.groups;
  const uint8_t* data = table.data.data() + Layout::unpack(table.layout).offset;
  const int32_t* base = table.base.data();
  constexpr ptrdiff_t kLine = 64;
  ptrdiff_t fetched = 0;  // bytes of the next row
  for (int x = 0; x < table.out; x += 16) {
    hn::Vec128<int32_t> planes[4];
    HWY_UNROLL(4)
    for (auto& four : planes) {
      const uint8_t* from[4];
      for (const uint8_t*& first : from) first = src + ptrdiff_t{*base++} * pixel_stride;
      for (const ptrdiff_t end = from[3] - src; next != nullptr && fetched < end; fetched += kLine) {
        __builtin_prefetch(next + fetched, 0, 3);
      }
      hn::Vec128<int32_t> sums[4];
      pixel_sums<kShort>(from, data, stride, lookup, kTaps * pixel_stride, sums);
      data += 4 * stride;
      HWY_UNROLL(4)
      for (auto& sum : sums) sum = hn::ShiftRightSame(hn::Add(sum, half), table.bits);
      four = hn::BitCast(d32, hn::TableLookupBytes(narrow(sums[0], sums[1], sums[2], sums[3]), by_channels));
    }
    turn_block(d32, planes);
    for (int c = 0; c < channels; ++c) hn::StoreU(hn::BitCast(d, planes[c]), d, dst[c] + x);
  }
}

void resample_pixels(const RowTable& table, const uint8_t* src, const uint8_t* next, int pixel_stride,
                     uint8_t* const* dst, int channels) {
  if (table.bits != kWeightBits) return pixels_row<true>(table, src, next, pixel_stride, dst, channels);
  pixels_row<false>(table, src, next, pixel_stride, dst, channels);
}

template <int kPairs>
void windows_row_of(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
                    int channels) {
  const bool one = table.groups == 1;
  if (table.bits != kWeightBits) {
    if (one) return windows_row<kPairs, true, true>(table, layout, src, dst, channels);
    return windows_row<kPairs, false, true>(table, layout, src, dst, channels);
  }
  if (one) return windows_row<kPairs, true, false>(table, layout, src, dst, channels);
  return windows_row<kPairs, false, false>(table, layout, src, dst, channels);
}

void resample_row(const RowTable& table, const uint8_t* const* src, uint8_t* const* dst, int channels) {
  const Layout layout = Layout::unpack(table.layout);
#if HWY_TARGET == HWY_AVX3_DL
  if (layout.kind == Layout::kWideDigits) {
    if (table.bits != kWeightBits) return wide_rows<Wide::kTwoDigits>(table, layout, src, dst, channels);
    return wide_rows<Wide::kThreeDigits>(table, layout, src, dst, channels);
  }
  if (layout.kind == Layout::kDigitDots) {
    if (table.bits != kWeightBits) return digit_dots_of<2>(table, layout, src, dst, channels);
    return digit_dots_of<3>(table, layout, src, dst, channels);
  }
#endif
  if (layout.kind == Layout::kTwo) return two_row(table, layout, src, dst, channels);
  if (layout.kind == Layout::kDots) {
    if (table.bits != kWeightBits) return dots_row<true>(table, layout, src, dst, channels);
    return dots_row<false>(table, layout, src, dst, channels);
  }
  switch (layout.pairs) {
    case 1:
      return windows_row_of<1>(table, layout, src, dst, channels);
    case 2:
      return windows_row_of<2>(table, layout, src, dst, channels);
    case 3:
      return windows_row_of<3>(table, layout, src, dst, channels);
    case 4:
      return windows_row_of<4>(table, layout, src, dst, channels);
    case 5:
      return windows_row_of<5>(table, layout, src, dst, channels);
    case 6:
      return windows_row_of<6>(table, layout, src, dst, channels);
    case 7:
      return windows_row_of<7>(table, layout, src, dst, channels);
    default:
      return windows_row_of<8>(table, layout, src, dst, channels);
  }
}

// ---- Columns ----

// The weights of two rows, as madd takes them. Short ones are all in `low`.
struct WeightPair {
  int32_t high;
  int32_t low;

  WeightPair() = default;
  WeightPair(int32_t a, int32_t b, bool whole)
      : high(whole ? 0 : join(a >> kLowBits, b >> kLowBits)),
        low(whole ? join(a, b) : join(a & kLowMask, b & kLowMask)) {}

 private:
  static constexpr int32_t kLowMask = (1 << kLowBits) - 1;
  static int32_t join(int32_t a, int32_t b) {
    return static_cast<int32_t>((static_cast<uint32_t>(a) & 0xffff) | static_cast<uint32_t>(b) << 16);
  }
};

// rows has 2 * pairs entries.
template <int kPairs, bool kShort>
void columns(const uint8_t* const* rows, const WeightPair* weights, int pairs, int bits, int width, uint8_t* dst) {
  const Bytes d;
  const Shorts d16;
  const Words d32;
  const auto zero = hn::Zero(d);
  const Sum half = hn::Set(d32, 1 << (bits - 1));
  for (int x = 0; x < width; x += kLanes) {
    Sum h0 = hn::Zero(d32), h1 = h0, h2 = h0, h3 = h0;
    Sum l0 = half, l1 = half, l2 = half, l3 = half;
    for (int p = 0; p < (kPairs > 0 ? kPairs : pairs); ++p) {
      const auto low = hn::BitCast(d16, hn::Set(d32, weights[p].low));
      const auto a = hn::LoadU(d, rows[2 * p] + x);
      const auto b = hn::LoadU(d, rows[2 * p + 1] + x);
      const auto lower = hn::InterleaveLower(d, a, b);
      const auto upper = hn::InterleaveUpper(d, a, b);
      const auto s0 = hn::BitCast(d16, hn::InterleaveLower(d, lower, zero));
      const auto s1 = hn::BitCast(d16, hn::InterleaveUpper(d, lower, zero));
      const auto s2 = hn::BitCast(d16, hn::InterleaveLower(d, upper, zero));
      const auto s3 = hn::BitCast(d16, hn::InterleaveUpper(d, upper, zero));
      if constexpr (!kShort) {
        const auto high = hn::BitCast(d16, hn::Set(d32, weights[p].high));
        h0 = hn::Add(h0, madd(s0, high));
        h1 = hn::Add(h1, madd(s1, high));
        h2 = hn::Add(h2, madd(s2, high));
        h3 = hn::Add(h3, madd(s3, high));
      }
      l0 = hn::Add(l0, madd(s0, low));
      l1 = hn::Add(l1, madd(s1, low));
      l2 = hn::Add(l2, madd(s2, low));
      l3 = hn::Add(l3, madd(s3, low));
    }
    const auto s0 = finish<kShort>(h0, l0, bits);
    const auto s1 = finish<kShort>(h1, l1, bits);
    const auto s2 = finish<kShort>(h2, l2, bits);
    const auto s3 = finish<kShort>(h3, l3, bits);
    hn::StoreU(narrow(s0, s1, s2, s3), d, dst + x);
  }
}

template <bool kShort>
void columns_of(const uint8_t* const* rows, const WeightPair* weights, int pairs, int bits, int width, uint8_t* dst) {
  switch (pairs) {
    case 1:
      return columns<1, kShort>(rows, weights, pairs, bits, width, dst);
    case 2:
      return columns<2, kShort>(rows, weights, pairs, bits, width, dst);
    case 3:
      return columns<3, kShort>(rows, weights, pairs, bits, width, dst);
    default:
      return columns<0, kShort>(rows, weights, pairs, bits, width, dst);
  }
}

void two_column(const uint8_t* a, const uint8_t* b, TwoTaps taps, int width, uint8_t* dst) {
  const Bytes d;
  const Shorts d16;
  int16_t both;
  std::memcpy(&both, taps.high, sizeof both);
  const auto high = hn::BitCast(SignedBytes(), hn::Set(d16, both));
  const auto low = hn::Set(d16, taps.low);
  for (int x = 0; x < width; x += kLanes) {
    const auto from = hn::LoadU(d, a + x);
    const auto to = hn::LoadU(d, b + x);
    const auto lower = mix_pairs(hn::InterleaveLower(d, from, to), high, low);
    const auto upper = mix_pairs(hn::InterleaveUpper(d, from, to), high, low);
    hn::StoreU(narrow(lower, upper), d, dst + x);
  }
}

void resample_column(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  if (taps == 1 && weights[0] == 1 << bits) {
    std::memcpy(dst, rows[0], static_cast<size_t>(width));
    return;
  }
  if (taps == 2 && TwoTaps::fit(weights, taps, bits)) {
    return two_column(rows[0], rows[1], TwoTaps(weights[1], bits), width, dst);
  }
#if HWY_TARGET == HWY_AVX3_DL
  if (digit_column(rows, weights, taps, bits, width, dst)) return;
#endif
  const int pairs = (taps + 1) / 2;
  constexpr int kOnStack = 32;
  WeightPair stack_weights[kOnStack];
  const uint8_t* stack_rows[2 * kOnStack];
  std::vector<WeightPair> heap_weights;
  std::vector<const uint8_t*> heap_rows;
  WeightPair* split = stack_weights;
  const uint8_t** paired = stack_rows;
  if (pairs > kOnStack) {
    heap_weights.resize(static_cast<size_t>(pairs));
    heap_rows.resize(static_cast<size_t>(2) * pairs);
    split = heap_weights.data();
    paired = heap_rows.data();
  }
  for (int p = 0; p < pairs; ++p) {
    const bool both = 2 * p + 1 < taps;
    split[p] = WeightPair(weights[2 * p], both ? weights[2 * p + 1] : 0, bits != kWeightBits);
    paired[2 * p] = rows[2 * p];
    paired[2 * p + 1] = rows[both ? 2 * p + 1 : 2 * p];
  }
  if (bits != kWeightBits) return columns_of<true>(paired, split, pairs, bits, width, dst);
  return columns_of<false>(paired, split, pairs, bits, width, dst);
}

}  // namespace

void fill_resample(Kernels* table) {
  table->build_row_table = build_row_table;
  table->resample_row = resample_row;
  table->build_pixel_table = build_pixel_table;
  table->resample_pixels = resample_pixels;
  table->resample_column = resample_column;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(resample)
