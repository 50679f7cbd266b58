// Undoing PNG's filters, against rows that were filtered here, between inaccessible pages.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

constexpr int kPixels[] = {1, 2, 3, 4, 6, 8};

// The PNG Specification's words: the difference of a sample to what its filter predicts.
uint8_t prediction(int type, int left, int up, int corner) {
  if (type == 1) return static_cast<uint8_t>(left);
  if (type == 2) return static_cast<uint8_t>(up);
  if (type == 3) return static_cast<uint8_t>((left + up) / 2);
  if (type == 0) return 0;
  const int p = left + up - corner;
  const int pa = std::abs(p - left);
  const int pb = std::abs(p - up);
  const int pc = std::abs(p - corner);
  return static_cast<uint8_t>(pa <= pb && pa <= pc ? left : pb <= pc ? up : corner);
}

struct Rows {
  int pixel;
  int count;
  ptrdiff_t size;
  std::vector<uint8_t> plain;     // with the row above the first, if there is one
  std::vector<uint8_t> filtered;  // types and differences
  bool has_above;

  // `types`: one per row.
  Rows(int width, int bytes, bool above, const std::vector<int>& types, Random& random)
      : pixel(bytes), count(static_cast<int>(types.size())), size(ptrdiff_t{width} * bytes), has_above(above) {
    plain.resize(static_cast<size_t>(size * (count + 1)));
    // Steep and flat neighbourhoods, and the extremes.
    const int spread = random.between(0, 2);
    for (uint8_t& v : plain) {
      const int noise = random.between(0, spread == 0 ? 255 : spread == 1 ? 6 : 1);
      v = static_cast<uint8_t>(spread == 2 ? 255 * noise : spread == 1 ? 100 + noise : noise);
    }
    if (!above) std::memset(plain.data(), 0, static_cast<size_t>(size));
    for (int y = 0; y < count; ++y) {
      const uint8_t* row = plain.data() + size * (y + 1);
      const int type = types[static_cast<size_t>(y)];
      filtered.push_back(static_cast<uint8_t>(type));
      for (ptrdiff_t i = 0; i < size; ++i) {
        const int left = i < pixel ? 0 : row[i - pixel];
        const int corner = i < pixel ? 0 : row[i - pixel - size];
        filtered.push_back(static_cast<uint8_t>(row[i] - prediction(type, left, row[i - size], corner)));
      }
    }
  }

  const uint8_t* row(int y) const { return plain.data() + size * (y + 1); }
};

// In place and into rows apart, with nothing readable before or behind.
void check(const Kernels& tested, const Rows& rows, Side side) {
  Guarded source(rows.filtered.size(), side);
  std::memcpy(source.data(), rows.filtered.data(), rows.filtered.size());
  Guarded above(static_cast<size_t>(rows.size), side);
  std::memcpy(above.data(), rows.plain.data(), static_cast<size_t>(rows.size));
  for (const ptrdiff_t gap : {0, 5}) {
    const ptrdiff_t stride = rows.size + gap;
    Guarded target(static_cast<size_t>(stride * (rows.count - 1) + rows.size), side);
    std::memset(target.data(), 0x5a, target.size());
    const FilteredRows args = {
        source.data(), rows.has_above ? above.data() : nullptr, rows.size, rows.pixel, rows.count, target.data(),
        stride};
    REQUIRE(tested.unfilter(args));
    bool same = target.intact() && source.intact();
    for (int y = 0; y < rows.count; ++y) {
      same &= std::memcmp(target.data() + stride * y, rows.row(y), static_cast<size_t>(rows.size)) == 0;
      for (ptrdiff_t i = rows.size; i < stride && y + 1 < rows.count; ++i)
        same &= target.data()[stride * y + i] == 0x5a;
    }
    same &= std::memcmp(source.data(), rows.filtered.data(), rows.filtered.size()) == 0;
    REQUIRE(same);
  }
  const FilteredRows in_place = {
      source.data(), rows.has_above ? above.data() : nullptr, rows.size, rows.pixel, rows.count, source.data() + 1,
      rows.size + 1};
  REQUIRE(tested.unfilter(in_place));
  bool same = source.intact();
  for (int y = 0; y < rows.count; ++y) {
    const uint8_t* got = source.data() + (rows.size + 1) * y;
    same &= got[0] == rows.filtered[static_cast<size_t>((rows.size + 1) * y)];
    same &= std::memcmp(got + 1, rows.row(y), static_cast<size_t>(rows.size)) == 0;
  }
  REQUIRE(same);
}

