// JPEG: entropy codes, the inverse DCT of pairs of blocks, upsampling and colours of rows. See pixel/jpeg.h for the
// formulas.
#define HWY_TARGET_INCLUDE "kernels/simd/jpeg.cc"

#include "pixel/jpeg.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd/family-inl.h"

// Elsewhere vectors of 16 bits are multiplied and added in another order.
#if FASTAUG_SIMD_TARGET && HWY_ARCH_X86
#include "kernels/simd/lane-inl.h"
// After the macros that it is put together with.
#include "kernels/jpeg_band-inl.h"
#include "kernels/jpeg_scan-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
#if HWY_ARCH_X86
namespace {

// 16 bits to as many samples, of each 128 bits first those of the one and then those of the other: Highway has no word
// for it before 1.1.
HWY_INLINE auto to_samples(hn::Vec128<int16_t> a, hn::Vec128<int16_t> b) {
  return hn::Vec128<uint8_t>{_mm_packus_epi16(a.raw, b.raw)};
}
#if HWY_MAX_BYTES >= 32
HWY_INLINE auto to_samples(hn::Vec256<int16_t> a, hn::Vec256<int16_t> b) {
  return hn::Vec256<uint8_t>{_mm256_packus_epi16(a.raw, b.raw)};
}
#endif
#if HWY_MAX_BYTES >= 64
HWY_INLINE auto to_samples(hn::Vec512<int16_t> a, hn::Vec512<int16_t> b) {
  return hn::Vec512<uint8_t>{_mm512_packus_epi16(a.raw, b.raw)};
}
#endif

// As many blocks side by side as fit into 256 bits, a line of each in every 128: wider ones gain nothing.
using Line = hn::CappedTag<int16_t, 16>;
using LineVec = hn::Vec<Line>;
using Sum = hn::RepartitionToWide<Line>;
using SumVec = hn::Vec<Sum>;
constexpr int kTogether = static_cast<int>(hn::MaxLanes(Line())) / 8;

// Line k of each block.
HWY_INLINE void load_lines(const int16_t* coefs, LineVec (&lines)[8]) {
  const Line d;
  if constexpr (kTogether == 1) {
    for (int k = 0; k < 8; ++k) lines[k] = hn::LoadU(d, coefs + 8 * k);
  } else {
    for (int k = 0; k < 8; k += 2) {
      const auto first = hn::LoadU(d, coefs + 8 * k);
      const auto second = hn::LoadU(d, coefs + kJpegBlock + 8 * k);
      lines[k] = hn::ConcatLowerLower(d, second, first);
      lines[k + 1] = hn::ConcatUpperUpper(d, second, first);
    }
  }
}

// In each block, samples (y, x) and (x, y) change places.
HWY_INLINE void turn_lines(LineVec (&lines)[8]) {
  const Line d;
  for (int round = 0; round < 3; ++round) {
    LineVec next[8];
    for (int k = 0; k < 4; ++k) {
      next[2 * k] = hn::InterleaveLower(d, lines[k], lines[k + 4]);
      next[2 * k + 1] = hn::InterleaveUpper(d, lines[k], lines[k + 4]);
    }
    for (int k = 0; k < 8; ++k) lines[k] = next[k];
  }
}

// Two factors for pairs of values.
HWY_INLINE LineVec factors(int first, int second) {
  const auto pair = static_cast<uint32_t>(first & 0xffff) | static_cast<uint32_t>(second) << 16;
  return hn::BitCast(Line(), hn::Set(hn::RepartitionToWide<hn::RebindToUnsigned<Line>>(), pair));
}

// The products of pairs and their factors, added.
HWY_INLINE SumVec sums(LineVec pairs, LineVec by) {
  const Sum d;
  SumVec none = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, pairs, by, hn::Zero(d), none);
}

// 32 bits for the lower and the upper half of the values of each block.
struct Sums {
  SumVec lower;
  SumVec upper;

