// Huffman tables of JPEG, from their segments to what kernels look up.
#pragma once

#include <cstdint>

#include "kernels/jpeg.h"

namespace fastaug::codec::jpeg {

// The contents of a segment (ITU-T T.81, B.2.4.2): the number of codes of each length, and their symbols.
struct CodeLengths {
  bool defined = false;
  uint8_t counts[16] = {};
  uint8_t symbols[256] = {};  // 0 behind the last

  bool operator==(const CodeLengths&) const = default;
};

// False where there are more codes of a length than fit, or all bits of one are 1, or a symbol of DC is no size: what
// libjpeg takes for an error.
bool make_codes(const CodeLengths& lengths, bool dc, JpegCodes* codes);

// The same of AC.
bool make_pairs(const CodeLengths& lengths, JpegPairs* pairs);

}  // namespace fastaug::codec::jpeg
