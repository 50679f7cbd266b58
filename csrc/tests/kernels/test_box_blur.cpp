#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/status.h"
#include "kernels/kernels.h"
#include "pixel/box_blur.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

int round_up(int count) { return (count + kBoxRows - 1) / kBoxRows * kBoxRows; }

// A plane as stages have it, in memory that ends, or begins, with it.
struct Plane {
  int height;
  int width;
  ptrdiff_t stride;
  Guarded memory;

  Plane(int h, int w, Side side)
      : height(h), width(w), stride(w + kRowPad), memory(static_cast<size_t>(round_up(h) * stride), side) {}
  uint8_t* row(int y) { return memory.data() + y * stride; }
};

void check(const Kernels& tested, bool down, const BoxBlur& blur, int height, int width, Random& random) {
  CAPTURE(tested.name);
  CAPTURE(down);
  CAPTURE(blur.radius);
  CAPTURE(blur.passes);
  CAPTURE(height);
  CAPTURE(width);
  const int kind = random.between(0, 2);
  for (Side side : {Side::kFront, Side::kBack}) {
    Plane plane(height, width, side), expected(height, width, side);
    random.fill(plane.memory.data(), plane.memory.size());
    for (size_t k = 0; k < plane.memory.size() && kind != 0; ++k) {
      plane.memory.data()[k] = kind == 1 ? 255 : plane.memory.data()[k] < 128 ? 0 : 255;
    }
    std::memcpy(expected.memory.data(), plane.memory.data(), plane.memory.size());
    const size_t bytes = 2 * size_t{kBoxLanes} * static_cast<size_t>(round_up(down ? height : width));
    Guarded scratch(bytes, side), other(bytes, side);
    const Kernels& scalar = *kernels("scalar");
    (down ? tested.box_blur_down : tested.box_blur_across)(blur, plane.row(0), plane.stride, height, width,
                                                           scratch.data());
    (down ? scalar.box_blur_down : scalar.box_blur_across)(blur, expected.row(0), expected.stride, height, width,
                                                           other.data());
    for (int y = 0; y < height; ++y) {
      REQUIRE(std::memcmp(plane.row(y), expected.row(y), static_cast<size_t>(width)) == 0);
    }
    REQUIRE(plane.memory.intact());
    REQUIRE(scratch.intact());
  }
}

float random_radius(Random& random) {
  switch (random.next() % 5) {
    case 0:
      return static_cast<float>(random.between(0, 3));
    case 1:
      return static_cast<float>(random.unit());
    case 2:
      return static_cast<float>(70.0 * random.unit());
    case 3:
      return static_cast<float>(random.between(62, 65));
    default:
      return static_cast<float>(3000.0 * random.unit());
  }
}

TEST_CASE("a box blur equals the scalar kernel at every size") {
  for (const char* name : available_isas()) {
    Random random(1);
    for (int size = 1; size <= 140; ++size) {
      for (bool down : {false, true}) {
        const BoxBlur blur = box_blur(random_radius(random), random.between(1, 4));
        check(*kernels(name), down, blur, size, random.between(1, 80), random);
        check(*kernels(name), down, blur, random.between(1, 80), size, random);
      }
    }
  }
}

TEST_CASE("a box blur equals the scalar kernel for weights that wrap") {
  for (const char* name : available_isas()) {
    Random random(2);
    for (int i = 0; i < 40; ++i) {
      const BoxBlur blur{random.between(0, 90), random.next(), random.next(), random.between(1, 3)};
      check(*kernels(name), i % 2 == 0, blur, random.between(1, 70), random.between(1, 70), random);
    }
  }
}

TEST_CASE("a box blur keeps what is the same everywhere") {
  for (const char* name : available_isas()) {
    for (float radius : {0.0f, 0.3f, 1.0f, 7.7f, 100.0f}) {
      Plane plane(20, 30, Side::kBack);
      std::memset(plane.memory.data(), 255, plane.memory.size());
      std::vector<uint8_t> scratch(2 * kBoxLanes * 32);
      kernels(name)->box_blur_across(box_blur(radius, 3), plane.row(0), plane.stride, 20, 30, scratch.data());
      kernels(name)->box_blur_down(box_blur(radius, 3), plane.row(0), plane.stride, 20, 30, scratch.data());
      for (int y = 0; y < 20; ++y) {
        REQUIRE(std::all_of(plane.row(y), plane.row(y) + 30, [](uint8_t v) { return v == 255; }));
      }
    }
  }
}

// Twice the whole samples, what lies between them and both parts are all of the weight, or next to it.
TEST_CASE("the weights of a box are as large as it is") {
  Random random(3);
  for (int i = 0; i < test::cases(2000); ++i) {
    const BoxBlur blur = box_blur(random_radius(random), 1);
    const int64_t sum = int64_t{2 * blur.radius + 1} * blur.whole + 2 * int64_t{blur.part};
    REQUIRE(sum <= 1 << 24);
    REQUIRE(sum >= (1 << 24) - 1);
  }
  CHECK(box_blur(0.0f, 1).is_nothing());
  CHECK(!box_blur(0.01f, 1).is_nothing());
}

TEST_CASE("what a box blur does not take is refused") {
  for (int passes : {0, -1, kMaxBoxPasses + 1}) {
    CHECK_THROWS_AS(shape_after({OpId::BOX_BLUR, 0, {}, {passes}, {1.0, 1.0}}, {4, 4, 3}), Error);
  }
  for (double radius : {-0.5, kMaxBoxRadius + 1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_AS(shape_after({OpId::BOX_BLUR, 0, {}, {1}, {radius, 1.0}}, {4, 4, 3}), Error);
    CHECK_THROWS_AS(shape_after({OpId::BOX_BLUR, 0, {}, {1}, {1.0, radius}}, {4, 4, 3}), Error);
  }
  CHECK(shape_after({OpId::BOX_BLUR, 0, {}, {3}, {0.0, double{kMaxBoxRadius}}}, {4, 5, 2}) == Shape{4, 5, 2});
}

}  // namespace
}  // namespace fastaug
