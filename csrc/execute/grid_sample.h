// torchvision's elastic_transform from its grid on: an image sampled where a field of positions says.
#pragma once

#include "base/image.h"
#include "kernels/kernels.h"

namespace fastaug {

struct GridSampling {
  const float* grid;  // height * width pairs (x, y), as GridRow::grid has them
  bool nearest;
  bool filled;
  float fill[kMaxChannels];  // from 0 to 255
};

// The result has the source's size and channels. The target may be Pillow's LA.
void grid_sample(const View& source, const GridSampling& sampling, const Target& target, const Kernels& kernels);

}  // namespace fastaug
