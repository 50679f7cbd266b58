// PNG files: pixels, whole and by region, and what is left to Pillow.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "tests/support/png_file.h"

namespace fastaug {
namespace {

using codec::Bytes;
using codec::Decoded;
using codec::Header;
using codec::Outcome;
using codec::Verdict;
using test::Guarded;
using test::GuardedFile;
using test::PngFile;
using test::Random;

Region whole(const PngFile& file) { return {0, 0, file.height, file.width}; }

Region some_region(const PngFile& file, Random& random) {
  Region region;
  region.height = random.between(1, file.height);
  region.width = random.between(1, file.width);
  region.y = random.between(0, file.height - region.height);
  region.x = random.between(0, file.width - region.width);
  return region;
}

bool holds(const Region& outer, const Region& inner) {
  return outer.y <= inner.y && outer.x <= inner.x && outer.y + outer.height >= inner.y + inner.height &&
         outer.x + outer.width >= inner.x + inner.width;
}

// True if the region was decoded, and to the right pixels.
bool right(const PngFile& file, const Decoded& decoded, const Region& region, int channels) {
  const View& view = decoded.view;
  bool same = decoded.verdict.done() && holds(decoded.region, region) && holds(whole(file), decoded.region) &&
              view.height == file.height && view.width == file.width && view.channels == channels;
  for (int y = region.y; same && y < region.y + region.height; ++y)
    for (int x = region.x; x < region.x + region.width; ++x)
      for (int c = 0; c < channels; ++c) same &= *view.at(y, x, c) == file.converted(y, x, c, channels);
  return same;
}

bool decodes(const PngFile& file, const std::string& bytes, const Region& region) {
  const GuardedFile guarded(bytes);
  const Header header = codec::read_header(guarded.bytes());
  if (!header.native) return false;
  Arena arena;
  const Decoded decoded = codec::decode(guarded.bytes(), header, {region, file.channels}, arena);
  CHECK((!decoded.verdict.done() || right(file, decoded, region, file.channels)));
  return decoded.verdict.done();
}

bool decodes(const PngFile& file) { return decodes(file, file.bytes(), whole(file)); }

PngFile some_file(Random& random, int trial, int channels, int bits = 8) {
  PngFile file(random.between(1, 70), trial < 30 ? trial + 1 : random.between(30, 120), channels, bits, random);
  file.level = random.between(0, 12);
  file.pieces = random.between(1, 5);
  return file;
}

std::vector<uint8_t> some_bytes(Random& random, int count) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.between(0, 255));
  return bytes;
}

struct Kind {
  int channels = 1;
  int bits = 8;
  bool indexed = false;
  bool alphas = false;
};

constexpr Kind kKinds[] = {
    {1, 1},
    {1, 2},
    {1, 4},
    {1, 8},
    {1, 16},
    {2, 8},
    {2, 16},
    {3, 8},
    {3, 16},
    {4, 8},
    {4, 16},
    {1, 1, true},
    {1, 2, true},
    {1, 4, true},
    {1, 8, true},
    {1, 1, true, true},
    {1, 2, true, true},
    {1, 4, true, true},
    {1, 8, true, true},
};

// A palette may have fewer entries than indices, or more.
PngFile some_file(Random& random, int trial, const Kind& kind) {
  PngFile file = some_file(random, trial, kind.channels, kind.bits);
  if (kind.indexed) file.colours = some_bytes(random, 3 * random.between(1, trial % 2 == 0 ? 256 : 1 << kind.bits));
  if (kind.alphas) file.alphas = some_bytes(random, random.between(1, 256));
  return file;
}

bool makes(const Kind& kind, int channels) {
  return kind.alphas ? channels % 2 == 0 : channels >= (kind.channels <= 2 ? 1 : 3);
}

