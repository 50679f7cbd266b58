// Fetching whole pixels from anywhere in an image, once per instruction set. Included by perspective.cc and grid.cc.
// Only pixels that a warp asks for are read: the rest of the image need not be memory.
#if defined(FASTAUG_SIMD_WARP_FETCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_WARP_FETCH_INL_H_
#undef FASTAUG_SIMD_WARP_FETCH_INL_H_
#else
#define FASTAUG_SIMD_WARP_FETCH_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/warp_row.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Pixels that are fetched together.
constexpr int kFetch = 64;

// Lets the columns of a chunk that are not `fetched` read what one of those reads that are.
HWY_INLINE void redirect(uint64_t fetched, int count, int32_t* offset) {
  const int32_t anywhere = offset[std::countr_zero(fetched)];
  for_runs(low_bits(count) & ~fetched, [&](int from, int to) { std::fill(offset + from, offset + to, anywhere); });
}

// The pixels at `offset` to columns [column, column + count) of the planes; whole vectors are written. Pixels that are
// not samples side by side are read as four bytes.
HWY_INLINE void fetch_pixels(const View& v, const int32_t* offset, int count, uint8_t* const* dst, int column) {
  if (v.pixel_stride == 1) {
    for (int k = 0; k < count; ++k) dst[0][column + k] = v.data[offset[k]];
    return;
  }
  alignas(64) uint32_t pixel[kFetch];
  for (int k = 0; k < count; ++k) std::memcpy(pixel + k, v.data + offset[k], 4);
  const hn::CappedTag<uint8_t, kFetch> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(bytes));
  for (int k = 0; k < count; k += lanes) {
    hn::Vec<decltype(bytes)> v0, v1, v2, v3;
    hn::LoadInterleaved4(bytes, reinterpret_cast<const uint8_t*>(pixel + k), v0, v1, v2, v3);
    hn::StoreU(v0, bytes, dst[0] + column + k);
    if (v.channels > 1) hn::StoreU(v1, bytes, dst[1] + column + k);
    if (v.channels > 2) hn::StoreU(v2, bytes, dst[2] + column + k);
    if (v.channels > 3) hn::StoreU(v3, bytes, dst[3] + column + k);
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
