// Huffman tables of JPEG and what is decoded with them, and the window that data is read through.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "codec/jpeg_codes.h"
#include "codec/jpeg_window.h"
#include "kernels/kernels.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug::codec::jpeg {
namespace {

using fastaug::test::cases;
using fastaug::test::Random;

// A table whose codes are of any length, and writes them.
struct Table {
  CodeLengths lengths;
  uint32_t codes[256];
  int sizes[256];  // of the code of each symbol; 0: none
  std::vector<int> symbols;

  // Symbols in random order; `dc` has sizes up to 11 alone.
  Table(bool dc, Random& random) {
    std::vector<int> left;
    for (int symbol = 0; symbol < 256; ++symbol) {
      const bool size = dc ? symbol <= 11 : (symbol & 15) != 0 || symbol == 0 || symbol == 0xf0;
      if (size && (symbol & 15) <= 10 + dc) left.push_back(symbol);
    }
    std::memset(sizes, 0, sizeof sizes);
    uint32_t code = 0;
    for (int length = 1; length <= 16; ++length, code <<= 1) {
      const auto room = static_cast<int>((uint32_t{1} << length) - 1 - code);
      int count = std::min<int>(static_cast<int>(left.size()), random.between(0, std::min(room, length > 8 ? 40 : 3)));
      if (length == 16) count = std::min<int>(static_cast<int>(left.size()), room);
      for (; count > 0; --count) {
        const auto at = static_cast<size_t>(random.between(0, static_cast<int>(left.size()) - 1));
        const int symbol = left[at];
        left.erase(left.begin() + static_cast<ptrdiff_t>(at));
        lengths.symbols[symbols.size()] = static_cast<uint8_t>(symbol);
        ++lengths.counts[length - 1];
        symbols.push_back(symbol);
        codes[symbol] = code++;
        sizes[symbol] = length;
      }
    }
  }
};

class Writer {
 public:
  void put(uint32_t bits, int count) {
    for (int k = count - 1; k >= 0; --k) {
      if (used_ % 8 == 0) bytes.push_back(0);
      bytes.back() = static_cast<uint8_t>(bytes.back() | (bits >> k & 1) << (7 - used_ % 8));
      ++used_;
    }
  }
  void put_value(int value, int size) { put(static_cast<uint32_t>(value < 0 ? value + (1 << size) - 1 : value), size); }
  std::vector<uint8_t> bytes;

