// Rows of results in float32, float16 and bfloat16.
#define HWY_TARGET_INCLUDE "kernels/simd/store.cc"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/simd/family-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using Float = hn::Vec<Floats>;

alignas(16) constexpr uint8_t kMirror[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};

// The bits of float16, in the low half of each lane, of floats. Numbers too large become infinite, NaNs stay NaNs.
template <class V>
HWY_INLINE auto to_float16(V v) {
  const hn::RebindToUnsigned<Floats> du;
  const hn::RebindToSigned<Floats> di;
  const auto bits = hn::BitCast(du, v);
  const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
  const auto magnitude = hn::Xor(bits, sign);
  // The exponent's bias changes by 112, and 13 bits of the fraction go.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rounded = hn::Add(hn::Add(magnitude, odd), hn::Set(du, 0xfffu - (112u << 23)));
  const auto normal = hn::ShiftRight<13>(rounded);
  // Below 2^-14, adding 0.5 leaves multiples of 2^-24, rounded by the addition, in the last bits of the sum.
  const auto sum = hn::Add(hn::BitCast(Floats(), magnitude), hn::Set(Floats(), 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(du, sum), hn::Set(du, 0x3f000000u));
  // Magnitudes fit int32, whose comparisons every instruction set has.
  const auto size = hn::BitCast(di, magnitude);
  const auto is_subnormal = hn::RebindMask(du, hn::Lt(size, hn::Set(di, 113 << 23)));
  const auto is_large = hn::RebindMask(du, hn::Gt(size, hn::Set(di, 0x477fefff)));  // rounds to 2^16 or more
  const auto is_nan = hn::RebindMask(du, hn::Gt(size, hn::Set(di, 0x7f800000)));
  const auto large = hn::IfThenElse(is_nan, hn::Set(du, 0x7e00u), hn::Set(du, 0x7c00u));
  const auto finite = hn::IfThenElse(is_subnormal, subnormal, normal);
  return hn::Or(hn::IfThenElse(is_large, large, finite), hn::ShiftRight<16>(sign));
}

// The same of bfloat16.
template <class V>
HWY_INLINE auto to_bfloat16(V v) {
  const hn::RebindToUnsigned<Floats> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(du, 0x7fffu)));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, 0x7fc0u), rounded);
}

struct Float16 {
  static HWY_INLINE void store(Float v, uint16_t* to) {
    const hn::Rebind<uint16_t, Floats> d16;
    const hn::RebindToSigned<Floats> di;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, to_float16(v))), d16, to);
  }
};

struct Bfloat16 {
  static HWY_INLINE void store(Float v, uint16_t* to) {
    const hn::Rebind<uint16_t, Floats> d16;
    const hn::RebindToSigned<Floats> di;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, to_bfloat16(v))), d16, to);
  }
};

template <class Format>
void narrow_as(const float* src, int width, uint16_t* foreign) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (width < lanes) {
    float from[HWY_LANES(float)] = {};
    uint16_t to[HWY_LANES(float)];
    std::memcpy(from, src, static_cast<size_t>(width) * sizeof(float));
    Format::store(hn::LoadU(d, from), to);
    std::memcpy(foreign, to, static_cast<size_t>(width) * sizeof(uint16_t));
    return;
  }
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    Format::store(hn::LoadU(d, src + x), foreign + x);
  }
}

#if HWY_TARGET == HWY_AVX2

// narrow_as<Float16> for at least one vector, with the instruction that every processor with AVX2 has: 2.8 times as
// fast.
__attribute__((target("f16c"))) void narrow_float16(const float* src, int width, uint16_t* foreign) {
  for (int next = 0; next < width; next += 8) {
    const int x = std::min(next, width - 8);
    const __m128i v = _mm256_cvtps_ph(_mm256_loadu_ps(src + x), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(foreign + x), v);
  }
}

#endif

void narrow(DType dtype, const float* src, int width, uint16_t* foreign) {
  if (dtype == DType::kBfloat16) return narrow_as<Bfloat16>(src, width, foreign);
#if HWY_TARGET == HWY_AVX2
  if (width >= HWY_LANES(float)) return narrow_float16(src, width, foreign);
#endif
  narrow_as<Float16>(src, width, foreign);
}

