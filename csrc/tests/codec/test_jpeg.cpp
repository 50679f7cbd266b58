// JPEG: regions against whole images, whole images against libjpeg's own, and headers. That Pillow gives the same
// pixels is tested in Python.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/exif.h"
#include "tests/support/guard.h"
#include "tests/support/jpeg_decoding.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/scale.h"

namespace fastaug::codec {
namespace {

using namespace std::string_literals;
using fastaug::test::cases;
using fastaug::test::find_marker;
using fastaug::test::Guarded;
using fastaug::test::JpegOptions;
using fastaug::test::Random;
using fastaug::test::Side;
using fastaug::test::with_segment;
using fastaug::test::write_jpeg;
using test::all_of;
using test::bytes_of;
using test::converted;
using test::crop;
using test::decode_plainly;
using test::File;
using test::header_of;
using test::Pixels;
using test::pixels_of;
using test::random_options;
using test::random_region;

TEST_CASE("jpeg: regions are parts of the whole, which is libjpeg's") {
  Random random(5);
  for (int round = 0; round < cases(250); ++round) {
    const int most = round % 2 == 0 ? 36 : 150;
    const JpegOptions options = random_options(random);
    const File file = write_jpeg(random.between(1, most), random.between(1, most), options, random.next());
    const Header header = header_of(file);
    CAPTURE(round);
    REQUIRE(header.native);
    CHECK(header.sequential == !(options.progressive || options.one_scan_each));
    const Pixels whole = decode_plainly(file);
    for (int channels = header.channels; channels <= 4; ++channels) {
      REQUIRE(pixels_of(file, all_of(header), channels) == converted(whole, header.channels, channels));
    }
    for (int i = 0; i < 8; ++i) {
      const Region region = random_region(random, header);
      CAPTURE(region.x);
      CAPTURE(region.width);
      REQUIRE(pixels_of(file, region, header.channels) == crop(whole, header, region));
      const Region made = decoded_region(header, region);
      CHECK(made.y <= region.y);
      CHECK(made.x <= region.x);
      CHECK(made.y + made.height >= region.y + region.height);
      CHECK(made.x + made.width >= region.x + region.width);
    }
  }
}

TEST_CASE("jpeg: luma is libjpeg's gray, whole and in parts") {
  Random random(8);
  for (int round = 0; round < cases(200); ++round) {
    const JpegOptions options = random_options(random);
    const File file = write_jpeg(random.between(1, 80), random.between(1, 80), options, random.next());
    const Header header = luma_of(header_of(file));
    CHECK(header.native == (options.channels < 4));
    if (!header.native) continue;
    CHECK(header.channels == 1);
    CAPTURE(round);
    const Pixels whole = decode_plainly(file, true);
    Pixels pixels(whole.size());
    Arena arena;
    const Target target = {pixels.data(), DType::kUint8, header.height, header.width, 1, header.width, 1, 1};
    CHECK(decode_into(bytes_of(file), header, target, arena).done());
    REQUIRE(pixels == whole);
    for (int i = 0; i < 6; ++i) {
      const Region region = random_region(random, header);
      for (int channels = 1; channels <= 2; ++channels) {
        REQUIRE(pixels_of(file, header, region, channels) == converted(crop(whole, header, region), 1, channels));
      }
    }
  }
}

TEST_CASE("jpeg: luma is not for whoever asks for colours, nor the other way round") {
  const File file = write_jpeg(20, 30, JpegOptions());
  const Header header = header_of(file);
  CHECK(converts(luma_of(header), 1));
  CHECK(converts(luma_of(header), 2));
  CHECK_FALSE(converts(luma_of(header), 3));
  CHECK(pixels_of(file, luma_of(header), all_of(header), 3).empty());
  CHECK(pixels_of(file, header, all_of(header), 1).empty());
  JpegOptions gray;
  gray.channels = 1;
  gray.sampling = {1, 1};
  CHECK_FALSE(luma_of(header_of(write_jpeg(20, 30, gray))).luma);
  Header other = header;
  other.format = Format::kPng;
  CHECK_FALSE(luma_of(other).native);
}

TEST_CASE("jpeg: whole images straight into memory, and not a byte beside them") {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    const JpegOptions options = random_options(random);
    const int height = random.between(1, 40), width = random.between(1, 70);
    const File file = write_jpeg(height, width, options, random.next());
    const Header header = header_of(file);
    const Pixels whole = decode_plainly(file);
    for (int channels = header.channels; channels <= 4; ++channels) {
      for (const int stride : {channels, 4}) {
        if (stride != channels && channels != 3) continue;
        const Side side = round % 2 == 0 ? Side::kBack : Side::kFront;
        Guarded input(file.size(), side);
        std::memcpy(input.data(), file.data(), file.size());
        const size_t row_size = static_cast<size_t>(width * stride);
        Guarded memory(row_size * static_cast<size_t>(height), side);
        const bool upwards = round % 3 == 0;
        const ptrdiff_t row_stride = static_cast<ptrdiff_t>(row_size);
        Target target = {memory.data(), DType::kUint8, height, width, channels, row_stride, stride, 1};
        if (upwards) {
          target.data = memory.data() + row_size * static_cast<size_t>(height - 1);
          target.row_stride = -row_stride;
        }
        Arena arena;
        REQUIRE(decode_into({input.data(), input.size()}, header, target, arena).done());
        CHECK(memory.intact());
        const Pixels wanted = converted(whole, header.channels, stride);
        for (int y = 0; y < height; ++y) {
          const uint8_t* row = memory.data() + row_size * static_cast<size_t>(upwards ? height - 1 - y : y);
          REQUIRE(std::memcmp(row, wanted.data() + row_size * static_cast<size_t>(y), row_size) == 0);
        }
      }
    }
  }
}

TEST_CASE("jpeg: what is not native") {
  JpegOptions options;
  CHECK(header_of(write_jpeg(20, 30, options)).native);
  const auto native = [&](std::vector<int> sampling) {
    options.sampling = std::move(sampling);
    return header_of(write_jpeg(20, 30, options)).native;
  };
  CHECK_FALSE(native({1, 4, 1, 1, 1, 1}));
  CHECK_FALSE(native({4, 2, 1, 1, 1, 1}));
  CHECK_FALSE(native({2, 2, 2, 1, 1, 2}));
  CHECK_FALSE(native({1, 1, 2, 2, 1, 1}));
  options.channels = 4;
  CHECK(native({}));
  CHECK_FALSE(native({2, 2, 1, 1, 1, 1, 1, 1}));
  options = {};
  options.arithmetic = true;
  CHECK_FALSE(header_of(write_jpeg(20, 30, options)).native);

  const File file = write_jpeg(20, 30, JpegOptions());
  CHECK_FALSE(header_of(with_segment(file, 0xe2, "MPF\0II*\0"s)).native);
  CHECK(header_of(with_segment(file, 0xe2, "ICC_PROFILE\0\1\1"s)).native);
  const size_t sof = find_marker(file, 0xc0);
  for (const auto& [offset, value] : {std::pair<size_t, uint8_t>{1, 0xc3}, {4, 12}, {6, 0}, {8, 0}, {9, 2}, {3, 18}}) {
    CAPTURE(offset);
    File other = file;
    other[sof + offset] = value;
    CHECK_FALSE(header_of(other).native);
  }
  for (size_t size = 0; size < find_marker(file, 0xda); ++size) {
    Guarded memory(size);
    std::memcpy(memory.data(), file.data(), size);
    REQUIRE_FALSE(read_header({memory.data(), size}).native);
  }
}

TEST_CASE("jpeg: header") {
  JpegOptions options;
  options.channels = 1;
  options.sampling = {};
  const Header header = header_of(write_jpeg(21, 34, options));
  CHECK(header.format == Format::kJpeg);
  CHECK(header.native);
  CHECK(header.sequential);
  CHECK(header.height == 21);
  CHECK(header.width == 34);
  CHECK(header.channels == 1);
  CHECK(header.bits == 8);
  CHECK(header.orientation == 1);
}

TEST_CASE("jpeg: orientation by Exif and XMP") {
  const std::string little = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"s;
  const std::string big = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0"s;
  const std::string exif = "Exif\0\0"s;
  const std::string xmp = "http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation=\"3\"/>"s;
  const File file = write_jpeg(20, 30, JpegOptions());
  const auto orientation = [&](const std::string& content) {
    const Header header = header_of(with_segment(file, 0xe1, content));
    CHECK(header.native);
    return header.orientation;
  };
  CHECK(orientation(exif + little) == 6);
  CHECK(orientation(exif + big) == 8);
  CHECK(orientation(exif + exif + big) == 8);
  CHECK(orientation(xmp) == 3);
  CHECK(orientation("Exif\0X"s + little) == 1);
  CHECK(orientation(exif + "PDF") == 1);
  CHECK(header_of(with_segment(with_segment(file, 0xe1, exif + little), 0xe1, xmp)).orientation == 6);
  CHECK(header_of(with_segment(with_segment(file, 0xe1, exif + "II*\0\x08\0\0\0\0\0"s), 0xe1, xmp)).orientation == 3);
  // Several Exif segments are one, which only Pillow puts together.
  CHECK_FALSE(header_of(with_segment(with_segment(file, 0xe1, exif + little), 0xe1, exif + little)).native);
}

TEST_CASE("exif: every truncation and many changes") {
  const std::string tiff =
      "MM\0*\0\0\0\x08\0\x02\x01\x0f\0\x02\0\0\0\x06\0\0\0\x26\x01\x12\0\x03\0\0\0\x01\0\x05\0\0\0\0\0\0Maker\0"s;
  const auto read = [](const std::string& text) {
    Guarded memory(text.size());
    std::memcpy(memory.data(), text.data(), text.size());
    return exif_orientation({memory.data(), memory.size()});
  };
  REQUIRE(read(tiff) == 5);
  for (size_t size = 0; size < tiff.size(); ++size) {
    const int found = read(tiff.substr(0, size));
    CHECK((size == 0 ? found == kNoOrientation : size < 8 ? found == kUnclearOrientation : found == kNoOrientation));
  }
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string other = tiff;
    for (int k = random.between(1, 3); k > 0; --k) {
      other[static_cast<size_t>(random.between(0, static_cast<int>(tiff.size()) - 1))] =
          static_cast<char>(random.between(0, 255));
    }
    const int found = read(other);
    REQUIRE(found >= -1);
    REQUIRE(found <= 8);
  }
}