 private:
  int used_ = 0;
};

int value_of(int size, Random& random) {
  if (size == 0) return 0;
  const int low = 1 << (size - 1);
  const int value = random.between(low, 2 * low - 1);
  return random.between(0, 1) == 0 ? value : -value;
}

ptrdiff_t bits_read(const JpegScan& scan, const uint8_t* from) { return (scan.next - from) * 8 - scan.count; }

// Zigzag order walks the diagonals, up and down in turn.
std::vector<int> zigzag() {
  std::vector<int> places;
  for (int sum = 0; sum < 15; ++sum) {
    for (int k = 0; k <= sum; ++k) {
      const int y = sum % 2 == 0 ? sum - k : k, x = sum - y;
      if (y < 8 && x < 8) places.push_back(8 * y + x);
    }
  }
  return places;
}

TEST_CASE("jpeg codes: blocks come back as they were written") {
  const std::vector<int> natural = zigzag();
  Random random(1);
  for (int round = 0; round < cases(150); ++round) {
    const Table dc(true, random), ac(false, random);
    JpegCodes codes;
    JpegPairs pairs;
    REQUIRE(make_codes(dc.lengths, true, &codes));
    REQUIRE(make_pairs(ac.lengths, &pairs));
    const int blocks = random.between(1, 40);
    std::vector<int16_t> expected(static_cast<size_t>(blocks) * 64);
    std::vector<int> last;
    Writer writer;
    int predictor = 0;
    for (int b = 0; b < blocks; ++b) {
      int16_t* block = expected.data() + 64 * b;
      const int size = dc.symbols[static_cast<size_t>(random.between(0, static_cast<int>(dc.symbols.size()) - 1))];
      const int difference = value_of(size, random);
      if (std::abs(predictor + difference) > 32000) {
        predictor = 0;
        break;
      }
      writer.put(dc.codes[size], dc.sizes[size]);
      writer.put_value(difference, size);
      block[0] = static_cast<int16_t>(predictor += difference);
      int place = 0;
      const int most = random.between(0, 3) == 0 ? 63 : random.between(0, 63);
      while (place < most) {
        const int symbol = ac.symbols[static_cast<size_t>(random.between(0, static_cast<int>(ac.symbols.size()) - 1))];
        const int run = symbol >> 4, value = value_of(symbol & 15, random);
        if (symbol == 0 || place + run + 1 > 63) break;
        writer.put(ac.codes[symbol], ac.sizes[symbol]);
        writer.put_value(value, symbol & 15);
        place += run + 1;
        block[natural[static_cast<size_t>(place)]] = static_cast<int16_t>(value);
      }
      if (place < 63) {
        if (ac.sizes[0] == 0) {
          last.clear();
          break;
        }
        writer.put(ac.codes[0], ac.sizes[0]);
      }
      last.push_back(place);
    }
    const int whole = static_cast<int>(last.size());
    for (const char* isa : available_isas()) {
      CAPTURE(isa);
      std::vector<uint8_t> data = writer.bytes;
      data.resize(data.size() + kJpegPad);
      std::vector<int16_t> coefs(static_cast<size_t>(blocks + 1) * 64);
      std::vector<uint8_t> ends(static_cast<size_t>(blocks));
      JpegScan scan{};
      scan.next = data.data();
      scan.blocks = 1;
      scan.block[0] = {&codes, &pairs, 0, coefs.data(), ends.data(), 1};
      JpegScan other = scan;
      const uint8_t* limit = data.data() + data.size() - kJpegPad + 8;
      REQUIRE(kernels(isa)->jpeg_blocks(&scan, whole, limit) == whole);
      REQUIRE(kernels(isa)->jpeg_skip(&other, whole, limit) == whole);
      CHECK(bits_read(scan, data.data()) == bits_read(other, data.data()));
      CHECK(scan.predictors[0] == other.predictors[0]);
      CHECK((scan.range >> 16) == 0);
      if (whole > 0) REQUIRE(std::memcmp(coefs.data(), expected.data(), static_cast<size_t>(whole) * 128) == 0);
      for (int b = 0; b < whole; ++b) CHECK(ends[static_cast<size_t>(b)] >= last[static_cast<size_t>(b)]);
    }
  }
}

TEST_CASE("jpeg codes: any bits do the same with every instruction set, and nothing beside them") {
  Random random(2);
  int broken = 0;
  for (int round = 0; round < cases(400); ++round) {
    const Table dc(true, random), ac(false, random);
    JpegCodes codes;
    JpegPairs pairs;
    REQUIRE(make_codes(dc.lengths, true, &codes));
    REQUIRE(make_pairs(ac.lengths, &pairs));
    const size_t size = static_cast<size_t>(random.between(0, 600));
    fastaug::test::Guarded data(size + kJpegPad);
    random.fill(data.data(), data.size());
    JpegScan first{};
    int first_done = 0;
    std::vector<int16_t> first_coefs;
    for (const char* isa : available_isas()) {
      CAPTURE(isa);
      fastaug::test::Guarded coefs(50 * 128 + 2);
      std::memset(coefs.data(), 0, coefs.size());
      uint8_t ends[50];
      JpegScan scan{};
      scan.next = data.data();
      scan.blocks = 1;
      scan.block[0] = {&codes, &pairs, 0, reinterpret_cast<int16_t*>(coefs.data()), ends, 1};
      const int done = kernels(isa)->jpeg_blocks(&scan, 50, data.data() + size + 8);
      // Without coefficients it ends at the same place.
      JpegScan other{};
      other.next = data.data();
      other.blocks = 1;
      other.block[0] = {&codes, &pairs, 0, nullptr, nullptr, 1};
      const int skipped = kernels(isa)->jpeg_skip(&other, done < 0 ? 50 : done, data.data() + data.size());
      REQUIRE(skipped == done);
      if (done >= 0) REQUIRE(bits_read(other, data.data()) == bits_read(scan, data.data()));
      const auto* begin = reinterpret_cast<const int16_t*>(coefs.data());
      const std::vector<int16_t> all(begin, begin + std::max(done, 0) * 64);
      if (std::strcmp(isa, "scalar") == 0) {
        first = scan;
        first_done = done;
        first_coefs = all;
        broken += done < 0;
      }
      REQUIRE(done == first_done);
      if (done < 0) continue;
      REQUIRE(all == first_coefs);
      CHECK(scan.next == first.next);
      CHECK(scan.count == first.count);
      CHECK(scan.range == first.range);
    }
  }
  CHECK(broken > cases(20));
}

TEST_CASE("jpeg codes: any bits of a progressive scan do the same with every instruction set, kept or not") {
  Random random(4);
  constexpr int kBlocks = 40;
  int broken = 0, sound = 0;
  for (int round = 0; round < cases(1200); ++round) {
    const bool refines = random.between(0, 1) == 0;
    // Runs of blocks and of zeros, and values: of one bit where others are refined, else of a few.
    CodeLengths lengths;
    lengths.defined = true;
    lengths.counts[5] = 60;
    for (int k = 0; k < 60; ++k) {
      const int size = random.between(0, refines ? 1 : 4),
                run = random.between(0, size == 0 ? 15 : random.between(0, 9));
      lengths.symbols[k] = static_cast<uint8_t>(run << 4 | size);
    }
    JpegCodes codes;
    REQUIRE(make_codes(lengths, false, &codes));
    const size_t size = static_cast<size_t>(random.between(0, 900));
    fastaug::test::Guarded data(size + kJpegPad);
    random.fill(data.data(), data.size());
    JpegBand band{};
    band.codes = &codes;
    band.from = random.between(1, 40);
    band.to = random.between(band.from, 63);
    band.low = random.between(0, 5);
    band.refines = refines;
    band.run = random.between(0, 3) == 0 ? static_cast<uint32_t>(random.between(0, 50)) : 0;
    std::vector<int16_t> before(kBlocks * 64);
    std::vector<uint64_t> places_before(kBlocks);
    for (int b = 0; refines && b < kBlocks; ++b) {
      for (int k = band.from; k <= band.to; ++k) {
        if (random.between(0, 2) != 0) continue;
        const int value = (random.between(0, 1) == 0 ? -1 : 1) * random.between(1, 30) * (2 << band.low);
        before[static_cast<size_t>(b * 64 + kJpegZigzag[k])] = static_cast<int16_t>(value);
        places_before[static_cast<size_t>(b)] |= uint64_t{1} << (63 - k);
      }
    }
    int first_done = 0;
    ptrdiff_t first_bits = 0;
    std::vector<int16_t> first_coefs;
    std::vector<uint64_t> first_places;
    for (const char* isa : available_isas()) {
      for (const bool kept : {true, false}) {
        CAPTURE(isa);
        CAPTURE(kept);
        fastaug::test::Guarded coefs(kBlocks * 128), places(kBlocks * 8);
        std::memcpy(coefs.data(), before.data(), coefs.size());
        std::memcpy(places.data(), places_before.data(), places.size());
        JpegBand use = band;
        use.coefs = kept ? reinterpret_cast<int16_t*>(coefs.data()) : nullptr;
        use.places = reinterpret_cast<uint64_t*>(places.data());
        JpegScan scan{};
        scan.next = data.data();
        const int done = kernels(isa)->jpeg_band(&scan, &use, kBlocks, data.data() + size + 8);
        CHECK(places.intact());
        CHECK(coefs.intact());
        const auto* coefs_begin = reinterpret_cast<const int16_t*>(coefs.data());
        const auto* places_begin = reinterpret_cast<const uint64_t*>(places.data());
        const std::vector<int16_t> all(coefs_begin, coefs_begin + std::max(done, 0) * 64);
        const std::vector<uint64_t> found(places_begin, places_begin + std::max(done, 0));
        if (std::strcmp(isa, "scalar") == 0 && kept) {
          first_done = done;
          first_bits = bits_read(scan, data.data());
          first_coefs = all;
          first_places = found;
          broken += done < 0;
          sound += done > 0;
          // What is in its place is not 0, and what is not is.
          for (int b = 0; b < done; ++b) {
            for (int k = band.from; k <= band.to; ++k) {
              const bool there = (found[static_cast<size_t>(b)] >> (63 - k) & 1) != 0;
              REQUIRE(there == (all[static_cast<size_t>(b * 64 + kJpegZigzag[k])] != 0));
            }
          }
        }
        REQUIRE(done == first_done);
        if (done < 0) continue;
        REQUIRE(bits_read(scan, data.data()) == first_bits);
        REQUIRE(found == first_places);
        if (kept) REQUIRE(all == first_coefs);
      }
    }
  }
  CHECK(broken > cases(50));
  CHECK(sound > cases(50));
}

TEST_CASE("jpeg codes: tables that are none") {
  JpegCodes codes;
  CodeLengths lengths;
  CHECK(make_codes(lengths, false, &codes));  // without codes: every bit is wrong
  lengths.counts[0] = 2;                      // 0 and 1: all bits of the second are 1
  CHECK_FALSE(make_codes(lengths, false, &codes));
  lengths.counts[0] = 1;
  lengths.counts[1] = 1;
  CHECK(make_codes(lengths, false, &codes));
  lengths.counts[1] = 2;
  CHECK_FALSE(make_codes(lengths, false, &codes));
  lengths = {};
  lengths.counts[7] = 255;
  CHECK(make_codes(lengths, false, &codes));
  lengths.counts[8] = 2;
  CHECK_FALSE(make_codes(lengths, false, &codes));
  lengths = {};
  lengths.counts[3] = 1;
  lengths.symbols[0] = 16;
  CHECK(make_codes(lengths, false, &codes));
  CHECK_FALSE(make_codes(lengths, true, &codes));
}

TEST_CASE("jpeg window: data without what is stuffed into it, to the next marker") {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const int size = random.between(0, 1) == 0 ? random.between(0, 200) : random.between(30000, 140000);
    std::vector<uint8_t> plain(static_cast<size_t>(size)), stuffed;
    random.fill(plain.data(), plain.size());
    const int often = random.between(1, 300);
    for (uint8_t& byte : plain) {
      if (random.between(0, often) == 0) byte = 0xff;
      stuffed.push_back(byte);
      if (byte == 0xff) stuffed.push_back(0);
    }
    const int kind = random.between(0, 2);
    if (kind < 2) stuffed.insert(stuffed.end(), {0xff, static_cast<uint8_t>(kind == 0 ? 0xd9 : 0xff)});
    Arena arena;
    Window window({stuffed.data(), stuffed.size()}, 0, arena);
    JpegScan scan{};
    window.begin(&scan);
    std::vector<uint8_t> seen;
    for (;;) {
      const bool ended = window.ended();
      const ptrdiff_t bytes = ended ? window.left(scan) / 8 : window.limit() - scan.next;
      REQUIRE(bytes >= 0);
      seen.insert(seen.end(), scan.next, scan.next + bytes);
      scan.next += bytes;
      if (ended) break;
      window.fill(&scan);
    }
    REQUIRE(seen == plain);
    CHECK(window.left(scan) == 0);
    CHECK(window.is_next(0xd9, &scan) == (kind == 0));
    CHECK_FALSE(window.is_next(0xd0, &scan));
    scan.count = 8;  // a byte of data before the marker
    CHECK_FALSE(window.is_next(0xd9, &scan));
    scan.count = -1;
    CHECK_FALSE(window.is_next(0xd9, &scan));
  }
}

}  // namespace
}  // namespace fastaug::codec::jpeg
