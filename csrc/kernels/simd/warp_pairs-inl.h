// Pairs of neighbouring pixels from anywhere in an image, once per instruction set. Included by warp_linear-inl.h and
// warp_round-inl.h.
#if defined(FASTAUG_SIMD_WARP_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WARP_PAIRS_INL_H_
#undef FASTAUG_SIMD_WARP_PAIRS_INL_H_
#else
#define FASTAUG_SIMD_WARP_PAIRS_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using PairBytes = hn::ScalableTag<uint8_t>;
using PairByteV = hn::Vec<PairBytes>;

// A table for TableLookupBytesOr0, the same in every 16 bytes.
struct Lookup {
  alignas(16) uint8_t at[16];
};
HWY_INLINE PairByteV load_lookup(const Lookup& lookup) { return hn::LoadDup128(PairBytes(), lookup.at); }
constexpr uint8_t kNone = 0x80;

// 8 bytes from each.
HWY_INLINE hn::Vec128<uint8_t> load_halves(const uint8_t* low, const uint8_t* high) {
#if HWY_ARCH_X86
  // One instruction for the upper half, where a compiler makes two of Combine.
  const __m128i lower = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(low));
  const __m128 both = _mm_loadh_pi(_mm_castsi128_ps(lower), reinterpret_cast<const __m64*>(high));
  return hn::Vec128<uint8_t>{_mm_castps_si128(both)};
#else
  const hn::FixedTag<uint8_t, 8> d64;
  return hn::Combine(hn::FixedTag<uint8_t, 16>(), hn::LoadU(d64, high), hn::LoadU(d64, low));
#endif
}

// Of two source rows, in every 16 bytes, two fetched 8 bytes: those of pixels k + 4 b and k + 4 b + 1 for block b. Both
// rows of a block are fetched together, while its offsets are in registers.
struct FetchedPairs {
  PairByteV north;
  PairByteV south;

  HWY_INLINE FetchedPairs(const uint8_t* data, ptrdiff_t row_stride, const int32_t* offset) {
    hn::Vec128<uint8_t> above[HWY_MAX_BYTES / 16];
    hn::Vec128<uint8_t> below[HWY_MAX_BYTES / 16];
    // Two addresses that offsets are added to: what is added to each pixel's is one more instruction.
    const uint8_t* next = data + row_stride;
    HWY_UNROLL(4)
    for (int k = 0; k < HWY_MAX_BYTES / 16; ++k) {
      const ptrdiff_t low = offset[4 * k];
      const ptrdiff_t high = offset[4 * k + 1];
      above[k] = load_halves(data + low, data + high);
      below[k] = load_halves(next + low, next + high);
    }
    north = joined(above);
    south = joined(below);
  }

 private:
  static HWY_INLINE PairByteV joined(const hn::Vec128<uint8_t>* block) {
#if HWY_MAX_BYTES == 16
    return block[0];
#elif HWY_MAX_BYTES == 32
    // Combine would first set the upper half to zero.
    return PairByteV{_mm256_inserti128_si256(_mm256_castsi128_si256(block[0].raw), block[1].raw, 1)};
#else
    const hn::Half<PairBytes> half;
    return hn::Combine(PairBytes(), hn::Combine(half, block[3], block[2]), hn::Combine(half, block[1], block[0]));
#endif
  }
};

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
