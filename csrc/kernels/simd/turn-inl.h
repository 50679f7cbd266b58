// A square of samples turned about its diagonal in registers, once per instruction set. Included like hwy/highway.h,
// inside no namespace, after it.
#if defined(FASTAUG_SIMD_TURN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_TURN_INL_H_
#undef FASTAUG_SIMD_TURN_INL_H_
#else
#define FASTAUG_SIMD_TURN_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// In each 128 bits the columns of all rows come one after another, as many in a vector as there is room for.
template <class D, class V, int kRows>
HWY_INLINE void turn_halves(D d, V (&rows)[kRows]) {
  // Each round moves one more bit of the row number into the column number.
  for (int round = 1; round < kRows; round *= 2) {
    V next[kRows];
    for (int k = 0; k < kRows / 2; ++k) {
      next[2 * k] = hn::InterleaveLower(d, rows[k], rows[k + kRows / 2]);
      next[2 * k + 1] = hn::InterleaveUpper(d, rows[k], rows[k + kRows / 2]);
    }
    for (int k = 0; k < kRows; ++k) rows[k] = next[k];
  }
}

// Lane y of row x and lane x of row y change places. There are as many rows as lanes in the 128 bits of D.
template <class D, class V, int kRows>
HWY_INLINE void turn_block(D d, V (&rows)[kRows]) {
  static_assert(kRows * sizeof(hn::TFromD<D>) == 16);
  turn_halves(d, rows);
}

}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
