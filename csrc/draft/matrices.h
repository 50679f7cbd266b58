// Maps from output to input that Pillow and torchvision make of angles, bit for bit.
#pragma once

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

struct Rotated {
  PlaneSize size;
  AffineMatrix map;
};

// Python's float % float, for a positive divisor.
double python_modulo(double number, double divisor);

// Image.rotate (Pillow, Image.py), for a finite angle in degrees that is no shortcut of it. With `expand` all of the
// image is in the result. Nothing where a number of the map is not finite.
std::optional<Rotated> rotation(PlaneSize image, double angle, bool expand, std::optional<Vec2> center);

// torchvision's _get_inverse_affine_matrix: clockwise rotation, scale and shear about `center`, then a shift. Angles
// are in degrees. With t the translation, c the centre and A rotation times shear (determinant 1), the map is A^-1 /
// scale * (p - c - t) + c.
AffineMatrix inverse_affine(Vec2 center, double angle, Vec2 translate, double scale, Vec2 shear);

struct BothWays {
  AffineMatrix forth, back;
};

// torchvision's maps of boxes and points, from input to output and back, about `center` by a counter-clockwise angle.
BothWays rotation_of_places(Vec2 center, double angle);

}  // namespace fastaug
