// Key points, and what transforms do to them: as torchvision.transforms.v2 on CPU tensors.
#pragma once

#include "places/coordinates.h"

namespace fastaug {

// Changes points in place. Nothing but clamp() holds them on the canvas, whatever the methods are told, as boxes' are.
class Points {
 public:
  Points(const CoordinateRows& rows, Canvas canvas) : values_(copied(rows, 2)), canvas_(canvas) {}

  int64_t count() const;
  CoordinateType type() const { return static_cast<CoordinateType>(values_.index()); }
  Canvas canvas() const { return canvas_; }

  void hflip();
  void vflip();
  void crop(int64_t top, int64_t left, Canvas size, bool clamping = false);
  void pad(int64_t left, int64_t top, int64_t right, int64_t bottom, bool clamping = false);
  // The canvas must not be empty, but where its size stays: then nothing changes.
  void resize(Canvas size);
  // Zero points keep everything, the canvas too. With `back`, the canvas becomes the one that holds all of it.
  // False, and nothing changed, where torch's product is unknown; a perspective, too.
  bool affine(const AffineMap& forth, const AffineMap* back, bool clamping = false);
  bool perspective(const ProjectiveMap& map, bool clamping = false);
  // The canvas must not be empty, but for zero points.
  void elastic(const Displacement& by, bool clamping = false);
  // Onto the pixels of the canvas.
  void clamp();

  // True if all points of each group of so many are inside of the canvas.
  void valid(int64_t group, int64_t groups, bool* out) const;
  // Removes the other groups.
  void keep(const bool* kept, int64_t group);

  void write(void* to) const { written(values_, to); }

 private:
  Coordinates values_;
  Canvas canvas_;
};

}  // namespace fastaug
