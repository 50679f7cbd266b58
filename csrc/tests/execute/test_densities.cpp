#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "execute/densities.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kHeight = 5;

struct Table {
  double of_sample[256];

  Table() {
    for (int v = 0; v < 256; ++v) of_sample[v] = -std::log((v + 1) / 240.0);
  }
};

// An image in each order that samples may lie in, between pages that nobody may touch.
struct Layouts {
  std::vector<Guarded> memory;
  std::vector<View> views;

  explicit Layouts(int width) {
    Random random(static_cast<uint64_t>(width));
    std::vector<uint8_t> samples(static_cast<size_t>(3 * width * kHeight));
    random.fill(samples.data(), samples.size());
    for (const Side side : {Side::kFront, Side::kBack}) {
      add(samples, width, 3 * width * kHeight, side, 3 * width, 3, 1);
      add(samples, width, 4 * width * kHeight, side, 4 * width, 4, 1);
      add(samples, width, 3 * width * kHeight, side, width, 1, width * kHeight);
    }
  }

  void add(const std::vector<uint8_t>& samples, int width, int size, Side side, int row, int pixel, int channel) {
    memory.emplace_back(static_cast<size_t>(size), side);
    uint8_t* data = memory.back().data();
    const uint8_t* next = samples.data();
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c) data[y * row + x * pixel + c * channel] = *next++;
    views.push_back({data, kHeight, width, 3, row, pixel, channel});
  }
};

bool counts(const View& view, int y, int x, const DensityRule& rule) {
  for (int c = 0; c < 3; ++c)
    if (rule.of_sample[*view.at(y, x, c)] < rule.least) return false;
  return true;
}

constexpr int kWidths[] = {1, 2, 3, 5, 17, 64, 511, 512, 513, 1024, 1531};
// Of these some keep no pixel, some only dark ones, whose samples are below 128, and some all.
constexpr double kLeast[] = {-kInfinity, 0.0, 0.15, 0.9, 2.0, 9.0};

TEST_CASE("moments of densities are those of the pixels that count, in every order of samples") {
  const Table table;
  for (const int width : kWidths) {
    const Layouts layouts(width);
    for (const double least : kLeast) {
      const DensityRule rule{table.of_sample, least};
      CAPTURE(width);
      CAPTURE(least);
      std::vector<uint8_t> expected;
      double sums[9] = {};
      const View& first = layouts.views[0];
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < width; ++x) {
          if (!counts(first, y, x, rule)) continue;
          double density[3];
          for (int c = 0; c < 3; ++c) {
            expected.push_back(*first.at(y, x, c));
            density[c] = table.of_sample[expected.back()];
            sums[c] += density[c];
          }
          int k = 3;
          for (int a = 0; a < 3; ++a)
            for (int b = a; b < 3; ++b) sums[k++] += density[a] * density[b];
        }
      }
      const DensityMoments one = density_moments(first, rule, nullptr);
      for (const View& view : layouts.views) {
        std::vector<uint8_t> kept;
        const DensityMoments made = density_moments(view, rule, &kept);
        REQUIRE(kept == expected);
        REQUIRE(made.pixels * 3 == static_cast<int64_t>(expected.size()));
        for (int k = 0; k < 3; ++k) {
          CHECK(made.sums[k] == one.sums[k]);
          CHECK(std::fabs(made.sums[k] - sums[k]) <= 1e-9);
        }
        for (int k = 0; k < 6; ++k) {
          CHECK(made.products[k] == one.products[k]);
          CHECK(std::fabs(made.products[k] - sums[3 + k]) <= 1e-9);
        }
      }
    }
  }
}

