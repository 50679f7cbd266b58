// The crop that RandomIoUCrop of torchvision.transforms.v2 draws: a rectangle that overlaps with boxes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "draw/random.h"
#include "places/boxes.h"

namespace fastaug {

struct IouCropLimits {
  int64_t height, width;        // of the image
  double scale[2];              // of each side of the crop, as part of the image's
  double aspect[2];             // width / height of the crop
  std::vector<double> options;  // least intersections over union; from 1 on, the image stays as it is
  int64_t trials;               // of each option that is drawn
};

struct IouCrop {
  enum class Outcome { kNone, kCrop, kDivisionByZero };
  Outcome outcome;
  int64_t top, left, height, width;
  std::vector<uint8_t> within;  // whether the centre of each box is in the crop
};

// Draws options, and crops for each, until one does. That may be never: `interrupted` is called now and then, and may
// throw. A crop without rows has no aspect, which torchvision divides for.
IouCrop draw_iou_crop(Random& random, const Boxes& boxes, const IouCropLimits& limits,
                      const std::function<void()>& interrupted);

}  // namespace fastaug
