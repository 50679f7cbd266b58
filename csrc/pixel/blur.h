// The blur of torchvision's gaussian_blur: a depthwise convolution in float32 with reflected borders. torch forms each
// output as a chain of multiply-adds, one per weight, row by row from zero; everything here has those bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/index.h"
#include "pixel/lane.h"

namespace fastaug {

// A kernel of odd height and width: weight (i, j) is down[i] * across[j], rounded to float32.
struct BlurKernel {
  int height;
  int width;
  const float* matrix;  // height * width, row by row
  // For uint8 samples only, up to `error`: the two passes down and across, over the rows and columns that are left when
  // `skip_rows` and `skip_columns` are taken off at both ends, come within `error` of the chain.
  const float* down = nullptr;
  const float* across = nullptr;
  int skip_rows = 0;
  int skip_columns = 0;
  float error = 1.0f;
  // Each step of the chain rounds once; else the product is rounded before it is added.
  bool fused = true;
};

namespace scalar {

// A step of the chain.
FASTAUG_FN float blur_step(bool fused, float weight, float sample, float sum) {
  return fused ? fmaf(weight, sample, sum) : sum + weight * sample;
}

// One output: load(i, j) is the sample under weight (i, j).
template <class Load>
FASTAUG_FN float blur_chain(const BlurKernel& kernel, Load load) {
  float sum = 0.0f;
  const float* weight = kernel.matrix;
  for (int i = 0; i < kernel.height; ++i) {
    for (int j = 0; j < kernel.width; ++j, ++weight) {
      sum = blur_step(kernel.fused, *weight, load(i, j), sum);
    }
  }
  return sum;
}

// Half to even.
FASTAUG_FN uint8_t round_blur(float sum) {
  const float whole = rintf(sum);
  return static_cast<uint8_t>(whole > 0.0f ? whole < 255.0f ? whole : 255.0f : 0.0f);
}

}  // namespace scalar
}  // namespace fastaug
