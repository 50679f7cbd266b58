// JPEG: bytes that are not sound, and sizes that nobody can afford.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/codec.h"
#include "tests/support/guard.h"
#include "tests/support/jpeg_decoding.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/scale.h"

namespace fastaug::codec {
namespace {

using fastaug::test::cases;
using fastaug::test::find_marker;
using fastaug::test::Guarded;
using fastaug::test::JpegOptions;
using fastaug::test::Random;
using fastaug::test::write_jpeg;
using test::all_of;
using test::bytes_of;
using test::decode_plainly;
using test::File;
using test::header_of;
using test::pixels_of;
using test::random_options;
using test::random_region;

TEST_CASE("jpeg: a truncated file is never done") {
  JpegOptions options;
  for (const bool progressive : {false, true}) {
    options.progressive = progressive;
    const File file = write_jpeg(33, 41, options);
    const Header header = header_of(file);
    for (size_t size = 0; size < file.size(); ++size) {
      for (const bool ended : {false, true}) {
        Guarded memory(size + (ended ? 2 : 0));
        std::memcpy(memory.data(), file.data(), size);
        if (ended) std::memcpy(memory.data() + size, "\xff\xd9", 2);
        const Bytes bytes = {memory.data(), memory.size()};
        const Header shortened = read_header(bytes);
        if (!shortened.native) continue;
        Arena arena;
        const Decoded decoded = decode(bytes, shortened, {all_of(header), 3}, arena);
        // The last bytes may be those of the end marker itself, or the marker's first.
        if (decoded.verdict.done()) CHECK((ended && size + 2 >= file.size()));
      }
    }
  }
}

TEST_CASE("jpeg: changed bytes are done as libjpeg does them, or not done") {
  Random random(9);
  int done = 0;
  for (int round = 0; round < cases(3000); ++round) {
    JpegOptions options = random_options(random);
    options.rgb = false;
    File file = write_jpeg(random.between(8, 40), random.between(8, 40), options, random.next());
    for (int i = random.between(1, 3); i > 0; --i) {
      file[static_cast<size_t>(random.between(3, static_cast<int>(file.size()) - 1))] =
          static_cast<uint8_t>(random.next() >> 8);
    }
    Guarded memory(file.size());
    std::memcpy(memory.data(), file.data(), file.size());
    const Bytes bytes = {memory.data(), memory.size()};
    const Header header = read_header(bytes);
    if (!header.native || int64_t{header.height} * header.width > 1'000'000) continue;
    Arena arena;
    const Decoded whole = decode(bytes, header, {all_of(header), header.channels}, arena);
    if (whole.verdict.done()) {
      ++done;
      REQUIRE(pixels_of(file, all_of(header), header.channels) == decode_plainly(file));
    }
    const Region region = random_region(random, header);
    const Decoded part = decode(bytes, header, {region, header.channels}, arena);
    if (part.verdict.done() && whole.verdict.done()) {
      for (int y = region.y; y < region.y + region.height; ++y) {
        REQUIRE(std::memcmp(part.view.at(y, region.x, 0), whole.view.at(y, region.x, 0),
                            static_cast<size_t>(region.width * header.channels)) == 0);
      }
    }
    if (whole.verdict.done()) CHECK(part.verdict.done());
  }
  CHECK(done > cases(100));
}

TEST_CASE("jpeg: scans that are missing, or too many") {
  JpegOptions options;
  options.progressive = true;
  const File file = write_jpeg(64, 64, options);
  const Header header = header_of(file);
  Verdict verdict;
  pixels_of(file, all_of(header), 3, &verdict);
  CHECK(verdict.done());

  // Cut off between two scans and ended properly: libjpeg is content, and smooths.
  int scans = 0;
  while (find_marker(file, 0xda, scans) < file.size()) ++scans;
  REQUIRE(scans == 10);
  for (int n = 1; n < scans; ++n) {
    // Tables of a scan precede it.
    size_t cut = find_marker(file, 0xda, n);
    for (int k = 0; find_marker(file, 0xc4, k) < find_marker(file, 0xda, n); ++k) {
      if (find_marker(file, 0xc4, k) > find_marker(file, 0xda, n - 1)) cut = std::min(cut, find_marker(file, 0xc4, k));
    }
    File other(file.begin(), file.begin() + static_cast<ptrdiff_t>(cut));
    other.insert(other.end(), {0xff, 0xd9});
    CAPTURE(n);
    pixels_of(other, all_of(header), 3, &verdict);
    CHECK(verdict.outcome == Outcome::kDeferred);
  }

  File bomb(file.begin(), file.end() - 2);
  const size_t last = find_marker(file, 0xda, scans - 1);
  for (int i = 0; i < 600; ++i) bomb.insert(bomb.end(), file.begin() + static_cast<ptrdiff_t>(last), file.end() - 2);
  bomb.insert(bomb.end(), {0xff, 0xd9});
  pixels_of(bomb, {0, 0, 1, 1}, 3, &verdict);
  CHECK(verdict.outcome == Outcome::kRefused);
}

TEST_CASE("jpeg: nothing is made for sizes that the bytes cannot hold") {
  File file = write_jpeg(16, 16, JpegOptions());
  const size_t sof = find_marker(file, 0xc0);
  for (const size_t at : {sof + 5, sof + 7}) {
    file[at] = 0xff;
    file[at + 1] = 0x00;
  }
  Header header = header_of(file);
  CHECK_FALSE(header.native);
  // Nor for a caller who believes it.
  header = header_of(write_jpeg(16, 16, JpegOptions()));
  header.height = header.width = 0xff00;
  Arena arena;
  CHECK(decode(bytes_of(file), header, {{0, 0, 1, 1}, 3}, arena).verdict.outcome == Outcome::kDeferred);
}

TEST_CASE("jpeg: what nobody can afford, native or not") {
  JpegOptions options;
  options.progressive = true;
  File file = write_jpeg(160, 160, options);
  CHECK(afford(bytes_of(file)).done());
  const size_t first = find_marker(file, 0xda);
  const size_t second = find_marker(file, 0xda, 1);
  File bomb(file.begin(), file.begin() + static_cast<ptrdiff_t>(second));
  for (int i = 0; i < 600; ++i) bomb.insert(bomb.end(), &file[first], &file[second]);
  CHECK(afford(bytes_of(bomb)).outcome == Outcome::kRefused);
  bomb[find_marker(bomb, 0xc2) + 4] = 12;  // bits: not native
  CHECK_FALSE(header_of(bomb).native);
  CHECK(afford(bytes_of(bomb)).outcome == Outcome::kRefused);
  // No size, no end, nothing at all.
  for (size_t size = 0; size < file.size(); ++size) afford({file.data(), size});
}

TEST_CASE("jpeg: a region takes memory for itself, and as much as any does") {
  const auto taken = [](int height, int width) {
    const File file = write_jpeg(height, width, JpegOptions());
    Arena arena;
    arena.bytes(1);
    const uint8_t* before = arena.bytes(64);
    REQUIRE(decode(bytes_of(file), header_of(file), {{100, 100, 10, 10}, 3}, arena).verdict.done());
    return arena.bytes(64) - before;
  };
  const ptrdiff_t small = taken(200, 300);
  CHECK(small <= 96 * 1024);
  CHECK(taken(400, 1900) == small);
}

TEST_CASE("jpeg: another image than its header said") {
  const File file = write_jpeg(20, 30, JpegOptions());
  Header header = header_of(file);
  header.height = 40;
  Arena arena;
  CHECK(decode(bytes_of(file), header, {{30, 0, 5, 5}, 3}, arena).verdict.outcome == Outcome::kDeferred);
}

}  // namespace
}  // namespace fastaug::codec
