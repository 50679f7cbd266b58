#include "codec/jpeg_codes.h"

#include <algorithm>
#include <iterator>

namespace fastaug::codec::jpeg {
namespace {

constexpr uint32_t kNotQuick = kJpegLong << 8;

uint32_t entry_of(unsigned length, unsigned symbol, bool dc) {
  const unsigned run = symbol >> 4, size = symbol & 15, total = length + size;
  if (dc) return size << 24 | length << 16 | total;
  if (total > kJpegMostQuick) return kNotQuick;
  // Sixteen zeros, or the end.
  const unsigned on = size != 0 ? run + 1 : run == 15 ? 16 : kJpegEnd;
  return size << 24 | length << 16 | on << 8 | total;
}

}  // namespace

bool make_codes(const CodeLengths& lengths, bool dc, JpegCodes* codes) {
  std::fill(std::begin(codes->quick), std::end(codes->quick), kNotQuick);
  std::copy(std::begin(lengths.symbols), std::end(lengths.symbols), codes->symbols);
  codes->limit[0] = 0;
  codes->index[0] = 0;
  uint32_t code = 0;
  int place = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    const uint32_t count = lengths.counts[length - 1];
    codes->index[length] = place - static_cast<int>(code);
    if (place + static_cast<int>(count) > 256) return false;
    if (count != 0 && code + count >= uint32_t{1} << length) return false;
    for (uint32_t k = 0; k < count; ++k, ++code, ++place) {
      const uint8_t symbol = lengths.symbols[place];
      if (dc && symbol > 15) return false;
      if (length > kJpegLook) continue;
      const unsigned rest = kJpegLook - length;
      std::fill_n(codes->quick + (code << rest), size_t{1} << rest, entry_of(length, symbol, dc));
    }
    codes->limit[length] = code << (16 - length);
    code <<= 1;
  }
  return true;
}

}  // namespace fastaug::codec::jpeg
