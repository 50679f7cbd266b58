#include "codec/codec.h"

#include <algorithm>

#include "codec/table.h"

namespace fastaug::codec {
namespace {

constexpr const Codec* kCodecs[] = {
#define FASTAUG_FORMAT(format, room) &room::kCodec,
#include "codec/formats.def"
#undef FASTAUG_FORMAT
};

constexpr Verdict deferred(const char* reason) { return {Outcome::kDeferred, reason, Verdict::kNowhere}; }

constexpr Verdict kNotNative = deferred("not decoded natively");
constexpr Verdict kNo16 = deferred("samples of 16 bits are not decoded in this format");
constexpr Verdict kNoScale = deferred("scale: images are decoded at their own size only");

// The row that decodes an image of this header; null if there is none.
const Codec* native_codec(const Header& header) { return header.native ? codec_of(header.format) : nullptr; }

}  // namespace

std::span<const Codec* const> codecs() { return kCodecs; }

const Codec* codec_of(Format format) {
  return format == Format::kOther ? nullptr : kCodecs[static_cast<int>(format) - 1];
}

const char* name_of(Format format) {
  const Codec* codec = codec_of(format);
  return codec == nullptr ? "image" : codec->name;
}

Format sniff(Bytes bytes) {
  for (const Codec* codec : kCodecs) {
    const std::string_view magic = codec->magic;
    const auto matches = [](char wanted, uint8_t byte) {
      return wanted == '?' || static_cast<uint8_t>(wanted) == byte;
    };
    if (bytes.size >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.data, matches)) return codec->format;
  }
  return Format::kOther;
}

Header read_header(Bytes bytes) {
  const Codec* codec = codec_of(sniff(bytes));
  return codec == nullptr ? Header() : codec->read_header(bytes);
}

Header luma_of(Header header) {
  header.native = header.native && header.format == Format::kJpeg && !header.inks;
  header.luma = header.channels == 3;
  header.channels = 1;
  return header;
}

Header stored_of(Header header) {
  const bool in_other_modes = header.palette != Palette::kNone || (header.channels == 1 && header.bits == 1);
  header.native = header.native && in_other_modes && !header.luma;
  header.stored = true;
  return header;
}

const char* mode_of(const Header& header) {
  constexpr const char* kModes[] = {"", "L", "LA", "RGB", "RGBA"};
  constexpr const char* kModes16[] = {"", "I;16", "RGBA", "RGB", "RGBA"};
  if (header.palette != Palette::kNone) return "P";
  if (header.channels == 1 && header.bits == 1) return "1";
  if (header.inks) return "CMYK";
  return (header.bits == 16 ? kModes16 : kModes)[header.channels];
}

Verdict afford(Bytes bytes) {
  const Codec* codec = codec_of(sniff(bytes));
  return codec == nullptr || codec->afford == nullptr ? Verdict() : codec->afford(bytes);
}

size_t image_end(Bytes bytes) {
  const Codec* codec = codec_of(sniff(bytes));
  return codec == nullptr ? kNoEnd : codec->image_end(bytes);
}

Decoded decode(Bytes bytes, const Header& header, const Wanted& wanted, Arena& arena, const Beside& beside) {
  const Codec* codec = native_codec(header);
  if (codec == nullptr) return {kNotNative, {}, {}};
  if (wanted.scale != 1) return {kNoScale, {}, {}};
  return codec->decode(bytes, header, wanted, arena, beside);
}

Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena& arena, const Beside& beside) {
  const Codec* codec = native_codec(header);
  return codec == nullptr ? kNotNative : codec->decode_into(bytes, header, target, arena, beside);
}

Decoded decode_16(Bytes bytes, const Header& header, Region wanted, Arena& arena) {
  const Codec* codec = header.bits == 16 ? native_codec(header) : nullptr;
  if (codec == nullptr) return {kNotNative, {}, {}};
  if (codec->decode_16 == nullptr) return {kNo16, {}, {}};
  return codec->decode_16(bytes, header, wanted, arena);
}

int pixel_stride(const Header& header, int channels) {
  const Codec* codec = codec_of(header.format);
  return codec == nullptr ? channels : codec->pixel_stride(header, channels);
}

Region decoded_region(const Header& header, Region wanted) {
  const Codec* codec = codec_of(header.format);
  return codec == nullptr ? Region{0, 0, header.height, header.width} : codec->decoded_region(header, wanted);
}

}  // namespace fastaug::codec
