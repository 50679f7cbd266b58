// The table of codecs: one row a format, defined in the file that decodes it. What a format cannot do is a null entry,
// and codec.h's functions say so in a Verdict; no format is ever taken for another.
#pragma once

#include <span>
#include <string_view>

#include "codec/codec.h"

namespace fastaug::codec {

// A row. Its functions are those of codec.h, asked only about bytes and headers of this format.
struct Codec {
  Format format;
  const char* name;
  // The bytes that every file begins with, and no file of another format; '?' stands for any.
  std::string_view magic;

  Header (*read_header)(Bytes bytes);
  // Null where a file cannot cost more than an honest image of its size.
  Verdict (*afford)(Bytes bytes);
  size_t (*image_end)(Bytes bytes);
  Region (*decoded_region)(const Header& header, Region wanted);
  int (*pixel_stride)(const Header& header, int channels);
  Decoded (*decode)(Bytes bytes, const Header& header, const Wanted& wanted, Arena& arena, const Beside& beside);
  Verdict (*decode_into)(Bytes bytes, const Header& header, const Target& target, Arena& arena, const Beside& beside);
  // Null where the format has no samples of 16 bits, or they are not decoded.
  Decoded (*decode_16)(Bytes bytes, const Header& header, Region wanted, Arena& arena);
};

// The answer of decode() and decode_into() where converts() is false.
constexpr Verdict kNoConversion = {Outcome::kDeferred, "not a conversion that is done here", Verdict::kNowhere};

#define FASTAUG_FORMAT(format, room) \
  namespace room {                   \
  extern const Codec kCodec;         \
  }
#include "codec/formats.def"
#undef FASTAUG_FORMAT

// Every row, in the order of Format.
std::span<const Codec* const> codecs();

// Null for kOther.
const Codec* codec_of(Format format);

}  // namespace fastaug::codec