TEST_CASE("pixels come out whole, by region and converted") {
  Random random(1);
  for (const Kind& kind : kKinds) {
    const int channels = kind.channels;
    CAPTURE(channels);
    CAPTURE(kind.bits);
    CAPTURE(kind.indexed);
    for (int trial = 0; trial < 60; ++trial) {
      const PngFile file = some_file(random, trial, kind);
      const GuardedFile guarded(file.bytes());
      const Header header = codec::read_header(guarded.bytes());
      REQUIRE(header.native);
      REQUIRE(header.format == codec::Format::kPng);
      REQUIRE(header.height == file.height);
      REQUIRE(header.width == file.width);
      REQUIRE(header.channels == channels);
      REQUIRE(header.bits == kind.bits);
      REQUIRE((header.palette != codec::Palette::kNone) == kind.indexed);
      REQUIRE((header.palette == codec::Palette::kAlpha) == kind.alphas);
      REQUIRE(header.orientation == 1);
      Arena arena;
      for (int to = 0; to <= 5; ++to) {
        CAPTURE(to);
        REQUIRE(codec::converts(header, to) == (to >= 1 && to <= 4 && makes(kind, to)));
        if (!codec::converts(header, to)) {
          CHECK_FALSE(codec::decode(guarded.bytes(), header, {whole(file), to}, arena).verdict.done());
          continue;
        }
        for (const Region& region : {whole(file), some_region(file, random)}) {
          const Decoded decoded = codec::decode(guarded.bytes(), header, {region, to}, arena);
          REQUIRE(right(file, decoded, region, to));
          REQUIRE(holds(codec::decoded_region(header, region), region));
          const ptrdiff_t stride = decoded.view.pixel_stride;
          REQUIRE((stride == to || (to == 3 && stride == 4)));
          REQUIRE(stride == codec::pixel_stride(header, to));
        }
      }
    }
  }
}

TEST_CASE("pixels go straight into memory, and beside them nothing is written") {
  Random random(2);
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.channels);
    CAPTURE(kind.bits);
    CAPTURE(kind.indexed);
    for (int trial = 0; trial < 50; ++trial) {
      const PngFile file = some_file(random, trial, kind);
      const GuardedFile guarded(file.bytes());
      const Header header = codec::read_header(guarded.bytes());
      for (int to = 1; to <= 4; ++to) {
        if (!makes(kind, to)) continue;
        const int stored = to == 3 && random.between(0, 1) == 1 ? 4 : to;
        const ptrdiff_t used = ptrdiff_t{stored} * file.width;
        const ptrdiff_t row = used + random.between(0, 9);
        Guarded memory(static_cast<size_t>(row * (file.height - 1) + used));
        std::memset(memory.data(), 0x5a, memory.size());
        const Target target = {memory.data(), DType::kUint8, file.height, file.width, to, row, stored, 1, stored != to};
        Arena arena;
        REQUIRE(codec::decode_into(guarded.bytes(), header, target, arena).done());
        bool same = memory.intact();
        for (int y = 0; y < file.height; ++y) {
          const uint8_t* at = memory.data() + y * row;
          for (int x = 0; x < file.width; ++x) {
            for (int c = 0; c < to; ++c) same &= at[x * stored + c] == file.converted(y, x, c, to);
            if (stored != to) same &= at[x * stored + 3] == 255;
          }
          for (ptrdiff_t i = used; i < row && y + 1 < file.height; ++i) same &= at[i] == 0x5a;
        }
        REQUIRE(same);
      }
    }
  }
}

TEST_CASE("sixteen bits stay sixteen bits") {
  Random random(3);
  for (int channels = 1; channels <= 4; ++channels) {
    for (int trial = 0; trial < 40; ++trial) {
      const PngFile file = some_file(random, trial, channels, 16);
      const GuardedFile guarded(file.bytes());
      const Header header = codec::read_header(guarded.bytes());
      REQUIRE(header.native);
      REQUIRE(header.bits == 16);
      Arena arena;
      const Region region = some_region(file, random);
      const Decoded decoded = codec::decode_16(guarded.bytes(), header, region, arena);
      REQUIRE(decoded.verdict.done());
      bool same = decoded.view.channels == channels;
      for (int y = region.y; y < region.y + region.height; ++y) {
        for (int x = region.x; x < region.x + region.width; ++x) {
          for (int c = 0; c < channels; ++c) {
            uint16_t sample;
            std::memcpy(&sample, decoded.view.at(y, x, c), sizeof sample);
            same &= sample == file.sample(y, x, c);
          }
        }
      }
      REQUIRE(same);
    }
  }
}