template <int kChannels>
void interleave_float_as(const float* const* src, int width, float* foreign) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (width < lanes) {
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < kChannels; ++c) foreign[x * kChannels + c] = src[c][x];
    return;
  }
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    float* to = foreign + ptrdiff_t{x} * kChannels;
    const Float v0 = hn::LoadU(d, src[0] + x);
    const Float v1 = hn::LoadU(d, src[1] + x);
    if constexpr (kChannels == 2) hn::StoreInterleaved2(v0, v1, d, to);
    if constexpr (kChannels == 3) hn::StoreInterleaved3(v0, v1, hn::LoadU(d, src[2] + x), d, to);
    if constexpr (kChannels == 4)
      hn::StoreInterleaved4(v0, v1, hn::LoadU(d, src[2] + x), hn::LoadU(d, src[3] + x), d, to);
  }
}

void interleave_float(const float* const* src, int channels, int width, float* foreign) {
  if (channels == 2) return interleave_float_as<2>(src, width, foreign);
  if (channels == 3) return interleave_float_as<3>(src, width, foreign);
  interleave_float_as<4>(src, width, foreign);
}

template <int kChannels>
void deinterleave_float_as(const float* foreign, int width, float* const* dst) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (width < lanes) {
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < kChannels; ++c) dst[c][x] = foreign[x * kChannels + c];
    return;
  }
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    const float* from = foreign + ptrdiff_t{x} * kChannels;
    Float v0, v1, v2, v3;
    if constexpr (kChannels == 2) hn::LoadInterleaved2(d, from, v0, v1);
    if constexpr (kChannels == 3) hn::LoadInterleaved3(d, from, v0, v1, v2);
    if constexpr (kChannels == 4) hn::LoadInterleaved4(d, from, v0, v1, v2, v3);
    hn::StoreU(v0, d, dst[0] + x);
    hn::StoreU(v1, d, dst[1] + x);
    if constexpr (kChannels > 2) hn::StoreU(v2, d, dst[2] + x);
    if constexpr (kChannels > 3) hn::StoreU(v3, d, dst[3] + x);
  }
}

void deinterleave_float(const float* foreign, int channels, int width, float* const* dst) {
  if (channels == 2) return deinterleave_float_as<2>(foreign, width, dst);
  if (channels == 3) return deinterleave_float_as<3>(foreign, width, dst);
  deinterleave_float_as<4>(foreign, width, dst);
}

// Nothing is known of the samples, so the quotients are divisions.
template <bool kNormalize, bool kReversed>
void move_floats_as(float mean, float std, const float* src, int width, float* foreign) {
  const Floats d;
  const Float centre = hn::Set(d, mean);
  const Float scale = hn::Set(d, std);
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    Float v = hn::LoadU(d, src + x);
    if constexpr (kNormalize) v = hn::Div(hn::Sub(v, centre), scale);
    if constexpr (kReversed) v = hn::Reverse(d, v);
    hn::StoreU(v, d, foreign + (kReversed ? width - lanes - x : x));
  }
}

void move_floats(const FloatStore& store, int channel, const float* src, int width, bool reversed, float* foreign) {
  if (!store.normalize && !reversed) {
    std::memcpy(foreign, src, static_cast<size_t>(width) * sizeof(float));
    return;
  }
  if (width < static_cast<int>(hn::Lanes(Floats()))) {
    return fastaug::kernels("scalar")->move_floats(store, channel, src, width, reversed, foreign);
  }
  const float mean = store.mean[channel];
  const float std = store.std[channel];
  if (!store.normalize) return move_floats_as<false, true>(mean, std, src, width, foreign);
  if (reversed) return move_floats_as<true, true>(mean, std, src, width, foreign);
  move_floats_as<true, false>(mean, std, src, width, foreign);
}

// How store_float divides by `std`, where a division is too slow. With a fused multiply-add, a quotient a / b is
// q = a * (1 / b), with the reciprocal in two parts so that q is within one ulp, then corrected by the remainder
// a - b * q, which is exact. Given that, and a high part that is the correctly rounded reciprocal, the result is the
// correctly rounded quotient (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990), as long as no remainder underflows; see fused_is_exact.
struct Divisor {
  float value;
  float high;
  float low;

  explicit Divisor(float b) : value(b), high(1.0f / b), low(static_cast<float>(1.0 / b - high)) {}
};

// Operands this far from the ends of float32 leave the remainders above 2^-126: samples times such a factor and means
// are multiples of 2^-33, hence so is their difference.
bool fused_is_exact(float factor, float mean, float std) {
  const bool factor_fits = std::fabs(factor) >= 0x1p-9f && std::fabs(factor) <= 0x1p10f;
  const bool mean_fits = mean == 0.0f || (std::fabs(mean) >= 0x1p-10f && std::fabs(mean) <= 0x1p20f);
  return factor_fits && mean_fits && std >= 0x1p-10f && std <= 0x1p20f;
}

