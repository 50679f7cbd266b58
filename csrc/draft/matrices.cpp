#include "draft/matrices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace fastaug {
namespace {

// Each called by itself, as in Python's math module, and never merged into one that might round differently.
[[gnu::noinline]] double cosine(double x) { return std::cos(x); }
[[gnu::noinline]] double sine(double x) { return std::sin(x); }

// Python's math.radians.
double radians(double degrees) { return degrees * (std::numbers::pi / 180.0); }

// Python's round(number, 15), for numbers from -1 to 1: to the nearest decimal, and from there to the nearest double.
double rounded(double number) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed, 15);
  double value = 0;
  std::from_chars(text, written.ptr, value);
  return value;
}

}  // namespace

bool AffineMatrix::finite() const {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

bool AffineMatrix::is_shift() const {
  const auto whole = [](double number) { return std::fmod(number, 1.0) == 0.0; };
  return numbers[0] == 1.0 && numbers[4] == 1.0 && numbers[1] == 0.0 && numbers[3] == 0.0 && whole(numbers[2]) &&
         whole(numbers[5]);
}

double python_modulo(double number, double divisor) {
  const double rest = std::fmod(number, divisor);
  if (rest == 0) return 0.0;
  return rest < 0 ? rest + divisor : rest;
}

std::optional<Rotated> rotation(PlaneSize image, double angle, bool expand, std::optional<Vec2> center,
                                std::optional<PlaneSize> size) {
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  const Vec2 middle = center ? *center : Vec2{width / 2, height / 2};
  const double turn = -radians(angle);
  const double cos = rounded(cosine(turn)), sin = rounded(sine(turn)), minus_sin = rounded(-sine(turn));
  // Turn about the centre: to the origin, rotate, back.
  const double before_x = -middle.x, before_y = -middle.y;
  double offset_x = cos * before_x + sin * before_y + 0.0 + middle.x;
  double offset_y = minus_sin * before_x + cos * before_y + 0.0 + middle.y;
  PlaneSize result = image;
  if (expand) {
    const Vec2 corners[] = {{0, 0}, {width, 0}, {width, height}, {0, height}};
    double x[4], y[4];
    for (int k = 0; k < 4; ++k) {
      x[k] = cos * corners[k].x + sin * corners[k].y + offset_x;
      y[k] = minus_sin * corners[k].x + cos * corners[k].y + offset_y;
      if (!std::isfinite(x[k]) || !std::isfinite(y[k])) return std::nullopt;
    }
    const auto spanned = [](const double (&values)[4]) {
      const auto [least, most] = std::ranges::minmax(values);
      return std::ceil(most) - std::floor(least);
    };
    constexpr double kMost = 1ll << 40;
    const double rows = spanned(y), columns = spanned(x);
    if (!(rows < kMost && columns < kMost)) return std::nullopt;
    result = size.value_or(PlaneSize{static_cast<int64_t>(rows), static_cast<int64_t>(columns)});
    // The growth is shared by both sides: shift the output by half of it.
    const double shift_x = -static_cast<double>(result.width - image.width) / 2.0;
    const double shift_y = -static_cast<double>(result.height - image.height) / 2.0;
    const double moved_x = cos * shift_x + sin * shift_y + offset_x;
    offset_y = minus_sin * shift_x + cos * shift_y + offset_y;
    offset_x = moved_x;
  }
  const Rotated rotated{result, {{cos, sin, offset_x, minus_sin, cos, offset_y}}};
  if (!rotated.map.finite()) return std::nullopt;
  return rotated;
}

AffineMatrix inverse_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear) {
  const double turn = radians(angle), shear_x = radians(shear.x), shear_y = radians(shear.y);
  const double cos_y = cosine(shear_y), tan_x = std::tan(shear_x);
  const double cos = cosine(turn - shear_y), sin = sine(turn - shear_y);
  const double m0 = (-sin * tan_x / cos_y + cosine(turn)) / scale;
  const double m1 = -(-cos * tan_x / cos_y - sine(turn)) / scale;
  const double m3 = -(sin / cos_y) / scale;
  const double m4 = cos / cos_y / scale;
  const double back_x = -center.x - translate.x, back_y = -center.y - translate.y;
  const double zero = 0.0 / scale;
  const double m2 = zero + (m0 * back_x + m1 * back_y) + center.x;
  const double m5 = zero + (m3 * back_x + m4 * back_y) + center.y;
  return {{m0, m1, m2, m3, m4, m5}};
}

