// The arguments of the JPEG kernels. The words are those of ITU-T T.81: an MCU is a run of blocks, one or more of each
// component, that repeats over the image.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace fastaug {

constexpr int kJpegBlock = 64;  // coefficients of a block, or samples

// Places of coefficients in natural order by those in zigzag order (T.81, figure A.6).
constexpr uint8_t kJpegZigzag[kJpegBlock] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,   //
                                             12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,  //
                                             35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,  //
                                             58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// Blocks of an MCU at most (T.81, B.2.3), and bytes that one can take: 64 symbols a block, each of a code of up to 16
// bits and up to 15 bits of value.
constexpr int kJpegMostBlocks = 10;
constexpr int kJpegMostBytes = kJpegMostBlocks * kJpegBlock * 31 / 8;

// Bytes that are readable behind those that count: what an MCU may take, and words that are read ahead.
constexpr int kJpegPad = kJpegMostBytes + 32;

// Bits of a code that are looked up at once.
constexpr int kJpegLook = 10;
constexpr int kJpegSkip = 12;

// A Huffman table. The symbol of an AC table is a run of zeros and the size of the value behind it, of a DC table the
// size alone.
struct JpegCodes {
  // By the next kJpegLook bits: bits of code and value together, 8 bits from bit 0; coefficients that the symbol moves
  // on by, from bit 8 (kJpegEnd for the end of the block, kJpegLong for codes that are not looked up); bits of the
  // code, from bit 16; bits of the value, from bit 24.
  uint32_t quick[1 << kJpegLook];
  // The first 16 bits of data lie below limit[n] where their code has at most n bits; index[n] plus a code of n bits is
  // the place of its symbol.
  uint32_t limit[17];
  int32_t index[17];
  uint8_t symbols[256];
};
constexpr uint32_t kJpegEnd = 128;
constexpr uint32_t kJpegLong = 192;
// Symbols of more bits are not looked up: three of these fit into a word with what was left in it.
constexpr int kJpegMostQuick = 18;

// The symbols of an AC table by twos, where the bits that are looked up hold a second one with its value: as in
// `quick`, but bit 0 counts the bits of both; and what the second moves on by, from bit 32 (0: there is none), the bits
// of the first alone, from bit 40, and the second's value, from bit 48.
struct JpegPairs {
  JpegCodes codes;
  uint64_t quick[1 << kJpegLook];
  // For blocks that are not kept, by kJpegSkip bits: the bits of all symbols that begin and end in them, of one where
  // its code does, from bit 0; and what they move on by together, from bit 8, none of them behind the end of the block.
  uint16_t skip[1 << kJpegSkip];
};

// One of the blocks of every MCU, for the MCUs to come.
struct JpegBlocks {
  const JpegCodes* dc;
  const JpegPairs* ac;
  int component;
  // Where coefficients go, in natural order, `step` blocks on for each MCU. One coefficient behind a block may be
  // spoiled, so a block has to be decoded before the one that follows it in memory.
  int16_t* coefs;  // null in a JpegBand's scan: not kept
  uint8_t* last;   // of each block, the place of its last coefficient in zigzag order, or more: 0 where it has DC alone
  int step;
};

// Where a scan is.
struct JpegScan {
  uint64_t bits;           // the next bits, from the top
  int count;               // how many of them were taken out of the bytes before `next`
  const uint8_t* next;     // without stuffing, kJpegPad readable bytes behind their end
  uint32_t predictors[4];  // of DC, by components
  uint32_t range;          // all predictors so far, each plus 2^15, or'ed: below 2^16 where all of them were 16 bits
  int blocks;
  JpegBlocks block[kJpegMostBlocks];
};

// A scan of a progressive JPEG (T.81, G.1.2): bit `low` and those above of DC or, of one component, of coefficients
// from the `from`th to the `to`th in zigzag order; in a scan that refines, that bit alone.
struct JpegBand {
  const JpegCodes* codes;  // of AC
  int from;                // 0: DC, of the components of the JpegScan
  int to;
  int low;
  bool refines;
  uint32_t run;      // blocks, beginning with the next one, that have no new coefficients
  int16_t* coefs;    // of the next block, in natural order; null: not kept
  uint64_t* places;  // of each block, the coefficients other than 0, in zigzag order from bit 63 down, but for DC
};

// Steps of quantisation from 1 to 255, and the division by 8 times each of what is below 2^15: the upper
// half of a product, and a shift that is another product.
struct JpegSteps {
  uint16_t steps[kJpegBlock];  // in natural order, as the arrays below
  uint16_t factors[kJpegBlock];
  uint16_t shifts[kJpegBlock];  // 2^15 >> the shift

  // `step` and its power of two k: of u below 2^14, (2u * ceil(2^(15 + k) / step) >> 16) >> k is u / step, because
  // what the factor is too large by, less than 2^(k + 1), adds less than 1 / step.
  void set(int place, int step) {
    const int k = std::bit_width(static_cast<unsigned>(step)) - 1;
    steps[place] = static_cast<uint16_t>(step);
    factors[place] = static_cast<uint16_t>(((1 << (15 + k)) + step - 1) / step);
    shifts[place] = static_cast<uint16_t>(1 << (15 - k));
  }
};

}  // namespace fastaug
