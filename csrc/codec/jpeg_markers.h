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
  kEoi = 0xd9,
  kSos = 0xda,
  kDqt = 0xdb,
  kDri = 0xdd,
  kApp0 = 0xe0,
  kApp1 = 0xe1,
  kApp2 = 0xe2,
  kApp15 = 0xef,
  kCom = 0xfe,
  kStuffed = 0x00,  // behind a 0xff of data
  kFill = 0xff,
};

struct Segment {
  uint8_t marker;
  Bytes content;  // behind the length
};

inline bool begins(Bytes bytes, std::string_view prefix) {
  return bytes.size >= prefix.size() && std::memcmp(bytes.data, prefix.data(), prefix.size()) == 0;
}

// Segments one after the other. Fill bytes (0xff) before a marker are allowed, other bytes between segments are not.
class Walk {
 public:
  explicit Walk(Bytes bytes, size_t at = 2) : bytes_(bytes), at_(at) {}  // behind SOI

  // Where the next segment begins, or what is none.
  size_t at() const { return at_; }

  std::optional<Segment> next() {
    size_t at = at_;
    if (at >= bytes_.size || bytes_.data[at] != 0xff) return {};
    while (at < bytes_.size && bytes_.data[at] == 0xff) ++at;
    if (bytes_.size - at < 3) return {};
    const uint8_t* p = bytes_.data + at;
    const size_t length = static_cast<size_t>(p[1]) << 8 | p[2];  // counts its own two bytes
    if (length < 2 || length > bytes_.size - at - 1) return {};
    at_ = at + 1 + length;
    return Segment{p[0], {p + 3, length - 2}};
  }

 private:
  Bytes bytes_;
  size_t at_;
};

}  // namespace fastaug::codec::jpeg
