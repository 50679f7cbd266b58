// The markers of a JPEG (ITU-T T.81, B.1.1), and the segments that they begin.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>

#include "codec/codec.h"

namespace fastaug::codec::jpeg {

enum Marker : uint8_t {
  kSof0 = 0xc0,  // baseline
  kSof1 = 0xc1,  // extended sequential
  kSof2 = 0xc2,  // progressive
  kDht = 0xc4,
  kRst0 = 0xd0,
  kRst7 = 0xd7,
  kSoi = 0xd8,
  kEoi = 0xd9,
  kSos = 0xda,
  kDqt = 0xdb,
  kDri = 0xdd,
  kApp0 = 0xe0,
  kApp1 = 0xe1,
  kApp2 = 0xe2,
  kApp13 = 0xed,
  kApp14 = 0xee,
  kApp15 = 0xef,
  kCom = 0xfe,
  kStuffed = 0x00,  // behind a 0xff of data
  kFill = 0xff,
};

struct Segment {
  uint8_t marker;
  Bytes content;  // behind the length; nothing of a marker that has none
  bool tidy;      // only fill bytes (0xff) are before it, and its length holds at least itself
};

inline bool begins(Bytes bytes, std::string_view prefix) {
  return bytes.size >= prefix.size() && std::memcmp(bytes.data, prefix.data(), prefix.size()) == 0;
}

// From marker to marker as libjpeg goes (jdmarker.c, next_marker and read_markers), through headers and scans alike:
// over anything between markers, entropy-coded data included, and over a length of 0 or 1 as over one of 2. It goes at
// least as far as libjpeg does, which stops at segments that it cannot read. All that counts scans, reads headers or
// finds the end of an image walks this way.
class Walk {
 public:
  explicit Walk(Bytes bytes, size_t at = 2) : bytes_(bytes), at_(at) {}  // behind SOI

  // Behind the last segment.
  size_t at() const { return at_; }

  // Nothing behind EOI or another SOI, which are the last; nor where the bytes end before a segment does.
  std::optional<Segment> next() {
    if (ended_ || at_ >= bytes_.size) return {};
    const uint8_t* const start = bytes_.data + at_;
    const uint8_t* const end = bytes_.data + bytes_.size;
    const uint8_t* p = start;
    bool tidy;
    do {
      const auto* fill = static_cast<const uint8_t*>(std::memchr(p, kFill, static_cast<size_t>(end - p)));
      if (fill == nullptr) return {};
      tidy = fill == start;
      for (p = fill; p < end && *p == kFill;) ++p;
      if (p == end) return {};
    } while (*p++ == kStuffed);
    const uint8_t marker = p[-1];
    Bytes content;
    if (has_length(marker)) {
      if (end - p < 2) return {};
      const size_t length = static_cast<size_t>(p[0]) << 8 | p[1];  // counts its own two bytes
      if (length > static_cast<size_t>(end - p)) return {};
      p += 2;
      tidy = tidy && length >= 2;
      if (length > 2) content = {p, length - 2};
      p += content.size;
    }
    ended_ = marker == kEoi || marker == kSoi;
    at_ = static_cast<size_t>(p - bytes_.data);
    return Segment{marker, content, tidy};
  }

 private:
  // TEM and the codes up to 0xbf have none, as a resynchronisation (jpeg_resync_to_restart) takes them.
  static bool has_length(uint8_t marker) { return marker >= kSof0 && !(marker >= kRst0 && marker <= kEoi); }

  Bytes bytes_;
  size_t at_;
  bool ended_ = false;
};

}  // namespace fastaug::codec::jpeg
