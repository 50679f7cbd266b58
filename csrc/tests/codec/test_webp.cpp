// WebP files: pixels, whole and by region, and what is left to Pillow.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "codec/codec.h"
#include "tests/support/png_file.h"
#include "tests/support/webp_file.h"

namespace fastaug {
namespace {

using codec::Decoded;
using codec::Header;
using codec::Verdict;
using test::Guarded;
using test::GuardedFile;
using test::LosslessWebp;
using test::LossyWebp;
using test::Random;
using test::riff;

bool decodes_webp() { return std::string(codec::webp_decoder()) != "Pillow"; }

Header header_of(const std::string& file) { return codec::read_header(GuardedFile(file).bytes()); }

Region some_region(const Header& header, Random& random) {
  Region region;
  region.height = random.between(1, header.height);
  region.width = random.between(1, header.width);
  region.y = random.between(0, header.height - region.height);
  region.x = random.between(0, header.width - region.width);
  return region;
}

bool holds(const Region& outer, const Region& inner) {
  return outer.y <= inner.y && outer.x <= inner.x && outer.y + outer.height >= inner.y + inner.height &&
         outer.x + outer.width >= inner.x + inner.width;
}

// True if both were decoded, and show the same.
bool same(const Decoded& a, const Decoded& b, const Region& region) {
  if (!a.verdict.done() || !b.verdict.done() || !holds(a.region, region) || !holds(b.region, region)) return false;
  bool equal = true;
  for (int y = region.y; y < region.y + region.height; ++y)
    for (int x = region.x; x < region.x + region.width; ++x)
      for (int c = 0; c < a.view.channels; ++c) equal &= *a.view.at(y, x, c) == *b.view.at(y, x, c);
  return equal;
}

// Regions of a file are parts of the whole, and so is what goes straight into memory.
void check_file(const std::string& file, Random& random, int regions) {
  const GuardedFile guarded(file);
  const Header header = codec::read_header(guarded.bytes());
  REQUIRE(header.native);
  const Region all = {0, 0, header.height, header.width};
  for (const int channels : {3, 4}) {
    CAPTURE(channels);
    Arena arena;
    const Decoded whole = codec::decode(guarded.bytes(), header, {all, channels}, arena);
    REQUIRE(whole.verdict.done());
    REQUIRE(whole.view.pixel_stride == codec::pixel_stride(header, channels));
    for (int k = 0; k < regions; ++k) {
      const Region region = some_region(header, random);
      CAPTURE(region.y);
      CAPTURE(region.x);
      CAPTURE(region.height);
      CAPTURE(region.width);
      Arena own;
      REQUIRE(same(whole, codec::decode(guarded.bytes(), header, {region, channels}, own), region));
      REQUIRE(holds(codec::decoded_region(header, region), region));
    }
    const int stored = channels == 3 && random.between(0, 1) == 1 ? 4 : channels;
    const ptrdiff_t used = ptrdiff_t{stored} * header.width;
    const ptrdiff_t row = used + random.between(0, 9);
    Guarded memory(static_cast<size_t>(row * (header.height - 1) + used));
    std::memset(memory.data(), 0x5a, memory.size());
    const Target target = {memory.data(),     DType::kUint8, header.height, header.width, channels, row, stored, 1,
                           stored != channels};
    REQUIRE(codec::decode_into(guarded.bytes(), header, target, arena).done());
    bool right = memory.intact();
    for (int y = 0; y < header.height; ++y) {
      const uint8_t* at = memory.data() + y * row;
      for (int x = 0; x < header.width; ++x) {
        for (int c = 0; c < channels; ++c) right &= at[x * stored + c] == *whole.view.at(y, x, c);
        if (stored != channels) right &= at[x * stored + 3] == 255;
      }
      for (ptrdiff_t i = used; i < row && y + 1 < header.height; ++i) right &= at[i] == 0x5a;
    }
    REQUIRE(right);
  }
}

TEST_CASE("webp: lossless pixels come out as they were written") {
  if (!decodes_webp()) return;
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    const bool alpha = trial % 2 == 1;
    const LosslessWebp file(random.between(1, 50), trial < 30 ? trial + 1 : random.between(30, 90), alpha, random);
    const GuardedFile guarded(file.bytes());
    const Header header = codec::read_header(guarded.bytes());
    REQUIRE(header.native);
    REQUIRE(header.format == codec::Format::kWebp);
    REQUIRE(header.height == file.height);
    REQUIRE(header.width == file.width);
    REQUIRE(header.channels == (alpha ? 4 : 3));
    REQUIRE(header.bits == 8);
    REQUIRE(header.orientation == 1);
    Arena arena;
    for (const int channels : {3, 4}) {
      const Region all = {0, 0, file.height, file.width};
      const Decoded decoded = codec::decode(guarded.bytes(), header, {all, channels}, arena);
      REQUIRE(decoded.verdict.done());
      bool right = true;
      for (int y = 0; y < file.height; ++y)
        for (int x = 0; x < file.width; ++x)
          for (int c = 0; c < channels; ++c) right &= *decoded.view.at(y, x, c) == file.converted(y, x, c);
      REQUIRE(right);
    }
    for (const int channels : {1, 2}) {
      CHECK_FALSE(codec::decode(guarded.bytes(), header, {{0, 0, 1, 1}, channels}, arena).verdict.done());
    }
    check_file(file.bytes(), random, 5);
  }
}

TEST_CASE("webp: regions of lossy pictures are parts of the whole") {
  if (!decodes_webp()) return;
  Random random(2);
  for (int trial = 0; trial < 120; ++trial) {
    LossyWebp file(random.between(1, 60), trial < 40 ? trial + 1 : random.between(20, 90), random);
    file.profile = random.between(0, 3);
    CAPTURE(trial);
    check_file(file.bytes(), random, 12);
    file.add_alpha(trial % 4, random);
    check_file(file.bytes(), random, 12);
  }
}

TEST_CASE("webp: what Pillow sees differently, or might, is left to it") {
  if (!decodes_webp()) return;
  Random random(3);
  LossyWebp lossy(20, 30, random);
  const LosslessWebp lossless(20, 30, false, random);
  const LosslessWebp clear(20, 30, true, random);
  const auto extended = [&](uint32_t flags, const std::string& chunks) {
    return riff(test::vp8x(20, 30, flags) + chunks);
  };
  const auto native = [&](const std::string& file) { return header_of(file).native; };
  const std::string image = lossy.chunk();
  lossy.add_alpha(0, random);
  const std::string alpha = test::riff_chunk("ALPH", lossy.alpha);
  const std::string other = test::riff_chunk("what", "ever");

  CHECK(native(riff(image)));
  CHECK(native(extended(0, image)));
  CHECK(native(extended(0, other + image + other)));
  CHECK(native(extended(0, lossless.chunk())));
  CHECK(native(extended(0x10, clear.chunk())));
  CHECK(native(extended(0x10, alpha + image)));
  CHECK(native(riff(image) + "more"));

  CHECK_FALSE(native(riff("")));
  CHECK_FALSE(native(riff(alpha + image)));
  CHECK_FALSE(native(riff(image + other)));
  CHECK_FALSE(native(riff(other + image)));
  CHECK_FALSE(native(riff(image + image)));
  CHECK_FALSE(native(extended(0, other)));
  CHECK_FALSE(native(extended(0, image + image)));
  CHECK_FALSE(native(extended(0, alpha + image)));
  CHECK_FALSE(native(extended(0x10, image)));
  CHECK_FALSE(native(extended(0x10, lossless.chunk())));
  CHECK_FALSE(native(extended(0, clear.chunk())));
  CHECK_FALSE(native(extended(0x10, alpha + clear.chunk())));
  CHECK_FALSE(native(extended(0x10, alpha + other + image)));
  CHECK_FALSE(native(extended(0x10, alpha)));
  CHECK_FALSE(native(extended(0x10, test::riff_chunk("ALPH", "") + image)));
  CHECK_FALSE(native(extended(2, image)));
  CHECK_FALSE(native(extended(0x40, image)));
  CHECK_FALSE(native(extended(0, image + test::riff_chunk("ANIM", std::string(6, '\0')))));
  CHECK_FALSE(native(extended(0, test::vp8x(20, 30, 0) + image)));
  CHECK_FALSE(native(riff(test::vp8x(20, 31, 0) + image)));
  CHECK_FALSE(native(riff(test::vp8x(21, 30, 0) + image)));

  const std::string whole = riff(image);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    CHECK_FALSE(native(part));
    // The header says where the image ends.
    CHECK(codec::image_end(GuardedFile(part).bytes()) == (size < 12 ? codec::kNoEnd : whole.size()));
  }
  // 16383x16383 of a few bytes.
  std::string bomb = whole;
  for (const size_t at : {26, 28}) bomb.replace(at, 2, "\xff\x3f");
  CHECK_FALSE(native(bomb));
}

