// Where the pixels of a warp read, once per instruction set. Included by warp_linear-inl.h and warp_mix-inl.h.
#if defined(FASTAUG_SIMD_WARP_POSITIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WARP_POSITIONS_INL_H_
#undef FASTAUG_SIMD_WARP_POSITIONS_INL_H_
#else
#define FASTAUG_SIMD_WARP_POSITIONS_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

// Pixels whose positions are computed together, then fetched one by one.
constexpr int kChunk = 64;
// Where the pixels of a chunk read: offset of the tap at (floor(x), floor(y)), and the fractions.
struct Positions {
  alignas(64) int32_t offset[kChunk];
  alignas(64) float dx[kChunk];
  alignas(64) float dy[kChunk];
  // Every fraction along this axis is zero, in Pillow's arithmetic, too: only the tap at the floor has a weight.
  bool whole_x = false;
  bool whole_y = false;
  // A position so close to a source row or column, of an axis that is not whole, that rounding may have put it on the
  // other side.
  bool on_edge = false;
};
constexpr float kEdge = 1e-5f;

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
