// Measures that separate tissue from glass, in one pass over an RGB image of bytes.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/image.h"
#include "kernels/kernels.h"

namespace fastaug {

// Sums and counts, all of them integers, so that nothing depends on their order.
struct TissueStats {
  TissueSums sums;
  LaplacianSums laplacian;  // of OpenCV's gray, whose border mirrors all but the last pixels (BORDER_REFLECT_101)
  uint32_t saturation[256] = {};
  uint32_t gray[256] = {};
};

// Pixels are white with all samples above `white`, and black with all below `black`; both are from 0 to 255.
TissueStats tissue_stats(const View& image, int white, int black, const Kernels& kernels, Arena& arena);

}  // namespace fastaug
