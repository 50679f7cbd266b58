#include "draft/matrices.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

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

std::optional<Rotated> rotation(PlaneSize image, double angle, bool expand, std::optional<Vec2> center) {
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
    result = {static_cast<int64_t>(rows), static_cast<int64_t>(columns)};
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

BothWays rotation_of_places(Vec2 center, double angle) {
  const double turn = radians(-angle);
  const double a = cosine(turn), c = sine(turn);
  // Of an affine map without shear, whose tangent is 0.
  const double b = -(a * 0.0 + c), d = a - c * 0.0;
  const double x = center.x, y = center.y;
  return {{{a, b, x - a * x - b * y, c, d, y - c * x - d * y}},
          {{d, -b, x - d * x - -b * y, -c, a, y - -c * x - a * y}}};
}

}  // namespace fastaug
