#include "codec/png_chunks.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <string_view>

#include "codec/exif.h"

namespace fastaug::codec::png {
namespace {

constexpr size_t kIhdrSize = 13;
// No byte of a deflate stream stands for more bytes than this.
constexpr size_t kMostPerByte = 1032;
constexpr size_t kMostRowBytes = size_t{1} << 30;
constexpr size_t kMostBytes = size_t{1} << 40;

// PngImagePlugin.MAX_TEXT_CHUNK and MAX_TEXT_MEMORY.
constexpr size_t kMostText = size_t{1} << 20;
constexpr size_t kMostTexts = 64 * kMostText;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data), bytes.size}; }
Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// Takes what is before the next zero off the text. False when there is none.
bool take_string(std::string_view* text, std::string_view* string) {
  const size_t end = text->find('\0');
  if (end == text->npos) return false;
  *string = text->substr(0, end);
  text->remove_prefix(end + 1);
  return true;
}

// False when a zlib stream is, or may be, more than Pillow inflates. Else *bound is no less than it becomes.
bool inflates(std::string_view packed, size_t* bound) {
  *bound = packed.size() * kMostPerByte;
  if (*bound < kMostText) return true;
  const std::unique_ptr<uint8_t[]> text(new uint8_t[kMostText]);
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (inflater == nullptr) throw std::bad_alloc();
  size_t used = 0;
  return libdeflate_zlib_decompress_ex(inflater.get(), packed.data(), packed.size(), text.get(), kMostText - 1, &used,
                                       bound) == LIBDEFLATE_SUCCESS;
}

// The contents of the chunks beside IHDR, IDAT and IEND that Pillow reads: PngImagePlugin.PngStream.
class Ancillary {
 public:
  explicit Ancillary(bool indexed) : indexed_(indexed) {}

  // False when Pillow may stumble over the chunk, or make other pixels for it.
  bool add(const Chunk& chunk) {
    const std::string_view data = text_of(chunk.data);
    switch (chunk.type) {
      case kPlte:
        return true;  // a suggestion where it is not needed
      case kTrns:
        return indexed_;
      case chunk_type("gAMA"):
        return data.size() >= 4;
      case chunk_type("cHRM"):
        return data.size() >= 32;
      case chunk_type("sRGB"):
        return data.size() >= 1;
      case chunk_type("pHYs"):
        return data.size() >= 9;
      case chunk_type("iCCP"):
        return add_profile(data);
      case chunk_type("tEXt"):
        return add_text(data);
      case chunk_type("zTXt"):
        return add_packed_text(data);
      case chunk_type("iTXt"):
        return add_international_text(data);
      case chunk_type("eXIf"):
        exif_ = exif_orientation(chunk.data);
        return exif_ != kUnclearOrientation;
      case chunk_type("acTL"):
      case chunk_type("fcTL"):
      case chunk_type("fdAT"):
        return false;
      default:
        return (chunk.type >> 24 & 0x20) != 0;  // a lower case letter: it may be skipped
    }
  }

  int orientation() const {
    if (exif_ != kNoOrientation) return exif_;
    return xmp_ != kNoOrientation ? xmp_ : 1;
  }

 private:
  bool add_profile(std::string_view data) {
    std::string_view name;
    if (has_profile_ || !take_string(&data, &name) || data.empty() || data[0] != 0) return false;
    has_profile_ = true;
    size_t bound;
    return inflates(data.substr(1), &bound);
  }

  bool add_text(std::string_view data) {
    std::string_view key = data;
    take_string(&data, &key);
    return is_plain(key) && count_text(data.size());
  }

  bool add_packed_text(std::string_view data) {
    std::string_view key = data;
    if (!take_string(&data, &key) || data.empty()) return is_plain(key);
    size_t bound;
    return data[0] == 0 && is_plain(key) && inflates(data.substr(1), &bound) && count_text(bound);
  }

  bool add_international_text(std::string_view data) {
    std::string_view key;
    if (!take_string(&data, &key) || data.size() < 2) return true;
    const bool packed = data[0] != 0;
    const bool known = data[1] == 0;
    data.remove_prefix(2);
    std::string_view language, translated;
    if (!take_string(&data, &language) || !take_string(&data, &translated)) return true;
    if (packed && !known) return true;
    size_t bound = data.size();
    if ((packed && !inflates(data, &bound)) || !count_text(bound)) return false;
    if (key != kXmp) return is_plain(key);
    if (packed || has_xmp_) return false;
    has_xmp_ = true;
    xmp_ = xmp_orientation(bytes_of(data));
    return true;
  }

  // Pillow keeps texts with the settings that it decodes by, under their keys.
  static bool is_plain(std::string_view key) {
    constexpr std::string_view kSettings[] = {"transparency",          "interlace", "bbox", "exif",
                                              "Raw profile type exif", "xmp",       kXmp};
    return std::find(std::begin(kSettings), std::end(kSettings), key) == std::end(kSettings);
  }

  bool count_text(size_t size) {
    texts_ += size;
    return texts_ < kMostTexts;
  }

  static constexpr std::string_view kXmp = "XML:com.adobe.xmp";
  bool indexed_;  // find_layout() has seen to PLTE and tRNS
  bool has_profile_ = false;
  bool has_xmp_ = false;
  size_t texts_ = 0;
  int exif_ = kNoOrientation;
  int xmp_ = kNoOrientation;
};

bool is_letter(uint32_t byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

// The letters that Pillow takes in the name of a chunk, beside digits and underscores.
bool is_name(uint32_t type) {
  return is_letter(type >> 24) && is_letter(type >> 16 & 255) && is_letter(type >> 8 & 255) && is_letter(type & 255);
}

}  // namespace