TEST_CASE("indices and bits come out as they are stored") {
  Random random(8);
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.channels);
    CAPTURE(kind.bits);
    CAPTURE(kind.indexed);
    for (int trial = 0; trial < 40; ++trial) {
      const PngFile file = some_file(random, trial, kind);
      const GuardedFile guarded(file.bytes());
      const Header header = codec::stored_of(codec::read_header(guarded.bytes()));
      const std::string mode = codec::mode_of(header);
      REQUIRE(header.native == (kind.indexed || (kind.channels == 1 && kind.bits == 1)));
      REQUIRE(header.native == (mode == "P" || mode == "1"));
      Arena arena;
      const Region region = some_region(file, random);
      const Decoded decoded = codec::decode(guarded.bytes(), header, {region, 1}, arena);
      REQUIRE(decoded.verdict.done() == header.native);
      if (!header.native) break;
      CHECK_FALSE(codec::converts(header, 3));
      CHECK_FALSE(codec::decode(guarded.bytes(), header, {region, 2}, arena).verdict.done());
      CHECK_FALSE(codec::decode_16(guarded.bytes(), header, region, arena).verdict.done());
      bool same = decoded.view.channels == 1;
      for (int y = region.y; y < region.y + region.height; ++y)
        for (int x = region.x; x < region.x + region.width; ++x)
          same &= *decoded.view.at(y, x, 0) == file.sample(y, x, 0);
      REQUIRE(same);
      Guarded memory(static_cast<size_t>(file.height) * static_cast<size_t>(file.width));
      const Target target = {memory.data(), DType::kUint8, file.height, file.width, 1, file.width, 1, 1, false};
      REQUIRE(codec::decode_into(guarded.bytes(), header, target, arena).done());
      for (int y = 0; y < file.height; ++y)
        for (int x = 0; x < file.width; ++x) same &= memory.data()[y * file.width + x] == file.sample(y, x, 0);
      REQUIRE(same);
      REQUIRE(memory.intact());
    }
  }
}

TEST_CASE("a palette comes once, whole and before the pixels, or the file is left to Pillow") {
  Random random(9);
  PngFile good(20, 20, 1, 4, random);
  good.colours = some_bytes(random, 48);
  const auto native = [](const PngFile& file) { return codec::read_header(GuardedFile(file.bytes()).bytes()).native; };
  REQUIRE(native(good));
  for (int size = 1; size <= 800; ++size) {
    PngFile file = good;
    file.colours = some_bytes(random, size);
    CHECK(native(file) == (size % 3 == 0 && size <= 768));
    file.colours = good.colours;
    file.alphas = some_bytes(random, size);
    CHECK(native(file) == (size <= 256));
  }
  const auto refused = [&](auto change) {
    PngFile file = good;
    change(file);
    return !native(file);
  };
  const std::string palette = PngFile::chunk("PLTE", std::string(48, '\1'));
  const std::string alphas = PngFile::chunk("tRNS", "ab");
  CHECK(refused([&](PngFile& f) { f.before = palette; }));
  CHECK(refused([&](PngFile& f) { f.behind = palette; }));
  CHECK(refused([&](PngFile& f) { f.behind = alphas; }));
  CHECK(refused([&](PngFile& f) { f.before = alphas + alphas; }));
  CHECK_FALSE(refused([&](PngFile& f) { f.before = alphas; }));
  CHECK_FALSE(refused([&](PngFile& f) { f.behind = PngFile::chunk("tEXt", "date:create"); }));
  CHECK(refused([](PngFile& f) {
    f.colours.clear();
    f.colour = 3;
  }));
  for (const int bits : {3, 16}) {
    CHECK(refused([&](PngFile& f) {
      f.bits = bits;
      f.samples.resize(f.row() * 20);
    }));
  }
  // Of colours and gray they are no palette, and transparent colours are Pillow's.
  PngFile colours(20, 20, 3, 8, random);
  colours.before = palette;
  colours.behind = palette;
  CHECK(native(colours));
  colours.before += alphas;
  CHECK_FALSE(native(colours));
}

