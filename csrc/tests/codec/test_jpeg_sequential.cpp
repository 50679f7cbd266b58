// The decoder of sequential JPEGs against libjpeg: sound files, regions of them, and what is left of broken ones.
// FASTAUG_JPEG_REGIONS and FASTAUG_JPEG_MUTATIONS say how many of each, for `make soak-jpeg`.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "codec/jpeg_frame.h"
#include "codec/jpeg_sequential.h"
#include "codec/jpeg_session.h"
#include "codec/scan_index.h"
#include "tests/support/jpeg_decoding.h"
#include "tests/support/scale.h"

namespace fastaug::codec::jpeg {
namespace {

using fastaug::test::cases;
using fastaug::test::find_marker;
using fastaug::test::JpegOptions;
using fastaug::test::Random;
using fastaug::test::with_segment;
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
using test::is_taken;
using test::kTaken;
using test::Pixels;
using test::random_region;
using test::taken_options;
using namespace std::string_literals;

Pixels sequentially(const File& file, Region region, int stride, const Beside& beside = {}) {
  return decoded_by(run_sequential, file, region, stride, beside);
}

TEST_CASE("jpeg sequential: every small size") {
  for (const std::vector<int>& sampling : kTaken) {
    JpegOptions options;
    options.sampling = sampling;
    options.channels = static_cast<int>(sampling.size()) / 2;
    for (int height = 1; height <= 35; height += height < 20 ? 1 : 3) {
      for (int width = 1; width <= 70; width += width < 36 ? 1 : 3) {
        CAPTURE(height);
        CAPTURE(width);
        const File file = write_jpeg(height, width, options);
        const Pixels made = sequentially(file, {0, 0, height, width}, colours_of(options));
        REQUIRE(made == (is_taken(options, width) ? decode_plainly(file) : Pixels()));
      }
    }
  }
}

TEST_CASE("jpeg sequential: every quality, optimised or not, every interval of restarts") {
  for (const std::vector<int>& sampling : kTaken) {
    JpegOptions options;
    options.sampling = sampling;
    options.channels = static_cast<int>(sampling.size()) / 2;
    for (int quality = 1; quality <= 100; ++quality) {
      options.quality = quality;
      options.optimise = quality % 2 == 0;
      options.restart = quality % 3 == 0 ? quality / 3 : 0;
      CAPTURE(quality);
      const File file = write_jpeg(50, 61, options, static_cast<uint32_t>(quality));
      REQUIRE(sequentially(file, {0, 0, 50, 61}, colours_of(options)) == decode_plainly(file));
    }
  }
}

TEST_CASE("jpeg sequential: regions, in all strides") {
  Random random(1);
  const int count = count_of("FASTAUG_JPEG_REGIONS", 1500);
  for (int done = 0; done < count;) {
    const JpegOptions options = taken_options(random);
    const int most = done % 3 == 0 ? 300 : 70;
    const int height = random.between(1, most), width = random.between(5, most);
    const File file = write_jpeg(height, width, options, random.next());
    const Header header = header_of(file);
    const Pixels whole = decode_plainly(file);
    // Of every other file by an index, which each region goes on with.
    ScanIndex index;
    Beside beside;
    if (random.between(0, 1) == 0) beside.index = &index;
    for (int k = 0; k < 16; ++k, ++done) {
      const Region region = random_region(random, header);
      CAPTURE(done);
      for (int stride = header.channels; stride <= 4; ++stride) {
        REQUIRE(sequentially(file, region, stride, beside) ==
                converted(crop(whole, header, region), header.channels, stride));
      }
    }
  }
}

TEST_CASE("jpeg sequential: luma alone") {
  Random random(9);
  for (int round = 0; round < cases(120); ++round) {
    JpegOptions options = taken_options(random);
    const int most = round % 2 == 0 ? 300 : 40;
    const File file = write_jpeg(random.between(1, most), random.between(5, most), options, random.next());
    const Header header = luma_of(header_of(file));
    CHECK(header.native == (options.channels < 4));
    if (!header.native) {
      CHECK(sequentially(file, all_of(header), 1).empty());
      continue;
    }
    CHECK(header.luma == (options.channels == 3));
    const Pixels whole = decode_plainly(file, true);
    CAPTURE(round);
    for (int k = 0; k < 8; ++k) {
      const Region region = k == 0 ? all_of(header) : random_region(random, header);
      for (int stride = 1; stride <= 2; ++stride) {
        const Pixels expected = converted(crop(whole, header, region), 1, stride);
        // Of RGB it is a sum that libjpeg makes.
        REQUIRE(sequentially(file, region, stride) == (options.rgb ? Pixels() : expected));
      }
    }
  }
}

// Coefficients that no encoder writes run over differently in libjpeg's code for NEON. On ARM it decodes all files (see
// quick_jpeg), these too.
#if defined(__x86_64__)
constexpr bool kAsLibjpegRunsOver = true;
#else
constexpr bool kAsLibjpegRunsOver = false;
#endif

TEST_CASE("jpeg sequential: of changed files, what libjpeg makes of them or nothing" *
          doctest::skip(!kAsLibjpegRunsOver)) {
  Random random(2);
  const int count = count_of("FASTAUG_JPEG_MUTATIONS", 12000);
  int made = 0, left = 0, broken = 0;
  File original;
  for (int round = 0; round < count; ++round) {
    if (round % 32 == 0) {
      original = write_jpeg(random.between(1, 48), random.between(5, 64), taken_options(random), random.next());
    }
    File file = original;
    for (int k = random.between(1, 3); k > 0; --k) change(file, random);
    const std::optional<Frame> frame = read_frame(bytes_of(file));
    if (!frame || int64_t{frame->header.height} * frame->header.width > 40'000) continue;
    const Header& header = frame->header;
    CAPTURE(round);
    ScanIndex index;
    Beside beside;
    if (round % 16 == 0) beside.index = &index;
    const Pixels whole = sequentially(file, all_of(header), header.channels, beside);
    const Pixels expected = by_libjpeg(file, *frame, header.channels);
    made += !whole.empty();
    left += whole.empty() && !expected.empty();
    broken += expected.empty();
    if (!whole.empty()) REQUIRE(whole == expected);
    if (const Pixels gray = sequentially(file, all_of(header), 1); !gray.empty()) {
      REQUIRE(gray == by_libjpeg(file, *frame, 1));
    }
    if (round % 8 != 0 || expected.empty()) continue;
    // Where all of it is made, so is each part; and a part does not differ where only the rest is left to libjpeg.
    const Region region = random_region(random, header);
    const Pixels part = sequentially(file, region, header.channels, beside);
    if (!whole.empty()) REQUIRE(!part.empty());
    if (!part.empty()) REQUIRE(part == crop(expected, header, region));
  }
  CHECK(made > count / 20);
  CHECK(broken > count / 20);
  // What libjpeg makes and this does not: indices beyond a block, bytes before the end.
  CHECK(left < count / 4);
}

TEST_CASE("jpeg sequential: tables in the places that only extended files use") {
  File file = write_jpeg(40, 50, JpegOptions());
  const Pixels expected = decode_plainly(file);
  for (int n = 0; n < 4; ++n) file[find_marker(file, 0xc4, n) + 4] |= 2;
  for (const size_t at : {6, 8, 10}) file[find_marker(file, 0xda) + at] |= 0x22;
  file[find_marker(file, 0xc0) + 1] = 0xc1;
  CHECK(sequentially(file, {0, 0, 40, 50}, 3) == expected);
  file[find_marker(file, 0xc4) + 5] = 3;  // codes that do not fit
  CHECK(sequentially(file, {0, 0, 40, 50}, 3).empty());
}

TEST_CASE("jpeg sequential: what is left to libjpeg") {
  const auto made = [](const File& file, const Beside& beside = {}) {
    return !sequentially(file, {0, 0, 20, 30}, 3, beside).empty();
  };
  JpegOptions options;
  const File file = write_jpeg(20, 30, options);
  CHECK(made(file));
  options.restart = 2;
  const File restarts = write_jpeg(20, 30, options);
  CHECK(made(restarts));
  JpegOptions other;
  other.progressive = true;
  CHECK_FALSE(made(write_jpeg(20, 30, other)));
  other = {};
  other.one_scan_each = true;
  CHECK_FALSE(made(write_jpeg(20, 30, other)));

  const auto changed = [](File changing, size_t at, int value) {
    changing[at] = static_cast<uint8_t>(value);
    return changing;
  };
  const size_t sof = find_marker(file, 0xc0), sos = find_marker(file, 0xda), dht = find_marker(file, 0xc4);
  const size_t dqt = find_marker(file, 0xdb);
  CHECK(made(changed(file, sof + 1, 0xc1)));  // extended
  CHECK_FALSE(made(changed(file, sof + 1, 0xc2)));
  CHECK_FALSE(made(changed(file, sof + 4, 12)));
  CHECK_FALSE(made(changed(file, sof + 10, 2)));    // a component that the scan does not name
  CHECK_FALSE(made(changed(file, sof + 12, 3)));    // quantised by a table that is missing
  CHECK_FALSE(made(changed(file, sof + 12, 4)));    // or cannot be
  CHECK_FALSE(made(changed(file, sos + 6, 0x22)));  // codes likewise
  CHECK_FALSE(made(changed(file, sos + 6, 0x40)));
  CHECK_FALSE(made(changed(file, sos + 11, 1)));  // not all coefficients
  CHECK_FALSE(made(changed(file, sos + 12, 62)));
  CHECK_FALSE(made(changed(file, sos + 13, 1)));
  CHECK_FALSE(made(changed(file, dht + 4, 0x20)));
  CHECK_FALSE(made(changed(file, dht + 5, 3)));
  CHECK_FALSE(made(changed(file, dqt + 4, 0x20)));
  CHECK_FALSE(made(changed(file, dqt + 4, 0x10)));                   // of 16 bits, of which half are missing
  CHECK_FALSE(made(changed(file, find_marker(file, 0xe0) + 9, 2)));  // a JFIF that libjpeg warns of
  CHECK_FALSE(made(with_segment(file, 0xdd, "\0\0\1"s)));
  CHECK_FALSE(made(with_segment(file, 0xdc, "\0\24"s)));
  CHECK(made(with_segment(file, 0xfe, "comment"s)));

  // Restarts in another order; bytes before a marker; another one; none.
  CHECK_FALSE(made(changed(restarts, find_marker(restarts, 0xd0) + 1, 0xd1)));
  for (const uint8_t byte : {0x00, 0x5a}) {
    File longer = file;
    longer.insert(longer.end() - 2, byte);
    CHECK_FALSE(made(longer));
  }
  CHECK_FALSE(made(changed(file, file.size() - 1, 0xd8)));
  CHECK_FALSE(made(changed(file, file.size() - 2, 0x00)));
  CHECK_FALSE(made(File(file.begin(), file.end() - 2)));
  for (size_t size = 0; size < file.size(); ++size) {
    CHECK_FALSE(made(File(file.begin(), file.begin() + static_cast<ptrdiff_t>(size))));
  }
  // A region does not look behind its rows, but at what it may be given.
  CHECK(!sequentially(changed(file, file.size() - 1, 0xd8), {0, 0, 10, 30}, 3).empty());
  CHECK(sequentially(file, {0, 0, 21, 30}, 3).empty());
  CHECK(sequentially(file, {0, 0, 20, 31}, 3).empty());
}

// Eight blocks of DC alone, each 2^14 more than the one before, or every other one as much less. In steps of 4 all of
// them come to 0 in 16 bits.
File steep(bool up_and_down) {
  JpegOptions options;
  options.channels = 1;
  options.sampling = {};
  options.quality = 88;
  const File file = write_jpeg(8, 64, options);
  File result(file.begin(), file.begin() + static_cast<ptrdiff_t>(find_marker(file, 0xc4)));
  const auto put = [&](std::initializer_list<int> bytes) {
    for (const int byte : bytes) result.push_back(static_cast<uint8_t>(byte));
  };
  // The only code is 0. Of DC it means 15 bits, of AC the end.
  put({0xff, 0xc4, 0, 20, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15});
  put({0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto scan = file.begin() + static_cast<ptrdiff_t>(find_marker(file, 0xda));
  result.insert(result.end(), scan, scan + 10);
  int byte = 0, count = 0;
  for (int block = 0; block < 8; ++block) {
    const bool down = up_and_down && block % 2 == 1;
    for (int k = 0; k < 17; ++k) {
      byte = byte << 1 | (down ? k > 1 && k < 16 : k == 1);
      if (++count % 8 != 0) continue;
      put({byte & 255});
      if ((byte & 255) == 255) put({0});
    }
  }
  put({0xff, 0xd9});
  return result;
}

TEST_CASE("jpeg sequential: predictors that leave 16 bits") {
  const File within = steep(true), beyond = steep(false);
  CHECK(sequentially(within, {0, 0, 8, 64}, 1) == decode_plainly(within));
  CHECK(sequentially(beyond, {0, 0, 8, 64}, 1).empty());
  CHECK_FALSE(decode_plainly(beyond).empty());
}

}  // namespace
}  // namespace fastaug::codec::jpeg