bool Chunk::sound() const {
  // The name is before the data, and the checksum behind.
  return libdeflate_crc32(0, data.data - 4, data.size + 4) == big_endian_32(data.data + data.size);
}

bool Chunks::next(Chunk* chunk) {
  const size_t left = file_.size - next_;
  if (left < 8) return false;
  const uint8_t* at = file_.data + next_;
  chunk->type = big_endian_32(at + 4);
  chunk->at = next_ + 8;
  if (chunk->type == kIend) {
    chunk->data = {at + 8, 0};
    next_ = file_.size;
    return true;
  }
  const size_t size = big_endian_32(at);
  if (left < 12 || size > left - 12 || !is_name(chunk->type)) return false;
  chunk->data = {at + 8, size};
  next_ += size + 12;
  return true;
}

bool parse_ihdr(Bytes data, Header* header) {
  if (data.size != kIhdrSize) return false;
  const uint32_t width = big_endian_32(data.data);
  const uint32_t height = big_endian_32(data.data + 4);
  constexpr uint32_t kMost = 0x7fffffff;
  if (width == 0 || height == 0 || width > kMost || height > kMost) return false;
  const uint8_t depth = data.data[8];
  constexpr int kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  const int colour = data.data[9];
  constexpr int kIndexed = 3;
  constexpr int kDepths[] = {1 | 2 | 4 | 8 | 16, 0, 8 | 16, 1 | 2 | 4 | 8, 8 | 16, 0, 8 | 16};
  if (colour > 6 || !std::has_single_bit(unsigned{depth}) || (kDepths[colour] & depth) == 0) return false;
  // Compression, filters, interlacing.
  if (data.data[10] != 0 || data.data[11] != 0 || data.data[12] != 0) return false;
  header->format = Format::kPng;
  header->sequential = true;
  header->height = static_cast<int>(height);
  header->width = static_cast<int>(width);
  header->channels = kChannels[colour];
  header->bits = depth;
  header->palette = colour == kIndexed ? Palette::kOpaque : Palette::kNone;
  return filtered_size(*header) != 0;
}

size_t row_size(const Header& header) {
  return (static_cast<size_t>(header.width) * static_cast<size_t>(pixel_bits(header)) + 7) / 8;
}

size_t filtered_size(const Header& header) {
  const size_t row = row_size(header) + 1;
  const auto rows = static_cast<size_t>(header.height);
  return row > kMostRowBytes || rows > kMostBytes / row ? 0 : row * rows;
}

namespace {

// Takes a palette's chunks, which Pillow reads wherever they are, and of several the last: here they come once, before
// the pixels. False otherwise, and where Pillow's answer to their size is not plain.
bool take_palette(const Chunk& chunk, Layout* layout) {
  if (chunk.type != kPlte && chunk.type != kTrns) return true;
  Bytes& taken = chunk.type == kPlte ? layout->colours : layout->alphas;
  if (layout->count > 0 || taken.data != nullptr) return false;
  const size_t size = chunk.data.size;
  taken = chunk.data;
  if (chunk.type == kPlte) return size > 0 && size % 3 == 0 && size <= 768;
  // Pillow looks for a single transparent entry by a pattern that allows a line feed at the end, and then forgets it.
  std::string_view alphas = text_of(chunk.data);
  if (alphas.ends_with('\n')) {
    alphas.remove_suffix(1);
    const auto opaque = std::count(alphas.begin(), alphas.end(), '\xff');
    const auto transparent = std::count(alphas.begin(), alphas.end(), '\0');
    if (transparent == 1 && static_cast<size_t>(opaque + transparent) == alphas.size()) --taken.size;
  }
  return size <= 256;
}

}  // namespace

bool find_layout(Bytes file, const Header& header, Layout* layout) {
  if (sniff(file) != Format::kPng) return false;
  Chunks chunks(file);
  Chunk chunk;
  Header found;
  if (!chunks.next(&chunk) || chunk.type != kIhdr || !parse_ihdr(chunk.data, &found)) return false;
  const bool indexed = found.palette != Palette::kNone;
  if (found.height != header.height || found.width != header.width || found.channels != header.channels ||
      found.bits != header.bits || indexed != (header.palette != Palette::kNone)) {
    return false;
  }
  bool apart = false;
  while (chunks.next(&chunk)) {
    if (chunk.type == kIend) {
      layout->ended = true;
      break;
    }
    if (chunk.type != kIdat) {
      if (indexed && !take_palette(chunk, layout)) return false;
      apart = layout->count > 0;
      continue;
    }
    if (apart) return false;
    if (layout->count == 0) layout->first = chunk;
    ++layout->count;
    layout->size += chunk.data.size;
  }
  if (indexed && layout->colours.data == nullptr) return false;
  return chunks.at_end() && layout->size > 0 && layout->size >= filtered_size(header) / kMostPerByte;
}

Header read_header(Bytes bytes) {
  Header header;
  header.format = Format::kPng;
  Layout layout;
  Chunks chunks(bytes);
  Chunk chunk;
  if (!chunks.next(&chunk) || chunk.type != kIhdr || !chunk.sound() || !parse_ihdr(chunk.data, &header)) return header;
  if (!find_layout(bytes, header, &layout)) return header;
  const bool indexed = header.palette != Palette::kNone;
  if (layout.alphas.data != nullptr) header.palette = Palette::kAlpha;
  Ancillary ancillary(indexed);
  while (chunks.next(&chunk) && chunk.type != kIend) {
    if (chunk.type == kIdat) continue;
    // Pillow looks at no checksum behind the pixels.
    if (chunk.at < layout.first.at && !chunk.sound()) return header;
    if (!ancillary.add(chunk)) return header;
  }
  header.orientation = ancillary.orientation();
  header.native = true;
  return header;
}

}  // namespace fastaug::codec::png
