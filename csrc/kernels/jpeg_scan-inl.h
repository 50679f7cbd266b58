// The entropy decoder of sequential JPEG scans (ITU-T T.81, F.2.2), once for each instruction set: it is plain C++, but
// shifts by variable counts, which are what it mostly does, take one instruction where there is BMI2.
//
// Include pixel/lane.h first for plain C++, or kernels/simd/lane-inl.h for an instruction set.
#if defined(FASTAUG_JPEG_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_JPEG_SCAN_INL_H_
#undef FASTAUG_JPEG_SCAN_INL_H_
#else
#define FASTAUG_JPEG_SCAN_INL_H_
#endif

#include <bit>
#include <cstring>

#include "kernels/jpeg.h"

FASTAUG_LANES_BEGIN
namespace {

// Places in natural order by those in zigzag order; behind the block for all that moves beyond its last one.
struct JpegPlaces {
  alignas(64) uint8_t at[256 + 16] = {};

  constexpr JpegPlaces() {
    for (int k = 0; k < 256 + 16; ++k) at[k] = k < kJpegBlock ? kJpegZigzag[k] : kJpegBlock;
  }
};
constexpr JpegPlaces kNatural;

// The bits of a scan, in registers.
struct JpegBits {
  uint64_t bits;
  unsigned count;
  const uint8_t* next;

  // At least 56 bits. Those beyond `count` are the same ones that a later fill() puts there again.
  FASTAUG_FN void fill() {
    uint64_t word;
    std::memcpy(&word, next, 8);
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    bits |= word >> count;
    next += (63 - count) >> 3;
    count |= 56;
  }
  FASTAUG_FN void drop(unsigned some) {
    bits <<= some;
    count -= some;
  }
};

// A value of `size` bits from the top of `bits` (T.81, F.2.2.1, EXTEND): those that begin with 0 are negative.
FASTAUG_FN int jpeg_value(uint64_t bits, unsigned size) {
  const uint64_t positive = static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63);
  const auto value = static_cast<int>((bits >> 1) >> (~size & 63));
  return value - static_cast<int>(~positive & ((uint64_t{1} << size) - 1));
}

// A code of any length, found by search; below 0 where there is none.
inline int jpeg_long_code(const JpegCodes& codes, JpegBits& at) {
  const auto top = static_cast<uint32_t>(at.bits >> 48);
  unsigned length = 1;
  while (length <= 16 && top >= codes.limit[length]) ++length;
  if (length > 16) return -1;
  at.drop(length);
  return codes.symbols[(codes.index[length] + static_cast<int>(top >> (16 - length))) & 255];
}

// Symbols of a block by as many at a time as are looked up together. True where that was all of it; otherwise `place`
// is that of the last one before those that have to be looked at one by one.
FASTAUG_FN bool jpeg_skip_most(JpegBits& at, const JpegPairs& ac, unsigned& place) {
  constexpr int kShift = 64 - kJpegSkip;
  for (;;) {
    at.fill();
    for (int k = 0; k < 3; ++k) {
      const unsigned entry = ac.skip[at.bits >> kShift];
      const unsigned next = place + (entry >> 8);
      if (next >= 63) {
        // Moves only go on, so if the last place is in the block, and its end behind it, all of them are.
        if (next != 63 && next - kJpegEnd >= 63) return false;
        at.drop(entry & 63);
        return true;
      }
      at.drop(entry & 63);
      place = next;
    }
  }
}

