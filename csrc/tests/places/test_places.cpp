#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/status.h"
#include "places/boxes.h"
#include "places/points.h"

namespace fastaug {
namespace {

template <class T>
constexpr CoordinateType kTypeOf = std::is_same_v<T, float>    ? CoordinateType::kFloat32
                                   : std::is_same_v<T, double> ? CoordinateType::kFloat64
                                                               : CoordinateType::kInt64;

constexpr Canvas kCanvas{30, 40};

template <class T>
Boxes boxes_of(const std::vector<T>& values, BoxFormat format = BoxFormat::kXyxy, Canvas canvas = kCanvas) {
  return Boxes({values.data(), kTypeOf<T>, static_cast<int64_t>(values.size() / 4), 4, 1}, format, canvas);
}

template <class T>
Points points_of(const std::vector<T>& values, Canvas canvas = kCanvas) {
  return Points({values.data(), kTypeOf<T>, static_cast<int64_t>(values.size() / 2), 2, 1}, canvas);
}

template <class T, class Places>
std::vector<T> values_of(const Places& places, size_t numbers) {
  REQUIRE(places.type() == kTypeOf<T>);
  std::vector<T> values(static_cast<size_t>(places.count()) * numbers);
  places.write(values.data());
  return values;
}

template <class T>
std::vector<T> values_of(const Boxes& boxes) {
  return values_of<T>(boxes, 4);
}

template <class T>
std::vector<T> values_of(const Points& points) {
  return values_of<T>(points, 2);
}

TEST_CASE("rows are read with any strides, and copies do not change with each other") {
  const std::vector<float> transposed = {1, 2, 3, 4, 5, 6, 7, 8};  // two boxes, a column each
  Boxes boxes({transposed.data(), CoordinateType::kFloat32, 2, 1, 2}, BoxFormat::kXyxy, kCanvas);
  CHECK(values_of<float>(boxes) == std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8});
  const Boxes before = boxes;
  boxes.pad(1, 2, 3, 4, false);
  CHECK(values_of<float>(before) == std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8});
  CHECK(values_of<float>(boxes) == std::vector<float>{2, 5, 6, 9, 3, 6, 7, 10});
  CHECK(boxes.canvas() == Canvas{36, 44});
  Boxes backwards({transposed.data() + 7, CoordinateType::kFloat32, 2, -4, -1}, BoxFormat::kXyxy, kCanvas);
  CHECK(values_of<float>(backwards) == std::vector<float>{8, 7, 6, 5, 4, 3, 2, 1});
}

TEST_CASE_TEMPLATE("flips and formats of one box", T, float, double, int64_t) {
  const std::vector<T> corners = {3, 5, 9, 15};
  const std::vector<T> numbers[] = {corners, {3, 5, 6, 10}, {6, 10, 6, 10}};
  const std::vector<T> across[] = {{31, 5, 37, 15}, {31, 5, 6, 10}, {34, 10, 6, 10}};
  const std::vector<T> down[] = {{3, 15, 9, 25}, {3, 15, 6, 10}, {6, 20, 6, 10}};
  for (int from = 0; from < 3; ++from) {
    const auto format = static_cast<BoxFormat>(from);
    Boxes boxes = boxes_of(numbers[from], format);
    boxes.hflip();
    CHECK(values_of<T>(boxes) == across[from]);
    boxes.hflip();
    boxes.vflip();
    CHECK(values_of<T>(boxes) == down[from]);
    for (int to = 0; to < 3; ++to) {
      boxes = boxes_of(numbers[from], format);
      boxes.convert(static_cast<BoxFormat>(to));
      CHECK(values_of<T>(boxes) == numbers[to]);
      CHECK(boxes.format() == static_cast<BoxFormat>(to));
    }
  }
}

TEST_CASE("halves of integers: floors where torch divides integers, cuts where it goes through float32") {
  const auto converted = [](std::vector<int64_t> values, BoxFormat from, BoxFormat to) {
    Boxes boxes = boxes_of(values, from);
    boxes.convert(to);
    return values_of<int64_t>(boxes);
  };
  using Values = std::vector<int64_t>;
  CHECK(converted({-4, 0, -1, 3}, BoxFormat::kXyxy, BoxFormat::kCxcywh) == Values{-3, 1, 3, 3});
  CHECK(converted({-4, 0, -3, 3}, BoxFormat::kXywh, BoxFormat::kCxcywh) == Values{-6, 1, -3, 3});
  CHECK(converted({0, 5, 3, 3}, BoxFormat::kCxcywh, BoxFormat::kXyxy) == Values{-1, 3, 1, 6});
  CHECK(converted({0, 5, 3, 3}, BoxFormat::kCxcywh, BoxFormat::kXywh) == Values{-1, 3, 2, 3});
  CHECK(converted({(1 << 24) + 1, 0, 0, 0}, BoxFormat::kCxcywh, BoxFormat::kXyxy)[0] == 1 << 24);
}