std::vector<int> some_types(int count, int kind, Random& random) {
  std::vector<int> types;
  for (int y = 0; y < count; ++y) types.push_back(kind < 5 ? kind : kind == 5 ? random.between(0, 4) : 4 * (y % 3 > 0));
  return types;
}

TEST_CASE("filtered rows come back, for every filter, size of pixel and width") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int pixel : kPixels) {
      CAPTURE(pixel);
      for (int kind = 0; kind <= 6; ++kind) {
        CAPTURE(kind);
        for (int trial = 0; trial < 90; ++trial) {
          const int width = trial < 70 ? trial + 1 : random.between(70, 300);
          const int count = random.between(1, 19);
          CAPTURE(width);
          CAPTURE(count);
          const Rows rows(width, pixel, random.between(0, 1) == 1, some_types(count, kind, random), random);
          check(*kernels(name), rows, random.between(0, 1) == 0 ? Side::kFront : Side::kBack);
        }
      }
    }
  }
}

TEST_CASE("Paeth's predictor is right for every left, up and corner") {
  // Pixels (corner, up) above (left, x): four samples wide pixels, so that a row of them tries four at once.
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    constexpr ptrdiff_t kSize = 256 * 8;
    std::vector<uint8_t> filtered(2 * (kSize + 1));
    std::vector<uint8_t> got(2 * kSize);
    bool same = true;
    for (int corner = 0; corner < 256; ++corner) {
      for (int up = 0; up < 256; up += 4) {
        // Row 0 as it is: corner, then up to up + 3; row 1: `left` by a jump from the pixel before, then a zero.
        filtered[0] = 0;
        filtered[kSize + 1] = 4;
        uint8_t* row = filtered.data() + 1;
        uint8_t* below = row + kSize + 1;
        std::vector<uint8_t> wanted(kSize);
        for (int left = 0; left < 256; ++left) {
          for (int c = 0; c < 4; ++c) {
            row[left * 8 + c] = static_cast<uint8_t>(corner);
            row[left * 8 + 4 + c] = static_cast<uint8_t>(up + c);
            const int before = left == 0 ? 0 : wanted[static_cast<size_t>(left * 8 - 4 + c)];
            const int edge = left == 0 ? 0 : row[left * 8 - 4 + c];
            below[left * 8 + c] = static_cast<uint8_t>(left - prediction(4, before, corner, edge));
            below[left * 8 + 4 + c] = 0;
            wanted[static_cast<size_t>(left * 8 + c)] = static_cast<uint8_t>(left);
            wanted[static_cast<size_t>(left * 8 + 4 + c)] = prediction(4, left, up + c, corner);
          }
        }
        same &= tested.unfilter({filtered.data(), nullptr, kSize, 4, 2, got.data(), kSize});
        same &= std::memcmp(got.data() + kSize, wanted.data(), kSize) == 0;
      }
    }
    CHECK(same);
  }
}

TEST_CASE("a filter that does not exist is told") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (int pixel : kPixels) {
      for (int bad = 0; bad < 12; ++bad) {
        Rows rows(40, pixel, false, some_types(12, bad % 5, random), random);
        rows.filtered[static_cast<size_t>((rows.size + 1) * bad)] = static_cast<uint8_t>(random.between(5, 255));
        std::vector<uint8_t> target(static_cast<size_t>(rows.size * rows.count));
        CHECK_FALSE(kernels(name)->unfilter(
            {rows.filtered.data(), nullptr, rows.size, pixel, rows.count, target.data(), rows.size}));
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