TEST_CASE("alphas that Pillow takes for a single transparent entry lose a line feed behind them") {
  Random random(10);
  PngFile file(20, 60, 1, 2, random);
  file.colours = some_bytes(random, 12);
  struct Alphas {
    std::vector<uint8_t> stored;
    int third;  // the alpha of index 2
  };
  for (const Alphas& alphas : {Alphas{{255, 0, 10}, 255}, Alphas{{0, 0, 10}, 10}, Alphas{{255, 255, 10}, 10},
                               Alphas{{0, 255, 10}, 255}, Alphas{{7, 0, 10}, 10}, Alphas{{0, 10, 10}, 10}}) {
    file.alphas = alphas.stored;
    const GuardedFile guarded(file.bytes());
    Arena arena;
    const Decoded decoded =
        codec::decode(guarded.bytes(), codec::read_header(guarded.bytes()), {whole(file), 4}, arena);
    REQUIRE(decoded.verdict.done());
    bool found = false, same = true;
    for (int y = 0; y < file.height; ++y) {
      for (int x = 0; x < file.width; ++x) {
        if (file.sample(y, x, 0) != 2) continue;
        found = true;
        same &= *decoded.view.at(y, x, 3) == alphas.third;
      }
    }
    CHECK(found);
    CHECK(same);
  }
}

TEST_CASE("rows behind a region are not inflated, however the file was compressed") {
  Random random(4);
  for (int level = 0; level <= 12; ++level) {
    CAPTURE(level);
    PngFile file(600, 200, 3, 8, random);  // stored, in several blocks
    file.level = level;
    file.pieces = 3;
    std::string bytes = file.bytes();
    bytes[bytes.size() - 12 - 4 - 1] ^= 1;  // Adler-32, which is the last of the data
    CHECK_FALSE(decodes(file, bytes, whole(file)));
    CHECK_FALSE(decodes(file, bytes, {599, 0, 1, 1}));
    for (int rows : {1, 2, 100, 350}) CHECK(decodes(file, bytes, {rows - 1, 7, 1, 100}));
    const std::string sound = file.bytes();
    for (int trial = 0; trial < 30; ++trial) REQUIRE(decodes(file, sound, some_region(file, random)));
  }
  // Flat images: hundreds of rows from a few bytes, matches of full length.
  PngFile flat(900, 64, 1, 8, random);
  std::fill(flat.samples.begin(), flat.samples.end(), uint8_t{7});
  flat.filters = {0};
  for (int y = 0; y < flat.height; ++y) REQUIRE(decodes(flat, flat.bytes(), {y, 3, 1, 5}));
}

TEST_CASE("a truncated file is noticed, for regions too") {
  Random random(5);
  for (int pieces : {1, 4}) {
    PngFile file(40, 30, 3, 8, random);
    file.pieces = pieces;
    file.behind = PngFile::chunk("tEXt", std::string("key\0text", 8));
    const std::string bytes = file.bytes();
    const size_t pixels_end = bytes.size() - 12 - file.behind.size();
    for (size_t size = 0; size < pixels_end; ++size) {
      REQUIRE_FALSE(decodes(file, bytes.substr(0, size), whole(file)));
      REQUIRE_FALSE(decodes(file, bytes.substr(0, size), {0, 0, 1, 1}));
    }
    CHECK(decodes(file, bytes.substr(0, pixels_end), {0, 0, 1, 1}));  // no IEND, which Pillow does not miss
    CHECK_FALSE(decodes(file, bytes.substr(0, pixels_end + 10), whole(file)));
    CHECK(decodes(file, bytes + "more", whole(file)));
  }
}