  HWY_INLINE Sums operator+(const Sums& other) const {
    return {hn::Add(lower, other.lower), hn::Add(upper, other.upper)};
  }
  HWY_INLINE Sums operator-(const Sums& other) const {
    return {hn::Sub(lower, other.lower), hn::Sub(upper, other.upper)};
  }
};

struct Pairs {
  LineVec lower;
  LineVec upper;

  HWY_INLINE Pairs(LineVec first, LineVec second)
      : lower(hn::InterleaveLower(Line(), first, second)), upper(hn::InterleaveUpper(Line(), first, second)) {}
  HWY_INLINE Sums times(int first, int second) const {
    const LineVec by = factors(first, second);
    return {sums(lower, by), sums(upper, by)};
  }
};

// Values times 2^13, and the half that is rounded by.
template <int kShift>
HWY_INLINE Sums raised(LineVec values) {
  const Line d;
  const Sum d32;
  const SumVec half = hn::Set(d32, 1 << (kShift - 1));
  const auto above = [&](LineVec pairs) { return hn::Add(hn::ShiftRight<3>(hn::BitCast(d32, pairs)), half); };
  return {above(hn::InterleaveLower(d, hn::Zero(d), values)), above(hn::InterleaveUpper(d, hn::Zero(d), values))};
}

template <int kShift>
HWY_INLINE LineVec lowered(const Sums& values) {
  return hn::ReorderDemote2To(Line(), hn::ShiftRight<kShift>(values.lower), hn::ShiftRight<kShift>(values.upper));
}

