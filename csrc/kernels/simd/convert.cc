// Between foreign images and planar rows: interleaved samples, mirrored rows.
#define FASTAUG_VBMI
#define HWY_TARGET_INCLUDE "kernels/simd/convert.cc"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/simd/family-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Bytes = hn::ScalableTag<uint8_t>;
using Block = hn::CappedTag<uint8_t, 16>;
// Of pixels: vectors of 64 bytes take 1.4 to 2.3 times as long, and permutations of bytes by VBMI no less than these.
using Half = hn::CappedTag<uint8_t, 32>;

#if HWY_TARGET == HWY_AVX3_DL
#include "kernels/simd/convert_vbmi-inl.h"
#else

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
  if (count >= static_cast<int>(hn::Lanes(Half()))) {
    split_vectors<kStride>(Half(), foreign, channels, count, dst);
    x = count;
  } else if (count >= static_cast<int>(hn::Lanes(Block()))) {
    split_vectors<kStride>(Block(), foreign, channels, count, dst);
    x = count;
  }
  for (; x < width; ++x)
    for (int c = 0; c < channels; ++c) dst[c][x] = foreign[static_cast<ptrdiff_t>(x) * kStride + c];
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
  if (width >= static_cast<int>(hn::Lanes(Half()))) return join_vectors<kStride>(Half(), src, channels, width, foreign);
  if (width >= static_cast<int>(hn::Lanes(Block())))
    return join_vectors<kStride>(Block(), src, channels, width, foreign);
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < kStride; ++c) foreign[x * kStride + c] = c < channels ? src[c][x] : 255;
}

#endif

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

}  // namespace

void fill_convert(Kernels* table) {
  scalar::fill_convert(table);  // take is a load a sample, but for VBMI
#if HWY_TARGET == HWY_AVX3_DL
  table->take = take;
#endif
  table->deinterleave = deinterleave;
  table->interleave = interleave;
  table->reverse = reverse;
  table->mix = mix;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(convert)
