#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/stains.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Random;

Op make_hed(std::initializer_list<double> numbers, uint16_t flags) {
  Op op{};
  op.id = OpId::HED;
  op.flags = flags;
  std::copy(numbers.begin(), numbers.end(), op.f);
  return op;
}

// Twelve numbers; the last four are rounded as ops.def says.
Op make_stains(const double (&numbers)[12], uint16_t flags) {
  Op op{};
  op.id = OpId::STAINS;
  op.flags = flags;
  std::copy_n(numbers, 8, op.f);
  for (int k = 8; k < 12; ++k) {
    uint64_t bits;
    std::memcpy(&bits, &numbers[k], sizeof(bits));
    bits = (bits + 0x8000) >> 16;
    std::memcpy(reinterpret_cast<char*>(op.i) + 6 * (k - 8), &bits, 6);
  }
  return op;
}

struct Colours {
  static constexpr int kWidth = 1 << 16;
  std::vector<uint8_t> planes[3];

  // Random ones, of which many are stained but little, as most of a slide is.
  explicit Colours(uint64_t seed) {
    Random random(seed);
    for (auto& plane : planes) {
      plane.resize(kWidth + kRowPad);
      random.fill(plane.data(), plane.size());
      for (size_t x = 0; x < kWidth / 4; ++x) plane[x] |= 0xe0;
    }
    for (size_t x = 0; x < 256; ++x)
      for (auto& plane : planes) plane[x] = static_cast<uint8_t>(x);
  }

  // How many samples an instruction set makes others of than sample(pixel, c).
  template <class Sample>
  int wrong(const Op& op, const char* isa, const Sample& sample) const {
    std::vector<uint8_t> made[3] = {planes[0], planes[1], planes[2]};
    uint8_t* const rows[] = {made[0].data(), made[1].data(), made[2].data()};
    const float mean = 0.0f;
    kernels(isa)->pointwise(&op, &mean, 1, 3, rows, kWidth);
    int count = 0;
    for (size_t x = 0; x < kWidth; ++x) {
      const int pixel[] = {planes[0][x], planes[1][x], planes[2][x]};
      for (int c = 0; c < 3; ++c) count += made[c][x] != sample(pixel, c) ? 1 : 0;
    }
    return count;
  }
};

TEST_CASE("exp_of is the exponential within four units in the last place") {
  for (int k = 0; k <= 600000; ++k) {
    const double x = -k * 1e-4;
    REQUIRE(std::fabs(exp_of(x) / std::exp(x) - 1.0) < 4 * 0x1p-52);
  }
}

TEST_CASE("densities are logarithms") {
  for (int v = 0; v <= 256; ++v) {
    const double density = -std::log(std::fmax(v / 255.0, 1e-6)) / kDensityOfBlack;
    CHECK(std::fabs(kDensities[v] - density) < 1e-15);
    CHECK(kDensities32[v] == static_cast<float>(kDensities[v]));
  }
}

// What float64 alone makes of them; and with these numbers many samples are next to an integer, or nothing of float32
// is certain.
TEST_CASE("stains in float32 are those in float64") {
  const std::initializer_list<double> kNumbers[] = {{1, 1, 1, 0, 0, 0},
                                                    {1.05, 0.97, 1.01, 0.03, -0.02, 0.04},
                                                    {0.8, 1.2, 1.1, -0.2, 0.17, 0.2},
                                                    {0, 0, 0, 0, 0, 0},
                                                    {1, 0, 0, 0, 0, 0},
                                                    {-3, 2, 5, 1, -1, 0.5},
                                                    {1e6, 1e6, 1e6, -1, -1, 0},
                                                    {1e6, -1e6, 1e6, 1e6, -1e6, 1e6},
                                                    {1, 1, 1, 1e6, 1e6, 1e6}};
  const Colours colours(5);
  for (const auto& numbers : kNumbers) {
    for (const uint16_t flags : {uint16_t{0}, kUnclipped}) {
      const Op op = make_hed(numbers, flags);
      for (const char* name : available_isas()) {
        CAPTURE(name);
        CAPTURE(flags);
        CHECK(colours.wrong(op, name,
                            [&](const int* pixel, int c) { return jittered_hed(pixel, c, op.f, flags == 0); }) == 0);
      }
    }
  }
}

TEST_CASE("numbers of STAINS are those that were packed") {
  const double numbers[12] = {1, -2, 3.5, 1e6, -1e-6, 0, 0.1, 0.2, 0.3, -0.7, 1e5, -1e-9};
  const Op op = make_stains(numbers, 0);
  for (int k = 0; k < 8; ++k) CHECK(stain_number(op, k) == numbers[k]);
  for (int k = 8; k < 12; ++k) CHECK(std::fabs(stain_number(op, k) / numbers[k] - 1.0) <= 0x1p-37);
}

TEST_CASE("mapped densities in float32 are those in float64") {
  const double kNumbers[][12] = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
                                 {1.1, -0.05, 0.02, 0.1, 0.9, -0.03, -0.2, 0.1, 0.8, 0.02, -0.01, 0.1},
                                 {0.5, 0.4, 0.1, 0.6, 0.9, 0.2, 0.1, 0.2, 0.1, -0.5, 0.1, 0},
                                 {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                 {0, 0, 0, 0, 0, 0, 0, 0, 0, 0.6931471805599453, -1, 100},
                                 {-30, 20, 8, 14, -9, 3, 0.2, 7, 100, 1, -1, 2},
                                 {1e6, -1e6, 1e6, 1e6, 1e6, -1e6, 1e6, 1e6, 1e6, 1e6, -1e6, 1e6}};
  const Colours colours(6);
  for (const auto& numbers : kNumbers) {
    for (uint16_t flags = 0; flags < 8; ++flags) {
      const Op op = make_stains(numbers, flags);
      const StainMap map = StainMap::of(op);
      const auto sample = [&](const int* pixel, int c) {
        const bool light = 299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] >= 216750;
        if (light && (flags & kKeepsBackground) != 0) return static_cast<float>(pixel[c]);
        return map.sample_of(pixel, c);
      };
      for (const char* name : available_isas()) {
        CAPTURE(name);
        CAPTURE(flags);
        CHECK(colours.wrong(op, name, sample) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