// jpeg_inverse_line() of every column.
template <int kShift>
HWY_INLINE void inverse_lines(LineVec (&v)[8]) {
  const Pairs pairs26(v[2], v[6]);
  const Sums tmp2 = pairs26.times(kJpeg0_541, kJpeg0_541 - kJpeg1_847);
  const Sums tmp3 = pairs26.times(kJpeg0_541 + kJpeg0_765, kJpeg0_541);
  const Sums tmp0 = raised<kShift>(hn::Add(v[0], v[4]));
  const Sums tmp1 = raised<kShift>(hn::Sub(v[0], v[4]));
  const Sums even[4] = {tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3};

  const Pairs pairs34(hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const Sums z3 = pairs34.times(kJpeg1_175 - kJpeg1_961, kJpeg1_175);
  const Sums z4 = pairs34.times(kJpeg1_175, kJpeg1_175 - kJpeg0_390);
  const Pairs pairs71(v[7], v[1]);
  const Pairs pairs53(v[5], v[3]);
  const Sums odd[4] = {pairs71.times(-kJpeg0_899, kJpeg1_501 - kJpeg0_899) + z4,
                       pairs53.times(-kJpeg2_562, kJpeg3_072 - kJpeg2_562) + z3,
                       pairs53.times(kJpeg2_053 - kJpeg2_562, -kJpeg2_562) + z4,
                       pairs71.times(kJpeg0_298 - kJpeg0_899, -kJpeg0_899) + z3};
  for (int k = 0; k < 4; ++k) {
    v[k] = lowered<kShift>(even[k] + odd[k]);
    v[7 - k] = lowered<kShift>(even[k] - odd[k]);
  }
}

// Lines of 8 samples, of `blocks` of the blocks.
HWY_INLINE void store_lines(const LineVec (&lines)[8], [[maybe_unused]] int blocks, uint8_t* dst, ptrdiff_t stride) {
  const Line d;
  const hn::Repartition<uint64_t, Line> d64;
  const auto middle = hn::Set(d, 128);
  for (int k = 0; k < 8; k += 2) {
    const auto first = hn::SaturatedAdd(lines[k], middle), second = hn::SaturatedAdd(lines[k + 1], middle);
    const auto rows = hn::BitCast(d64, to_samples(first, second));  // of each block, the two lines
    uint8_t* to = dst + stride * k;
#if HWY_MAX_BYTES >= 32
    if (blocks == 2) {
      const hn::Full128<uint8_t> bytes;
      const hn::Half<decltype(d64)> half;
      hn::StoreU(hn::BitCast(bytes, hn::LowerHalf(half, hn::ConcatEven(d64, rows, rows))), bytes, to);
      hn::StoreU(hn::BitCast(bytes, hn::LowerHalf(half, hn::ConcatOdd(d64, rows, rows))), bytes, to + stride);
      continue;
    }
#endif
    alignas(32) uint64_t two[2 * kTogether];
    hn::Store(rows, d64, two);
    std::memcpy(to, two, 8);
    std::memcpy(to + stride, two + 1, 8);
  }
}

HWY_INLINE void fill_block(int dc, uint8_t* dst, ptrdiff_t stride) {
  const uint64_t samples = jpeg_flat_sample(dc) * uint64_t{0x0101010101010101};
  for (int k = 0; k < 8; ++k) std::memcpy(dst + stride * k, &samples, 8);
}

bool jpeg_inverse(const int16_t* coefs, const uint8_t* last, const uint16_t* steps, int blocks, uint8_t* dst,
                  ptrdiff_t stride) {
  const Line d;
  const hn::RebindToUnsigned<Line> du;
  LineVec by[8];
  for (int k = 0; k < 8; ++k) by[k] = hn::BitCast(d, hn::LoadDup128(du, steps + 8 * k));
  auto uncertain = hn::Zero(du);
  bool certain = true;
  for (int b = 0; b < blocks; b += kTogether, coefs += kTogether * kJpegBlock, dst += kTogether * 8) {
    const int count = std::min(blocks - b, kTogether);
    const bool flat = (last[b] | last[b + count - 1]) == 0;
    if (flat) {
      for (int k = 0; k < count; ++k) {
        const auto dc = static_cast<int16_t>(coefs[k * kJpegBlock] * steps[0]);
        certain &= jpeg_is_certain(dc);
        fill_block(dc, dst + 8 * k, stride);
      }
      continue;
    }
    LineVec lines[8];
    load_lines(coefs, lines);
    for (int k = 0; k < 8; ++k) lines[k] = hn::Mul(lines[k], by[k]);
    // jpeg_is_certain(), for a single block that is last of both.
    const auto above = hn::Add(hn::BitCast(du, lines[0]), hn::Set(du, 8192));
    if (count == kTogether) {
      uncertain = hn::Or(uncertain, above);
    } else {
      alignas(32) uint16_t values[8 * kTogether];
      hn::Store(above, du, values);
      for (int k = 0; k < 8; ++k) certain &= values[k] < 16384;
    }
    inverse_lines<kJpegFirstShift>(lines);
    turn_lines(lines);
    inverse_lines<kJpegSecondShift>(lines);
    turn_lines(lines);
    store_lines(lines, count, dst, stride);
  }
  return certain && hn::AllTrue(du, hn::Lt(uncertain, hn::Set(du, 16384)));
}

using Bytes = hn::ScalableTag<uint8_t>;
using Words = hn::RepartitionToWide<Bytes>;
using Half = hn::Half<Bytes>;

// Columns weighed at a time, so that sums stay near.
constexpr int kColumns = 512;

// dst[2 x] and dst[2 x + 1] from sums[x] to sums[x + 2].
template <int kShift>
HWY_INLINE void spread(const uint16_t* columns, int width, uint8_t* dst) {
  const Words d;
  const Bytes d8;
  const auto left_half = hn::Set(d, jpeg_left_half(kShift)), right_half = hn::Set(d, jpeg_right_half(kShift));
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d))) {
    const auto here = hn::LoadU(d, columns + x + 1);
    const auto thrice = hn::Add(here, hn::Add(here, here));
    const auto left = hn::Add(hn::Add(thrice, hn::LoadU(d, columns + x)), left_half);
    const auto right = hn::Add(hn::Add(thrice, hn::LoadU(d, columns + x + 2)), right_half);
    const auto both = hn::Or(hn::ShiftRight<kShift>(left), hn::ShiftLeft<8>(hn::ShiftRight<kShift>(right)));
    hn::StoreU(hn::BitCast(d8, both), d8, dst + 2 * x);
  }
}

