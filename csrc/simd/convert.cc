// Between foreign images and planar rows: interleaved samples, mirrored rows, float32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/convert.cc"
#include "simd/targets.h"
// clang-format off: after targets.h, in this order
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simd/table.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;
using Block = hn::CappedTag<uint8_t, 16>;

// Pixels [0, count), count >= Lanes(d): whole vectors, the last of which may overlap the one before it.
template <int kStride, class D>
void split_vectors(D d, const uint8_t* foreign, int channels, int count, uint8_t* const* dst) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int next = 0; next < count; next += lanes) {
    const int x = std::min(next, count - lanes);
    hn::Vec<D> v0, v1, v2 = hn::Zero(d), v3 = hn::Zero(d);
    const uint8_t* from = foreign + static_cast<ptrdiff_t>(x) * kStride;
    if constexpr (kStride == 2) hn::LoadInterleaved2(d, from, v0, v1);
    if constexpr (kStride == 3) hn::LoadInterleaved3(d, from, v0, v1, v2);
    if constexpr (kStride == 4) hn::LoadInterleaved4(d, from, v0, v1, v2, v3);
    hn::StoreU(v0, d, dst[0] + x);
    if (channels > 1) hn::StoreU(v1, d, dst[1] + x);
    if (kStride > 2 && channels > 2) hn::StoreU(v2, d, dst[2] + x);
    if (kStride > 3 && channels > 3) hn::StoreU(v3, d, dst[3] + x);
  }
}

template <int kStride>
void split(const uint8_t* foreign, int channels, int width, uint8_t* const* dst) {
  // A vector reads all kStride bytes of its last pixel, which may be more than the image has there.
  const int count = channels < kStride ? width - 1 : width;
  int x = 0;
  if (count >= static_cast<int>(hn::Lanes(Bytes()))) {
    split_vectors<kStride>(Bytes(), foreign, channels, count, dst);
    x = count;
  } else if (count >= static_cast<int>(hn::Lanes(Block()))) {
    split_vectors<kStride>(Block(), foreign, channels, count, dst);
    x = count;
  }
  for (; x < width; ++x)
    for (int c = 0; c < channels; ++c) dst[c][x] = foreign[static_cast<ptrdiff_t>(x) * kStride + c];
}

void deinterleave(const uint8_t* foreign, int pixel_stride, int channels, int width, uint8_t* const* dst) {
  switch (pixel_stride) {
    case 1:
      std::memcpy(dst[0], foreign, static_cast<size_t>(width));
      return;
    case 2:
      return split<2>(foreign, channels, width, dst);
    case 3:
      return split<3>(foreign, channels, width, dst);
    default:
      return split<4>(foreign, channels, width, dst);
  }
}

template <int kStride, class D>
void join_vectors(D d, const uint8_t* const* src, int channels, int width, uint8_t* foreign) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto opaque = hn::Set(d, 255);
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    uint8_t* to = foreign + static_cast<ptrdiff_t>(x) * kStride;
    const auto v0 = hn::LoadU(d, src[0] + x);
    const auto v1 = channels > 1 ? hn::LoadU(d, src[1] + x) : opaque;
    if constexpr (kStride == 2) hn::StoreInterleaved2(v0, v1, d, to);
    if constexpr (kStride > 2) {
      const auto v2 = channels > 2 ? hn::LoadU(d, src[2] + x) : opaque;
      if constexpr (kStride == 3) hn::StoreInterleaved3(v0, v1, v2, d, to);
      if constexpr (kStride == 4)
        hn::StoreInterleaved4(v0, v1, v2, channels > 3 ? hn::LoadU(d, src[3] + x) : opaque, d, to);
    }
  }
}

template <int kStride>
void join(const uint8_t* const* src, int channels, int width, uint8_t* foreign) {
  if (width >= static_cast<int>(hn::Lanes(Bytes())))
    return join_vectors<kStride>(Bytes(), src, channels, width, foreign);
  if (width >= static_cast<int>(hn::Lanes(Block())))
    return join_vectors<kStride>(Block(), src, channels, width, foreign);
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < kStride; ++c) foreign[x * kStride + c] = c < channels ? src[c][x] : 255;
}

void interleave(const uint8_t* const* src, int channels, int pixel_stride, int width, uint8_t* foreign) {
  switch (pixel_stride) {
    case 1:
      std::memcpy(foreign, src[0], static_cast<size_t>(width));
      return;
    case 2:
      return join<2>(src, channels, width, foreign);
    case 3:
      return join<3>(src, channels, width, foreign);
    default:
      return join<4>(src, channels, width, foreign);
  }
}

alignas(16) constexpr uint8_t kMirror[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};

template <class D>
void reverse_vectors(D d, const uint8_t* src, int width, uint8_t* dst) {
  const auto mirror = hn::LoadDup128(d, kMirror);
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    const auto samples = hn::TableLookupBytes(hn::LoadU(d, src + x), mirror);
    hn::StoreU(hn::ReverseBlocks(d, samples), d, dst + (width - lanes - x));
  }
}

void reverse(const uint8_t* src, int width, uint8_t* dst) {
  if (width >= static_cast<int>(hn::Lanes(Bytes()))) return reverse_vectors(Bytes(), src, width, dst);
  if (width >= static_cast<int>(hn::Lanes(Block()))) return reverse_vectors(Block(), src, width, dst);
  for (int x = 0; x < width; ++x) dst[x] = src[width - 1 - x];
}

