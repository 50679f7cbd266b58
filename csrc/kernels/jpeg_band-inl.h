// The entropy decoder of progressive JPEG scans (ITU-T T.81, G.2), as jpeg_scan-inl.h is that of sequential ones.
#if defined(FASTAUG_JPEG_BAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_JPEG_BAND_INL_H_
#undef FASTAUG_JPEG_BAND_INL_H_
#else
#define FASTAUG_JPEG_BAND_INL_H_
#endif

#include <bit>

#include "kernels/jpeg_scan-inl.h"

FASTAUG_LANES_BEGIN
namespace {

// True if jpeg_deposit() is one instruction, which is of BMI2.
#if defined(HWY_TARGET) && HWY_ARCH_X86_64
constexpr bool kJpegDeposits = HWY_TARGET <= HWY_AVX2;
#else
constexpr bool kJpegDeposits = false;
#endif

// The lowest bits of `bits`, as many as `places` has, to where these are.
FASTAUG_FN uint64_t jpeg_deposit(uint64_t bits, uint64_t places) {
#if defined(HWY_TARGET) && HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  return _pdep_u64(bits, places);
#else
  uint64_t result = 0;
  for (; places != 0; places &= places - 1, bits >>= 1) {
    if ((bits & 1) != 0) result |= places & (~places + 1);
  }
  return result;
#endif
}

// Up to 32 bits, of the 56 that fill() gives.
FASTAUG_FN uint32_t jpeg_take(JpegBits& at, unsigned count) {
  const auto taken = static_cast<uint32_t>((at.bits >> 1) >> (63 - count));
  at.drop(count);
  return taken;
}

// Any code; below 0 where there is none.
FASTAUG_FN int jpeg_symbol(const JpegCodes& codes, JpegBits& at) {
  const unsigned length = codes.quick[at.bits >> (64 - kJpegLook)] >> 16 & 0xff;
  if (length == 0) return jpeg_long_code(codes, at);
  const int code = static_cast<int>(at.bits >> (64 - length));
  at.drop(length);
  return codes.symbols[(codes.index[length] + code) & 255];
}

// DC of one block; false where a code does not exist.
FASTAUG_FN bool jpeg_band_dc(JpegBits& at, const JpegBand& band, const JpegBlocks& block, uint32_t& predictor,
                             uint32_t& range) {
  at.fill();
  if (band.refines) {
    const uint32_t bit = jpeg_take(at, 1);
    if (block.coefs != nullptr) *block.coefs = static_cast<int16_t>(*block.coefs | static_cast<int>(bit << band.low));
    return true;
  }
  const int size = jpeg_symbol(*block.dc, at);
  if (size < 0 || size > 15) return false;
  predictor += static_cast<uint32_t>(jpeg_value(at.bits, static_cast<unsigned>(size)));
  at.drop(static_cast<unsigned>(size));
  // Neither it nor what it is shifted to may leave 16 bits.
  const uint32_t shifted = predictor << band.low;
  range |= (predictor + 0x8000) | (shifted + 0x8000);
  if (block.coefs != nullptr) *block.coefs = static_cast<int16_t>(shifted);
  return true;
}

// The first bits of a block's coefficients; false where a code does not exist, or a coefficient lies beyond the last or
// outside of 16 bits.
template <bool kKept>
FASTAUG_FN bool jpeg_first_bits(JpegBits& at, JpegBand& band) {
  if (band.run != 0) {
    --band.run;
    return true;
  }
  uint64_t places = *band.places;
  for (int place = band.from - 1; place < band.to;) {
    at.fill();
    const uint32_t entry = band.codes->quick[at.bits >> (64 - kJpegLook)];
    unsigned size = entry >> 24;
    if (size != 0) [[likely]] {
      place += static_cast<int>(entry >> 8 & 0xff);
      at.drop(entry >> 16 & 0xff);
    } else {
      const int symbol = jpeg_symbol(*band.codes, at);
      if (symbol < 0) return false;
      const int run = symbol >> 4;
      size = static_cast<unsigned>(symbol) & 15;
      if (size == 0 && run < 15) {
        band.run = (1u << run) - 1 + jpeg_take(at, static_cast<unsigned>(run));
        break;
      }
      place += run + 1;
    }
    if (place > band.to) return false;
    if (size == 0) continue;
    const int value = jpeg_value(at.bits, size) * (1 << band.low);
    at.drop(size);
    if (value != static_cast<int16_t>(value)) return false;
    if constexpr (kKept) band.coefs[kJpegZigzag[place]] = static_cast<int16_t>(value);
    places |= uint64_t{1} << (63 - place);
  }
  *band.places = places;
  return true;
}

// One more bit of each of these coefficients: those of which it is 1.
template <bool kKept>
FASTAUG_FN uint64_t jpeg_more_bits(JpegBits& at, uint64_t places) {
  uint64_t set = 0;
  auto count = static_cast<unsigned>(std::popcount(places));
  if (count > 32) {
    const uint64_t last = jpeg_deposit(0xffffffff, places);
    at.fill();
    set = jpeg_deposit(jpeg_take(at, count - 32), places & ~last);
    places = last;
    count = 32;
  }
  at.fill();
  const uint32_t bits = jpeg_take(at, count);
  if constexpr (!kKept) return 0;
  return set | jpeg_deposit(bits, places);
}

// One more bit of a block's coefficients; false as above, and where a new one has more than that.
template <bool kKept>
FASTAUG_FN bool jpeg_refined(JpegBits& at, JpegBand& band) {
  const uint64_t before = *band.places;
  uint64_t places = before, set = 0;
  // Those from `from` to `to`, and then those of them that are left.
  uint64_t left = (~uint64_t{0} >> band.from) & (~uint64_t{0} << (63 - band.to));
  if (band.run == 0) {
    while (left != 0) {
      at.fill();
      const int symbol = jpeg_symbol(*band.codes, at);
      if (symbol < 0 || (symbol & 15) > 1) return false;
      const int run = symbol >> 4;
      const bool fresh = (symbol & 15) != 0;
      if (!fresh && run < 15) {
        band.run = (1u << run) + jpeg_take(at, static_cast<unsigned>(run));
        break;
      }
      const int value = fresh && jpeg_take(at, 1) == 0 ? -(1 << band.low) : 1 << band.low;
      // Behind as many that are still 0.
      const uint64_t zeros = left & ~before;
      const int count = std::popcount(zeros);
      if (run >= count) return false;
      const uint64_t place = jpeg_deposit(uint64_t{1} << (count - 1 - run), zeros);
      set |= jpeg_more_bits<kKept>(at, left & before & ~(place | (place - 1)));
      left &= place - 1;
      if (!fresh) continue;
      places |= place;
      if constexpr (kKept) band.coefs[kJpegZigzag[std::countl_zero(place)]] = static_cast<int16_t>(value);
    }
    *band.places = places;
  }
  if (band.run != 0) {
    set |= jpeg_more_bits<kKept>(at, left & before);
    --band.run;
  }
  if constexpr (kKept) {
    for (const int bit = 1 << band.low; set != 0;) {
      const int place = std::countl_zero(set);
      set &= ~(uint64_t{1} << (63 - place));
      int16_t& coef = band.coefs[kJpegZigzag[place]];
      const int sign = coef >> 15;
      coef = static_cast<int16_t>(coef + ((bit ^ sign) - sign));
    }
  }
  return true;
}

template <bool kRefines, bool kKept>
FASTAUG_FN int jpeg_band_ac(JpegBits& at, JpegBand& band, int count, const uint8_t* limit) {
  int done = 0;
  for (; done < count && at.next <= limit; ++done, ++band.places) {
    if (!(kRefines ? jpeg_refined<kKept>(at, band) : jpeg_first_bits<kKept>(at, band))) return -1;
    if constexpr (kKept) band.coefs += kJpegBlock;
  }
  return done;
}

int jpeg_band(JpegScan* scan, JpegBand* band, int count, const uint8_t* limit) {
  JpegBits at = {scan->bits, static_cast<unsigned>(scan->count), scan->next};
  int done = 0;
  if (band->from != 0) {
    JpegBand local = *band;
    const bool kept = band->coefs != nullptr;
    if (band->refines) {
      done =
          kept ? jpeg_band_ac<true, true>(at, local, count, limit) : jpeg_band_ac<true, false>(at, local, count, limit);
    } else {
      done = kept ? jpeg_band_ac<false, true>(at, local, count, limit)
                  : jpeg_band_ac<false, false>(at, local, count, limit);
    }
    *band = local;
  } else {
    for (; done < count && at.next <= limit; ++done) {
      for (int k = 0; k < scan->blocks; ++k) {
        JpegBlocks& block = scan->block[k];
        if (!jpeg_band_dc(at, *band, block, scan->predictors[block.component], scan->range)) return -1;
        if (block.coefs != nullptr) block.coefs += block.step * kJpegBlock;
      }
    }
  }
  if (done < 0) return -1;
  scan->bits = at.bits;
  scan->count = static_cast<int>(at.count);
  scan->next = at.next;
  return done;
}

}  // namespace
FASTAUG_LANES_END

#endif