void jpeg_upsample(const uint8_t* near, const uint8_t* far, int width, uint8_t* dst) {
  const Words d;
  const Half half;
  const int lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) uint16_t columns[kColumns + 2 + 2 * hn::MaxLanes(d)];
  for (int from = 0; from < width; from += kColumns) {
    const int count = std::min(kColumns, width - from);
    for (int x = 0; x < count + 2; x += lanes) {
      auto column = hn::PromoteTo(d, hn::LoadU(half, near + from + x - 1));
      if (far != nullptr) {
        column =
            hn::Add(hn::Add(column, hn::Add(column, column)), hn::PromoteTo(d, hn::LoadU(half, far + from + x - 1)));
      }
      hn::Store(column, d, columns + x);
    }
    if (far == nullptr) {
      spread<2>(columns, count, dst + 2 * from);
    } else {
      spread<4>(columns, count, dst + 2 * from);
    }
  }
}

// Colours of every other pixel, as jpeg_rgb() makes them: factors of 17 bits are a whole number and one that fits into
// 16, at twice the value so that the upper half of a product has a bit to round by.
struct Colours {
  hn::Vec<hn::RebindToSigned<Words>> red, green, blue;
};

HWY_INLINE Colours colours_of(hn::Vec<Words> y, hn::Vec<Words> cb, hn::Vec<Words> cr) {
  const hn::RebindToSigned<Words> d;
  const hn::RepartitionToWide<decltype(d)> d32;
  using Vec = hn::Vec<decltype(d)>;
  const auto c128 = hn::Set(d, 128), one = hn::Set(d, 1);
  const Vec luma = hn::BitCast(d, y);
  const Vec b = hn::Sub(hn::BitCast(d, cb), c128), r = hn::Sub(hn::BitCast(d, cr), c128);
  const Vec twice_b = hn::Add(b, b), twice_r = hn::Add(r, r);
  const auto part = [&](Vec twice, int factor) {
    const Vec product = hn::MulHigh(twice, hn::Set(d, static_cast<int16_t>(factor)));
    return hn::ShiftRight<1>(hn::Add(product, one));
  };
  const auto pair = static_cast<int32_t>(static_cast<uint32_t>(-22554 & 0xffff) | uint32_t{65536 - 46802} << 16);
  const Vec by = hn::BitCast(d, hn::Set(d32, pair));
  const auto greens = [&](Vec pairs) {
    auto none = hn::Zero(d32);
    const auto sum = hn::ReorderWidenMulAccumulate(d32, pairs, by, hn::Set(d32, 1 << 15), none);
    return hn::ShiftRight<16>(sum);
  };
  const Vec green = hn::ReorderDemote2To(d, greens(hn::InterleaveLower(d, b, r)), greens(hn::InterleaveUpper(d, b, r)));
  return {hn::Add(luma, hn::Add(part(twice_r, 91881 - 65536), r)), hn::Add(luma, hn::Sub(green, r)),
          hn::Add(luma, hn::Add(part(twice_b, 116130 - 131072), twice_b))};
}

// Halves of 16 bytes that hold even and odd pixels, to pixels in order.
alignas(16) constexpr uint8_t kShuffled[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};

template <int kStride>
HWY_INLINE void rgb_vector(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, uint8_t* to) {
  const Bytes d8;
  const Words d;
  const auto low = hn::Set(d, 255);
  const auto order = hn::LoadDup128(d8, kShuffled);
  const auto y = hn::BitCast(d, hn::LoadU(d8, luma));
  const auto cb = hn::BitCast(d, hn::LoadU(d8, blue));
  const auto cr = hn::BitCast(d, hn::LoadU(d8, red));
  const Colours even = colours_of(hn::And(y, low), hn::And(cb, low), hn::And(cr, low));
  const Colours odd = colours_of(hn::ShiftRight<8>(y), hn::ShiftRight<8>(cb), hn::ShiftRight<8>(cr));
  const auto joined = [&](auto of_even, auto of_odd) {
    return hn::TableLookupBytes(to_samples(of_even, of_odd), order);
  };
  const auto r = joined(even.red, odd.red), g = joined(even.green, odd.green), b = joined(even.blue, odd.blue);
  if constexpr (kStride == 3) hn::StoreInterleaved3(r, g, b, d8, to);
  if constexpr (kStride == 4) hn::StoreInterleaved4(r, g, b, hn::Set(d8, 255), d8, to);
}

