// Operations on whole vectors that Highway 1.0.3 lacks, once per instruction set. Included like hwy/highway.h,
// inside no namespace, after it.
#if defined(FASTAUG_SIMD_WIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WIDE_INL_H_
#undef FASTAUG_SIMD_WIDE_INL_H_
#else
#define FASTAUG_SIMD_WIDE_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// madd: int32 lane i is a[2i] * b[2i] + a[2i + 1] * b[2i + 1].
// madd_bytes: int16 lane i is the same of unsigned and signed bytes, where it fits.
// narrow: four vectors of int32 to one of uint8, saturating. Within every 128-bit block: the block of a, then b's, c's,
// d's. Two vectors of int16 likewise.
#if HWY_TARGET == HWY_NEON

HWY_INLINE hn::Vec128<int32_t> madd(hn::Vec128<int16_t> a, hn::Vec128<int16_t> b) {
  const int32x4_t low = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
  const int32x4_t high = vmull_high_s16(a.raw, b.raw);
  return hn::Vec128<int32_t>(vpaddq_s32(low, high));
}

HWY_INLINE hn::Vec128<int16_t> madd_bytes(hn::Vec128<uint8_t> a, hn::Vec128<int8_t> b) {
  const auto product = [](uint8x8_t u, int8x8_t s) {
    return vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(u)), vmovl_s8(s));
  };
  return hn::Vec128<int16_t>(
      vpaddq_s16(product(vget_low_u8(a.raw), vget_low_s8(b.raw)), product(vget_high_u8(a.raw), vget_high_s8(b.raw))));
}

HWY_INLINE hn::Vec128<uint8_t> narrow(hn::Vec128<int16_t> a, hn::Vec128<int16_t> b) {
  return hn::Vec128<uint8_t>(vcombine_u8(vqmovun_s16(a.raw), vqmovun_s16(b.raw)));
}

HWY_INLINE hn::Vec128<uint8_t> narrow(hn::Vec128<int32_t> a, hn::Vec128<int32_t> b, hn::Vec128<int32_t> c,
                                      hn::Vec128<int32_t> d) {
  const int16x8_t ab = vcombine_s16(vqmovn_s32(a.raw), vqmovn_s32(b.raw));
  const int16x8_t cd = vcombine_s16(vqmovn_s32(c.raw), vqmovn_s32(d.raw));
  return hn::Vec128<uint8_t>(vcombine_u8(vqmovun_s16(ab), vqmovun_s16(cd)));
}

#else

HWY_INLINE hn::Vec128<int32_t> madd(hn::Vec128<int16_t> a, hn::Vec128<int16_t> b) {
  return hn::Vec128<int32_t>{_mm_madd_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec128<int16_t> madd_bytes(hn::Vec128<uint8_t> a, hn::Vec128<int8_t> b) {
  return hn::Vec128<int16_t>{_mm_maddubs_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec128<uint8_t> narrow(hn::Vec128<int16_t> a, hn::Vec128<int16_t> b) {
  return hn::Vec128<uint8_t>{_mm_packus_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec128<uint8_t> narrow(hn::Vec128<int32_t> a, hn::Vec128<int32_t> b, hn::Vec128<int32_t> c,
                                      hn::Vec128<int32_t> d) {
  return hn::Vec128<uint8_t>{_mm_packus_epi16(_mm_packs_epi32(a.raw, b.raw), _mm_packs_epi32(c.raw, d.raw))};
}

#if HWY_TARGET <= HWY_AVX2  // a better target has a smaller number

HWY_INLINE hn::Vec256<int32_t> madd(hn::Vec256<int16_t> a, hn::Vec256<int16_t> b) {
  return hn::Vec256<int32_t>{_mm256_madd_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec256<int16_t> madd_bytes(hn::Vec256<uint8_t> a, hn::Vec256<int8_t> b) {
  return hn::Vec256<int16_t>{_mm256_maddubs_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec256<uint8_t> narrow(hn::Vec256<int16_t> a, hn::Vec256<int16_t> b) {
  return hn::Vec256<uint8_t>{_mm256_packus_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec256<uint8_t> narrow(hn::Vec256<int32_t> a, hn::Vec256<int32_t> b, hn::Vec256<int32_t> c,
                                      hn::Vec256<int32_t> d) {
  return hn::Vec256<uint8_t>{_mm256_packus_epi16(_mm256_packs_epi32(a.raw, b.raw), _mm256_packs_epi32(c.raw, d.raw))};
}

#endif
#if HWY_TARGET <= HWY_AVX3

HWY_INLINE hn::Vec512<int32_t> madd(hn::Vec512<int16_t> a, hn::Vec512<int16_t> b) {
  return hn::Vec512<int32_t>{_mm512_madd_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec512<int16_t> madd_bytes(hn::Vec512<uint8_t> a, hn::Vec512<int8_t> b) {
  return hn::Vec512<int16_t>{_mm512_maddubs_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec512<uint8_t> narrow(hn::Vec512<int16_t> a, hn::Vec512<int16_t> b) {
  return hn::Vec512<uint8_t>{_mm512_packus_epi16(a.raw, b.raw)};
}

HWY_INLINE hn::Vec512<uint8_t> narrow(hn::Vec512<int32_t> a, hn::Vec512<int32_t> b, hn::Vec512<int32_t> c,
                                      hn::Vec512<int32_t> d) {
  return hn::Vec512<uint8_t>{_mm512_packus_epi16(_mm512_packs_epi32(a.raw, b.raw), _mm512_packs_epi32(c.raw, d.raw))};
}

#endif
#endif  // HWY_NEON

#if HWY_TARGET == HWY_AVX3_DL

// Looks samples up in the 256 of four vectors: two permutations of 128, of which a sample's highest bit chooses.
HWY_INLINE __m512i looked_up(const __m512i* table, __m512i samples) {
  const __m512i low = _mm512_permutex2var_epi8(table[0], samples, table[1]);
  const __m512i high = _mm512_permutex2var_epi8(table[2], samples, table[3]);
  return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(samples), high);
}

#endif

// The result of narrow(), as the samples of one vector after the other.
HWY_INLINE hn::Vec<hn::ScalableTag<uint8_t>> in_row(hn::Vec<hn::ScalableTag<uint8_t>> packed) {
  constexpr int kLanes = HWY_LANES(float);
  if constexpr (kLanes == 4) {
    return packed;
  } else {
    // Four samples of every vector in turn.
    const hn::ScalableTag<uint8_t> bytes;
    const hn::ScalableTag<int32_t> ints;
    constexpr int kBlocks = kLanes / 4;
    alignas(64) int32_t order[kLanes];
    for (int k = 0; k < kLanes; ++k) order[k] = k % kBlocks * 4 + k / kBlocks;
    return hn::BitCast(bytes, hn::TableLookupLanes(hn::BitCast(ints, packed), hn::SetTableIndices(ints, order)));
  }
}

// Rounds four vectors of floats half to even and writes them as uint8, saturating.
template <class V>
HWY_INLINE void store_rounded(V a, V b, V c, V d, uint8_t* dst) {
  const auto packed = narrow(hn::NearestInt(a), hn::NearestInt(b), hn::NearestInt(c), hn::NearestInt(d));
  hn::StoreU(in_row(packed), hn::ScalableTag<uint8_t>(), dst);
}

}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
