#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
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
using test::Guarded;
using test::GuardedRows;
using test::kContents;
using test::kLayouts;
using test::Layout;
using test::Random;
using test::Source;

struct Matrix {
  double m[6];
};

Matrix turn(double degrees, double scale, double cx, double cy, double shift) {
  const double angle = degrees * std::acos(-1.0) / 180.0;
  const double c = std::cos(angle) * scale;
  const double s = std::sin(angle) * scale;
  return {{c, s, cx - c * cx - s * cy + shift, -s, c, cy + s * cx - c * cy}};
}

std::vector<Matrix> matrices(int height, int width) {
  const double cx = width * 0.5;
  const double cy = height * 0.5;
  std::vector<Matrix> all = {
      {{1, 0, 0, 0, 1, 0}},            // identity
      {{1, 0, 3, 0, 1, -2}},           // whole pixels
      {{1, 0, 0.5, 0, 1, 0.25}},       // fractions that float32 holds exactly
      {{1, 0, 1e-9, 0, 1, -1e-9}},     // next to whole pixels
      {{-1, 0, 0, 0, 1, 0}},           // mirrored, but for its offset
      {{0, 1, 0, -1, 0, 20}},          // a quarter turn
      {{0, 1, 0.5, 1, 0, 0}},          // a transposition, half a pixel off
      {{0.5, 0, 0, 0, 0.5, 0}},        // exact scales
      {{3, 0, 0, 0, 3, 0}},            //
      {{0.37, 0, -1.3, 0, 2.3, 0.1}},  // scales that accumulate
      {{40, 3, -7, -5, 60, 2}},        // strong minification
      {{0.001, 0, 5, 0.0005, 0.001, 4}},
      {{1, 0, 1e5, 0, 1, 1e5}},  // far outside
      {{1e9, 1, 0, 1, 1e9, 0}},  // beyond 16.16
      {{3e4, 1, 0.2, 1, 3e4, 0.2}},
      {{0, 0, 2.5, 0, 0, 2.5}},   // one point
      {{1, 0.3, -1.7, 0, 1, 0}},  // shears and shifts along one axis
      {{1, 0, 0, -0.3, 1, 1.7}},
      {{1, 0, 0.37, 0, 1, 1}},
      {{1, 0, -2, 0, 1, 0.4}},
      {{0, 1, 0, 1.3, 0.2, 0.3}},
      {{-2, 0.3, 2.0 * width, 0, 1, 0}},
      {{1, 0.3, 0, 0, 1, 0x1p-40}},  // next to such
      {{1, 0.3, 0, 0, 1, -0x1p-21}},
      {{1, 0.3, 0, 0x1p-45, 1, 0}},
      {{1, 0x1p-46, 0, 0.3, 1, 0}},
      {{std::nan(""), 1, 0, 0, 1, 0}},
  };
  all.push_back({{-1, 0, static_cast<double>(width), 0, 1, 0}});
  for (double degrees : {0.01, 7.0, 45.0, 89.999, 133.0, -25.0}) {
    for (double scale : {1.0, 0.6, 1.7}) all.push_back(turn(degrees, scale, cx, cy, scale == 1.0 ? 0.0 : 1.25));
  }
  return all;
}

using RowKernel = void (*)(const WarpRow&, uint8_t* const*);
struct Mode {
  const char* name;
  RowKernel Kernels::* kernel;
};
constexpr Mode kModes[] = {
    {"nearest", &Kernels::affine_nearest}, {"linear", &Kernels::affine_linear}, {"cubic", &Kernels::affine_cubic}};

WarpRow row_of(const View& view, const Matrix& matrix, int out_height, int out_width) {
  WarpRow row{};
  row.source = view;
  std::memcpy(row.matrix, matrix.m, sizeof(matrix.m));
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
  bool same = got.intact();
  for (int c = 0; c < channels; ++c) same &= std::memcmp(got[c], want[c], static_cast<size_t>(row.width)) == 0;
  return same;
}