TEST_CASE("webp: data that end too early, or are another file's, are deferred") {
  if (!decodes_webp()) return;
  Random random(4);
  LossyWebp file(40, 50, random);
  const std::string sound = file.bytes();
  Arena arena;
  const auto verdict_of = [&](const std::string& bytes, const Header& header) {
    const Verdict verdict = codec::decode(GuardedFile(bytes).bytes(), header, {{0, 0, 40, 50}, 3}, arena).verdict;
    CHECK((verdict.done() || verdict.outcome == codec::Outcome::kDeferred));
    return verdict;
  };
  CHECK(verdict_of(sound, header_of(sound)).done());
  file.tokens.resize(1);
  const std::string cut = file.bytes();
  REQUIRE(header_of(cut).native);
  CHECK_FALSE(verdict_of(cut, header_of(cut)).done());
  CHECK_FALSE(verdict_of(sound.substr(0, sound.size() - 1), header_of(sound)).done());
  CHECK_FALSE(verdict_of(LossyWebp(40, 51, random).bytes(), header_of(sound)).done());
  CHECK_FALSE(verdict_of(LosslessWebp(40, 50, true, random).bytes(), header_of(sound)).done());
}

TEST_CASE("webp: orientation is that of Exif, else that of XMP, where flags say that there is any") {
  if (!decodes_webp()) return;
  Random random(5);
  const std::string image = LosslessWebp(3, 4, false, random).chunk();
  std::string tiff = "MM" + std::string("\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 20);
  const std::string exif = test::riff_chunk("EXIF", tiff);
  const std::string broken = test::riff_chunk("EXIF", "garbage");
  const std::string xmp = test::riff_chunk("XMP ", "<x tiff:Orientation=\"3\"/>");
  const auto orientation = [&](uint32_t flags, const std::string& behind) {
    const Header header = header_of(riff(test::vp8x(3, 4, flags) + image + behind));
    return header.native ? header.orientation : 0;
  };
  CHECK(orientation(8, exif) == 6);
  CHECK(orientation(0, exif) == 1);
  CHECK(orientation(4, xmp) == 3);
  CHECK(orientation(8, xmp) == 1);
  CHECK(orientation(12, xmp + exif) == 6);
  CHECK(orientation(8, exif + broken) == 6);
  CHECK(orientation(8, broken + exif) == 0);
  CHECK(orientation(0, broken) == 1);
}

}  // namespace
}  // namespace fastaug