TEST_CASE("numbers of pixels are below a range, or given in their order") {
  const Table table;
  constexpr double kAxes[3][2] = {{0.6, -0.3}, {-0.5, 0.9}, {0.2, 0.4}};
  const DensityRange kRanges[][2] = {
      {{-kInfinity, kInfinity}, {-kInfinity, kInfinity}}, {{0.1, 0.3}, {0.2, 1.5}}, {{2.0, 1.0}, {100.0, 200.0}}};
  for (const int width : kWidths) {
    const Layouts layouts(width);
    for (const double least : kLeast) {
      for (const int64_t step : {1, 2, 7, 700, 10000}) {
        for (const bool direction : {false, true}) {
          for (const auto& ranges : kRanges) {
            const DensityRule rule{table.of_sample, least};
            const View& first = layouts.views[0];
            int64_t below[2] = {};
            std::vector<double> within[2];
            for (int64_t at = 0; at < int64_t{kHeight} * width; at += step) {
              const int y = static_cast<int>(at / width), x = static_cast<int>(at % width);
              if (!counts(first, y, x, rule)) continue;
              double point[2] = {};
              for (int c = 0; c < 3; ++c)
                for (int n = 0; n < 2; ++n) point[n] += table.of_sample[*first.at(y, x, c)] * kAxes[c][n];
              if (direction) {
                const double share = point[1] / (std::fabs(point[0]) + std::fabs(point[1]));
                point[0] = point[0] < 0.0 ? std::copysign(2.0, point[1]) - share : share;
                point[1] = point[0];
              }
              for (int n = 0; n < 2; ++n) {
                below[n] += point[n] < ranges[n].low ? 1 : 0;
                if (point[n] >= ranges[n].low && point[n] <= ranges[n].high) within[n].push_back(point[n]);
              }
            }
            DensityPlane plane{{}, direction};
            std::copy(&kAxes[0][0], &kAxes[0][0] + 6, &plane.axes[0][0]);
            for (const View& view : layouts.views) {
              DensityValues made[2];
              density_values(view, rule, plane, ranges, step, made);
              for (int n = 0; n < 2; ++n) {
                REQUIRE(made[n].below == below[n]);
                REQUIRE(made[n].within == within[n]);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("colours are counted in every order of samples") {
  std::vector<uint32_t> counters(1 << 24);
  for (const int width : kWidths) {
    const Layouts layouts(width);
    for (const View& view : layouts.views) count_colours(view, counters.data());
    const auto times = static_cast<uint32_t>(layouts.views.size());
    const View& first = layouts.views[0];
    const auto at = [&](int y, int x) -> uint32_t& {
      const uint8_t* p = first.at(y, x, 0);
      return counters[static_cast<size_t>(p[0] << 16 | p[1] << 8 | p[2])];
    };
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < width; ++x) REQUIRE(at(y, x) % times == 0);
    uint32_t pixels = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < width; ++x) {
        pixels += at(y, x);
        at(y, x) = 0;
      }
    CHECK(pixels == times * static_cast<uint32_t>(kHeight * width));
  }
  CHECK(std::all_of(counters.begin(), counters.end(), [](uint32_t count) { return count == 0; }));
}

TEST_CASE("directions are in the order of angles") {
  // One pixel for each angle: the densities of two channels are its coordinates.
  Table table;
  for (int v = 0; v < 256; ++v) table.of_sample[v] = 128.0 - v;
  std::vector<uint8_t> samples;
  std::vector<double> angles;
  for (int r = 0; r < 256; r += 5) {
    for (int g = 0; g < 256; g += 5) {
      samples.insert(samples.end(), {static_cast<uint8_t>(r), static_cast<uint8_t>(g), 0});
      angles.push_back(std::atan2(128.0 - g, 128.0 - r));
    }
  }
  const int count = static_cast<int>(angles.size());
  const DensityPlane plane{{{1, 0}, {0, 1}, {0, 0}}, true};
  const DensityRange all[2] = {{-kInfinity, kInfinity}, {-kInfinity, kInfinity}};
  DensityValues made[2];
  density_values({samples.data(), 1, count, 3, 3 * count, 3, 1}, {table.of_sample, -kInfinity}, plane, all, 1, made);
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; b += 7) {
      const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
      if (angles[i] < angles[j] - 1e-12) REQUIRE(made[0].within[i] < made[0].within[j]);
    }
  }
}

}  // namespace
}  // namespace fastaug