TEST_CASE("affine rows give the same bits on every instruction set") {
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
          for (const Matrix& matrix : matrices(height, width)) {
            if (!share.next()) continue;
            const int out_height = random.between(1, 40);
            WarpRow row = row_of(source.view(), matrix, out_height, random.between(1, 130));
            row.y = random.between(0, out_height - 1);
            if (trial % 3 == 2) {
              row.x = random.between(0, row.out_width - 1);
              row.width = random.between(1, row.out_width - row.x);
            }
            CAPTURE(matrix.m[0]);
            CAPTURE(matrix.m[1]);
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

TEST_CASE("a fraction that rounding takes at the start of a row is there at its end") {
  Random random(8);
  // Positions are whole in column 0, which is -99.5, and 2^-47 more in those inside.
  const Matrix across = {{1, -200, 0x1p-47, 0.01, 1, 10.3}};
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      const Source source(layout, 40, 60, 0, false, Content::kTwoLevels, random);
      WarpRow row = row_of(source.view(), across, 1, 200);
      for (const Mode& mode : kModes) {
        CAPTURE(mode.name);
        REQUIRE(agrees(*kernels(name), mode, row));
      }
    }
  }
}

TEST_CASE("results next to whole levels, in wide rows") {
  Random random(9);
  for (const Layout& layout : kLayouts) {
    const Source source(layout, 70, 2300, 0, false, Content::kNoise, random);
    // Most fractions are multiples of 1/64, or next to them on either side: results are often whole levels, or next to
    // such.
    for (const double off : {0.0, 1e-9, -1e-9, 1e-7, -1e-7}) {
      for (const double step : {1.0, 33.0 / 64, 1.234567, 321.0 / 64, 3.0 / 64 - 1e-9}) {
        const Matrix matrix = {{step, 1.0 / 32, 0.5 + off, -1.0 / 64, 1, 40.25 - off}};
        for (const char* name : available_isas()) {
          CAPTURE(name);
          CAPTURE(layout.channels);
          CAPTURE(off);
          CAPTURE(step);
          WarpRow row = row_of(source.view(), matrix, 30, 2200);
          row.y = random.between(0, 29);
          row.x = random.between(0, 63);
          row.width -= row.x;
          for (const Mode& mode : kModes) {
            CAPTURE(mode.name);
            REQUIRE(agrees(*kernels(name), mode, row));
          }
        }
      }
    }
  }
}

TEST_CASE("every width of a turned row") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      const Source source(layout, 150, 170, 0, false, Content::kNoise, random);
      for (int width = 1; width <= 130; ++width) {
        CAPTURE(width);
        WarpRow row = row_of(source.view(), turn(20.0, 1.0, 85.0, 75.0, 0.0), 150, 170);
        row.width = width;
        row.x = random.between(0, 170 - width);
        row.y = random.between(0, 149);
        for (const Mode& mode : kModes) {
          CAPTURE(mode.name);
          REQUIRE(agrees(*kernels(name), mode, row));
        }
      }
    }
  }
}

TEST_CASE("columns do not depend on the part of the row that is asked for") {
  Random random(3);
  const Source source({3, 3}, 60, 60, 0, false, Content::kNoise, random);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (const Matrix& matrix : matrices(60, 60)) {
      CAPTURE(matrix.m[0]);
      for (const Mode& mode : kModes) {
        CAPTURE(mode.name);
        WarpRow row = row_of(source.view(), matrix, 50, 120);
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

TEST_CASE("whole-pixel maps copy pixels in every interpolation") {
  Random random(4);
  const Source source({4, 4}, 40, 50, 0, false, Content::kNoise, random);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (const Mode& mode : kModes) {
      CAPTURE(mode.name);
      WarpRow row = row_of(source.view(), {{1, 0, 3, 0, 1, -2}}, 40, 50);
      for (row.y = 0; row.y < 40; ++row.y) {
        GuardedRows got(4, 50);
        (kernels(name)->*mode.kernel)(row, got.get());
        int wrong = 0;
        for (int x = 0; x < 50; ++x) {
          for (int c = 0; c < 4; ++c) {
            const bool inside = x + 3 < 50 && row.y >= 2;
            wrong += got[c][x] != (inside ? *source.view().at(row.y - 2, x + 3, c) : row.fill[c]);
          }
        }
        REQUIRE(wrong == 0);
      }
    }
  }
}

TEST_CASE("nearest pixels of four bytes are those of the planes") {
  Random random(5);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int trial = 0; trial < 40; ++trial) {
      const int height = random.between(1, 50);
      const int width = random.between(1, 70);
      const Source source({4, 4}, height, width, random.between(0, 3), trial % 2 == 1, Content::kNoise, random);
      for (const Matrix& matrix : matrices(height, width)) {
        CAPTURE(matrix.m[0]);
        CAPTURE(matrix.m[1]);
        WarpRow row = row_of(source.view(), matrix, 40, random.between(1, 90));
        row.y = random.between(0, 39);
        GuardedRows planes(4, row.width);
        kernels("scalar")->affine_nearest(row, planes.get());
        Guarded pixels(static_cast<size_t>(row.width) * 4);
        kernels(name)->affine_nearest_pixels(row, pixels.data());
        int wrong = 0;
        for (int x = 0; x < row.width; ++x) {
          for (int c = 0; c < 4; ++c) wrong += pixels.data()[4 * x + c] != planes[c][x];
        }
        REQUIRE(wrong == 0);
        REQUIRE(pixels.intact());
      }
    }
  }
}