template <int kStride>
void rgb_row(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, int width, uint8_t* foreign) {
  const int lanes = static_cast<int>(hn::Lanes(Bytes()));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    rgb_vector<kStride>(luma + x, blue + x, red + x, foreign + ptrdiff_t{kStride} * x);
  }
  if (x == width) return;
  alignas(64) uint8_t rest[kStride * hn::MaxLanes(Bytes())];
  rgb_vector<kStride>(luma + x, blue + x, red + x, rest);
  std::memcpy(foreign + ptrdiff_t{kStride} * x, rest, static_cast<size_t>(kStride * (width - x)));
}

void jpeg_colours(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, int width, int pixel_stride,
                  uint8_t* foreign) {
  if (pixel_stride == 3) return rgb_row<3>(luma, blue, red, width, foreign);
  rgb_row<4>(luma, blue, red, width, foreign);
}

// Words of even and odd columns to bytes in order.
HWY_INLINE hn::Vec<Bytes> joined(hn::Vec<Words> even, hn::Vec<Words> odd) {
  return hn::BitCast(Bytes(), hn::Or(even, hn::ShiftLeft<8>(odd)));
}

void jpeg_ycc(const uint8_t* const* rgb, int width, uint8_t* const* ycc) {
  const Bytes d8;
  const Words d;
  const hn::RebindToSigned<Words> ds;
  const hn::RepartitionToWide<decltype(ds)> d32;
  const auto pair = [&](int first, int second) {
    const auto both = static_cast<uint32_t>(first & 0xffff) | static_cast<uint32_t>(second) << 16;
    return hn::BitCast(ds, hn::Set(d32, static_cast<int32_t>(both)));
  };
  // 38470 does not fit into 16 bits.
  const auto luma_rg = pair(19595, 38470 - 16384), luma_bg = pair(7471, 16384);
  const auto blue_rg = pair(-11059, -21709), red_gb = pair(-27439, -5329);
  const auto half = hn::Set(d32, 1 << 15), middle = hn::Set(d32, (128 << 16) + (1 << 15) - 1);
  const auto zero = hn::Zero(ds);
  const auto product = [&](auto pairs, auto by, auto onto) {
    auto none = hn::Zero(d32);
    return hn::ReorderWidenMulAccumulate(d32, pairs, by, onto, none);
  };
  // A sample times 2^15.
  const auto halved = [&](auto pairs) { return hn::ShiftRight<1>(hn::BitCast(d32, pairs)); };
  struct Made {
    hn::Vec<Words> samples[3];
  };
  const auto make = [&](auto red, auto green, auto blue) {
    const auto r = hn::BitCast(ds, red), g = hn::BitCast(ds, green), b = hn::BitCast(ds, blue);
    const auto each = [&](auto rg, auto bg, auto gb, auto zero_r, auto zero_b, auto(&sums)[3]) {
      sums[0] = hn::ShiftRight<16>(product(rg, luma_rg, product(bg, luma_bg, half)));
      sums[1] = hn::ShiftRight<16>(hn::Add(product(rg, blue_rg, middle), halved(zero_b)));
      sums[2] = hn::ShiftRight<16>(hn::Add(product(gb, red_gb, middle), halved(zero_r)));
    };
    hn::Vec<decltype(d32)> lower[3], upper[3];
    each(hn::InterleaveLower(ds, r, g), hn::InterleaveLower(ds, b, g), hn::InterleaveLower(ds, g, b),
         hn::InterleaveLower(ds, zero, r), hn::InterleaveLower(ds, zero, b), lower);
    each(hn::InterleaveUpper(ds, r, g), hn::InterleaveUpper(ds, b, g), hn::InterleaveUpper(ds, g, b),
         hn::InterleaveUpper(ds, zero, r), hn::InterleaveUpper(ds, zero, b), upper);
    Made made;
    for (int c = 0; c < 3; ++c) {
      made.samples[c] = hn::BitCast(d, hn::ReorderDemote2To(ds, lower[c], upper[c]));
    }
    return made;
  };
  const auto low = hn::Set(d, 255);
  const auto vector = [&](int x, uint8_t* const* to, int at) {
    const auto r = hn::BitCast(d, hn::LoadU(d8, rgb[0] + x)), g = hn::BitCast(d, hn::LoadU(d8, rgb[1] + x));
    const auto b = hn::BitCast(d, hn::LoadU(d8, rgb[2] + x));
    const Made even = make(hn::And(r, low), hn::And(g, low), hn::And(b, low));
    const Made odd = make(hn::ShiftRight<8>(r), hn::ShiftRight<8>(g), hn::ShiftRight<8>(b));
    for (int c = 0; c < 3; ++c) hn::StoreU(joined(even.samples[c], odd.samples[c]), d8, to[c] + at);
  };
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d8))) vector(x, ycc, x);
}

