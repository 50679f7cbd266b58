// Files of NumPy's: pixels where they lie or converted, and headers that are not believed.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "codec/npy_header.h"
#include "tests/support/npy_file.h"
#include "tests/support/png_file.h"

namespace fastaug {
namespace {

using codec::Bytes;
using codec::Decoded;
using codec::Header;
using codec::Outcome;
using test::Guarded;
using test::GuardedFile;
using test::npy_file;
using test::npy_header;
using test::Random;

// What the file's sample becomes: gray three times, opaque where there is no alpha.
int converted(const uint8_t* pixel, int from, int c, int channels) {
  const bool alpha = channels % 2 == 0 && c == channels - 1;
  if (alpha) return from % 2 == 0 ? pixel[from - 1] : 255;
  return pixel[from <= 2 ? 0 : c];
}

const char* reason_of(const std::string& file) {
  const GuardedFile guarded(file);
  const codec::npy::Parsed parsed = codec::npy::parse(guarded.bytes());
  CHECK(parsed.header.native == parsed.done());
  CHECK(codec::read_header(guarded.bytes()).native == parsed.done());
  CHECK((codec::afford(guarded.bytes()).outcome == Outcome::kRefused) == !parsed.done());
  return parsed.reason;
}

}  // namespace

TEST_CASE("npy: pixels, whole and by region, of every number of channels") {
  Random random(3);
  for (int from = 1; from <= 4; ++from) {
    const int height = 13;
    const int width = 37;
    const std::string file = npy_file({height, width, from}, random, 1 + from % 3);
    const GuardedFile guarded(file);
    const Bytes bytes = guarded.bytes();
    const Header header = codec::read_header(bytes);
    REQUIRE(header.native);
    CHECK(header.channels == from);
    const uint8_t* samples = bytes.data + bytes.size - static_cast<size_t>(height) * width * static_cast<size_t>(from);
    for (int channels = 1; channels <= 4; ++channels) {
      CAPTURE(from);
      CAPTURE(channels);
      Arena arena;
      const Region region = {random.between(0, 5), random.between(0, 9), 8, 28};
      const Decoded decoded = codec::decode(bytes, header, {region, channels}, arena);
      REQUIRE(decoded.verdict.done() == codec::converts(header, channels));
      if (!decoded.verdict.done()) continue;
      CHECK(decoded.region == region);
      CHECK(decoded.view.pixel_stride == codec::pixel_stride(header, channels));
      bool same = true;
      for (int y = region.y; y < region.y + region.height; ++y)
        for (int x = region.x; x < region.x + region.width; ++x)
          for (int c = 0; c < channels; ++c)
            same &= *decoded.view.at(y, x, c) == converted(samples + (y * width + x) * from, from, c, channels);
      CHECK(same);
      const int stored = channels == 3 && from != 3 ? 4 : channels;
      const size_t size = static_cast<size_t>(height) * static_cast<size_t>(width * stored);
      Guarded memory(size, test::Side::kBack);
      const Target target = {
          memory.data(),     DType::kUint8, height, width, channels, ptrdiff_t{width} * stored, stored, 1,
          stored != channels};
      REQUIRE(codec::decode_into(bytes, header, target, arena).done());
      for (int k = 0; k < height * width; ++k)
        for (int c = 0; c < channels; ++c)
          same &= memory.data()[k * stored + c] == converted(samples + k * from, from, c, channels);
      CHECK(same);
    }
  }
}

TEST_CASE("npy: two axes are gray") {
  Random random(4);
  const std::string file = npy_file({5, 7}, random);
  CHECK(std::string(reason_of(file)).empty());
  const Header header = codec::read_header({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  CHECK(header.height == 5);
  CHECK(header.width == 7);
  CHECK(header.channels == 1);
}

TEST_CASE("npy: no beginning of a file is an image, nor looked at behind its end") {
  Random random(5);
  for (int version = 1; version <= 3; ++version) {
    const std::string file = npy_file({5, 7, 3}, random, version);
    CHECK(std::string(reason_of(file)).empty());
    CHECK(std::string(reason_of(file + "more")).empty());
    for (size_t length = 6; length < file.size(); ++length) CHECK(*reason_of(file.substr(0, length)) != '\0');
  }
}

TEST_CASE("npy: headers of what is no image, and hostile ones") {
  const std::string samples(105, 'x');
  const auto with = [&](const std::string& dtype, const std::string& order, const std::string& shape) {
    return npy_header("{'descr': " + dtype + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }") + samples;
  };
  const struct {
    std::string file;
    const char* said;
  } cases[] = {
      {with("'|u1'", "False", "(5, 7, 3)"), ""},
      {with("\"|u1\"", "False", "(5,7,3,)"), ""},
      {with("'<u2'", "False", "(5, 7)"), "dtype"},
      {with("[('a', '|u1')]", "False", "(5, 7)"), "dtype"},
      {with("''", "False", "(5, 7)"), "dtype"},
      {with("'|u1'", "True", "(5, 7)"), "Fortran"},
      {with("'|u1'", "False", "()"), "axes"},
      {with("'|u1'", "False", "(5,)"), "axes"},
      {with("'|u1'", "False", "(5, 7, 1, 1)"), "axes"},
      {with("'|u1'", "False", "(5, 0)"), "no pixels"},
      {with("'|u1'", "False", "(5, 7, 5)"), "channels"},
      {with("'|u1'", "False", "(2147483648, 1)"), "side"},
      {with("'|u1'", "False", "(99999999999999999999999999, 1)"), "side"},
      {with("'|u1'", "False", "(2147483647, 2147483647, 4)"), "truncated"},
      {with("'|u1'", "False", "(5, 7, 4)"), "truncated"},
      {with("'|u1'", "False", "(5)"), "NumPy writes"},
      {with("'|u1'", "False", "(5 7)"), "NumPy writes"},
      {with("'|u1'", "Falsehood", "(5, 7)"), "NumPy writes"},
      {with("'|u\\x31'", "False", "(5, 7)"), "NumPy writes"},
      {npy_header(std::string(10001, ' ')), "longer"},
      {npy_header(std::string(10001, ' '), 2), "longer"},
      {npy_header("{'descr': '|u1'"), "NumPy writes"},
      {npy_header("", 4), "version"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.file.substr(0, 120));
    const std::string reason = reason_of(one.file);
    CHECK(reason.empty() == (*one.said == '\0'));
    CHECK(reason.find(one.said) != std::string::npos);
  }
}

}  // namespace fastaug
