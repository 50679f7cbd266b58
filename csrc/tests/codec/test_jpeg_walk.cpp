// JPEG: the one walk over markers, beside libjpeg's, and what counts by it.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "codec/codec.h"
#include "codec/jpeg_markers.h"
#include "tests/support/jpeg_decoding.h"
#include "tests/support/jpeg_scans.h"
#include "tests/support/scale.h"

namespace fastaug::codec {
namespace {

using namespace std::string_view_literals;
using fastaug::test::cases;
using fastaug::test::find_marker;
using fastaug::test::JpegOptions;
using fastaug::test::Random;
using fastaug::test::Scans;
using fastaug::test::with_segment;
using fastaug::test::write_jpeg;
using test::all_of;
using test::bytes_of;
using test::File;
using test::header_of;

// What libjpeg goes over between two segments. The first is TEM, which has no length, and fill bytes.
constexpr std::string_view kPassed[] = {
    "\xff\x01\xff\xff"sv, "\xff\x01"sv,     "\xff\xe5\0\0"sv,           "\xff\xe5\0\x01"sv,  "\xff\xfe\0\0"sv,
    "\xff\xfe\0\x01"sv,   "\xff\xdc\0\0"sv, "\xff\xdc\0\x04\xff\xd9"sv, "\xff\xd3"sv,        "\xff\xff\xff"sv,
    "\xff\0"sv,           "between"sv,      "\xff\xff\0\xff\0"sv,       "\xff\xef\0\x03x"sv, "\xff\xfe\0\x04\xff\xda"sv,
};

int scans_of(const File& file) { return jpeg::read_announced(bytes_of(file)).scans; }

File with(File file, size_t at, std::string_view bytes) {
  file.insert(file.begin() + static_cast<ptrdiff_t>(at), bytes.begin(), bytes.end());
  return file;
}

// A progressive file with its last scan as often as that, each behind some bytes.
File bomb(int times, std::string_view before, int side = 64) {
  JpegOptions options;
  options.progressive = true;
  const File file = write_jpeg(side, side, options);
  size_t last = 0;
  for (int n = 0; find_marker(file, 0xda, n) < file.size(); ++n) last = find_marker(file, 0xda, n);
  File bomb(file.begin(), file.begin() + static_cast<ptrdiff_t>(last));
  for (int k = 0; k < times; ++k) {
    bomb.insert(bomb.end(), before.begin(), before.end());
    bomb.insert(bomb.end(), file.begin() + static_cast<ptrdiff_t>(last), file.end() - 2);
  }
  bomb.insert(bomb.end(), {0xff, 0xd9});
  return bomb;
}

TEST_CASE("jpeg walk: nothing between scans hides them from their limit") {
  for (const std::string_view passed : kPassed) {
    CAPTURE(passed);
    const File file = bomb(600, passed);
    CHECK(Scans::of(bytes_of(file), 550) > 550);
    CHECK(afford(bytes_of(file)).outcome == Outcome::kRefused);
    const Header header = header_of(file);
    REQUIRE(header.native);
    Arena arena;
    CHECK(decode(bytes_of(file), header, {all_of(header), 3}, arena).verdict.outcome == Outcome::kRefused);
    const File few = bomb(20, passed);
    CHECK(afford(bytes_of(few)).done());
    CHECK(scans_of(few) == Scans::of(bytes_of(few), 600));
  }
}

TEST_CASE("jpeg walk: libjpeg is stopped where it comes to too many scans") {
  // Of one component each, in sequential files: libjpeg warns of none.
  JpegOptions options;
  options.one_scan_each = true;
  const File once = write_jpeg(64, 64, options);
  const size_t last = find_marker(once, 0xda, 2);
  const auto outcome = [&](int times) {
    File file(once.begin(), once.begin() + static_cast<ptrdiff_t>(last));
    for (int k = 0; k < times; ++k) {
      file.insert(file.end(), once.begin() + static_cast<ptrdiff_t>(last), once.end() - 2);
    }
    file.insert(file.end(), {0xff, 0xd9});
    const std::optional<jpeg::Frame> frame = jpeg::read_frame(bytes_of(file));
    REQUIRE(frame);
    File pixels(64 * 64 * 3);
    return jpeg::run({.bytes = bytes_of(file),
                      .beside = {},
                      .frame = &*frame,
                      .stride = 3,
                      .top = 0,
                      .height = 64,
                      .crop = 0,
                      .crop_width = 64,
                      .rows = pixels.data(),
                      .row_stride = 64 * 3})
        .outcome;
  };
  CHECK(outcome(1) == Outcome::kDone);
  CHECK(outcome(490) == Outcome::kDone);
  CHECK(outcome(600) == Outcome::kRefused);
}

TEST_CASE("jpeg walk: no scan of libjpeg's is missed in files of any damage") {
  Random random(4);
  int more = 0;
  for (int round = 0; round < cases(4000); ++round) {
    JpegOptions options = test::random_options(random);
    options.progressive = random.between(0, 3) != 0;
    options.one_scan_each = options.one_scan_each && !options.progressive;
    File file = write_jpeg(random.between(8, 40), random.between(8, 40), options, random.next());
    for (int i = random.between(0, 4); i > 0; --i) {
      const int end = static_cast<int>(file.size()) - 1;
      const size_t at = random.between(0, 1) == 0
                            ? static_cast<size_t>(random.between(2, end))
                            : std::min(file.size() - 1, find_marker(file, 0xda, random.between(0, 3)));
      switch (random.between(0, 2)) {
        case 0:
          file = with(file, at, kPassed[random.between(0, static_cast<int>(std::size(kPassed)) - 1)]);
          break;
        case 1:
          file[at] = static_cast<uint8_t>(random.next() >> 8);
          break;
        default:
          file[at] = 0xff;
      }
    }
    const int theirs = Scans::of(bytes_of(file), 100);
    REQUIRE(scans_of(file) >= theirs);
    more += theirs > 1;
  }
  CHECK(more > cases(1000));
}

TEST_CASE("jpeg walk: headers with anything odd between segments are Pillow's to read") {
  const File file = write_jpeg(20, 30, JpegOptions());
  REQUIRE(header_of(file).native);
  for (const size_t at : {size_t{2}, find_marker(file, 0xc4), find_marker(file, 0xda)}) {
    for (const std::string_view passed : kPassed) {
      CAPTURE(passed);
      // Fill bytes, and segments that are whole.
      const bool tidy = passed == "\xff\xff\xff"sv || passed == "\xff\xef\0\x03x"sv || passed[1] == '\xfe';
      const bool sound = tidy && passed.size() != 4;
      const Header header = header_of(with(file, at, passed));
      CHECK(header.native == sound);
    }
  }
}

TEST_CASE("jpeg walk: segments that are too short for what Pillow reads of them are its to judge") {
  const File file = write_jpeg(20, 30, JpegOptions());
  const auto native = [&](uint8_t marker, std::string_view content) {
    return header_of(with_segment(file, marker, std::string(content))).native;
  };
  for (const auto& [marker, content, least] : std::vector<std::tuple<uint8_t, std::string_view, size_t>>{
           {uint8_t{0xe0}, "JFIF\0\x01\x01\0\0\x01\0\x01\0\0"sv, 7},
           {uint8_t{0xee}, "Adobe\0\x64\0\0\0\0\x01"sv, 7},
           {uint8_t{0xe2}, "ICC_PROFILE\0\x01\x01profile"sv, 14}}) {
    const size_t name = marker == 0xe0 ? 4 : marker == 0xee ? 5 : 12;
    for (size_t size = 0; size <= content.size(); ++size) {
      CAPTURE(marker);
      CAPTURE(size);
      CHECK(native(marker, content.substr(0, size)) == (size < name || size >= least));
    }
  }
  // Two resources: one of a name and of odd size, and the resolution.
  const std::string photoshop = std::string("Photoshop 3.0\0"sv) +
                                std::string("8BIM\x04\x04\x02xy\0\0\0\0\x03pqr\0"sv) +
                                std::string("8BIM\x03\xed\0\0\0\0\0\x10"sv) + std::string(16, 'r');
  CHECK(native(0xed, photoshop));
  CHECK(native(0xed, photoshop + "8BI"));
  CHECK(native(0xed, photoshop + "anything"));
  for (size_t size = 18; size < photoshop.size(); ++size) {
    const bool between = size == 31 || size == 32 || (size > 32 && size < 36);
    CAPTURE(size);
    CHECK(native(0xed, std::string_view(photoshop).substr(0, size)) == between);
  }
}

TEST_CASE("jpeg walk: the first segment of a marker before the pixels") {
  const File file = with_segment(with_segment(write_jpeg(20, 30, JpegOptions()), 0xe1, "second"), 0xe1, "first");
  const Bytes found = jpeg::find_segment(bytes_of(file), 0xe1);
  CHECK(std::string_view(reinterpret_cast<const char*>(found.data), found.size) == "first");
  CHECK(jpeg::find_segment(bytes_of(file), 0xe7).data == nullptr);
}

TEST_CASE("jpeg walk: the image ends with its own end, and not with that of what lies in it or behind") {
  JpegOptions options;
  for (const bool progressive : {false, true}) {
    options.progressive = progressive;
    File file = write_jpeg(33, 41, options);
    file = with_segment(file, 0xe1, std::string("Exif\0\0\xff\xd8\xff\xda\xff\xd9"sv));
    for (size_t size = 0; size < file.size(); ++size) CHECK(image_end({file.data(), size}) == kNoEnd);
    const size_t end = file.size();
    CHECK(image_end(bytes_of(file)) == end);
    file.insert(file.end(), 1000, 0);
    file.insert(file.end(), {0xff, 0xd9});
    CHECK(image_end(bytes_of(file)) == end);
  }
}

}  // namespace
}  // namespace fastaug::codec
