#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

constexpr Side kSides[] = {Side::kFront, Side::kBack};

std::vector<int> widths() {
  std::vector<int> all;
  for (int width = 1; width <= 200; ++width) all.push_back(width);
  for (int width : {255, 256, 257, 1000}) all.push_back(width);
  return all;
}

uint8_t luma(const uint8_t* pixel) {
  return static_cast<uint8_t>((19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 0x8000) >> 16);
}

TEST_CASE("recolour does pixels of every width by the tables of their bytes, and no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int stride = 1; stride <= 4; ++stride) {
      for (int count = 1; count <= stride; ++count) {
        for (int width : widths()) {
          PixelTables tables;
          tables.stride = stride;
          tables.count = count;
          for (int k = 0; k < kMaxChannels; ++k) {
            tables.which[k] = random.between(PixelTables::kFull, count - 1);
            random.fill(tables.table[k], 256);
          }
          CAPTURE(stride);
          CAPTURE(count);
          CAPTURE(width);
          for (Side side : kSides) {
            const auto bytes = static_cast<size_t>(width) * static_cast<size_t>(stride);
            Guarded src(bytes, side);
            Guarded dst(bytes, side);
            random.fill(src.data(), bytes);
            kernels(name)->recolour(tables, src.data(), width, dst.data());
            size_t wrong = 0;
            for (size_t k = 0; k < bytes; ++k) {
              const int which = tables.which[k % static_cast<size_t>(stride)];
              const uint8_t v = src.data()[k];
              const uint8_t want = which == PixelTables::kFull   ? 255
                                   : which == PixelTables::kKept ? v
                                                                 : tables.table[which][v];
              wrong += dst.data()[k] != want ? 1 : 0;
            }
            REQUIRE(wrong == 0);
            REQUIRE(dst.intact());
          }
        }
      }
    }
  }
}

TEST_CASE("recolour takes every threshold and mask for the table that they stand for") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    uint8_t all[256];
    for (int v = 0; v < 256; ++v) all[v] = static_cast<uint8_t>(v);
    for (int threshold = 0; threshold <= 256; ++threshold) {
      for (int mask : {255, 0x80, 0xf0}) {
        PixelTables tables;
        tables.switches = true;
        tables.threshold = threshold;
        tables.mask = mask;
        for (int v = 0; v < 256; ++v) {
          tables.table[0][v] = static_cast<uint8_t>((v >= threshold ? 255 - v : v) & mask);
        }
        uint8_t got[256];
        kernels(name)->recolour(tables, all, 256, got);
        CAPTURE(threshold);
        CAPTURE(mask);
        REQUIRE(std::memcmp(got, tables.table[0], 256) == 0);
      }
    }
  }
}

TEST_CASE("gray does pixels of every width, alone and thrice, and no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (int width : widths()) {
      CAPTURE(width);
      for (Side side : kSides) {
        const auto pixels = static_cast<size_t>(width);
        Guarded src(4 * pixels, side);
        Guarded alone(pixels, side);
        Guarded thrice(4 * pixels, side);
        random.fill(src.data(), src.size());
        kernels(name)->gray(src.data(), width, alone.data());
        kernels(name)->gray_pixels(src.data(), width, thrice.data());
        size_t wrong = 0;
        for (size_t x = 0; x < pixels; ++x) {
          const uint8_t want = luma(src.data() + 4 * x);
          const uint8_t pixel[] = {want, want, want, 255};
          wrong += alone.data()[x] != want || std::memcmp(thrice.data() + 4 * x, pixel, 4) != 0 ? 1 : 0;
        }
        REQUIRE(wrong == 0);
        REQUIRE(alone.intact());
        REQUIRE(thrice.intact());
      }
    }
  }
}

TEST_CASE("gray is Pillow's luma of every colour") {
  constexpr size_t kPixels = size_t{1} << 16;
  std::vector<uint8_t> src(4 * kPixels);
  std::vector<uint8_t> alone(kPixels);
  std::vector<uint8_t> thrice(4 * kPixels);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int red = 0; red < 256; ++red) {
      for (size_t k = 0; k < kPixels; ++k) {
        const uint8_t pixel[] = {static_cast<uint8_t>(red), static_cast<uint8_t>(k >> 8), static_cast<uint8_t>(k),
                                 static_cast<uint8_t>(3 * k)};
        std::memcpy(src.data() + 4 * k, pixel, 4);
      }
      kernels(name)->gray(src.data(), kPixels, alone.data());
      kernels(name)->gray_pixels(src.data(), kPixels, thrice.data());
      size_t wrong = 0;
      for (size_t k = 0; k < kPixels; ++k) {
        const uint8_t want = luma(src.data() + 4 * k);
        wrong += alone[k] != want || thrice[4 * k + 1] != want ? 1 : 0;
      }
      REQUIRE(wrong == 0);
    }
  }
}

}  // namespace
}  // namespace fastaug
