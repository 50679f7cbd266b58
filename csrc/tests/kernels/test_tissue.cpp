#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/tissue.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::GuardedRows;
using test::Random;
using test::Side;

// OpenCV's, with the table that it makes at run time.
int saturation_by_table(int low, int high) {
  const int scale = high == 0 ? 0 : static_cast<int>(std::nearbyint((255 << 12) / static_cast<double>(high)));
  return ((high - low) * scale + (1 << 11)) >> 12;
}

int gray_by_weights(int r, int g, int b) { return (9798 * r + 19235 * g + 3735 * b + 16384) >> 15; }

TEST_CASE("tissue: every saturation of every instruction set is OpenCV's") {
  // Of each channel as the largest and as the smallest.
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int order = 0; order < 6; ++order) {
      const int most = order % 3, least = (most + 1 + order / 3) % 3, other = 3 - most - least;
      int wrong = 0;
      for (int high = 0; high < 256; ++high) {
        GuardedRows rows(5, high + 1);
        for (int low = 0; low <= high; ++low) {
          rows[most][low] = static_cast<uint8_t>(high);
          rows[least][low] = static_cast<uint8_t>(low);
          rows[other][low] = static_cast<uint8_t>((low + high) / 2);
        }
        TissueSums sums;
        kernels(name)->tissue_row(rows.get_const(), high + 1, 255, 0, rows[3], rows[4], &sums);
        for (int low = 0; low <= high; ++low) {
          wrong += rows[4][low] != saturation_by_table(low, high);
          wrong += cv_saturation(low, high) != saturation_by_table(low, high);
          wrong += rows[3][low] != gray_by_weights(rows[0][low], rows[1][low], rows[2][low]);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("tissue: rows of every width are counted within their buffers, and added to what is there") {
  constexpr int kLimits[][2] = {{220, 20}, {0, 255}, {255, 0}, {127, 128}, {128, 127}};
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(7);
    for (int width = 1; width <= 200; ++width) {
      CAPTURE(width);
      for (const Side side : {Side::kFront, Side::kBack}) {
        GuardedRows rows(5, width, side);
        for (int c = 0; c < 3; ++c) random.fill(rows[c], static_cast<size_t>(width) + kRowPad);
        // Some as bright, and as dark, as pixels are told apart by.
        for (int x = 0; x < width; ++x) {
          const int kind = random.between(0, 3);
          for (int c = 0; c < 3 && kind < 2; ++c) {
            const int v = kind == 0 ? random.between(215, 255) : random.between(0, 25);
            rows[c][x] = static_cast<uint8_t>(v);
          }
        }
        const auto& [white, black] = kLimits[random.next() % std::size(kLimits)];
        TissueSums wanted = {{1, 2, 3}, 4, 5};
        TissueSums sums = wanted;
        std::vector<int> gray, saturation;
        for (int x = 0; x < width; ++x) {
          const int r = rows[0][x], g = rows[1][x], b = rows[2][x];
          const int low = std::min(r, std::min(g, b)), high = std::max(r, std::max(g, b));
          wanted.colour[0] += static_cast<uint64_t>(r);
          wanted.colour[1] += static_cast<uint64_t>(g);
          wanted.colour[2] += static_cast<uint64_t>(b);
          wanted.white += r > white && g > white && b > white ? 1 : 0;
          wanted.black += r < black && g < black && b < black ? 1 : 0;
          gray.push_back(gray_by_weights(r, g, b));
          saturation.push_back(saturation_by_table(low, high));
        }
        kernels(name)->tissue_row(rows.get_const(), width, white, black, rows[3], rows[4], &sums);
        REQUIRE(std::equal(gray.begin(), gray.end(), rows[3]));
        REQUIRE(std::equal(saturation.begin(), saturation.end(), rows[4]));
        for (int c = 0; c < 3; ++c) REQUIRE(sums.colour[c] == wanted.colour[c]);
        REQUIRE(sums.white == wanted.white);
        REQUIRE(sums.black == wanted.black);
        REQUIRE(rows.intact());
      }
    }
  }
}

TEST_CASE("tissue: Laplacians of rows of every width are added up within their buffers") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(8);
    for (int width = 1; width <= 140; ++width) {
      CAPTURE(width);
      for (const Side side : {Side::kFront, Side::kBack}) {
        // Rows with one more sample on either side.
        GuardedRows rows(3, width + 2, side);
        for (int k = 0; k < 3; ++k) random.fill(rows[k], static_cast<size_t>(width) + 2 + kRowPad);
        LaplacianSums wanted = {-9, 7}, sums = wanted;
        for (int x = 1; x <= width; ++x) {
          const int v = rows[0][x] + rows[2][x] + rows[1][x - 1] + rows[1][x + 1] - 4 * rows[1][x];
          wanted.sum += v;
          wanted.squares += static_cast<uint64_t>(v * v);
        }
        kernels(name)->laplacian_row(rows[0] + 1, rows[1] + 1, rows[2] + 1, width, &sums);
        REQUIRE(sums.sum == wanted.sum);
        REQUIRE(sums.squares == wanted.squares);
        REQUIRE(rows.intact());
      }
    }
  }
}

TEST_CASE("tissue: the largest Laplacians of a long row do not overflow") {
  // Black among white, and white among black: 4 * 255 either way.
  constexpr int kWidth = 200000;
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (const int centre : {0, 255}) {
      GuardedRows rows(2, kWidth + 2);
      std::memset(rows[0], 255 - centre, kWidth + 2);
      std::memset(rows[1], centre, kWidth + 2);
      LaplacianSums sums;
      // The neighbours across are as the centre, so that two of four count: 510 each.
      kernels(name)->laplacian_row(rows[0] + 1, rows[1] + 1, rows[0] + 1, kWidth, &sums);
      CHECK(sums.sum == (centre == 0 ? 1 : -1) * int64_t{510} * kWidth);
      CHECK(sums.squares == uint64_t{510} * 510 * kWidth);
      for (int x = 0; x < kWidth + 2; ++x) rows[1][x] = static_cast<uint8_t>(x % 2 == 0 ? 255 : 0);
      std::vector<uint8_t> outer(kWidth + 2 + kRowPad);
      for (int x = 0; x < kWidth + 2; ++x) outer[static_cast<size_t>(x)] = static_cast<uint8_t>(x % 2 == 0 ? 0 : 255);
      sums = {};
      kernels(name)->laplacian_row(outer.data() + 1, rows[1] + 1, outer.data() + 1, kWidth, &sums);
      CHECK(sums.sum == 0);
      CHECK(sums.squares == uint64_t{1020} * 1020 * kWidth);
    }
  }
}

}  // namespace
}  // namespace fastaug
