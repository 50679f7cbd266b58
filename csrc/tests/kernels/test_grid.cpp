#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/grid.h"
#include "tests/support/guard.h"
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

using RowKernel = void (*)(const GridRow&, uint8_t* const*);
struct Mode {
  const char* name;
  RowKernel Kernels::* kernel;
};
constexpr Mode kModes[] = {{"nearest", &Kernels::grid_nearest}, {"linear", &Kernels::grid_linear}};

// A grid that ends where its memory does.
class Grid {
 public:
  explicit Grid(int samples) : buffer_(static_cast<size_t>(samples) * 2 * sizeof(float)), samples_(samples) {}
  float* data() { return reinterpret_cast<float*>(buffer_.data()); }

  enum class Kind { kInside, kAround, kWild, kPixels, kSpecial, kLine, kLast };
  void draw(Kind kind, int height, int width, Random& random) {
    constexpr float kInfinite = std::numeric_limits<float>::infinity();
    const float special[] = {std::nanf(""), kInfinite,   -kInfinite, 3e38f,      -3e38f, 0x1p31f,
                             -0x1p31f,      -1,          1,          0,          1e-45f, -1e-40f,
                             0x1p32f,       -1.0000001f, 1.0000001f, 0.99999994f};
    const auto unit = [&] { return static_cast<float>(random.unit()); };
    const float step = unit() * 0.02f;
    for (int k = 0; k < 2 * samples_; ++k) {
      const int size = k % 2 == 0 ? width : height;
      float v = 2 * unit() - 1;
      if (kind == Kind::kAround) v *= 1.4f;
      if (kind == Kind::kWild) v = std::ldexp(v, random.between(-120, 120));
      if (kind == Kind::kPixels)
        v = static_cast<float>(2 * random.between(-1, size) + 1) / static_cast<float>(size) - 1;
      if (kind == Kind::kSpecial && random.between(0, 3) == 0) v = special[random.between(0, 15)];
      if (kind == Kind::kLine) v = static_cast<float>(k / 2) * step - (k % 2 == 0 ? 1.1f : 0.9f);
      // In the last cell of the image.
      if (kind == Kind::kLast) v = 1 - unit() * 4.0f / static_cast<float>(size);
      data()[k] = v;
    }
  }

 private:
  Guarded buffer_;
  int samples_;
};
constexpr Grid::Kind kKinds[] = {Grid::Kind::kInside,  Grid::Kind::kAround, Grid::Kind::kWild, Grid::Kind::kPixels,
                                 Grid::Kind::kSpecial, Grid::Kind::kLine,   Grid::Kind::kLast};

constexpr Filling kFillings[] = {Filling::kNone, Filling::kTorch, Filling::kV2};

GridRow row_of(const View& view, const float* grid, int width, Filling filling, Random& random) {
  GridRow row{};
  row.source = view;
  row.grid = grid;
  row.width = width;
  row.filling = filling;
  for (float& v : row.fill) v = random.between(0, 3) == 0 ? 255.0f : static_cast<float>(random.between(0, 255));
  if (random.between(0, 1) == 0)
    row.fill[random.between(0, kMaxChannels - 1)] = static_cast<float>(random.unit() * 255);
  return row;
}

// True when the kernels agree with the scalar ones on the row.
bool agrees(const Kernels& tested, const Mode& mode, const GridRow& row) {
  const int channels = row.source.channels;
  GuardedRows got(channels, row.width);
  GuardedRows want(channels, row.width);
  (tested.*mode.kernel)(row, got.get());
  (kernels("scalar")->*mode.kernel)(row, want.get());
  bool same = got.intact() && want.intact();
  for (int c = 0; c < channels; ++c) same &= std::memcmp(got[c], want[c], static_cast<size_t>(row.width)) == 0;
  return same;
}

