#include "codec/exif.h"

#include <bit>
#include <bitset>
#include <string_view>

namespace fastaug::codec {
namespace {

using namespace std::string_view_literals;

constexpr uint16_t kOrientationTag = 0x112;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data), bytes.size}; }

// TIFF 6.0, section 2, and Pillow's additions to it.
enum Type : uint16_t {
  kByte = 1,
  kAscii,
  kShort,
  kLong,
  kRational,
  kSignedByte,
  kUndefined,
  kSignedShort,
  kSignedLong,
  kSignedRational,
  kFloat,
  kDouble,
  kIfd,
  kLong8 = 16,
};

// Bytes of a value of each type; 0 for types that Pillow passes over.
constexpr uint8_t kSizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};

// A TIFF file's numbers. Callers check holds() first.
class Tiff {
 public:
  Tiff(Bytes bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  size_t size() const { return bytes_.size; }
  bool holds(uint64_t at, uint64_t count) const { return at <= bytes_.size && count <= bytes_.size - at; }
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(size_t at) const { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(size_t at) const { return number(at, 8); }

  // The value at `at`. Text and opaque bytes equal no number in Python: 0.
  double value(uint16_t type, size_t at) const {
    switch (type) {
      case kShort:
        return u16(at);
      case kSignedShort:
        return static_cast<int16_t>(u16(at));
      case kLong:
      case kIfd:
        return u32(at);
      case kSignedLong:
        return static_cast<int32_t>(u32(at));
      case kSignedByte:
        return static_cast<int8_t>(number(at, 1));
      case kLong8:
        return static_cast<double>(u64(at));
      case kFloat:
        return std::bit_cast<float>(u32(at));
      case kDouble:
        return std::bit_cast<double>(u64(at));
      case kRational:
        return ratio(u32(at), u32(at + 4));
      case kSignedRational:
        return ratio(static_cast<int32_t>(u32(at)), static_cast<int32_t>(u32(at + 4)));
      default:
        return 0;
    }
  }

 private:
  static double ratio(double numerator, double denominator) { return denominator == 0 ? 0 : numerator / denominator; }

  uint64_t number(size_t at, size_t count) const {
    uint64_t value = 0;
    for (size_t k = 0; k < count; ++k) value = value << 8 | bytes_.data[big_endian_ ? at + k : at + count - 1 - k];
    return value;
  }

  Bytes bytes_;
  bool big_endian_;
};

// Values that turn nothing are 1.
int as_turn(double value) {
  for (int turn = 2; turn <= 8; ++turn) {
    if (value == turn) return turn;
  }
  return 1;
}

}  // namespace

// Read as TiffImagePlugin's ImageFileDirectory_v2.load() reads it: what cannot be read ends the directory, what is
// larger than the file is passed over, and the first of equal tags counts, and of its values the first.
int exif_orientation(Bytes bytes) {
  constexpr auto kPrefix = "Exif\0\0"sv;
  if (text_of(bytes).starts_with(kPrefix)) bytes = {bytes.data + kPrefix.size(), bytes.size - kPrefix.size()};
  if (bytes.size == 0) return kNoOrientation;
  if (bytes.size < 8) return kUnclearOrientation;
  // TiffImagePlugin.PREFIXES; but for little-endian BigTIFF, at whose header Pillow raises.
  const std::string_view magic = text_of(bytes).substr(0, 4);
  const bool big_endian = magic == "MM\0*"sv || magic == "MM*\0"sv || magic == "MM\0+"sv;
  if (!big_endian && magic != "II*\0"sv && magic != "II\0*"sv) return kUnclearOrientation;
  const Tiff tiff(bytes, big_endian);

  size_t at = tiff.u32(4);
  if (!tiff.holds(at, 2)) return kNoOrientation;
  const int entries = tiff.u16(at);
  at += 2;
  std::bitset<65536> seen;
  uint64_t outside = 0;  // bytes of values that do not fit into their entries
  for (int i = 0; i < entries && tiff.holds(at, 12); ++i, at += 12) {
    const uint16_t tag = tiff.u16(at);
    const uint16_t type = tiff.u16(at + 2);
    const uint64_t size = type < sizeof kSizes ? uint64_t{tiff.u32(at + 4)} * kSizes[type] : 0;
    if (size == 0 || seen[tag]) continue;
    size_t value = at + 8;
    if (size > 4) {
      outside += size;
      if (outside > tiff.size()) continue;
      value = tiff.u32(value);
      if (!tiff.holds(value, size)) break;
    }
    if (tag == kOrientationTag) return as_turn(tiff.value(type, value));
    seen.set(tag);
  }
  return kNoOrientation;
}

int xmp_orientation(Bytes bytes) {
  // Pillow: re.search('tiff:Orientation(="|>)([0-9])', ...)
  constexpr auto kName = "tiff:Orientation"sv;
  const std::string_view all = text_of(bytes);
  for (size_t at = all.find(kName); at != all.npos; at = all.find(kName, at)) {
    at += kName.size();
    const std::string_view rest = all.substr(at, 3);
    const size_t skip = rest.starts_with("=\"") ? 2 : rest.starts_with(">") ? 1 : 0;
    if (skip == 0 || rest.size() <= skip || rest[skip] < '0' || rest[skip] > '9') continue;
    return as_turn(rest[skip] - '0');
  }
  return kNoOrientation;
}

}  // namespace fastaug::codec
