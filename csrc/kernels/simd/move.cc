// Moves of whole pixels: mirrored rows, and squares turned about their diagonal.
#define HWY_TARGET_INCLUDE "kernels/simd/move.cc"

#include <algorithm>
#include <cstring>

#include "kernels/simd/family-inl.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/turn-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

template <class D>
void reverse_vectors(D d, const uint8_t* src, int width, uint8_t* dst) {
  const hn::Repartition<uint8_t, D> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int next = 0; next < width; next += lanes) {
    const int x = std::min(next, width - lanes);
    const auto pixels = hn::BitCast(d, hn::LoadU(bytes, src + ptrdiff_t{4} * x));
    hn::StoreU(hn::BitCast(bytes, hn::Reverse(d, pixels)), bytes, dst + ptrdiff_t{4} * (width - lanes - x));
  }
}

void reverse_pixels(const uint8_t* src, int width, uint8_t* dst) {
  const hn::ScalableTag<uint32_t> whole;
  const hn::CappedTag<uint32_t, 4> block;
  if (width >= static_cast<int>(hn::Lanes(whole))) return reverse_vectors(whole, src, width, dst);
  if (width >= static_cast<int>(hn::Lanes(block))) return reverse_vectors(block, src, width, dst);
  for (int x = 0; x < width; ++x) std::memcpy(dst + 4 * x, src + 4 * (width - 1 - x), 4);
}

#if HWY_TARGET <= HWY_AVX2
// Two rows to a vector, eight apart: half as many shuffles as with one, in registers that are enough for all.
void turn_bytes(const uint8_t* const* rows, ptrdiff_t offset, uint8_t* dst, ptrdiff_t row_stride) {
  constexpr int kPairs = kSquareSide / 2;
  const hn::FixedTag<uint8_t, 32> d;
  const hn::FixedTag<uint64_t, 4> d64;
  const hn::Full128<uint8_t> half;
  hn::Vec<decltype(d)> pairs[kPairs];
  for (int x = 0; x < kPairs; ++x) {
    pairs[x] = hn::Combine(d, hn::LoadU(half, rows[x + kPairs] + offset), hn::LoadU(half, rows[x] + offset));
  }
  // Then each half of a vector has two columns of its eight rows.
  turn_halves(d, pairs);
  alignas(32) static constexpr uint64_t kByColumns[4] = {0, 2, 1, 3};
  const auto by_columns = hn::SetTableIndices(d64, kByColumns);
  for (int k = 0; k < kPairs; ++k) {
    const auto columns = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d64, pairs[k]), by_columns));
    hn::StoreU(hn::LowerHalf(half, columns), half, dst + 2 * k * row_stride);
    hn::StoreU(hn::UpperHalf(half, columns), half, dst + (2 * k + 1) * row_stride);
  }
}
#else
void turn_bytes(const uint8_t* const* rows, ptrdiff_t offset, uint8_t* dst, ptrdiff_t row_stride) {
  const hn::Full128<uint8_t> d;
  hn::Vec<decltype(d)> block[kSquareSide];
  for (int x = 0; x < kSquareSide; ++x) block[x] = hn::LoadU(d, rows[x] + offset);
  turn_block(d, block);
  for (int y = 0; y < kSquareSide; ++y) hn::StoreU(block[y], d, dst + y * row_stride);
}
#endif

#if HWY_TARGET <= HWY_AVX2
using Pixels = hn::FixedTag<uint32_t, 8>;  // wider ones gain nothing
#else
using Pixels = hn::Full128<uint32_t>;
#endif
constexpr int kSide = static_cast<int>(hn::MaxLanes(Pixels()));

// Lane y of row x and lane x of row y change places.
HWY_INLINE void turn_rows(hn::Vec<Pixels> (&rows)[kSide]) {
  const Pixels d;
#if HWY_TARGET <= HWY_AVX2
  for (int x = 0; x < kSide; x += 4) {
    const auto lower02 = hn::InterleaveLower(d, rows[x], rows[x + 2]);
    const auto upper02 = hn::InterleaveUpper(d, rows[x], rows[x + 2]);
    const auto lower13 = hn::InterleaveLower(d, rows[x + 1], rows[x + 3]);
    const auto upper13 = hn::InterleaveUpper(d, rows[x + 1], rows[x + 3]);
    rows[x] = hn::InterleaveLower(d, lower02, lower13);
    rows[x + 1] = hn::InterleaveUpper(d, lower02, lower13);
    rows[x + 2] = hn::InterleaveLower(d, upper02, upper13);
    rows[x + 3] = hn::InterleaveUpper(d, upper02, upper13);
  }
  for (int k = 0; k < 4; ++k) {
    const auto left = rows[k];
    rows[k] = hn::ConcatLowerLower(d, rows[k + 4], left);
    rows[k + 4] = hn::ConcatUpperUpper(d, rows[k + 4], left);
  }
#else
  turn_block(d, rows);
#endif
}