void jpeg_halve(const uint8_t* above, const uint8_t* below, int width, uint8_t* dst) {
  const Bytes d8;
  const Words d;
  const auto low = hn::Set(d, 255);
  const auto halves = hn::BitCast(d, hn::Set(hn::RepartitionToWide<Words>(), 1u | 2u << 16));
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d))) {
    const auto one = hn::BitCast(d, hn::LoadU(d8, above + 2 * x)), other = hn::BitCast(d, hn::LoadU(d8, below + 2 * x));
    const auto sums = hn::Add(hn::Add(hn::And(one, low), hn::ShiftRight<8>(one)),
                              hn::Add(hn::And(other, low), hn::ShiftRight<8>(other)));
    const auto means = hn::ShiftRight<2>(hn::Add(sums, halves));
    hn::StoreU(hn::DemoteTo(Half(), hn::BitCast(hn::RebindToSigned<Words>(), means)), Half(), dst + x);
  }
}

// jpeg_forward_line() of every column.
template <int kShift>
HWY_INLINE void forward_lines(LineVec (&v)[8]) {
  const Line d;
  const Sum d32;
  LineVec sum[4], difference[4];
  for (int k = 0; k < 4; ++k) {
    sum[k] = hn::Add(v[k], v[7 - k]);
    difference[k] = hn::Sub(v[k], v[7 - k]);
  }
  const auto rounded = [&](const Sums& values) {
    const SumVec half = hn::Set(d32, 1 << (kShift - 1));
    return lowered<kShift>(Sums{hn::Add(values.lower, half), hn::Add(values.upper, half)});
  };
  const LineVec outer = hn::Add(sum[0], sum[3]), inner = hn::Add(sum[1], sum[2]);
  const auto scaled = [&](LineVec value) {
    if constexpr (kShift == kJpegForwardShift) return hn::ShiftLeft<2>(value);
    return hn::ShiftRight<2>(hn::Add(value, hn::Set(d, 2)));
  };
  v[0] = scaled(hn::Add(outer, inner));
  v[4] = scaled(hn::Sub(outer, inner));
  const Pairs even(hn::Sub(sum[1], sum[2]), hn::Sub(sum[0], sum[3]));
  v[2] = rounded(even.times(kJpeg0_541, kJpeg0_541 + kJpeg0_765));
  v[6] = rounded(even.times(kJpeg0_541 - kJpeg1_847, kJpeg0_541));

  const Pairs both(hn::Add(difference[3], difference[1]), hn::Add(difference[2], difference[0]));
  const Sums z3 = both.times(kJpeg1_175 - kJpeg1_961, kJpeg1_175);
  const Sums z4 = both.times(kJpeg1_175, kJpeg1_175 - kJpeg0_390);
  const Pairs pairs30(difference[3], difference[0]);
  const Pairs pairs21(difference[2], difference[1]);
  v[7] = rounded(pairs30.times(kJpeg0_298 - kJpeg0_899, -kJpeg0_899) + z3);
  v[5] = rounded(pairs21.times(kJpeg2_053 - kJpeg2_562, -kJpeg2_562) + z4);
  v[3] = rounded(pairs21.times(-kJpeg2_562, kJpeg3_072 - kJpeg2_562) + z3);
  v[1] = rounded(pairs30.times(-kJpeg0_899, kJpeg1_501 - kJpeg0_899) + z4);
}

