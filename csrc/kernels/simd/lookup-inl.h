// Tables of 256 samples in vector registers, once per instruction set. Included like hwy/highway.h, inside no
// namespace, after it.
#if defined(FASTAUG_SIMD_LOOKUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_LOOKUP_INL_H_
#undef FASTAUG_SIMD_LOOKUP_INL_H_
#else
#define FASTAUG_SIMD_LOOKUP_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/simd/wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3_DL

// A table of 256 samples, for looked_up.
class Table {
 public:
  HWY_INLINE explicit Table(const uint8_t* table) {
    for (int k = 0; k < 4; ++k) parts_[k] = _mm512_loadu_si512(table + 64 * k);
  }

  HWY_INLINE __m512i of(__m512i v) const { return looked_up(parts_, v); }

  // Looks up kVectors vectors at src.
  HWY_INLINE void look_up(const uint8_t* src, uint8_t* dst) const {
    _mm512_storeu_si512(dst, of(_mm512_loadu_si512(src)));
  }

  static constexpr int kVectors = 1;

 private:
  __m512i parts_[4];
};

#else

// A table of 256 samples as 16 shuffles of 16, which are xored: eight by the sample for those below 128, eight by the
// sample with its highest bit turned for the others. Part k of either half is looked up with that minus 16 k, which has
// its highest bit set, and so finds 0, for samples of the parts before and for the other half.
class Table {
 public:
  HWY_INLINE explicit Table(const uint8_t* table) {
    const hn::Full128<uint8_t> block;
    for (int k = 0; k < 16; ++k) {
      auto part = hn::LoadU(block, table + 16 * k);
#if HWY_ARCH_X86
      // A shuffle goes by the lowest four bits of an index from 16 to 127, so that a sample finds something in all the
      // parts before its own: part k takes away what they xor to, which is the table of the part before.
      if (k % 8 != 0) part = hn::Xor(part, hn::LoadU(block, table + 16 * (k - 1)));
#endif
      hn::Store(part, block, parts_ + 16 * k);
    }
  }

  // Looks up kVectors vectors at src, so that a part is loaded once for them all.
  HWY_INLINE void look_up(const uint8_t* src, uint8_t* dst) const {
    const hn::ScalableTag<uint8_t> bytes;
    const hn::RebindToSigned<decltype(bytes)> indices;
    const auto n = static_cast<int>(hn::Lanes(bytes));
    const auto sixteen = hn::Set(indices, 16);
    hn::Vec<decltype(indices)> low[kVectors];
    hn::Vec<decltype(indices)> high[kVectors];
    hn::Vec<decltype(bytes)> found[kVectors];
    for (int i = 0; i < kVectors; ++i) {
      const auto v = hn::BitCast(indices, hn::LoadU(bytes, src + i * n));
      // Those of the other half stay below zero when 112 is taken away.
      low[i] = hn::Max(v, hn::Set(indices, -16));
      high[i] = hn::Max(hn::Xor(v, hn::Set(indices, -128)), hn::Set(indices, -16));
      found[i] = hn::Zero(bytes);
    }
    // Unrolled, gcc reorders the xors and runs out of registers.
    HWY_UNROLL(1)
    for (int k = 0; k < 128; k += 16) {
      const auto low_part = hn::LoadDup128(bytes, parts_ + k);
      const auto high_part = hn::LoadDup128(bytes, parts_ + k + 128);
      for (int i = 0; i < kVectors; ++i) {
        found[i] = hn::Xor3(found[i], hn::TableLookupBytesOr0(low_part, hn::BitCast(bytes, low[i])),
                            hn::TableLookupBytesOr0(high_part, hn::BitCast(bytes, high[i])));
        low[i] = hn::Sub(low[i], sixteen);
        high[i] = hn::Sub(high[i], sixteen);
      }
    }
    for (int i = 0; i < kVectors; ++i) hn::StoreU(found[i], bytes, dst + i * n);
  }

  static constexpr int kVectors = 2;

 private:
  alignas(16) uint8_t parts_[256];
};

#endif

}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
