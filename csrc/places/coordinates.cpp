#include "places/coordinates.h"

#include <algorithm>

#include "base/status.h"

namespace fastaug {
namespace {

template <class T>
std::vector<T> copied_as(const CoordinateRows& rows, int columns) {
  std::vector<T> values(static_cast<size_t>(rows.count) * static_cast<size_t>(columns));
  const T* const from = static_cast<const T*>(rows.data);
  T* to = values.data();
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int column = 0; column < columns; ++column) *to++ = from[row * rows.row_stride + column * rows.column_stride];
  }
  return values;
}

}  // namespace

Coordinates copied(const CoordinateRows& rows, int columns) {
  switch (rows.type) {
    case CoordinateType::kFloat32:
      return copied_as<float>(rows, columns);
    case CoordinateType::kFloat64:
      return copied_as<double>(rows, columns);
    case CoordinateType::kInt64:
      return copied_as<int64_t>(rows, columns);
  }
  fail(ErrorCode::kType, "coordinates should be float32, float64 or int64");
}

void written(const Coordinates& from, void* to) {
  std::visit(
      [to](const auto& values) {
        if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(values[0]));
      },
      from);
}

template <class T>
std::optional<Point<T>> corner_of(Canvas canvas, const AffineMap& numbers) {
  const auto form = product_form(std::is_same_v<T, double>, 4);
  if (!form) return std::nullopt;
  const AffineOf<T> map(numbers, *form);
  const auto width = static_cast<T>(canvas.width), height = static_cast<T>(canvas.height);
  Point<T> least = map({T{0}, T{0}});
  for (const Point<T> corner : {Point<T>{T{0}, height}, Point<T>{width, height}, Point<T>{width, T{0}}}) {
    const Point<T> at = map(corner);
    // NaN is the least.
    least.x = at.x < least.x || std::isnan(at.x) ? at.x : least.x;
    least.y = at.y < least.y || std::isnan(at.y) ? at.y : least.y;
  }
  return least;
}

template std::optional<Point<float>> corner_of(Canvas canvas, const AffineMap& map);
template std::optional<Point<double>> corner_of(Canvas canvas, const AffineMap& map);

std::optional<Canvas> expanded(Canvas canvas, const AffineMap& back) {
  const auto form = product_form(false, 4);
  if (!form) return std::nullopt;
  const AffineOf<float> map(back, *form);
  const auto half_width = static_cast<float>(0.5 * static_cast<double>(canvas.width));
  const auto half_height = static_cast<float>(0.5 * static_cast<double>(canvas.height));
  float xs[4], ys[4];
  for (int i = 0; i < 4; ++i) {
    const auto [x, y] = map({i < 2 ? -half_width : half_width, i == 1 || i == 2 ? half_height : -half_height});
    xs[i] = x;
    ys[i] = y;
    if (!std::isfinite(x) || !std::isfinite(y)) fail(ErrorCode::kValue, "cannot expand a canvas without end");
  }
  // Rounding noise must not add a row or a column.
  const auto cut = [](float value, float half) {
    constexpr auto kGrain = static_cast<float>(1e-4), kGrains = static_cast<float>(1.0 / 1e-4);
    return std::trunc((value + half) * kGrains) * kGrain;
  };
  const auto size = [cut](const float (&ends)[4], float half) {
    const float high = std::ceil(cut(*std::ranges::max_element(ends), half));
    const float low = std::floor(cut(*std::ranges::min_element(ends), half));
    return as_coordinate<int64_t>(high - low);
  };
  return Canvas{size(ys, half_height), size(xs, half_width)};
}

}  // namespace fastaug