TEST_CASE("jpeg: tables of their own") {
  const File file = write_jpeg(40, 50, JpegOptions());
  File tables = {0xff, 0xd8}, image = {0xff, 0xd8};
  size_t at = 2;
  const size_t scan = find_marker(file, 0xda);
  while (at < scan) {
    const size_t next = at + 2 + (static_cast<size_t>(file[at + 2]) << 8 | file[at + 3]);
    File& to = file[at + 1] == 0xdb || file[at + 1] == 0xc4 ? tables : image;
    to.insert(to.end(), file.begin() + static_cast<ptrdiff_t>(at), file.begin() + static_cast<ptrdiff_t>(next));
    at = next;
  }
  image.insert(image.end(), file.begin() + static_cast<ptrdiff_t>(scan), file.end());
  tables.insert(tables.end(), {0xff, 0xd9});
  const Header header = header_of(image);
  REQUIRE(header.native);
  Verdict verdict;
  CHECK(pixels_of(image, all_of(header), 3, &verdict, tables) == decode_plainly(file));
  pixels_of(image, all_of(header), 3, &verdict);
  CHECK(verdict.outcome == Outcome::kDeferred);
  pixels_of(image, all_of(header), 3, &verdict, file);
  CHECK(verdict.outcome == Outcome::kDeferred);
  for (size_t size = 1; size < tables.size(); ++size) {
    pixels_of(image, all_of(header), 3, &verdict, File(tables.begin(), tables.begin() + static_cast<ptrdiff_t>(size)));
    REQUIRE(verdict.outcome == Outcome::kDeferred);
  }
}

