// Fetching whole pixels from anywhere in an image, once per instruction set. Included by perspective.cc and grid.cc.
// Only pixels that a warp reads are touched: the rest of the image need not be memory.
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

// Pixels whose positions are computed together.
constexpr int kFetch = 64;
// Pixels that are fetched together.
constexpr int kFetched = HWY_MAX_BYTES >= 32 ? HWY_MAX_BYTES / 4 : HWY_MAX_BYTES;

// Lets the columns of a chunk that are not `fetched` read what one of those reads that are.
HWY_INLINE void redirect(uint64_t fetched, int count, int32_t* offset) {
  const int32_t anywhere = offset[std::countr_zero(fetched)];
  for_runs(low_bits(count) & ~fetched, [&](int from, int to) { std::fill(offset + from, offset + to, anywhere); });
}

// `packed` has the channels of four pixels in every 16 bytes: four bytes of the first channel, then of the next. To
// columns from x of the planes.
HWY_INLINE void store_planes(hn::Vec<hn::ScalableTag<uint8_t>> packed, int channels, uint8_t* const* dst, int x) {
  constexpr int kBlocks = HWY_MAX_BYTES / 16;
  const hn::ScalableTag<uint32_t> d;
  alignas(64) uint32_t word[4 * kBlocks];
#if HWY_MAX_BYTES == 16
  hn::Store(hn::BitCast(d, packed), d, word);
#else
  alignas(64) int32_t order[4 * kBlocks];
  for (int k = 0; k < 4 * kBlocks; ++k) order[k] = 4 * (k % kBlocks) + k / kBlocks;
  hn::Store(hn::TableLookupLanes(hn::BitCast(d, packed), hn::SetTableIndices(d, order)), d, word);
#endif
  std::memcpy(dst[0] + x, word, 4 * kBlocks);
  if (channels > 1) std::memcpy(dst[1] + x, word + kBlocks, 4 * kBlocks);
  if (channels > 2) std::memcpy(dst[2] + x, word + 2 * kBlocks, 4 * kBlocks);
  if (channels > 3) std::memcpy(dst[3] + x, word + 3 * kBlocks, 4 * kBlocks);
}

#if HWY_MAX_BYTES >= 32

// The pixels at kFetched offsets to columns from x of the planes, put together in registers. A load of a vector that
// was just stored pixel by pixel waits until the cache has it, which costs 1.3 times the whole. A gather took as long
// as this on a Zen 4.
HWY_INLINE void fetch_vector(const View& v, const int32_t* offset, uint8_t* const* dst, int x) {
  const auto four = [&](const int32_t* at) HWY_ATTR {
    const auto word = [&](int k) HWY_ATTR {
      int32_t pixel;
      std::memcpy(&pixel, v.data + at[k], 4);
      return pixel;
    };
    __m128i pixels = _mm_cvtsi32_si128(word(0));
    pixels = _mm_insert_epi32(pixels, word(1), 1);
    pixels = _mm_insert_epi32(pixels, word(2), 2);
    return hn::Vec128<uint8_t>{_mm_insert_epi32(pixels, word(3), 3)};
  };
  const hn::ScalableTag<uint8_t> bytes;
  const hn::Half<decltype(bytes)> half;
#if HWY_MAX_BYTES == 64
  const auto pixels = hn::Combine(bytes, hn::Combine(half, four(offset + 12), four(offset + 8)),
                                  hn::Combine(half, four(offset + 4), four(offset)));
#else
  const auto pixels = hn::Combine(bytes, four(offset + 4), four(offset));
#endif
  alignas(16) static constexpr uint8_t kPlanes[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  store_planes(hn::TableLookupBytes(pixels, hn::LoadDup128(bytes, kPlanes)), v.channels, dst, x);
}

#else

// The same for vectors that are as long as their parts.
HWY_INLINE void fetch_vector(const View& v, const int32_t* offset, uint8_t* const* dst, int x) {
  const hn::ScalableTag<uint8_t> bytes;
  alignas(64) uint32_t pixel[kFetched];
#pragma GCC unroll 8
  for (int k = 0; k < kFetched; ++k) std::memcpy(pixel + k, v.data + offset[k], 4);
  hn::Vec<decltype(bytes)> v0, v1, v2, v3;
  hn::LoadInterleaved4(bytes, reinterpret_cast<const uint8_t*>(pixel), v0, v1, v2, v3);
  hn::StoreU(v0, bytes, dst[0] + x);
  if (v.channels > 1) hn::StoreU(v1, bytes, dst[1] + x);
  if (v.channels > 2) hn::StoreU(v2, bytes, dst[2] + x);
  if (v.channels > 3) hn::StoreU(v3, bytes, dst[3] + x);
}

#endif

// The pixels at `offset`, which has room for kFetch of them, to columns [column, column + count) of the planes; whole
// vectors are written. Pixels that are not samples side by side are read as four bytes. Spoils the offsets after
// `count`.
HWY_INLINE void fetch_pixels(const View& v, int32_t* offset, int count, uint8_t* const* dst, int column) {
  if (v.pixel_stride == 1) {
    for (int k = 0; k < count; ++k) dst[0][column + k] = v.data[offset[k]];
    return;
  }
  // The last vector may be short: its other pixels read what the last one reads.
  for (int k = count; k % kFetched != 0; ++k) offset[k] = offset[count - 1];
  for (int k = 0; k < count; k += kFetched) fetch_vector(v, offset + k, dst, column + k);
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