TEST_CASE("crops and pads move, and clamp only if told to") {
  const std::vector<float> values = {-5, 2, 50, 33};
  Boxes boxes = boxes_of(values);
  boxes.crop(10, -4, {12, 20}, false);
  CHECK(values_of<float>(boxes) == std::vector<float>{-1, -8, 54, 23});
  CHECK(boxes.canvas() == Canvas{12, 20});
  boxes = boxes_of(values);
  boxes.crop(10, -4, {12, 20}, true);
  CHECK(values_of<float>(boxes) == std::vector<float>{0, 0, 20, 12});
  boxes = boxes_of(values, BoxFormat::kXywh);
  boxes.pad(1, 2, 0, -3, true);
  CHECK(values_of<float>(boxes) == std::vector<float>{0, 4, 41, 25});
  CHECK(boxes.canvas() == Canvas{29, 41});
}

TEST_CASE("sizes: float32 ratios for doubles, too, and integers are cut off") {
  Boxes boxes = boxes_of(std::vector<double>{1, 1, 3, 3}, BoxFormat::kXyxy, {30, 30});
  boxes.resize({10, 10});
  const auto third = static_cast<double>(static_cast<float>(1.0 / 3.0));
  CHECK(values_of<double>(boxes) == std::vector<double>{third, third, 3 * third, 3 * third});
  Boxes whole = boxes_of(std::vector<int64_t>{-2, 2, 7, 8}, BoxFormat::kXyxy, {30, 30});
  whole.resize({20, 10});
  CHECK(values_of<int64_t>(whole) == std::vector<int64_t>{0, 1, 2, 5});
  CHECK(whole.canvas() == Canvas{20, 10});
  // What stays as large is not multiplied.
  Boxes same = boxes_of(std::vector<int64_t>{int64_t{1} << 60, 1, 2, 3}, BoxFormat::kXyxy, {0, 0});
  same.resize({0, 0});
  CHECK(values_of<int64_t>(same)[0] == int64_t{1} << 60);
}

TEST_CASE("an affine map holds a box around its mapped corners, and may expand the canvas") {
  // A quarter turn about the middle of the canvas: (x, y) to (35 - y, x - 5).
  const AffineMap forth = {0, -1, 35, 1, 0, -5};
  Boxes boxes = boxes_of(std::vector<float>{10, 2, 20, 8});
  boxes.affine(forth, nullptr, true);
  CHECK(values_of<float>(boxes) == std::vector<float>{27, 5, 33, 15});
  CHECK(boxes.canvas() == kCanvas);
  boxes = boxes_of(std::vector<float>{10, 2, 20, 8});
  // About the centre, as images are expanded.
  const AffineMap turned = {0, 1, 0, -1, 0, 0};
  boxes.affine(forth, &turned, true);
  CHECK(boxes.canvas() == Canvas{40, 30});
  CHECK(values_of<float>(boxes) == std::vector<float>{22, 10, 28, 20});
  Boxes none = boxes_of(std::vector<float>{});
  none.affine(forth, &turned, true);
  CHECK(none.canvas() == kCanvas);
  AffineMap endless = turned;
  endless[2] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(boxes.affine(forth, &endless, true), Error);
}

TEST_CASE("no number in a corner leaves no number in its sides") {
  Boxes boxes = boxes_of(std::vector<float>{NAN, 1, 2, 3});
  boxes.affine({1, 0, 0, 0, 1, 0}, nullptr, true);
  const auto values = values_of<float>(boxes);
  CHECK(std::isnan(values[0]));
  CHECK(std::isnan(values[2]));
  CHECK(std::isnan(values[1]));  // 0 * NaN
}

TEST_CASE("a perspective divides") {
  Boxes boxes = boxes_of(std::vector<double>{2, 4, 6, 8});
  boxes.perspective({1, 0, 0, 0, 1, 0, 0, 0.25}, false);
  CHECK(values_of<double>(boxes) == std::vector<double>{2 / 3.0, 2, 3, 8 / 3.0});
}

TEST_CASE("a displacement moves boxes by the pixel above, and points by their own") {
  const std::vector<float> across = {-0.75f, -0.25f, 0.25f, 0.75f}, down = {-0.5f, 0.5f};
  std::vector<float> shifts(2 * 4 * 2);
  shifts[(1 * 4 + 2) * 2] = 0.5f;    // of pixel (2, 1): to the left by a quarter of the width
  shifts[(1 * 4 + 2) * 2 + 1] = -1;  // and down by half the height
  const Displacement by{shifts.data(), false, 8, 2, 1, across.data(), down.data()};
  Points points = points_of(std::vector<float>{2.9f, 1, 9, -9}, {2, 4});
  points.elastic(by);
  CHECK(values_of<float>(points) == std::vector<float>{1, 2, 3, 0});
  Boxes boxes = boxes_of(std::vector<float>{1.5f, 0.5f, 1.25f, 1}, BoxFormat::kXyxy, {2, 4});
  boxes.elastic(by, false);
  CHECK(values_of<float>(boxes) == std::vector<float>{1, 2, 1, 2});
  const std::vector<double> doubles(shifts.begin(), shifts.end());
  const Displacement by_doubles{doubles.data(), true, 8, 2, 1, across.data(), down.data()};
  Boxes whole = boxes_of(std::vector<int64_t>{2, 1, 2, 1}, BoxFormat::kXyxy, {2, 4});
  whole.elastic(by_doubles, true);
  CHECK(values_of<int64_t>(whole) == std::vector<int64_t>{1, 2, 1, 2});
}