BothWays v2_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear) {
  const double to_x = center.x + translate.x, to_y = center.y + translate.y;
  const double turn = radians(angle), shear_x = radians(shear.x), shear_y = radians(shear.y);
  const double cos_y = cosine(shear_y), tan_x = std::tan(shear_x);
  const double a = cosine(turn - shear_y) / cos_y;
  const double b = -(a * tan_x + sine(turn));
  const double c = sine(turn - shear_y) / cos_y;
  const double d = cosine(turn) - c * tan_x;
  AffineMatrix forth{{a * scale, b * scale, 0.0, c * scale, d * scale, 0.0}};
  forth.numbers[2] += to_x - forth.numbers[0] * center.x - forth.numbers[1] * center.y;
  forth.numbers[5] += to_y - forth.numbers[3] * center.x - forth.numbers[4] * center.y;
  // The rotation and the shear have determinant 1.
  AffineMatrix back{{d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0}};
  back.numbers[2] += center.x - back.numbers[0] * to_x - back.numbers[1] * to_y;
  back.numbers[5] += center.y - back.numbers[3] * to_x - back.numbers[4] * to_y;
  return {forth, back};
}

AffineMatrix v2_inverse_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear) {
  return v2_affine(center, angle, translate, scale, shear).back;
}

std::optional<Coefficients> sure_perspective(const Corners& starts, const Corners& ends) {
  using Real = long double;
  constexpr size_t kSize = 8;
  // The equations, by row, and beside them what becomes their inverse.
  Real rows[kSize][2 * kSize] = {}, targets[kSize];
  for (size_t k = 0; k < 4; ++k) {
    const auto x = static_cast<Real>(ends[k][0]), y = static_cast<Real>(ends[k][1]);
    for (size_t axis = 0; axis < 2; ++axis) {
      Real* const row = rows[2 * k + axis];
      const auto start = targets[2 * k + axis] = static_cast<Real>(starts[k][axis]);
      row[3 * axis] = x;
      row[3 * axis + 1] = y;
      row[3 * axis + 2] = 1;
      row[6] = -start * x;
      row[7] = -start * y;
    }
  }
  // Columns of norm 1: an error of QR decompositions is small beside each column.
  Real norms[kSize];
  for (size_t column = 0; column < kSize; ++column) {
    Real sum = 0;
    for (const auto& row : rows) sum += row[column] * row[column];
    norms[column] = std::sqrt(sum);
    if (sum == 0) return std::nullopt;
    for (auto& row : rows) row[column] /= norms[column];
    rows[column][kSize + column] = 1;
  }
  for (size_t pivot = 0; pivot < kSize; ++pivot) {
    size_t largest = pivot;
    for (size_t k = pivot + 1; k < kSize; ++k) {
      if (std::abs(rows[k][pivot]) > std::abs(rows[largest][pivot])) largest = k;
    }
    std::swap(rows[pivot], rows[largest]);
    const Real by = rows[pivot][pivot];
    if (by == 0) return std::nullopt;
    for (Real& number : rows[pivot]) number /= by;
    for (size_t k = 0; k < kSize; ++k) {
      const Real factor = rows[k][pivot];
      if (k == pivot || factor == 0) continue;
      for (size_t column = pivot; column < 2 * kSize; ++column) rows[k][column] -= factor * rows[pivot][column];
    }
  }
  const auto norm = [](const Real* values) {
    Real sum = 0;
    for (size_t k = 0; k < kSize; ++k) sum += values[k] * values[k];
    return std::sqrt(sum);
  };
  Real scaled[kSize];
  for (size_t k = 0; k < kSize; ++k) scaled[k] = std::inner_product(targets, targets + kSize, rows[k] + kSize, Real{0});
  // Some 30 times the largest error of LAPACK's solutions that was seen, in units of this sum.
  const Real unit = 64 * 0x1p-53L * (std::sqrt(Real{kSize}) * norm(scaled) + norm(targets));
  Coefficients coefficients;
  for (size_t k = 0; k < kSize; ++k) {
    const Real error = unit * norm(rows[k] + kSize);
    const auto least = static_cast<float>((scaled[k] - error) / norms[k]);
    const auto most = static_cast<float>((scaled[k] + error) / norms[k]);
    if (!(least == most && least != 0)) return std::nullopt;
    coefficients[k] = static_cast<double>(least);
  }
  return coefficients;
}

std::optional<PlaneSize> sure_size_around(const AffineMatrix& map, PlaneSize image) {
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  const auto spanned = [=](const double* row, double half) -> std::optional<int64_t> {
    const double reach = std::abs(row[0]) * width * 0.5 + std::abs(row[1]) * height * 0.5;
    const double low = row[2] - reach + half, high = row[2] + reach + half;
    // Six roundings of sums below this one, and a grain.
    const double slack = 2e-4 + (reach + std::abs(row[2]) + half) * 0x1p-20;
    for (const double value : {low, high}) {
      const double rest = value - std::floor(value);
      // Neither is a number that is not finite.
      if (!(std::abs(value) < 1e6 && slack < rest && rest < 1.0 - slack)) return std::nullopt;
    }
    return static_cast<int64_t>(std::ceil(high) - std::floor(low));
  };
  const auto rows = spanned(map.numbers + 3, height * 0.5), columns = spanned(map.numbers, width * 0.5);
  if (!rows || !columns) return std::nullopt;
  return PlaneSize{*rows, *columns};
}

}  // namespace fastaug