TEST_CASE("a filter that does not exist leaves every region below it to Pillow, and in small files above it too") {
  Random random(5);
  for (const bool large : {false, true}) {
    for (const int channels : {1, 3}) {
      const PngFile good(large ? 400 : 40, large ? 300 : 30, channels, 8, random);
      REQUIRE(decodes(good, good.bytes(), whole(good)));
      for (const int row : {0, good.height / 4, good.height - 1}) {
        for (const int type : {5, 255}) {
          PngFile file = good;
          file.filters[static_cast<size_t>(row)] = type;
          const std::string bytes = file.bytes();
          for (const int y : {0, row, file.height - 1}) {
            CAPTURE(row);
            CAPTURE(y);
            CHECK(decodes(file, bytes, {y, 3, 1, 9}) == (large && y < row));
          }
          CHECK_FALSE(decodes(file, bytes, whole(file)));
        }
      }
    }
  }
}

TEST_CASE("a file ends behind the checksum of its IEND") {
  Random random(7);
  PngFile file(20, 20, 3, 8, random);
  file.before = PngFile::chunk("tEXt", "IEND IEND");
  const std::string bytes = file.bytes();
  const auto end_of = [](const std::string& some) { return codec::image_end(GuardedFile(some).bytes()); };
  CHECK(end_of(bytes) == bytes.size());
  CHECK(end_of(bytes + "more" + bytes) == bytes.size());
  for (size_t size = 8; size < bytes.size(); ++size) CHECK(end_of(bytes.substr(0, size)) == codec::kNoEnd);
}

TEST_CASE("what Pillow sees differently, or might, is left to it") {
  Random random(6);
  const PngFile good(20, 20, 3, 8, random);
  REQUIRE(decodes(good));
  const auto refused = [&](auto change) {
    PngFile file = good;
    change(file);
    return !decodes(file);
  };
  CHECK(refused([](PngFile& f) { f.colour = 3; }));
  CHECK(refused([](PngFile& f) { f.colour = 1; }));
  CHECK(refused([](PngFile& f) { f.interlaced = 1; }));
  CHECK(refused([](PngFile& f) { f.filters[7] = 5; }));
  CHECK(refused([](PngFile& f) { f.cut_rows = 1; }));
  CHECK(refused([](PngFile& f) { f.extra_rows = "x"; }));
  CHECK(refused([](PngFile& f) {
    f.between = PngFile::chunk("tEXt", "a");
    f.pieces = 2;
  }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("ABCD", ""); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("tRNS", std::string(6, '\0')); }));
  CHECK(refused([](PngFile& f) { f.behind = PngFile::chunk("tRNS", std::string(6, '\0')); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("acTL", std::string("\0\0\0\1\0\0\0\0", 8)); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("IHDR", std::string(13, '\1')); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("IEND", ""); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("gAMA", "abc"); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("tEXt", std::string("interlace\0001", 11)); }));
  CHECK(refused([](PngFile& f) { f.before = PngFile::chunk("iCCP", std::string("a\0\1x", 4)); }));
  const std::string bomb = PngFile::packed(std::string(3 << 20, 'x'), 9);
  CHECK(refused([&](PngFile& f) { f.before = PngFile::chunk("zTXt", std::string("a\0\0", 3) + bomb); }));
  CHECK(refused([](PngFile& f) {
    f.before = PngFile::chunk("gAMA", "abcd");
    f.before.back() ^= 1;
  }));

  CHECK_FALSE(refused([](PngFile& f) { f.trailing = "more"; }));
  CHECK_FALSE(refused([](PngFile& f) { f.before = PngFile::chunk("gAMA", "abcd") + PngFile::chunk("vpAg", ""); }));
  CHECK_FALSE(refused([](PngFile& f) { f.behind = PngFile::chunk("tEXt", "date:create"); }));
  const std::string profile = PngFile::packed(std::string(9000, 'x'), 0);
  CHECK_FALSE(refused([&](PngFile& f) { f.before = PngFile::chunk("iCCP", std::string("a\0\0", 3) + profile); }));
  // The checksum of IDAT, which Pillow does not compute.
  std::string bytes = good.bytes();
  bytes[bytes.size() - 13] ^= 1;
  CHECK(decodes(good, bytes, whole(good)));
  bytes = good.bytes();
  bytes[8 + 8 + 13] ^= 1;  // that of IHDR
  CHECK_FALSE(decodes(good, bytes, whole(good)));
}

