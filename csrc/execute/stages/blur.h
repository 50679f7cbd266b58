// BLUR as a stage, and the same filter on planes of floats.
#pragma once

#include "base/image.h"
#include "execute/stages/stages.h"
#include "kernels/kernels.h"
#include "pixel/blur_weights.h"
#include "program/program.h"

namespace fastaug {

// Rows of BLUR. Both sides of `in`, the shape of the whole input, are larger than half the kernel's, rounded down; the
// input's region holds what filter_region() names.
Stage* blur_stage(Context& context, Stage* input, const Op& op, Shape in, Region region);

// A whole plane of floats, row by row without gaps, as torchvision's gaussian_blur does it. Both sides are larger than
// half the kernel's. src and dst do not overlap.
void blur_plane(const float* src, int height, int width, const BlurKernel& kernel, float* dst, const Kernels& kernels);

}  // namespace fastaug