// A file that says nothing of its components: without the markers of JFIF and Adobe, and with ids that mean nothing.
File unmarked(const File& file) {
  File result = {0xff, 0xd8};
  size_t at = 2;
  for (bool scan = false; !scan;) {
    const uint8_t marker = file[at + 1];
    const size_t next = at + 2 + (static_cast<size_t>(file[at + 2]) << 8 | file[at + 3]);
    File segment(file.begin() + static_cast<ptrdiff_t>(at), file.begin() + static_cast<ptrdiff_t>(next));
    const bool frame = marker == 0xc0 || marker == 0xc2;
    scan = marker == 0xda;
    const size_t first = frame ? 10 : 5, step = frame ? 3 : 2;
    for (size_t i = 0; (frame || scan) && i < segment[frame ? 9 : 4]; ++i) {
      segment[first + i * step] = static_cast<uint8_t>(i);
    }
    if (marker != 0xe0 && marker != 0xee) result.insert(result.end(), segment.begin(), segment.end());
    at = next;
  }
  result.insert(result.end(), file.begin() + static_cast<ptrdiff_t>(at), file.end());
  return result;
}

TEST_CASE("jpeg: components that a file around the stream names") {
  Random random(11);
  const auto adobe = [](char transform) { return "Adobe\0\x64\0\0\0\0"s + transform; };
  int colours = 0;
  for (int round = 0; round < 80; ++round) {
    JpegOptions options = random_options(random);
    options.one_scan_each = options.progressive = false;  // every scan names components
    const File file = unmarked(write_jpeg(random.between(1, 60), random.between(1, 60), options, random.next()));
    const Header header = header_of(file);
    CAPTURE(round);
    REQUIRE(header.native);
    if (options.channels == 4) {
      Verdict verdict;
      pixels_of(file, all_of(header), 3, &verdict, {}, Components::kRgb);
      CHECK(verdict.outcome == Outcome::kDeferred);
      continue;
    }
    const Pixels rgb = decode_plainly(with_segment(file, 0xee, adobe(0)));
    const Pixels ycbcr = decode_plainly(with_segment(file, 0xee, adobe(1)));
    const Region region = random_region(random, header);
    // Whatever the stream itself says, or lets libjpeg guess.
    const File marked = with_segment(file, 0xe0, "JFIF\0\1\1\0\0\1\0\1\0\0"s);
    for (const File& one : {file, marked, with_segment(file, 0xee, adobe(0)), with_segment(file, 0xee, adobe(1))}) {
      for (const auto& [components, whole] : {std::pair{Components::kRgb, &rgb}, {Components::kYcbcr, &ycbcr}}) {
        for (int channels = header.channels; channels <= 4; ++channels) {
          REQUIRE(pixels_of(one, all_of(header), channels, nullptr, {}, components) ==
                  converted(*whole, header.channels, channels));
        }
        REQUIRE(pixels_of(one, region, header.channels, nullptr, {}, components) == crop(*whole, header, region));
      }
      CHECK(pixels_of(one, all_of(header), header.channels) == decode_plainly(one));
    }
    colours += rgb != ycbcr;
  }
  CHECK(colours > 20);
}

}  // namespace
}  // namespace fastaug::codec