// DC of a first line.
alignas(16) constexpr int16_t kFirstOfLine[8] = {-1};

void jpeg_forward(const uint8_t* src, ptrdiff_t stride, const JpegSteps& steps, int blocks, int16_t* coefs,
                  uint8_t* last) {
  const Line d;
  const hn::RebindToUnsigned<Line> du;
  const hn::Rebind<uint8_t, Line> d8;
  const hn::Repartition<uint64_t, Line> d64;
  for (int b = 0; b < blocks; b += kTogether, src += kTogether * 8, coefs += kTogether * kJpegBlock) {
    LineVec lines[8];
    for (int k = 0; k < 8; ++k) {
      lines[k] = hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, src + stride * k)), hn::Set(d, 128));
    }
    turn_lines(lines);
    forward_lines<kJpegForwardShift>(lines);
    turn_lines(lines);
    forward_lines<kJpegForwardLastShift>(lines);
    auto any = hn::Zero(d64);
    for (int k = 0; k < 8; ++k) {
      const auto step = hn::LoadDup128(du, steps.steps + 8 * k);
      const auto sign = hn::BroadcastSignBit(lines[k]);
      const auto magnitude = hn::BitCast(du, hn::Sub(hn::Xor(lines[k], sign), sign));
      // Eighths of the magnitude, of the nearest multiple of the step and below, twice.
      const auto twice = hn::ShiftLeft<1>(hn::ShiftRight<3>(hn::Add(magnitude, hn::ShiftLeft<2>(step))));
      const auto product = hn::MulHigh(twice, hn::LoadDup128(du, steps.factors + 8 * k));
      const auto quotient = hn::MulHigh(hn::Add(product, product), hn::LoadDup128(du, steps.shifts + 8 * k));
      const LineVec made = hn::Sub(hn::Xor(hn::BitCast(d, quotient), sign), sign);
      any = hn::Or(any, hn::BitCast(d64, k == 0 ? hn::AndNot(hn::LoadDup128(d, kFirstOfLine), made) : made));
      if constexpr (kTogether == 1) {
        hn::StoreU(made, d, coefs + 8 * k);
      } else {
        const hn::Half<Line> half;
        hn::StoreU(hn::LowerHalf(half, made), half, coefs + 8 * k);
        hn::StoreU(hn::UpperHalf(half, made), half, coefs + kJpegBlock + 8 * k);
      }
    }
    alignas(32) uint64_t of_blocks[2 * kTogether];
    hn::Store(any, d64, of_blocks);
    for (int k = 0; k < std::min(kTogether, blocks - b); ++k) {
      last[b + k] = (of_blocks[2 * k] | of_blocks[2 * k + 1]) == 0 ? 0 : kJpegBlock - 1;
    }
  }
}

}  // namespace

void fill_jpeg(Kernels* table) {
  table->jpeg_blocks = jpeg_mcus<true>;
  table->jpeg_skip = jpeg_mcus<false>;
  table->jpeg_band = jpeg_band;
  table->jpeg_inverse = jpeg_inverse;
  table->jpeg_upsample = jpeg_upsample;
  table->jpeg_colours = jpeg_colours;
  table->jpeg_ycc = jpeg_ycc;
  table->jpeg_halve = jpeg_halve;
  table->jpeg_forward = jpeg_forward;
  table->quick_jpeg = true;
  table->quick_progressive_jpeg = kJpegDeposits;
}

#else

void fill_jpeg(Kernels* table) { scalar::fill_jpeg(table); }

#endif  // HWY_ARCH_X86
#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(jpeg)
