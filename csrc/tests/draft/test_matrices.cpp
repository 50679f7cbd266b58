#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "draft/matrices.h"

namespace fastaug {
namespace {

void check_numbers(const AffineMatrix& map, const double (&expected)[6]) {
  for (int k = 0; k < 6; ++k) {
    CAPTURE(k);
    CHECK(map.numbers[k] == expected[k]);
  }
}

TEST_CASE("rotations are Pillow's, by what Image.rotate of Pillow 13 hands to Image.transform") {
  const auto turned = rotation({37, 50}, 33.3, false, std::nullopt);
  REQUIRE(turned);
  CHECK(turned->size.height == 37);
  CHECK(turned->size.width == 50);
  check_numbers(turned->map, {0x1.abeef145aa615p-1, -0x1.191984d01e95ep-1, 0x1.c8602893c9255p+3, 0x1.191984d01e95ep-1,
                              0x1.abeef145aa615p-1, -0x1.5604267dbccacp+3});

  const auto expanded = rotation({37, 50}, 33.3, true, std::nullopt);
  REQUIRE(expanded);
  CHECK(expanded->size.height == 59);
  CHECK(expanded->size.width == 64);
  check_numbers(expanded->map, {0x1.abeef145aa615p-1, -0x1.191984d01e95ep-1, 0x1.ce692a5463a1cp+3, 0x1.191984d01e95ep-1,
                                0x1.abeef145aa615p-1, -0x1.7b99cb3c57a7ap+4});

  const auto centred = rotation({37, 50}, 211.7, true, Vec2{3.5, -2});
  REQUIRE(centred);
  CHECK(centred->size.height == 59);
  CHECK(centred->size.width == 63);
  check_numbers(centred->map, {-0x1.b39d8384197c5p-1, 0x1.0d0a9ec8a938ap-1, 0x1.d1d8f1c3617bap+2, -0x1.0d0a9ec8a938ap-1,
                               -0x1.b39d8384197c5p-1, 0x1.5d2f3d37b8195p+3});

  // The rounding to 15 decimals shows in the last digits of these.
  const auto slight = rotation({7, 7}, 359.999, false, Vec2{1, 2});
  REQUIRE(slight);
  check_numbers(slight->map, {0x1.fffffffeb111ap-1, 0x1.24d152114f4e8p-16, -0x1.24d0fe55b8000p-15,
                              -0x1.24d152114f4e8p-16, 0x1.fffffffeb111ap-1, 0x1.24d2a0ffb0000p-16});
}

TEST_CASE("a rotation that is not finite, or too large to count, is none") {
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK_FALSE(rotation({4, 4}, 30, false, Vec2{infinite, 0}));
  CHECK_FALSE(rotation({4, 4}, 30, true, Vec2{0, -infinite}));
  CHECK_FALSE(rotation({4, int64_t{1} << 42}, 30, true, std::nullopt));
}

TEST_CASE("affine maps are torchvision's") {
  check_numbers(inverse_affine({25, 18.5}, 12.5, {3, -4}, 1.3, {7, -5}),
                {0x1.71e9ccd1adc3ep-1, 0x1.07148d6cd2ee7p-2, 0x1.0b8c4bde02aa0p+0, -0x1.db896f1aff474p-3,
                 0x1.790d74074c8a3p-1, 0x1.ca57ef753251fp+3});
  const AffineMatrix still = inverse_affine({0, 0}, 0, {2, 1}, 1, {0, 0});
  check_numbers(still, {1, 0, -2, -0.0, 1, -1});
  CHECK(std::signbit(still.numbers[3]));
  CHECK(still.is_shift());
  CHECK_FALSE(inverse_affine({0, 0}, 0, {2.5, 1}, 1, {0, 0}).is_shift());
  CHECK_FALSE(inverse_affine({0, 0}, 1e-9, {2, 1}, 1, {0, 0}).is_shift());
  CHECK_FALSE(inverse_affine({0, 0}, 0, {2, 1}, 1.5, {0, 0}).is_shift());
}

TEST_CASE("affine maps of v2 are v2's, and sizes around them are given where they are sure") {
  check_numbers(v2_inverse_affine({25, 18.5}, 12.5, {3, -4}, 1.3, {7, -5}),
                {0x1.71e9ccd1adc3ep-1, 0x1.07148d6cd2ee7p-2, 0x1.0b8c4bde02a9ap+0, -0x1.db896f1aff474p-3,
                 0x1.790d74074c8a3p-1, 0x1.ca57ef7532520p+3});
  const auto around = sure_size_around(inverse_affine({0, 0}, -33.3, {0, 0}, 1, {0, 0}), {37, 50});
  REQUIRE(around);
  CHECK(around->height == 59);
  CHECK(around->width == 64);
  CHECK_FALSE(sure_size_around(inverse_affine({0, 0}, 90, {0, 0}, 1, {0, 0}), {36, 50}));
}

TEST_CASE("remainders are Python's") {
  CHECK(python_modulo(-90, 360) == 270);
  CHECK(python_modulo(725, 360) == 5);
  CHECK(python_modulo(-720, 360) == 0);
  CHECK_FALSE(std::signbit(python_modulo(-720, 360)));
  CHECK(python_modulo(-1e-20, 360) == 360);  // as in Python
}

}  // namespace
}  // namespace fastaug
