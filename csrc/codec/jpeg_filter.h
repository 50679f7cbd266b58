// What a JPEG file would leave of an image: encoder and decoder without the entropy codes between them, which lose
// nothing.
#pragma once

#include "base/arena.h"
#include "base/image.h"
#include "program/op.h"

namespace fastaug::codec::jpeg {

// An image as rows of samples, a plane for each channel.
class PlaneRows {
 public:
  // Writes row y, of which each plane has room for kRowPad samples more. Rows are asked for from the first to the last.
  virtual void read(int y, uint8_t* const* planes) = 0;

 protected:
  ~PlaneRows() = default;
};

class FilterState;

// A part of an image as it is read back from a file of its quality, 1 to 100: of one channel gray, of three 4:2:0, as
// Pillow and torchvision write them by default. Rows are made as they are asked for, from the first to the last.
class Filter {
 public:
  // The image, or a part of it that whole MCUs end, of which `wanted` is made. `width` is the whole image's.
  Filter(PlaneRows& image, Shape shape, Region wanted, int width, int quality, Arena& arena);

  // Pixels side by side, from the first wanted column on. The last few rows can be asked for again.
  const uint8_t* row(int y);

 private:
  FilterState* state_;
};

}  // namespace fastaug::codec::jpeg