// One block; false where a code does not exist or a coefficient lies beyond the last.
template <bool kStore>
FASTAUG_FN bool jpeg_block(JpegBits& at, const JpegCodes& dc, const JpegPairs& ac, uint32_t& predictor, uint32_t& range,
                           int16_t* coefs, uint8_t* last) {
  constexpr int kShift = 64 - kJpegLook;
  if constexpr (kStore) std::memset(coefs, 0, kJpegBlock * sizeof(int16_t));
  at.fill();
  int difference;
  if (const uint32_t entry = dc.quick[at.bits >> kShift]; (entry & 0xff) != 0) [[likely]] {
    difference = jpeg_value(at.bits << (entry >> 16 & 63), entry >> 24);
    at.drop(entry & 63);
  } else {
    const int size = jpeg_long_code(dc, at);
    if (size < 0 || size > 15) return false;
    difference = jpeg_value(at.bits, static_cast<unsigned>(size));
    at.drop(static_cast<unsigned>(size));
  }
  predictor += static_cast<uint32_t>(difference);
  range |= predictor + 0x8000;
  if constexpr (kStore) coefs[0] = static_cast<int16_t>(predictor);

  unsigned place = 0;
  if constexpr (!kStore) {
    if (jpeg_skip_most(at, ac, place)) return true;
  }
  for (;;) {
    uint64_t before, entry;
    unsigned next;
    at.fill();
    // One branch leaves for whatever is no value before the last coefficient.
    for (int k = 0; k < 3; ++k) {
      before = at.bits;
      entry = ac.quick[before >> kShift];
      at.drop(static_cast<unsigned>(entry & 63));
      place += entry >> 8 & 0xff;
      next = place + (entry >> 32 & 0xff);
      if constexpr (kStore) {
        // Where there is no second value the first takes its place.
        coefs[kNatural.at[next]] = static_cast<int16_t>(entry >> 48);
        coefs[kNatural.at[place]] = static_cast<int16_t>(jpeg_value(before << (entry >> 16 & 63), entry >> 24 & 63));
      }
      if (next >= 63) goto out;
      place = next;
    }
    continue;
  out:
    if (place < 63) [[likely]] {
      place = next;
      break;
    }
    if (next != place) {
      // The first was the last of the block; what follows is no symbol of this table.
      const auto first = static_cast<unsigned>(entry >> 40 & 63);
      at.bits = before << first;
      at.count += static_cast<unsigned>(entry & 63) - first;
    }
    if (place < kJpegLong) break;
    place -= kJpegLong;
    at.fill();
    const int symbol = jpeg_long_code(ac.codes, at);
    if (symbol < 0) return false;
    const unsigned run = static_cast<unsigned>(symbol) >> 4, size = static_cast<unsigned>(symbol) & 15;
    if (size == 0 && run != 15) {
      place += kJpegEnd;
      break;
    }
    place += run + 1;
    if (place > 63) return false;
    if constexpr (kStore) coefs[kNatural.at[place]] = static_cast<int16_t>(jpeg_value(at.bits, size));
    at.drop(size);
    if (place == 63) break;
  }
  if (place != 63) {
    if (place < kJpegEnd) return false;
    place -= kJpegEnd;
  }
  if constexpr (kStore) *last = static_cast<uint8_t>(place);
  return true;
}

// MCUs until `mcus` are done or the next byte lies beyond `limit`: how many, or -1 where one of them is broken.
template <bool kStore>
int jpeg_mcus(JpegScan* scan, int mcus, const uint8_t* limit) {
  JpegBits at = {scan->bits, static_cast<unsigned>(scan->count), scan->next};
  uint32_t range = scan->range;
  const int blocks = scan->blocks;
  int done = 0;
  for (; done < mcus && at.next <= limit; ++done) {
    for (int k = 0; k < blocks; ++k) {
      JpegBlocks& block = scan->block[k];
      if (!jpeg_block<kStore>(at, *block.dc, *block.ac, scan->predictors[block.component], range, block.coefs,
                              block.last)) {
        return -1;
      }
      if constexpr (kStore) {
        block.coefs += block.step * kJpegBlock;
        block.last += block.step;
      }
    }
  }
  scan->bits = at.bits;
  scan->count = static_cast<int>(at.count);
  scan->next = at.next;
  scan->range = range;
  return done;
}

}  // namespace
FASTAUG_LANES_END

#endif