TEST_CASE("sizes that the data cannot reach are not believed") {
  PngFile file;
  file.samples.resize(3);
  std::string bytes = file.bytes();
  for (const char* size : {"\x7f\xff\xff\xff", "\0\1\0\0", "\xff\xff\xff\xff", "\0\0\0\0"}) {
    for (const size_t field : {16, 20}) {
      std::string changed = bytes;
      changed.replace(field, 4, size, 4);
      changed.replace(29, 4, PngFile::number(libdeflate_crc32(0, changed.data() + 12, 17)));
      CHECK_FALSE(codec::read_header({reinterpret_cast<const uint8_t*>(changed.data()), changed.size()}).native);
    }
  }
}

std::string exif(bool big, int tag, int type, int count, int value) {
  const auto number = [&](int v, int size) {
    std::string bytes;
    for (int k = 0; k < size; ++k) bytes += static_cast<char>(v >> 8 * (big ? size - 1 - k : k) & 255);
    return bytes;
  };
  return (big ? std::string("MM\0*", 4) : std::string("II*\0", 4)) + number(8, 4) + number(1, 2) + number(tag, 2) +
         number(type, 2) + number(count, 4) + number(value, type == 3 ? 2 : 4) + std::string(6, '\0');
}

// 0 when the file is left to Pillow.
int orientation(const std::string& chunks, bool behind) {
  Random random(7);
  PngFile file(3, 3, 1, 8, random);
  (behind ? file.behind : file.before) = chunks;
  const GuardedFile guarded(file.bytes());
  const Header header = codec::read_header(guarded.bytes());
  return header.native ? header.orientation : 0;
}

TEST_CASE("orientation is that of Exif, else that of XMP") {
  const auto xmp = [](const std::string& text) {
    return PngFile::chunk("iTXt", std::string("XML:com.adobe.xmp\0\0\0\0\0", 22) + text);
  };
  for (const bool behind : {false, true}) {
    for (const bool big : {false, true}) {
      for (int value = 1; value <= 8; ++value) {
        CHECK(orientation(PngFile::chunk("eXIf", exif(big, 0x112, 3, 1, value)), behind) == value);
      }
      CHECK(orientation(PngFile::chunk("eXIf", exif(big, 0x112, 3, 1, 9)), behind) == 1);
      CHECK(orientation(PngFile::chunk("eXIf", exif(big, 0x10f, 3, 1, 6)), behind) == 1);
      const std::string data = exif(big, 0x112, 3, 1, 6);
      CHECK(orientation(PngFile::chunk("eXIf", data.substr(0, 7)), behind) == 0);
      const std::string six = PngFile::chunk("eXIf", data);
      CHECK(orientation(six + PngFile::chunk("eXIf", exif(big, 0x112, 3, 1, 3)), behind) == 3);
      CHECK(orientation(six + xmp("tiff:Orientation=\"8\""), behind) == 6);
    }
    CHECK(orientation(xmp("tiff:Orientation=8 <tiff:Orientation>5<"), behind) == 5);
    CHECK(orientation(xmp("tiff:Orientation=\""), behind) == 1);
    CHECK(orientation(xmp("tiff:Orientation=\"0\""), behind) == 1);
  }
}

}  // namespace
}  // namespace fastaug
