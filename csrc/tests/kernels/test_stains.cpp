#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

TEST_CASE("exp_of is the exponential within four units in the last place") {
  for (int k = 0; k <= 600000; ++k) {
    const double x = -k * 1e-4;
    REQUIRE(std::fabs(exp_of(x) / std::exp(x) - 1.0) < 4 * 0x1p-52);
  }
}

TEST_CASE("densities are logarithms") {
  for (int v = 0; v < 256; ++v) {
    const double density = -std::log(std::fmax(v / 255.0, 1e-6)) / kDensityOfBlack;
    CHECK(std::fabs(kDensities[v] - density) < 1e-15);
    CHECK(kDensities32[v] == static_cast<float>(kDensities[v]));
  }
}

// What float64 alone makes of them; and with these numbers many samples are next to an integer, or nothing of float32
// is certain.
TEST_CASE("stains in float32 are those in float64") {
  constexpr int kWidth = 1 << 16;
  const std::initializer_list<double> kNumbers[] = {{1, 1, 1, 0, 0, 0},
                                                    {1.05, 0.97, 1.01, 0.03, -0.02, 0.04},
                                                    {0.8, 1.2, 1.1, -0.2, 0.17, 0.2},
                                                    {0, 0, 0, 0, 0, 0},
                                                    {1, 0, 0, 0, 0, 0},
                                                    {-3, 2, 5, 1, -1, 0.5},
                                                    {1e6, 1e6, 1e6, -1, -1, 0},
                                                    {1e6, -1e6, 1e6, 1e6, -1e6, 1e6},
                                                    {1, 1, 1, 1e6, 1e6, 1e6}};
  Random random(5);
  std::vector<uint8_t> colours[3];
  for (auto& plane : colours) {
    plane.resize(kWidth + kRowPad);
    random.fill(plane.data(), plane.size());
  }
  // Stained but little, as most of a slide is.
  for (int x = 0; x < kWidth / 4; ++x)
    for (auto& plane : colours) plane[static_cast<size_t>(x)] |= 0xe0;
  const float mean = 0.0f;
  for (const auto& numbers : kNumbers) {
    for (const uint16_t flags : {uint16_t{0}, kUnclipped}) {
      const Op op = make_hed(numbers, flags);
      for (const char* name : available_isas()) {
        CAPTURE(name);
        CAPTURE(flags);
        std::vector<uint8_t> made[3] = {colours[0], colours[1], colours[2]};
        uint8_t* const planes[] = {made[0].data(), made[1].data(), made[2].data()};
        kernels(name)->pointwise(&op, &mean, 1, 3, planes, kWidth);
        int wrong = 0;
        for (size_t x = 0; x < kWidth; ++x) {
          const int pixel[] = {colours[0][x], colours[1][x], colours[2][x]};
          for (int c = 0; c < 3; ++c) wrong += made[c][x] != jittered_hed(pixel, c, op.f, flags == 0) ? 1 : 0;
        }
        CHECK(wrong == 0);
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
