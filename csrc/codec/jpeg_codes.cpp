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

void make_skips(JpegPairs* pairs) {
  constexpr uint32_t kMask = (1 << kJpegSkip) - 1;
  for (uint32_t bits = 0; bits <= kMask; ++bits) {
    uint32_t used = 0, on = 0;
    for (;;) {
      const uint32_t rest = bits << used & kMask;
      const uint32_t entry = pairs->codes.quick[rest >> (kJpegSkip - kJpegLook)];
      const uint32_t length = entry >> 16 & 0xff, total = entry & 0xff, step = entry >> 8 & 0xff;
      if (step == kJpegLong || used + (used == 0 ? length : total) > kJpegSkip) break;
      // So that a sum of moves is never taken for an end.
      if (step != kJpegEnd && on + step > 63) break;
      used += total;
      on += step;
      if (step == kJpegEnd || used >= kJpegSkip) break;
    }
    pairs->skip[bits] = static_cast<uint16_t>(used == 0 ? kNotQuick : on << 8 | used);
  }
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

bool make_pairs(const CodeLengths& lengths, JpegPairs* pairs) {
  if (!make_codes(lengths, false, &pairs->codes)) return false;
  const auto& quick = pairs->codes.quick;
  constexpr uint32_t kMask = (1 << kJpegLook) - 1;
  for (uint32_t bits = 0; bits <= kMask; ++bits) {
    const uint32_t first = quick[bits];
    const uint32_t used = first & 0xff;
    pairs->quick[bits] = first;
    // Nothing belongs to the block behind its end.
    if ((first >> 8 & 0xff) >= kJpegEnd || used >= kJpegLook) continue;
    const uint32_t rest = bits << used & kMask;
    const uint32_t second = quick[rest];
    const uint32_t both = used + (second & 0xff), on = second >> 8 & 0xff, size = second >> 24;
    if (on == kJpegLong || both > kJpegLook) continue;
    int value = static_cast<int>(bits >> (kJpegLook - both) & ((1u << size) - 1));
    if (size != 0 && value < 1 << (size - 1)) value -= (1 << size) - 1;
    pairs->quick[bits] = (first & ~0xffu) | both | uint64_t{on} << 32 | uint64_t{used} << 40 |
                         uint64_t{static_cast<uint16_t>(value)} << 48;
  }
  make_skips(pairs);
  return true;
}

}  // namespace fastaug::codec::jpeg
