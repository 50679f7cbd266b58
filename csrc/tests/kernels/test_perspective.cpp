#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/warp.h"
#include "tests/support/guard.h"
#include "tests/support/rounded_warp.h"
#include "tests/support/scale.h"
#include "tests/support/warp_source.h"

namespace fastaug {
namespace {

using test::Content;
using test::GuardedRows;
using test::kContents;
using test::kLayouts;
using test::Layout;
using test::Random;
using test::Source;

using Coefficients = std::array<double, 8>;

double noise(Random& random, double size) { return (random.unit() - 0.5) * 2.0 * size; }

std::vector<Coefficients> maps(int height, int width, Random& random) {
  const double inf = std::numeric_limits<double>::max();
  std::vector<Coefficients> all = {
      {1, 0, 0, 0, 1, 0, 0, 0},                       // identity
      {1, 0, 2, 0, 1, -1, 0, 0},                      // whole pixels
      {1, 0, 0.5, 0, 1, 0.25, 0, 0},                  // fractions that float32 holds exactly
      {1, 0, 1e-9, 0, 1, -1e-9, 0, 0},                // next to whole pixels
      {0, 1, 0, 1, 0, 0, 0, 0},                       // transposed
      {1, 0, 0, 0, 1, 0, -2.0 / 7.0, 0},              // the denominator is zero in column 3
      {1, 0, -3.5, 0, 1, -3.5, -2.0 / 7.0, 0},        // so is the numerator
      {1, 0, 0, 0, 1, 0, -2.0 / 7.0, -2.0 / 7.0},     // and on a diagonal
      {-1, 0, 0, 0, -1, 0, -0.5, -0.5},               // behind the viewer
      {inf, inf, 1, inf, -inf, 1, 0, 0},              // infinite positions
      {inf, -inf, inf, 1, 0, 0, inf, inf},            // and such as are not numbers
      {1, 0, 0, inf, inf, 0, -2.0 / 7.0, 0},          //
      {1e300, 0, 0, 0, 1e300, 0, 1e300, 1e300},       //
      {0, 0, 0, 0, 0, 0, 0, 0},                       // the corner
      {0, 0, width - 0.5, 0, 0, height - 0.5, 0, 0},  // the last pixel
      {1, 0, 4e9, 0, 1, 0, 0, 0},                     // beyond int32
      {40, 3, -7, -5, 60, 2, 0.01, 0.02},             // strong minification
      {1e-3, 0, 2, 0, 1e-3, 2, 1e-6, 1e-6},           // one pixel, enlarged
      {std::nan(""), 0, 0, 0, 1, 0, 0, 0},            //
  };
  for (int k = 0; k < 12; ++k) {
    const double bend = k % 3 == 0 ? 0.1 : k % 3 == 1 ? 0.004 : 0.0005;
    all.push_back({1 + noise(random, 0.4), noise(random, 0.4), noise(random, 0.2 * width), noise(random, 0.4),
                   1 + noise(random, 0.4), noise(random, 0.2 * height), noise(random, bend), noise(random, bend)});
  }
  for (int k = 0; k < 6; ++k) {
    Coefficients wild;
    for (double& v : wild) v = std::ldexp(noise(random, 1), random.between(-1000, 1000) / (k < 3 ? 1 : 100));
    all.push_back(wild);
  }
  return all;
}

using RowKernel = void (*)(const WarpRow&, uint8_t* const*);
struct Mode {
  const char* name;
  RowKernel Kernels::* kernel;
};
constexpr Mode kModes[] = {{"nearest", &Kernels::perspective_nearest},
                           {"linear", &Kernels::perspective_linear},
                           {"cubic", &Kernels::perspective_cubic}};

WarpRow row_of(const View& view, const Coefficients& coefficients, int out_height, int out_width) {
  WarpRow row{};
  row.source = view;
  std::copy(coefficients.begin(), coefficients.end(), row.matrix);
  for (int c = 0; c < kMaxChannels; ++c) row.fill[c] = static_cast<uint8_t>(11 * c + 5);
  row.out_height = out_height;
  row.out_width = out_width;
  row.width = out_width;
  return row;
}

// True when the kernels agree with the scalar ones on the row.
bool agrees(const Kernels& tested, const Mode& mode, const WarpRow& row) {
  const int channels = row.source.channels;
  GuardedRows got(channels, row.width);
  GuardedRows want(channels, row.width);
  (tested.*mode.kernel)(row, got.get());
  (kernels("scalar")->*mode.kernel)(row, want.get());
  bool same = got.intact() && want.intact();
  for (int c = 0; c < channels; ++c) same &= std::memcmp(got[c], want[c], static_cast<size_t>(row.width)) == 0;
  return same;
}

TEST_CASE("perspective rows give the same bits on every instruction set") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    test::Share share;
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      for (Content content : kContents) {
        for (int trial = 0; trial < 6; ++trial) {
          const int most = trial < 3 ? 6 : 90;
          const int height = trial == 0 ? 1 : random.between(1, most);
          const int width = trial == 0 ? 1 : random.between(1, most);
          CAPTURE(height);
          CAPTURE(width);
          const Source source(layout, height, width, random.between(0, 3), trial % 2 == 1, content, random);
          for (const Coefficients& map : maps(height, width, random)) {
            if (!share.next()) continue;
            const int out_height = random.between(1, 40);
            WarpRow row = row_of(source.view(), map, out_height, random.between(1, 200));
            row.y = random.between(0, out_height - 1);
            if (trial % 3 == 2) {
              row.x = random.between(0, row.out_width - 1);
              row.width = random.between(1, row.out_width - row.x);
            }
            CAPTURE(map[0]);
            CAPTURE(map[6]);
            CAPTURE(row.width);
            for (const Mode& mode : kModes) {
              CAPTURE(mode.name);
              REQUIRE(agrees(*kernels(name), mode, row));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("every pixel of an image of every size, to the last byte") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      for (int width = 1; width <= 40; ++width) {
        CAPTURE(width);
        const int height = random.between(1, 9);
        const Source source(layout, height, width, 0, width % 2 == 1, Content::kNoise, random);
        // Nearly the identity, so that all pixels are reached; the quarter of a pixel keeps results off the integers.
        WarpRow row = row_of(source.view(), {1, 0, 0.25, 0, 1, 0.25, 1e-9, 1e-9}, height, width + 3);
        for (row.y = 0; row.y < height; ++row.y) {
          for (const Mode& mode : kModes) {
            CAPTURE(mode.name);
            REQUIRE(agrees(*kernels(name), mode, row));
          }
        }
      }
    }
  }
}

TEST_CASE("perspective columns do not depend on the part of the row that is asked for") {
  Random random(3);
  const Source source({3, 3}, 60, 60, 0, false, Content::kNoise, random);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (const Coefficients& map : maps(60, 60, random)) {
      for (const Mode& mode : kModes) {
        CAPTURE(mode.name);
        WarpRow row = row_of(source.view(), map, 50, 120);
        row.y = 31;
        GuardedRows whole(3, row.width);
        (kernels(name)->*mode.kernel)(row, whole.get());
        row.x = 37;
        row.width = 55;
        GuardedRows part(3, row.width);
        (kernels(name)->*mode.kernel)(row, part.get());
        for (int c = 0; c < 3; ++c) REQUIRE(std::memcmp(part[c], whole[c] + row.x, 55) == 0);
      }
    }
  }
}

TEST_CASE("rounded perspective rows are within 0.6 of the exact values, and the same on all instruction sets") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(6);
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      for (Content content : kContents) {
        const int height = random.between(1, 120);
        const int width = random.between(1, 150);
        const Source source(layout, height, width, random.between(0, 3), height % 2 == 1, content, random);
        for (const Coefficients& map : maps(height, width, random)) {
          WarpRow row = row_of(source.view(), map, height, random.between(1, 200));
          row.y = random.between(0, height - 1);
          row.rounded = true;
          CAPTURE(map[0]);
          CAPTURE(map[6]);
          const auto at = [&](int x) { return perspective_at(row.matrix, x, row.y); };
          CHECK(test::worst_of_rounded(row, kernels(name)->perspective_linear, 2, at) < 0.6);
          CHECK(test::worst_of_rounded(row, kernels(name)->perspective_cubic, 4, at) < 0.6);
          const Kernels& plain = *kernels("scalar");
          CHECK(test::same_rounded(row, kernels(name)->perspective_linear, plain.perspective_linear));
          CHECK(test::same_rounded(row, kernels(name)->perspective_cubic, plain.perspective_cubic));
        }
      }
    }
  }
}

