#include "codec/codec.h"

#include <cstring>

namespace fastaug::codec {
namespace {

constexpr uint8_t kJpegMagic[] = {0xff, 0xd8, 0xff};
constexpr uint8_t kPngMagic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

template <size_t kSize>
bool begins(Bytes bytes, const uint8_t (&magic)[kSize]) {
  return bytes.size >= kSize && std::memcmp(bytes.data, magic, kSize) == 0;
}

constexpr Verdict kNotOurs = {Outcome::kDeferred, "not decoded natively", Verdict::kNowhere};

}  // namespace

const char* name_of(Format format) {
  static constexpr const char* kNames[] = {"image", "JPEG", "PNG"};
  return kNames[static_cast<int>(format)];
}

Format sniff(Bytes bytes) {
  if (begins(bytes, kJpegMagic)) return Format::kJpeg;
  if (begins(bytes, kPngMagic)) return Format::kPng;
  return Format::kOther;
}

Header read_header(Bytes bytes) {
  switch (sniff(bytes)) {
    case Format::kJpeg:
      return jpeg::read_header(bytes);
    case Format::kPng:
      return png::read_header(bytes);
    default:
      return {};
  }
}

Verdict afford(Bytes bytes) { return sniff(bytes) == Format::kJpeg ? jpeg::afford(bytes) : Verdict{}; }

Decoded decode(Bytes bytes, const Header& header, Region wanted, int channels, Arena& arena, Tables tables) {
  if (!header.native || header.bits != 8) return {kNotOurs, {}, {}};
  if (header.format == Format::kJpeg) return jpeg::decode(bytes, header, wanted, channels, arena, tables);
  return png::decode(bytes, header, wanted, channels, arena);
}

Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena& arena, Tables tables) {
  if (!header.native || header.bits != 8) return kNotOurs;
  if (header.format == Format::kJpeg) return jpeg::decode_into(bytes, header, target, arena, tables);
  return png::decode_into(bytes, header, target, arena);
}

Decoded decode_16(Bytes bytes, const Header& header, Region wanted, Arena& arena) {
  if (!header.native || header.bits != 16 || header.format != Format::kPng) return {kNotOurs, {}, {}};
  return png::decode_16(bytes, header, wanted, arena);
}

Region decoded_region(const Header& header, Region wanted) {
  return header.format == Format::kJpeg ? jpeg::decoded_region(header, wanted) : png::decoded_region(header, wanted);
}

}  // namespace fastaug::codec