// Pixels of 4 bytes in a row of an image.
struct Whole {
  static HWY_INLINE hn::Vec<Pixels> load(const uint8_t* row, int x) {
    const hn::Repartition<uint8_t, Pixels> bytes;
    return hn::BitCast(Pixels(), hn::LoadU(bytes, row + ptrdiff_t{4} * x));
  }
  static HWY_INLINE void store(const uint32_t* pixels, uint8_t* row) {
    const Pixels d;
    const hn::Repartition<uint8_t, Pixels> bytes;
    for (int x = 0; x < kSquareSide; x += kSide) {
      hn::StoreU(hn::BitCast(bytes, hn::Load(d, pixels + x)), bytes, row + ptrdiff_t{4} * x);
    }
  }
};

// Pixels of 3 bytes, which get a fourth on the way. Neither side is touched beyond its square.
struct Packed {
  static constexpr int kBytes = 3;
  static constexpr int kFour = 4 * kBytes;

  // Four pixels; the last four of a square are read with bytes before them.
  static HWY_INLINE hn::Vec<hn::Full128<uint32_t>> load_four(const uint8_t* row, int x) {
    const hn::Full128<uint8_t> d;
    alignas(16) static constexpr uint8_t kSpread[2][16] = {
        {0, 1, 2, 0x80, 3, 4, 5, 0x80, 6, 7, 8, 0x80, 9, 10, 11, 0x80},
        {4, 5, 6, 0x80, 7, 8, 9, 0x80, 10, 11, 12, 0x80, 13, 14, 15, 0x80}};
    const bool last = x + 4 == kSquareSide;
    const auto packed = hn::LoadU(d, row + ptrdiff_t{kBytes} * x - (last ? 4 : 0));
    return hn::BitCast(hn::Full128<uint32_t>(), hn::TableLookupBytesOr0(packed, hn::Load(d, kSpread[last])));
  }
  static HWY_INLINE hn::Vec<Pixels> load(const uint8_t* row, int x) {
#if HWY_TARGET <= HWY_AVX2
    return hn::Combine(Pixels(), load_four(row, x + 4), load_four(row, x));
#else
    return load_four(row, x);
#endif
  }
  // Four pixels each time, and after them bytes that the next ones overwrite; the last are written with those before.
  static HWY_INLINE void store(const uint32_t* pixels, uint8_t* row) {
    const hn::Full128<uint8_t> d;
    alignas(16) static constexpr uint8_t kPack[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80};
    hn::Vec<decltype(d)> packed[4];
    for (int k = 0; k < 4; ++k) {
      const auto four = hn::BitCast(d, hn::Load(hn::Full128<uint32_t>(), pixels + 4 * k));
      packed[k] = hn::TableLookupBytesOr0(four, hn::Load(d, kPack));
    }
    for (int k = 0; k < 3; ++k) hn::StoreU(packed[k], d, row + kFour * k);
    const auto before = hn::ShiftRightBytes<8>(d, packed[2]);
    hn::StoreU(hn::Or(before, hn::ShiftLeftBytes<4>(packed[3])), d, row + kFour * 3 - 4);
  }
};

// Through a square at hand: rows of images are often a power of two apart, where lines of kSquareSide of them do not
// fit into the first cache together, so each is read as a whole, and written as a whole.
template <class Row>
void turn_pixels(const uint8_t* const* rows, ptrdiff_t offset, uint8_t* dst, ptrdiff_t row_stride) {
  const Pixels d;
  alignas(64) uint32_t turned[kSquareSide][kSquareSide];
  for (int x = 0; x < kSquareSide; x += kSide) {
    for (int y = 0; y < kSquareSide; y += kSide) {
      hn::Vec<Pixels> block[kSide];
      for (int k = 0; k < kSide; ++k) block[k] = Row::load(rows[x + k] + offset, y);
      turn_rows(block);
      for (int k = 0; k < kSide; ++k) hn::Store(block[k], d, &turned[y + k][x]);
    }
  }
  for (int y = 0; y < kSquareSide; ++y) Row::store(turned[y], dst + y * row_stride);
}

void turn_square(const uint8_t* const* rows, ptrdiff_t offset, int bytes, uint8_t* dst, ptrdiff_t row_stride) {
  if (bytes == 1) {
    turn_bytes(rows, offset, dst, row_stride);
  } else if (bytes == 3) {
    turn_pixels<Packed>(rows, offset, dst, row_stride);
  } else {
    turn_pixels<Whole>(rows, offset, dst, row_stride);
  }
}

}  // namespace

void fill_move(Kernels* table) {
  table->reverse_pixels = reverse_pixels;
  table->turn_square = turn_square;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(move)