TEST_CASE("grid rows give the same bits on every instruction set") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    test::Share share;
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      for (Content content : kContents) {
        for (int trial = 0; trial < 12; ++trial) {
          const int most = trial < 6 ? 6 : 90;
          const int height = trial == 0 ? 1 : random.between(1, most);
          const int width = trial == 0 ? 1 : random.between(1, most);
          CAPTURE(height);
          CAPTURE(width);
          const Source source(layout, height, width, random.between(0, 3), trial % 2 == 1, content, random);
          for (Grid::Kind kind : kKinds) {
            if (!share.next()) continue;
            CAPTURE(static_cast<int>(kind));
            const int samples = random.between(1, 200);
            CAPTURE(samples);
            Grid grid(samples);
            grid.draw(kind, height, width, random);
            for (const Mode& mode : kModes) {
              CAPTURE(mode.name);
              for (Filling filling : kFillings) {
                REQUIRE(agrees(*kernels(name), mode, row_of(source.view(), grid.data(), samples, filling, random)));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("grids reach the last byte of an image of every size") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (const Layout& layout : kLayouts) {
      CAPTURE(layout.channels);
      CAPTURE(layout.pixel_stride);
      for (int width = 1; width <= 24; ++width) {
        for (int height = 1; height <= 4; ++height) {
          CAPTURE(width);
          CAPTURE(height);
          const Source source(layout, height, width, 0, (width + height) % 2 == 1, Content::kNoise, random);
          Grid grid(150);
          grid.draw(Grid::Kind::kLast, height, width, random);
          for (const Mode& mode : kModes) {
            CAPTURE(mode.name);
            REQUIRE(agrees(*kernels(name), mode, row_of(source.view(), grid.data(), 150, Filling::kNone, random)));
          }
        }
      }
    }
  }
}

TEST_CASE("a grid at the centres of pixels copies them, and what is outside is fill or zero") {
  Random random(3);
  // Powers of two, so that the centres are exact.
  const Source source({3, 3}, 16, 32, 0, false, Content::kNoise, random);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (const Mode& mode : kModes) {
      CAPTURE(mode.name);
      for (Filling filling : kFillings) {
        for (int y = -1; y <= 16; ++y) {
          Grid grid(36);
          for (int k = 0; k < 36; ++k) {
            grid.data()[2 * k] = static_cast<float>(2 * (k - 2) + 1) / 32 - 1;
            grid.data()[2 * k + 1] = static_cast<float>(2 * y + 1) / 16 - 1;
          }
          const GridRow row = row_of(source.view(), grid.data(), 36, filling, random);
          GuardedRows out(3, 36);
          (kernels(name)->*mode.kernel)(row, out.get());
          float outside[3] = {};
          if (filling != Filling::kNone) std::transform(row.fill, row.fill + 3, outside, rintf);
          int wrong = 0;
          for (int k = 0; k < 36; ++k) {
            for (int c = 0; c < 3; ++c) {
              const bool inside = y >= 0 && y < 16 && k >= 2 && k < 34;
              wrong += out[c][k] != (inside ? *source.view().at(y, k - 2, c) : outside[c]);
            }
          }
          REQUIRE(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("the fused multiply-add is one") {
  Random random(4);
  const auto drawn = [&](int spread) {
    const float v = std::bit_cast<float>((random.next() & 0x007fffffu) | 0x3f800000u);
    return std::ldexp(random.between(0, 1) == 0 ? v : -v, random.between(-spread, spread));
  };
  int wrong = 0;
  for (int k = 0; k < test::cases(300000); ++k) {
    const int spread = k % 3 == 0 ? 2 : k % 3 == 1 ? 30 : 70;
    const float a = drawn(spread);
    const float b = drawn(spread);
    // Every other time next to the middle between two floats, where rounding twice would go wrong.
    float c = drawn(spread);
    if (k % 2 == 0) c = std::nextafter(a * b, 0.0f) * std::ldexp(1.0f, random.between(20, 30));
    wrong += std::bit_cast<uint32_t>(fused(a, b, c)) != std::bit_cast<uint32_t>(std::fma(a, b, c));
  }
  CHECK(wrong == 0);
  CHECK(fused(0x1p-140f, 0x1.8p-10f, 0x1p-149f) == std::fma(0x1p-140f, 0x1.8p-10f, 0x1p-149f));
}

TEST_CASE("maps of grids give the same bits on every instruction set") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(5);
    for (int trial = 0; trial < test::cases(4000); ++trial) {
      MapRow row{};
      GridMap& map = row.map;
      for (int k = 0; k < 6; ++k) {
        map.theta[k] = static_cast<float>((random.unit() - 0.5) * (k % 3 == 2 ? 3.0 : 0.02));
      }
      map.perspective = trial % 4 >= 2;
      // Denominators that cross zero, too, or are zero everywhere.
      for (int k = 0; k < 2; ++k) map.below[k] = static_cast<float>((random.unit() - 0.5) * 0.02);
      map.below[2] = trial % 8 == 7 ? 0.0f : 1.0f;
      if (trial % 16 == 15) map.below[0] = map.below[1] = 0.0f;
      map.fused = trial % 2 == 0;
      const int most = trial % 5 == 0 ? 5000 : 40;
      map.out_height = random.between(1, most);
      map.out_width = random.between(1, most);
      row.y = random.between(0, map.out_height - 1);
      row.x = random.between(0, map.out_width - 1);
      row.width = random.between(1, std::min(map.out_width - row.x, 300));
      CAPTURE(map.out_width);
      CAPTURE(row.width);
      const size_t size = static_cast<size_t>(row.width) * 2 * sizeof(float);
      Guarded got(size + kRowPad);
      Guarded want(size + kRowPad);
      kernels(name)->map_grid(row, reinterpret_cast<float*>(got.data()));
      kernels("scalar")->map_grid(row, reinterpret_cast<float*>(want.data()));
      REQUIRE(got.intact());
      // Of what is not a number, sign and payload are nobody's.
      int wrong = 0;
      for (size_t at = 0; at < size; at += sizeof(float)) {
        float a, b;
        std::memcpy(&a, got.data() + at, sizeof a);
        std::memcpy(&b, want.data() + at, sizeof b);
        wrong += std::bit_cast<uint32_t>(a) != std::bit_cast<uint32_t>(b) && !(std::isnan(a) && std::isnan(b));
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("the two ways of an affine grid") {
  // 3 * (1/3) - 1 is 0 when rounded twice, and not when rounded once.
  const float theta[3] = {-1.0f, 1.0f / 3.0f, 0.0f};
  CHECK(affine_grid_value(theta, 1.0f, 3.0f, false) == 0.0f);
  CHECK(affine_grid_value(theta, 1.0f, 3.0f, true) != 0.0f);
  CHECK_FALSE(grid_fuses(true, 6, 11));
  CHECK(grid_fuses(true, 67, 1));
  CHECK_FALSE(grid_fuses(false, 512, 512));
}

}  // namespace
}  // namespace fastaug
