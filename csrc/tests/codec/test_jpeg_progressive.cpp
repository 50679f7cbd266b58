// The decoder of progressive JPEGs against libjpeg: sound files, regions of them, and what is left of broken ones.
// FASTAUG_JPEG_REGIONS and FASTAUG_JPEG_MUTATIONS say how many of each, for `make soak-jpeg`.
#include <doctest/doctest.h>

#include <cstring>
#include <iterator>
#include <vector>

#include "codec/jpeg_frame.h"
#include "codec/jpeg_progressive.h"
#include "codec/jpeg_sequential.h"
#include "tests/support/jpeg_decoding.h"

namespace fastaug::codec::jpeg {
namespace {

using fastaug::test::find_marker;
using fastaug::test::JpegOptions;
using fastaug::test::Random;
using fastaug::test::write_jpeg;
using test::all_of;
using test::by_libjpeg;
using test::bytes_of;
using test::change;
using test::colours_of;
using test::converted;
using test::count_of;
using test::crop;
using test::decode_plainly;
using test::decoded_by;
using test::File;
using test::header_of;
using test::Pixels;
using test::random_region;
using test::taken_options;

Pixels progressively(const File& file, Region region, int stride, const Beside& beside = {}) {
  return decoded_by(run_progressive, file, region, stride, beside);
}

JpegOptions progressive_options(Random& random) {
  JpegOptions options = taken_options(random);
  options.progressive = true;
  return options;
}

TEST_CASE("jpeg progressive: every small size") {
  Random random(1);
  for (int height = 1; height <= 34; ++height) {
    for (int width = 5; width <= 40; width += height % 3 + 1) {
      const JpegOptions options = progressive_options(random);
      const File file = write_jpeg(height, width, options, random.next());
      CAPTURE(height);
      CAPTURE(width);
      REQUIRE(progressively(file, {0, 0, height, width}, colours_of(options)) == decode_plainly(file));
    }
  }
}

TEST_CASE("jpeg progressive: every quality, every interval of restarts") {
  for (const std::vector<int>& sampling : {std::vector<int>{2, 2, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1}}) {
    JpegOptions options;
    options.sampling = sampling;
    options.channels = static_cast<int>(sampling.size()) / 2;
    options.progressive = true;
    for (int quality = 1; quality <= 100; ++quality) {
      options.quality = quality;
      options.restart = quality % 3 == 0 ? quality / 3 : 0;
      CAPTURE(quality);
      const File file = write_jpeg(50, 61, options, static_cast<uint32_t>(quality));
      REQUIRE(progressively(file, {0, 0, 50, 61}, colours_of(options)) == decode_plainly(file));
    }
  }
}

TEST_CASE("jpeg progressive: regions, in all strides") {
  Random random(2);
  const int count = count_of("FASTAUG_JPEG_REGIONS", 1500);
  for (int done = 0; done < count;) {
    const JpegOptions options = progressive_options(random);
    const int most = done % 3 == 0 ? 300 : 70;
    const File file = write_jpeg(random.between(1, most), random.between(5, most), options, random.next());
    const Header header = header_of(file);
    const Pixels whole = decode_plainly(file), gray = options.channels == 4 ? Pixels() : decode_plainly(file, true);
    for (int k = 0; k < 16; ++k, ++done) {
      const Region region = random_region(random, header);
      CAPTURE(done);
      for (int stride = header.channels; stride <= 4; ++stride) {
        REQUIRE(progressively(file, region, stride) == converted(crop(whole, header, region), header.channels, stride));
      }
      if (options.rgb || options.channels == 4) {
        CHECK(progressively(file, region, 1).empty());
      } else {
        REQUIRE(progressively(file, region, 1) == crop(gray, luma_of(header), region));
      }
    }
  }
}

TEST_CASE("jpeg progressive: of changed files, what libjpeg makes of them or nothing") {
  Random random(3);
  const int count = count_of("FASTAUG_JPEG_MUTATIONS", 12000);
  int made = 0, left = 0, broken = 0;
  File original;
  for (int round = 0; round < count; ++round) {
    if (round % 32 == 0) {
      original = write_jpeg(random.between(1, 48), random.between(5, 64), progressive_options(random), random.next());
    }
    File file = original;
    for (int k = random.between(1, 2); k > 0; --k) change(file, random);
    const std::optional<Frame> frame = read_frame(bytes_of(file));
    if (!frame || int64_t{frame->header.height} * frame->header.width > 40'000) continue;
    const Header& header = frame->header;
    CAPTURE(round);
    const Pixels whole = progressively(file, all_of(header), header.channels);
    const Pixels expected = by_libjpeg(file, *frame, header.channels);
    made += !whole.empty();
    left += whole.empty() && !expected.empty();
    broken += expected.empty();
    if (!whole.empty()) REQUIRE(whole == expected);
    if (round % 8 != 0 || expected.empty()) continue;
    const Region region = random_region(random, header);
    const Pixels part = progressively(file, region, header.channels);
    // Blocks whose samples are out of range are left to libjpeg where the region shows them.
    CHECK((!part.empty() || whole.empty()));
    if (!part.empty()) REQUIRE(part == crop(expected, header, region));
  }
  CHECK(made > count / 50);
  CHECK(broken > count / 20);
  CHECK(left < count / 4);
}

TEST_CASE("jpeg progressive: what is left to libjpeg") {
  const auto made = [](const File& file, const Beside& beside = {}) {
    return !progressively(file, {0, 0, 20, 30}, 3, beside).empty();
  };
  JpegOptions options;
  options.progressive = true;
  const File file = write_jpeg(20, 30, options);
  CHECK(made(file));
  CHECK_FALSE(made(write_jpeg(20, 30, JpegOptions())));
  JpegOptions other;
  other.one_scan_each = true;
  CHECK_FALSE(made(write_jpeg(20, 30, other)));
  const auto changed = [&](size_t at, int value) {
    File changing = file;
    changing[at] = static_cast<uint8_t>(value);
    return changing;
  };
  // The first scan has DC of three components: 12 bytes, of which 3 are its part of the coefficients.
  const size_t first = find_marker(file, 0xda), second = find_marker(file, 0xda, 1);
  REQUIRE(file[second + 4] == 1);
  CHECK_FALSE(made(changed(first + 11, 1)));     // AC of three components
  CHECK_FALSE(made(changed(first + 12, 1)));     // DC and more
  CHECK_FALSE(made(changed(first + 13, 0x10)));  // refined before it is there
  CHECK_FALSE(made(changed(first + 13, 0x0e)));  // more bits than there are
  CHECK_FALSE(made(changed(first + 4, 4)));      // components that there are not
  CHECK_FALSE(made(changed(first + 5, 9)));
  CHECK_FALSE(made(changed(first + 6, 0x40)));  // codes that there cannot be, or that are not there
  CHECK_FALSE(made(changed(first + 6, 0x20)));
  CHECK_FALSE(made(changed(second + 6, 0x03)));
  CHECK_FALSE(made(changed(second + 7, 3)));  // from one behind another than the last
  CHECK_FALSE(made(changed(second + 8, 64)));
  CHECK_FALSE(made(changed(second + 8, 0)));
  // Scans that are missing, from each on.
  for (int n = 1;; ++n) {
    const size_t at = find_marker(file, 0xda, n);
    if (at == file.size()) break;
    File fewer(file.begin(), file.begin() + static_cast<ptrdiff_t>(at));
    fewer.insert(fewer.end(), {0xff, 0xd9});
    CHECK_FALSE(made(fewer));
  }
  for (size_t size = 0; size < file.size(); ++size) {
    CHECK_FALSE(made(File(file.begin(), file.begin() + static_cast<ptrdiff_t>(size))));
  }
  // What stands between scans, other than codes and comments.
  const auto between = [&](std::vector<uint8_t> segment) {
    File longer = file;
    longer.insert(longer.begin() + static_cast<ptrdiff_t>(find_marker(file, 0xda, 1)), segment.begin(), segment.end());
    return longer;
  };
  CHECK(made(between({0xff, 0xfe, 0, 3, 1})));
  CHECK(made(between({0xff, 0xff, 0xff, 0xfe, 0, 3, 1})));
  CHECK_FALSE(made(between({0xff, 0xdd, 0, 4, 0, 1})));
  CHECK_FALSE(made(between({0xff, 0xe0, 0, 3, 1})));
  CHECK_FALSE(made(between({0})));
  CHECK(progressively(file, {0, 0, 21, 30}, 3).empty());
  CHECK(progressively(file, {0, 0, 20, 31}, 3).empty());
}

TEST_CASE("jpeg progressive: tables of their own") {
  JpegOptions options;
  options.progressive = true;
  const File file = write_jpeg(20, 30, options);
  File tables = {0xff, 0xd8}, rest = {0xff, 0xd8};
  for (size_t at = 2; at < file.size();) {
    if (file[at + 1] != 0xdb) {
      const size_t sos = find_marker(file, 0xda);
      const size_t end = at >= sos ? file.size() : at + 2 + (static_cast<size_t>(file[at + 2]) << 8 | file[at + 3]);
      rest.insert(rest.end(), file.begin() + static_cast<ptrdiff_t>(at), file.begin() + static_cast<ptrdiff_t>(end));
      at = end;
      continue;
    }
    const size_t end = at + 2 + (static_cast<size_t>(file[at + 2]) << 8 | file[at + 3]);
    tables.insert(tables.end(), file.begin() + static_cast<ptrdiff_t>(at), file.begin() + static_cast<ptrdiff_t>(end));
    at = end;
  }
  tables.insert(tables.end(), {0xff, 0xd9});
  CHECK(progressively(rest, {0, 0, 20, 30}, 3).empty());
  CHECK(progressively(rest, {0, 0, 20, 30}, 3, {.tables = bytes_of(tables)}) == decode_plainly(file));
  CHECK(progressively(rest, {0, 0, 20, 30}, 3, {.tables = {tables.data(), 7}}).empty());
}

}  // namespace
}  // namespace fastaug::codec::jpeg