TEST_CASE("rounded rows are within 0.6 of the exact values, and the same on all instruction sets") {
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
        for (const Matrix& matrix : matrices(height, width)) {
          WarpRow row = row_of(source.view(), matrix, height, random.between(1, 200));
          row.y = random.between(0, height - 1);
          row.rounded = true;
          CAPTURE(matrix.m[0]);
          CAPTURE(matrix.m[1]);
          const auto at = [&](int x) -> Position {
            return {affine_x(row.matrix, x, row.y), affine_y(row.matrix, x, row.y)};
          };
          CHECK(test::worst_of_rounded(row, kernels(name)->affine_linear, 2, at) < 0.6);
          CHECK(test::worst_of_rounded(row, kernels(name)->affine_cubic, 4, at) < 0.6);
          const Kernels& plain = *kernels("scalar");
          CHECK(test::same_rounded(row, kernels(name)->affine_linear, plain.affine_linear));
          CHECK(test::same_rounded(row, kernels(name)->affine_cubic, plain.affine_cubic));
        }
      }
    }
  }
}

TEST_CASE("rounded rows keep flat areas flat, and whole pixels as they are") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(7);
    for (const Layout& layout : kLayouts) {
      const Source source(layout, 80, 90, 0, false, Content::kNoise, random);
      const Source flat(layout, 80, 90, 0, false, Content::kFlat, random);
      for (const auto kernel : {kernels(name)->affine_linear, kernels(name)->affine_cubic}) {
        WarpRow row = row_of(source.view(), {{1, 0, 3 + 1e-7, 1e-9, 1, 2 - 1e-7}}, 70, 80);
        row.rounded = true;
        row.y = 30;
        GuardedRows got(layout.channels, 80);
        kernel(row, got.get());
        int wrong = 0;
        for (int x = 0; x < 80; ++x) {
          for (int c = 0; c < layout.channels; ++c) wrong += got[c][x] != *source.view().at(32, x + 3, c);
        }
        row.source = flat.view();
        std::memcpy(row.matrix, turn(31.0, 0.4, 45.0, 40.0, 0.0).m, sizeof(Matrix));
        kernel(row, got.get());
        for (int x = 0; x < 80; ++x) {
          for (int c = 0; c < layout.channels; ++c) wrong += got[c][x] != *flat.view().at(0, 0, c);
        }
        REQUIRE(wrong == 0);
      }
    }
  }
}

TEST_CASE("the nearest route is Pillow's") {
  const double scale[6] = {0.5, 0, 3, 0, 1e9, 0};
  const double turned[6] = {0.8, 0.6, 0, -0.6, 0.8, 0};
  const double far[6] = {1, 1e-6, 32767.5, 0, 1, 0};
  CHECK(nearest_route(scale, 100, 100) == NearestRoute::kScale);
  CHECK(nearest_route(turned, 100, 100) == NearestRoute::kFixed);
  CHECK(nearest_route(turned, 40000, 40000) == NearestRoute::kAccumulate);
  CHECK(nearest_route(far, 10, 0) == NearestRoute::kFixed);
  CHECK(nearest_route(far, 10, 1) == NearestRoute::kAccumulate);
  CHECK(to_fixed(-0.5) == static_cast<uint32_t>(-32768));
  CHECK(to_fixed(1e300) == 0x80000000u);
}

}  // namespace
}  // namespace fastaug