TEST_CASE_TEMPLATE("which boxes are valid", T, float, double, int64_t) {
  const std::vector<T> values = {0, 0, 40, 30, 3, 3, 3, 9, -1, 0, 5, 5, 0, 0, 41, 5, 0, 0, 5, 31, 5, 5, 8, 7};
  const Boxes boxes = boxes_of(values);
  const auto valid = [&boxes](Limit size, Limit area) {
    bool out[6];
    boxes.valid(size, area, out);
    return std::vector<bool>(out, out + 6);
  };
  using Valid = std::vector<bool>;
  CHECK(valid({false, 0, 1.0}, {false, 0, 1.0}) == Valid{true, false, false, false, false, true});
  CHECK(valid({true, 0, 0.0}, {true, 0, 0.0}) == Valid{true, true, false, false, false, true});
  CHECK(valid({true, 3, 0.0}, {true, 0, 0.0}) == Valid{true, false, false, false, false, false});
  CHECK(valid({false, 0, 2.0}, {false, 0, 6.5}) == Valid{true, false, false, false, false, false});
}

TEST_CASE("what is not kept is cleared, or removed") {
  const bool kept[] = {false, true, true};
  Boxes boxes = boxes_of(std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  boxes.clear_but(kept);
  CHECK(values_of<int64_t>(boxes) == std::vector<int64_t>{0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12});
  boxes.keep(kept);
  CHECK(boxes.count() == 2);
  CHECK(values_of<int64_t>(boxes) == std::vector<int64_t>{5, 6, 7, 8, 9, 10, 11, 12});
  Points points = points_of(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  points.keep(kept, 2);
  CHECK(values_of<float>(points) == std::vector<float>{5, 6, 7, 8, 9, 10, 11, 12});
}

TEST_CASE_TEMPLATE("which rectangles boxes overlap with", T, float, double, int64_t) {
  const Boxes boxes = boxes_of(std::vector<T>{0, 0, 10, 10, 20, 20, 30, 30});
  bool within[2];
  CHECK(boxes.overlap(0, 0, 20, 10, 0.5, within));  // half of it
  CHECK(within[0]);
  CHECK_FALSE(within[1]);
  CHECK_FALSE(boxes.overlap(0, 0, 20, 10, 0.51, within));
  CHECK_FALSE(boxes.overlap(5, 0, 20, 10, 0.0, within));  // its centre is on the edge
  CHECK_FALSE(within[0]);
  CHECK(boxes.overlap(0, 0, 40, 40, 0.0, within));
  CHECK(within[1]);
}

TEST_CASE_TEMPLATE("points", T, float, double, int64_t) {
  const std::vector<T> values = {0, 0, 39, 29, 40, 3, 3, -1};
  Points points = points_of(values);
  bool valid[4];
  points.valid(1, 4, valid);
  CHECK(std::ranges::equal(valid, std::vector<bool>{true, true, false, false}));
  points.valid(2, 2, valid);
  CHECK((valid[0] && !valid[1]));
  points.hflip();
  CHECK(values_of<T>(points) == std::vector<T>{39, 0, 0, 29, -1, 3, 36, -1});
  points.vflip();
  CHECK(values_of<T>(points) == std::vector<T>{39, 29, 0, 0, -1, 26, 36, 30});
  points.clamp();
  CHECK(values_of<T>(points) == std::vector<T>{39, 29, 0, 0, 0, 26, 36, 29});
  points.crop(5, -1, {10, 20});
  CHECK(values_of<T>(points) == std::vector<T>{40, 24, 1, -5, 1, 21, 37, 24});
  points.resize({20, 10});
  CHECK(points.canvas() == Canvas{20, 10});
  CHECK(values_of<T>(points) ==
        std::vector<T>{20, 48, static_cast<T>(0.5), -10, static_cast<T>(0.5), 42, static_cast<T>(18.5), 48});
  points.affine({1, 0, 3, 0, 1, -8}, nullptr);
  points.perspective({2, 0, 0, 0, 2, 0, 0, 0});
  points.pad(1, 2, 3, 4);
  CHECK(points.canvas() == Canvas{26, 14});
  CHECK(values_of<T>(points)[0] == T{47});
  CHECK(values_of<T>(points)[1] == T{82});
}

TEST_CASE("what no integer is becomes the least of them") {
  for (const float value : {NAN, INFINITY, -INFINITY, 0x1p63f}) {
    CHECK(as_coordinate<int64_t>(value) == std::numeric_limits<int64_t>::min());
  }
  CHECK(as_coordinate<int64_t>(-0x1p63f) == std::numeric_limits<int64_t>::min());
  CHECK(as_coordinate<int64_t>(-1.9f) == -1);
}

}  // namespace
}  // namespace fastaug
