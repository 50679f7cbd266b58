// Coordinates in an image: what boxes and points share. The arithmetic is torch's on tensors of the same type, one
// rounding an operation but in matrix products.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <variant>
#include <vector>

#include "places/product.h"

namespace fastaug {

enum class CoordinateType { kFloat32, kFloat64, kInt64 };

// The size of the image that coordinates are in.
struct Canvas {
  int64_t height, width;
  bool operator==(const Canvas&) const = default;
};

using Coordinates = std::variant<std::vector<float>, std::vector<double>, std::vector<int64_t>>;

// Borrowed rows of coordinates; strides are in elements.
struct CoordinateRows {
  const void* data;
  CoordinateType type;
  int64_t count, row_stride, column_stride;
};

Coordinates copied(const CoordinateRows& rows, int columns);

// Dense, in the type that they have.
void written(const Coordinates& from, void* to);

// The type in which coordinates are mapped: float32 for integers.
template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Integers wrap around.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
T minus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  } else {
    return a - b;
  }
}

template <class T>
T negative(T a) {
  if constexpr (std::is_integral_v<T>) {
    return minus(T{0}, a);
  } else {
    return -a;
  }
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

// A real number as a coordinate: integers are cut off, and what none of them is becomes the least, as on x86.
template <class T, class V>
T as_coordinate(V value) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<V>) {
    constexpr auto kEnd = static_cast<V>(0x1p63);
    return value >= -kEnd && value < kEnd ? static_cast<T>(value) : std::numeric_limits<T>::min();
  } else {
    return static_cast<T>(value);
  }
}

// NaN stays.
template <class T>
T clamped(T value, T low, T high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

template <class T>
struct Point {
  T x, y;
};

// Six numbers, by rows, of a map from (x, y, 1).
using AffineMap = std::array<double, 6>;

template <class T>
struct AffineOf {
  T numbers[6];
  ProductForm form;

  AffineOf(const AffineMap& map, const ProductForm& product) : form(product) {
    for (size_t i = 0; i < 6; ++i) numbers[i] = static_cast<T>(map[i]);
  }
  Point<T> operator()(Point<T> at) const {
    const std::array<T, 3> row{at.x, at.y, T{1}};
    return {form(row, numbers), form(row, numbers + 3)};
  }
};

// The least x and y of the mapped canvas; nothing where torch's product is unknown.
template <class T>
std::optional<Point<T>> corner_of(Canvas canvas, const AffineMap& map);

// The canvas that holds one mapped about its centre, by the map from output to input, to 1e-4 of a pixel, in float32.
// Nothing where torch's product is unknown. Fails when that is no number.
std::optional<Canvas> expanded(Canvas canvas, const AffineMap& back);

// Eight numbers of a projective map.
using ProjectiveMap = std::array<double, 8>;

template <class T>
struct ProjectiveOf {
  T numbers[9];
  ProductForm form;

  ProjectiveOf(const ProjectiveMap& map, const ProductForm& product) : form(product) {
    for (size_t i = 0; i < 8; ++i) numbers[i] = static_cast<T>(map[i]);
    numbers[8] = T{1};
  }
  Point<T> operator()(Point<T> at) const {
    const std::array<T, 3> row{at.x, at.y, T{1}};
    const T below = form(row, numbers + 6);
    return {form(row, numbers) / below, form(row, numbers + 3) / below};
  }
};

// How far the pixels of a canvas are displaced, in grid_sample's units, and where the pixels lie.
struct Displacement {
  const void* data;  // float32 or float64, of canvas height x canvas width x 2; strides are in elements
  bool doubles;
  int64_t row_stride, column_stride, axis_stride;
  // Along each axis, as torch.linspace gives them in the type that the coordinates are mapped in: a vector of torch's
  // rounds other than a single number.
  const void *across, *down;
};

template <class T>
struct DisplacedBy {
  const Displacement& by;
  Canvas canvas;

  // The new place of the pixel at a whole x and y, or of the nearest one of the canvas.
  Point<T> operator()(int64_t x, int64_t y) const {
    x = clamped(x, int64_t{0}, canvas.width - 1);
    y = clamped(y, int64_t{0}, canvas.height - 1);
    const int64_t at = y * by.row_stride + x * by.column_stride;
    return {moved(static_cast<const T*>(by.across)[x], at, canvas.width),
            moved(static_cast<const T*>(by.down)[y], at + by.axis_stride, canvas.height)};
  }

 private:
  T moved(T place, int64_t at, int64_t size) const {
    const T shift = by.doubles ? static_cast<T>(static_cast<const double*>(by.data)[at])
                               : static_cast<T>(static_cast<const float*>(by.data)[at]);
    return (place - shift + T{1}) * (T{0.5} * static_cast<T>(size)) - T{0.5};
  }
};

// A limit as Python has it: torch compares integers with integers as they are.
struct Limit {
  bool whole;
  int64_t integer;
  double real;

  template <class T>
  bool at_most(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return whole ? integer <= value : static_cast<float>(real) <= static_cast<float>(value);
    } else {
      return (whole ? static_cast<T>(integer) : static_cast<T>(real)) <= value;
    }
  }
};

}  // namespace fastaug