using Floats = hn::ScalableTag<float>;
using Float = hn::Vec<Floats>;

// The samples that fill one vector.
HWY_INLINE hn::Vec<hn::Rebind<uint8_t, Floats>> mixed(const uint8_t* const* images, const float* weights, int count,
                                                      int x) {
  const Floats d;
  const hn::Rebind<int32_t, Floats> d32;
  const hn::Rebind<uint8_t, Floats> d8;
  Float sum = hn::Zero(d);  // adding to it changes nothing
  for (int k = 0; k < count; ++k) {
    const Float sample = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, images[k] + x)));
    sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[k]), sample));
  }
  return hn::DemoteTo(d8, hn::ConvertTo(d32, sum));
}

void mix(const uint8_t* const* images, const float* weights, int count, int width, uint8_t* foreign) {
  const hn::Rebind<uint8_t, Floats> d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  if (width < lanes) return fastaug::kernels("scalar")->mix(images, weights, count, width, foreign);
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    hn::StoreU(mixed(images, weights, count, x), d8, foreign + x);
  }
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

// Operands this far from the ends of float32 leave the remainders above 2^-126: samples / 255 and means are multiples
// of 2^-33, hence so is their difference.
bool fused_is_exact(float mean, float std) {
  const bool mean_fits = mean == 0.0f || (std::fabs(mean) >= 0x1p-10f && std::fabs(mean) <= 0x1p20f);
  return mean_fits && std >= 0x1p-10f && std <= 0x1p20f;
}

enum class Norm { kNone, kDivide, kFused };

// The samples that fill one vector, in reverse order if asked.
template <Norm kNorm, bool kReversed>
HWY_INLINE Float normalized(const uint8_t* src, float mean, const Divisor& divisor) {
  const Floats d;
  const hn::Rebind<int32_t, Floats> d32;
  const hn::Rebind<uint8_t, Floats> d8;
  auto bytes = hn::LoadU(d8, src);
  if constexpr (kReversed) bytes = hn::TableLookupBytes(bytes, hn::LoadU(d8, kMirror + 16 - HWY_LANES(float)));
  const Float sample = hn::ConvertTo(d, hn::PromoteTo(d32, bytes));
#if HWY_NATIVE_FMA
  // 1 / 255 in two parts. One rounding less than Divisor's quotient; the tests compare all 256 samples.
  constexpr float kHigh = 1.0f / 255.0f;
  constexpr float kLow = static_cast<float>(1.0 / 255.0 - kHigh);
  const Float unit = hn::MulAdd(sample, hn::Set(d, kHigh), hn::Mul(sample, hn::Set(d, kLow)));
#else
  const Float unit = hn::Div(sample, hn::Set(d, 255.0f));
#endif
  if constexpr (kNorm == Norm::kNone) return unit;
  const Float centred = hn::Sub(unit, hn::Set(d, mean));
  const Float by = hn::Set(d, divisor.value);
  if constexpr (kNorm == Norm::kDivide) return hn::Div(centred, by);
  const Float high = hn::Set(d, divisor.high);
  const Float quotient = hn::MulAdd(centred, high, hn::Mul(centred, hn::Set(d, divisor.low)));
  return hn::MulAdd(hn::NegMulAdd(quotient, by, centred), high, quotient);
}

template <Norm kNorm, bool kReversed>
void store_float_as(float mean, float std, const uint8_t* src, int width, float* foreign) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Divisor divisor(std);
  if (width < lanes) {
    HWY_ALIGN float buffer[HWY_LANES(float)];
    hn::Store(normalized<kNorm, kReversed>(src, mean, divisor), d, buffer);
    std::memcpy(foreign, buffer + (kReversed ? lanes - width : 0), static_cast<size_t>(width) * sizeof(float));
    return;
  }
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    const uint8_t* from = src + (kReversed ? width - lanes - x : x);
    hn::StoreU(normalized<kNorm, kReversed>(from, mean, divisor), d, foreign + x);
  }
}

template <Norm kNorm>
void store_float_normed(float mean, float std, const uint8_t* src, int width, bool reversed, float* foreign) {
  if (reversed) return store_float_as<kNorm, true>(mean, std, src, width, foreign);
  return store_float_as<kNorm, false>(mean, std, src, width, foreign);
}

void store_float(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed, float* foreign) {
  if (!store.normalize) return store_float_normed<Norm::kNone>(0.0f, 1.0f, src, width, reversed, foreign);
  const float mean = store.mean[channel];
  const float std = store.std[channel];
#if HWY_NATIVE_FMA
  if (fused_is_exact(mean, std)) return store_float_normed<Norm::kFused>(mean, std, src, width, reversed, foreign);
#endif
  store_float_normed<Norm::kDivide>(mean, std, src, width, reversed, foreign);
}

}  // namespace

void fill_convert(Kernels* table) {
  scalar::fill_convert(table);  // take is a load a sample, whatever the instruction set
  table->deinterleave = deinterleave;
  table->interleave = interleave;
  table->reverse = reverse;
  table->mix = mix;
  table->store_float = store_float;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fastaug {

void set_convert(Isa isa, Kernels* table) {
  switch (isa) {
    case Isa::kScalar:
      return scalar::fill_convert(table);
      FASTAUG_SIMD_CASES(fill_convert, table)
    default:
      return;
  }
}

}  // namespace fastaug
#endif  // HWY_ONCE