// 1 / 255 in two parts. One rounding less than Divisor's quotient; the tests compare all 256 samples.
constexpr float kUnitHigh = 1.0f / 255.0f;
constexpr float kUnitLow = static_cast<float>(1.0 / 255.0 - kUnitHigh);

enum class Norm { kNone, kDivide, kFused };

// The samples that fill one vector, in reverse order if asked.
template <Norm kNorm, bool kMultiplied, bool kReversed>
HWY_INLINE Float normalized(const uint8_t* src, float factor, float mean, const Divisor& divisor) {
  const Floats d;
  const hn::Rebind<int32_t, Floats> d32;
  const hn::Rebind<uint8_t, Floats> d8;
  auto bytes = hn::LoadU(d8, src);
  if constexpr (kReversed) bytes = hn::TableLookupBytes(bytes, hn::LoadU(d8, kMirror + 16 - HWY_LANES(float)));
  const Float sample = hn::ConvertTo(d, hn::PromoteTo(d32, bytes));
  Float unit;
  if constexpr (kMultiplied) {
    unit = hn::Mul(sample, hn::Set(d, factor));
  } else {
#if HWY_NATIVE_FMA
    unit = hn::MulAdd(sample, hn::Set(d, kUnitHigh), hn::Mul(sample, hn::Set(d, kUnitLow)));
#else
    unit = hn::Div(sample, hn::Set(d, 255.0f));
#endif
  }
  if constexpr (kNorm == Norm::kNone) return unit;
  const Float centred = hn::Sub(unit, hn::Set(d, mean));
  const Float by = hn::Set(d, divisor.value);
  if constexpr (kNorm == Norm::kDivide) return hn::Div(centred, by);
  const Float high = hn::Set(d, divisor.high);
  const Float quotient = hn::MulAdd(centred, high, hn::Mul(centred, hn::Set(d, divisor.low)));
  return hn::MulAdd(hn::NegMulAdd(quotient, by, centred), high, quotient);
}

template <Norm kNorm, bool kMultiplied, bool kReversed>
void store_float_as(float factor, float mean, float std, const uint8_t* src, int width, float* foreign) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Divisor divisor(std);
  if (width < lanes) {
    HWY_ALIGN float buffer[HWY_LANES(float)];
    hn::Store(normalized<kNorm, kMultiplied, kReversed>(src, factor, mean, divisor), d, buffer);
    std::memcpy(foreign, buffer + (kReversed ? lanes - width : 0), static_cast<size_t>(width) * sizeof(float));
    return;
  }
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    const uint8_t* from = src + (kReversed ? width - lanes - x : x);
    hn::StoreU(normalized<kNorm, kMultiplied, kReversed>(from, factor, mean, divisor), d, foreign + x);
  }
}

template <Norm kNorm>
void store_float_normed(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed,
                        float* foreign) {
  const float factor = store.factor;
  const float mean = store.mean[channel];
  const float std = kNorm == Norm::kNone ? 1.0f : store.std[channel];
  if (store.multiplied) {
    if (reversed) return store_float_as<kNorm, true, true>(factor, mean, std, src, width, foreign);
    return store_float_as<kNorm, true, false>(factor, mean, std, src, width, foreign);
  }
  if (reversed) return store_float_as<kNorm, false, true>(factor, mean, std, src, width, foreign);
  return store_float_as<kNorm, false, false>(factor, mean, std, src, width, foreign);
}

#if HWY_NATIVE_FMA

// Bytes of a block of 16 samples: each twice and then two zeros, which makes 257 v in 32 bits.
struct Spread {
  uint8_t byte[2][64] = {};  // reversed or not

  constexpr Spread() {
    for (int k = 0; k < 16; ++k) {
      for (int reversed = 0; reversed < 2; ++reversed) {
        const auto sample = static_cast<uint8_t>(reversed ? 15 - k : k);
        uint8_t* lane = byte[reversed] + 4 * k;
        lane[0] = lane[1] = sample;
        lane[2] = lane[3] = 0x80;
      }
    }
  }
};
alignas(64) constexpr Spread kSpread;

// The short form of v / 255: 257 v / 65535, whose divisor has a far better reciprocal. What is added is lost in every
// sum but those that end halfway between two floats; there it stands for the part of the reciprocal that is missing.
// The one sample for which it must not be added is 0, unless a mean is then taken from it.
//
// The short form of a division by std leaves the correction out: what it is multiplied by is good to 48 bits, and only
// a quotient that is as close to halfway between two floats comes out wrong. Means and deviations for which one of the
// 256 does are rare; prepare_store looks for them.
struct Quick {
  Float factor;
  Float mean;
  Float high;
  Float low;

