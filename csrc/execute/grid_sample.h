// torchvision's elastic_transform: an image sampled where a field displaces each of its pixels to.
#pragma once

#include "base/image.h"
#include "kernels/kernels.h"

namespace fastaug {

struct GridSampling {
  // Where the pixels of a column, and of a row, are in grid_sample's units; and by how much each is displaced, height *
  // width pairs (x, y). Positions are their sums, rounded to float32.
  const float* columns;
  const float* rows;
  const float* displacement;
  bool nearest;
  Filling filling;
  float fill[kMaxChannels];  // from 0 to 255
};

// The result has the source's size and channels. The target may be Pillow's LA.
void grid_sample(const View& source, const GridSampling& sampling, const Target& target, const Kernels& kernels);

}  // namespace fastaug