TEST_CASE("without a bend a perspective map is an affine one") {
  Random random(4);
  const Source source({3, 4}, 50, 70, 0, false, Content::kNoise, random);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& k = *kernels(name);
    WarpRow row = row_of(source.view(), {0.9, 0.31, -4.2, -0.28, 1.1, 6.3, 0, 0}, 60, 80);
    for (row.y = 0; row.y < 60; ++row.y) {
      GuardedRows affine(3, 80);
      GuardedRows perspective(3, 80);
      const auto same = [&] {
        bool all = true;
        for (int c = 0; c < 3; ++c) all &= std::memcmp(affine[c], perspective[c], 80) == 0;
        return all;
      };
      k.affine_linear(row, affine.get());
      k.perspective_linear(row, perspective.get());
      REQUIRE(same());
      k.affine_cubic(row, affine.get());
      k.perspective_cubic(row, perspective.get());
      REQUIRE(same());
    }
  }
}

TEST_CASE("a position that is not a number is black, not fill, as in Pillow") {
  Random random(5);
  const Source source({3, 3}, 20, 20, 0, false, Content::kFlat, random);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& k = *kernels(name);
    // 0 / 0 in column 3, in both axes or with the other far outside.
    WarpRow row = row_of(source.view(), {1, 0, -3.5, 0, 0, 0, -2.0 / 7.0, 0}, 8, 8);
    REQUIRE(row.matrix[6] * 3.5 + 1.0 == 0.0);
    row.y = 2;
    GuardedRows out(3, 8);
    k.perspective_linear(row, out.get());
    CHECK(out[0][3] == 0);
    k.perspective_cubic(row, out.get());
    CHECK(out[2][3] == 0);
    k.perspective_nearest(row, out.get());
    CHECK(out[1][3] == row.fill[1]);
    row.matrix[5] = 1;
    k.perspective_linear(row, out.get());
    CHECK(out[0][3] == row.fill[0]);
  }
}

}  // namespace
}  // namespace fastaug
