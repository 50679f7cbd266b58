#include "codec/npy_header.h"

#include <limits>
#include <string_view>

namespace fastaug::codec::npy {
namespace {

constexpr size_t kMagicSize = 6;
// The limit of numpy.load.
constexpr size_t kMostText = 10000;
constexpr int kMostAxes = 64;

constexpr const char* kMalformed = "its header is not one that NumPy writes";

// The literals of a header, one after the other.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_blanks();
    return text_.empty();
  }

  bool take(char wanted) {
    if (!sees(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool sees(char wanted) {
    skip_blanks();
    return !text_.empty() && text_.front() == wanted;
  }

  // A string without escapes.
  bool string(std::string_view* value) {
    skip_blanks();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return false;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return false;
    *value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value->find('\\') == std::string_view::npos;
  }

  bool boolean(bool* value) {
    skip_blanks();
    for (const bool one : {false, true}) {
      const std::string_view name = one ? "True" : "False";
      if (!text_.starts_with(name)) continue;
      text_.remove_prefix(name.size());
      *value = one;
      return true;
    }
    return false;
  }

  // Saturates.
  bool number(int64_t* value) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    skip_blanks();
    if (text_.empty() || !is_digit(text_.front())) return false;
    *value = 0;
    while (!text_.empty() && is_digit(text_.front())) {
      const int digit = text_.front() - '0';
      *value = *value > (kMost - digit) / 10 ? kMost : *value * 10 + digit;
      text_.remove_prefix(1);
    }
    return true;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
  }

  std::string_view text_;
};

struct Array {
  std::string_view dtype;
  bool fields = false;  // a dtype of several, which is a list
  bool fortran_order = false;
  int axes = 0;
  int64_t sides[kMostAxes] = {};
};

bool scan_shape(Scanner& scanner, Array* array) {
  if (!scanner.take('(')) return false;
  while (!scanner.take(')')) {
    if (array->axes == kMostAxes || !scanner.number(&array->sides[array->axes++])) return false;
    // A single side without a comma would be a number in brackets.
    if (!scanner.take(',') && (array->axes == 1 || !scanner.sees(')'))) return false;
  }
  return true;
}

bool scan(std::string_view text, Array* array) {
  Scanner scanner(text);
  if (!scanner.take('{')) return false;
  bool seen[3] = {};
  while (!scanner.take('}')) {
    std::string_view key;
    if (!scanner.string(&key) || !scanner.take(':')) return false;
    int which = 0;
    if (key == "descr") {
      if (scanner.sees('[')) {
        array->fields = true;
        return true;  // that is enough
      }
      if (!scanner.string(&array->dtype)) return false;
    } else if (key == "fortran_order") {
      which = 1;
      if (!scanner.boolean(&array->fortran_order)) return false;
    } else if (key == "shape") {
      which = 2;
      if (!scan_shape(scanner, array)) return false;
    } else {
      return false;
    }
    if (seen[which]) return false;
    seen[which] = true;
    if (!scanner.take(',') && !scanner.sees('}')) return false;
  }
  return seen[0] && seen[1] && seen[2] && scanner.at_end();
}

// Why an array is no image; null when it is one.
const char* judge(const Array& array, size_t room) {
  std::string_view dtype = array.dtype;
  if (!dtype.empty() && std::string_view("|<>=").find(dtype.front()) != std::string_view::npos) dtype.remove_prefix(1);
  if (array.fields || dtype != "u1") return "its dtype is not uint8";
  if (array.axes != 2 && array.axes != 3) return "it does not have two or three axes";
  if (array.fortran_order) return "it is in Fortran order";
  constexpr int64_t kMostSide = std::numeric_limits<int>::max();
  uint64_t size = 1;
  for (int k = 0; k < array.axes; ++k) {
    const int64_t side = array.sides[k];
    if (side == 0) return "it has no pixels";
    if (k == 2 && side > kMaxChannels) return "it has more than four channels";
    if (side > kMostSide) return "it has a side of more than 2147483647";
    // Sides below 2**31, and four channels: the product of two sides and the channels stays below 2**64.
    size *= static_cast<uint64_t>(side);
  }
  return size > room ? "it is truncated" : nullptr;
}

}  // namespace

Parsed parse(Bytes bytes) {
  Parsed parsed;
  parsed.header.format = Format::kNpy;
  const auto failed = [&](const char* reason) {
    parsed.reason = reason;
    return parsed;
  };
  if (bytes.size < kMagicSize + 4) return failed("it is truncated");
  const int version = bytes.data[kMagicSize];
  if (version < 1 || version > 3 || bytes.data[kMagicSize + 1] != 0) {
    return failed("its format is not of version 1.0, 2.0 or 3.0");
  }
  const size_t digits = version == 1 ? 2 : 4;
  const size_t begin = kMagicSize + 2 + digits;
  if (bytes.size < begin) return failed("it is truncated");
  size_t length = 0;
  for (size_t k = digits; k > 0; --k) length = length << 8 | bytes.data[begin - digits + k - 1];
  if (length > kMostText) return failed("its header is longer than 10000 bytes");
  if (bytes.size - begin < length) return failed("it is truncated");
  parsed.pixels_from = begin + length;

  Array array;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data + begin), length);
  if (!scan(text, &array)) return failed(kMalformed);
  const char* wrong = judge(array, bytes.size - parsed.pixels_from);
  if (wrong != nullptr) return failed(wrong);
  parsed.header.native = true;
  parsed.header.sequential = true;
  parsed.header.height = static_cast<int>(array.sides[0]);
  parsed.header.width = static_cast<int>(array.sides[1]);
  parsed.header.channels = array.axes == 2 ? 1 : static_cast<int>(array.sides[2]);
  return parsed;
}

}  // namespace fastaug::codec::npy