  HWY_INLINE Quick(const FloatStore& store, int channel)
      : factor(hn::Set(Floats(), store.factor)),
        mean(hn::Set(Floats(), store.mean[channel])),
        high(hn::Set(Floats(), store.inverse[channel])),
        low(hn::Set(Floats(), store.residue[channel])) {}

  // The bits of 257 v.
  template <bool kMultiplied, class Ints>
  HWY_INLINE Float of(Ints twice) const {
    const Floats d;
    Float unit;
    if constexpr (kMultiplied) {
      const hn::RebindToSigned<Floats> d32;
      unit = hn::Mul(hn::ConvertTo(d, hn::And(twice, hn::Set(d32, 255))), factor);
    } else {
      unit = hn::MulAdd(hn::ConvertTo(d, twice), hn::Set(d, 1.0f / 65535.0f), hn::Set(d, 0x1p-45f));
    }
    const Float centred = hn::Sub(unit, mean);
    return hn::MulAdd(centred, high, hn::Mul(centred, low));
  }
};

constexpr int kBlock = 16;

// One block of samples.
template <bool kMultiplied>
HWY_INLINE void store_block(const Quick& quick, const uint8_t* src, bool reversed, float* to) {
  const Floats d;
  const hn::Repartition<uint8_t, Floats> d8;
  const hn::RebindToSigned<Floats> d32;
  const auto samples = hn::LoadDup128(d8, src);
  for (size_t k = 0; k < kBlock; k += hn::Lanes(d)) {
    const auto twice = hn::TableLookupBytesOr0(samples, hn::Load(d8, kSpread.byte[reversed ? 1 : 0] + 4 * k));
    hn::StoreU(quick.of<kMultiplied>(hn::BitCast(d32, twice)), d, to + k);
  }
}

template <bool kMultiplied>
void store_float_quick_as(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed,
                          float* foreign) {
  const Quick quick(store, channel);
  if (width < kBlock) {
    float buffer[kBlock];
    store_block<kMultiplied>(quick, src, reversed, buffer);
    std::memcpy(foreign, buffer + (reversed ? kBlock - width : 0), static_cast<size_t>(width) * sizeof(float));
    return;
  }
  for (int next = 0; next < width; next += kBlock) {
    const int x = std::min(next, width - kBlock);
    store_block<kMultiplied>(quick, src + x, reversed, foreign + (reversed ? width - kBlock - x : x));
  }
}

void store_float_quick(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed,
                       float* foreign) {
  if (store.multiplied) return store_float_quick_as<true>(store, channel, src, width, reversed, foreign);
  store_float_quick_as<false>(store, channel, src, width, reversed, foreign);
}

#endif  // HWY_NATIVE_FMA

void store_float(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed, float* foreign) {
  if (!store.normalize) return store_float_normed<Norm::kNone>(store, channel, src, width, reversed, foreign);
#if HWY_NATIVE_FMA
  if (store.quick[channel]) return store_float_quick(store, channel, src, width, reversed, foreign);
  if (fused_is_exact(store.factor, store.mean[channel], store.std[channel])) {
    return store_float_normed<Norm::kFused>(store, channel, src, width, reversed, foreign);
  }
#endif
  store_float_normed<Norm::kDivide>(store, channel, src, width, reversed, foreign);
}

void prepare_store(int channels, FloatStore* store) {
#if HWY_NATIVE_FMA
  if (!store->normalize) return;
  uint8_t samples[256 + kRowPad];
  for (int v = 0; v < 256; ++v) samples[v] = static_cast<uint8_t>(v);
  float wanted[256];
  float got[256];
  for (int c = 0; c < channels; ++c) {
    const Divisor divisor(store->std[c]);
    store->inverse[c] = divisor.high;
    store->residue[c] = divisor.low;
    store_float_normed<Norm::kDivide>(*store, c, samples, 256, false, wanted);
    store_float_quick(*store, c, samples, 256, false, got);
    store->quick[c] = std::memcmp(wanted, got, sizeof wanted) == 0;
  }
#else
  (void)channels;
  (void)store;
#endif
}

}  // namespace

void fill_store(Kernels* table) {
  table->prepare_store = prepare_store;
  table->store_float = store_float;
  table->narrow = narrow;
  table->interleave_float = interleave_float;
  table->move_floats = move_floats;
  table->deinterleave_float = deinterleave_float;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(store)
