// PNG files made to order.
#pragma once

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "tests/support/guard.h"

namespace fastaug::test {

struct PngFile {
  int height = 1;
  int width = 1;
  int channels = 3;
  int bits = 8;
  std::vector<uint8_t> samples;  // as the file has them: of 16 bits, the upper byte first
  std::vector<int> filters;      // a row's type; the last one is for all rows behind it, and none is 0
  int level = 6;                 // of libdeflate; 0 stores
  int pieces = 1;                // IDAT chunks
  int colour = -1;               // the header's type of colour, where it is not that of the channels
  std::vector<uint8_t> colours;  // of a palette, 3 bytes each, and the alphas of the first of them
  std::vector<uint8_t> alphas;
  int interlaced = 0;
  size_t cut_rows = 0;     // bytes off the end of the rows before they are compressed
  std::string extra_rows;  // behind the rows
  std::string trailing;    // behind the compressed rows
  std::string before;      // chunks before the first IDAT and behind the last
  std::string behind;
  std::string between;  // and between the first and the second
  bool ended = true;

  size_t row() const { return (static_cast<size_t>(width) * static_cast<size_t>(channels * bits) + 7) / 8; }
  bool indexed() const { return !colours.empty(); }

  PngFile() = default;
  PngFile(int tall, int wide, int count, int depth, Random& random)
      : height(tall), width(wide), channels(count), bits(depth), samples(static_cast<size_t>(tall) * row()) {
    // Neighbours are alike, so that there is something to compress.
    uint8_t value = 0;
    for (uint8_t& sample : samples) sample = value = static_cast<uint8_t>(value + random.between(-1, 2));
    for (int y = 0; y < tall; ++y) filters.push_back(random.between(0, 4));
  }

  static std::string number(uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
    return bytes;
  }

  static std::string chunk(const std::string& type, const std::string& data) {
    const std::string body = type + data;
    return number(static_cast<uint32_t>(data.size())) + body + number(libdeflate_crc32(0, body.data(), body.size()));
  }

  static std::string packed(const std::string& data, int level) {
    libdeflate_compressor* deflater = libdeflate_alloc_compressor(level);
    std::string out(libdeflate_zlib_compress_bound(deflater, data.size()), '\0');
    out.resize(libdeflate_zlib_compress(deflater, data.data(), data.size(), out.data(), out.size()));
    libdeflate_free_compressor(deflater);
    return out;
  }

  // PNG Specification, "Filter algorithms".
  std::string filtered() const {
    std::string out;
    const size_t size = row();
    const size_t pixel = static_cast<size_t>(std::max(1, channels * bits / 8));
    for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
      const int type = filters.empty() ? 0 : filters[std::min(y, filters.size() - 1)];
      out += static_cast<char>(type);
      const uint8_t* src = samples.data() + y * size;
      for (size_t i = 0; i < size; ++i) {
        const int left = i < pixel ? 0 : src[i - pixel];
        const int up = y == 0 ? 0 : *(src + i - size);
        const int corner = i < pixel || y == 0 ? 0 : *(src + i - pixel - size);
        const int to_left = std::abs(up - corner);
        const int to_up = std::abs(left - corner);
        const int to_corner = std::abs(left + up - 2 * corner);
        const int paeth = to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
        const int predicted[] = {0, left, up, (left + up) / 2, paeth};
        out += static_cast<char>(src[i] - predicted[type % 5]);
      }
    }
    return out;
  }

  std::string bytes() const {
    constexpr int kColours[] = {0, 0, 4, 2, 6};
    std::string header = number(static_cast<uint32_t>(width)) + number(static_cast<uint32_t>(height));
    header += static_cast<char>(bits);
    header += static_cast<char>(colour >= 0 ? colour : indexed() ? 3 : kColours[channels]);
    header += std::string(2, '\0') + static_cast<char>(interlaced);
    std::string rows = filtered() + extra_rows;
    rows.resize(rows.size() - cut_rows);
    const std::string data = packed(rows, level) + trailing;
    std::string file = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + before;
    if (indexed()) file += chunk("PLTE", {colours.begin(), colours.end()});
    if (!alphas.empty()) file += chunk("tRNS", {alphas.begin(), alphas.end()});
    const size_t length = data.size() / static_cast<size_t>(pieces) + 1;
    for (size_t at = 0; at < data.size(); at += length) {
      file += chunk("IDAT", data.substr(at, length));
      if (at == 0) file += between;
    }
    return file + behind + (ended ? chunk("IEND", "") : "");
  }

  // A sample as the file has it.
  int sample(int y, int x, int c) const {
    const uint8_t* line = samples.data() + static_cast<size_t>(y) * row();
    const auto at = static_cast<size_t>(x * channels + c);
    if (bits == 16) return line[2 * at] << 8 | line[2 * at + 1];
    if (bits == 8) return line[at];
    const size_t each = static_cast<size_t>(8 / bits);
    return line[at / each] >> (8 - static_cast<size_t>(bits) * (at % each + 1)) & ((1 << bits) - 1);
  }

  // As Image.convert() makes it: gray three times, alpha dropped or opaque, and other depths as Pillow opens them.
  uint8_t converted(int y, int x, int c, int to) const {
    const bool is_alpha = to % 2 == 0 && c == to - 1;
    if (indexed()) {
      const auto index = static_cast<size_t>(sample(y, x, 0));
      if (is_alpha) return index < alphas.size() ? alphas[index] : 255;
      const auto colour_of = [&](size_t k) { return 3 * index < colours.size() ? colours[3 * index + k] : 0; };
      if (to >= 3) return static_cast<uint8_t>(colour_of(static_cast<size_t>(c)));
      return static_cast<uint8_t>((colour_of(0) * 19595 + colour_of(1) * 38470 + colour_of(2) * 7471 + 32768) >> 16);
    }
    if (is_alpha && channels % 2 == 1) return 255;
    const int value = sample(y, x, is_alpha ? channels - 1 : channels <= 2 ? 0 : c);
    if (bits == 16) return static_cast<uint8_t>(channels == 1 ? std::min(value, 255) : value >> 8);
    return static_cast<uint8_t>(value * 255 / ((1 << bits) - 1));
  }
};

// A file behind which there is nothing.
class GuardedFile {
 public:
  explicit GuardedFile(const std::string& bytes) : memory_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), memory_.data());
  }
  codec::Bytes bytes() const { return {memory_.data(), memory_.size()}; }

 private:
  Guarded memory_;
};

}  // namespace fastaug::test
