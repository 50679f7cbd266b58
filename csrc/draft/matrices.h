// Maps from output to input that Pillow and torchvision make of angles, bit for bit.
#pragma once

#include <array>
#include <optional>

#include "base/image.h"

namespace fastaug {

// The first two rows of a matrix, in Pillow's order.
struct AffineMatrix {
  double numbers[6];

  bool finite() const;
  // True if it only moves the image by whole pixels.
  bool is_shift() const;
};

struct Vec2 {
  double x = 0;
  double y = 0;
};

struct PlaneSize {
  int64_t height = 0;
  int64_t width = 0;
};

// x and y of the top left, top right, bottom right and bottom left corner.
using Corners = std::array<std::array<int64_t, 2>, 4>;

// Of a perspective, in Pillow's order.
using Coefficients = std::array<double, 8>;

struct Rotated {
  PlaneSize size;
  AffineMatrix map;
};

// Python's float % float, for a positive divisor.
double python_modulo(double number, double divisor);

// Image.rotate (Pillow, Image.py), for a finite angle in degrees that is no shortcut of it. With `expand` all of the
// image is in the result, which has Pillow's size or another. Nothing where a number of the map is not finite.
std::optional<Rotated> rotation(PlaneSize image, double angle, bool expand, std::optional<Vec2> center,
                                std::optional<PlaneSize> size = std::nullopt);

// torchvision's _get_inverse_affine_matrix: clockwise rotation, scale and shear about `center`, then a shift. Angles
// are in degrees. With t the translation, c the centre and A rotation times shear (determinant 1), the map is A^-1 /
// scale * (p - c - t) + c.
AffineMatrix inverse_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear);

struct BothWays {
  AffineMatrix forth, back;
};

// From input to output and back, with the roundings of torchvision.transforms.v2.
BothWays v2_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear);
AffineMatrix v2_inverse_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear);

// torchvision's _get_perspective_coeffs: the map that takes each of four ends back to its start. It is the solution of
// linear equations in double, rounded to float32. Nothing where the error of a stable solver might change a bit of it.
std::optional<Coefficients> sure_perspective(const Corners& starts, const Corners& ends);

// The size of the rectangle around an image that is mapped back by `map`, both in pixels from their centres. Nothing
// where torchvision's float32 might round to another.
std::optional<PlaneSize> sure_size_around(const AffineMatrix& map, PlaneSize image);

}  // namespace fastaug
