// Bounding boxes that are not turned, and what transforms do to them: as torchvision.transforms.v2 on CPU tensors.
#pragma once

#include "places/coordinates.h"

namespace fastaug {

// The meaning of the four numbers: corners; a corner, width and height; the middle, width and height.
enum class BoxFormat { kXyxy, kXywh, kCxcywh };

// Changes boxes in place. `clamping` says whether an operation ends by cutting boxes to the canvas.
class Boxes {
 public:
  Boxes(const CoordinateRows& rows, BoxFormat format, Canvas canvas)
      : values_(copied(rows, 4)), format_(format), canvas_(canvas) {}

  int64_t count() const;
  CoordinateType type() const { return static_cast<CoordinateType>(values_.index()); }
  BoxFormat format() const { return format_; }
  Canvas canvas() const { return canvas_; }

  void hflip();
  void vflip();
  void crop(int64_t top, int64_t left, Canvas size, bool clamping);
  void pad(int64_t left, int64_t top, int64_t right, int64_t bottom, bool clamping);
  // The canvas must not be empty, but where its size stays: then nothing changes.
  void resize(Canvas size);
  // Zero boxes keep everything, the canvas too. With `back`, the canvas becomes the one that holds all of it.
  // False, and nothing changed, where torch's product is unknown; a perspective, too.
  bool affine(const AffineMap& forth, const AffineMap* back, bool clamping);
  bool perspective(const ProjectiveMap& map, bool clamping);
  // The canvas must not be empty, but for zero boxes.
  void elastic(const Displacement& by, bool clamping);
  void convert(BoxFormat format);
  void clamp();

  // True if each box has sides and an area of a least size and is inside of the canvas.
  void valid(const Limit& size, const Limit& area, bool* out) const;
  // Makes the others all zeros.
  void clear_but(const bool* kept);
  // Removes the others.
  void keep(const bool* kept);

  // Sets within[k] if the centre of box k is within a rectangle. True if one is, and one of these boxes has an
  // intersection over union with the rectangle that is not below `least`.
  bool overlap(int64_t left, int64_t top, int64_t right, int64_t bottom, double least, bool* within) const;

  void write(void* to) const { written(values_, to); }

 private:
  Coordinates values_;
  BoxFormat format_;
  Canvas canvas_;
};

}  // namespace fastaug
