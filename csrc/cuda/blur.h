// BLUR on a device: the chain that the CPU forms, for each sample.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pixel/blur.h"

namespace fastaug::cuda {

// Sample (y, x) of the blur of a plane of height * width samples without gaps. The kernel's matrix is in device memory.
__device__ inline uint8_t blurred(const BlurKernel& kernel, const uint8_t* plane, int height, int width, int y, int x) {
  const int top = y - kernel.height / 2;
  const int left = x - kernel.width / 2;
  const auto load = [=](int i, int j) {
    const ptrdiff_t row = reflect(top + i, height);
    return static_cast<float>(plane[row * width + reflect(left + j, width)]);
  };
  return scalar::round_blur(scalar::blur_chain(kernel, load));
}

}  // namespace fastaug::cuda
