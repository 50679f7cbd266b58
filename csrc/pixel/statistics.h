// The number that an op of WholeInput::kMean takes from the sum of luma or gray over its whole input.
#pragma once

#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// Pillow, ImageEnhance.Contrast: int(mean + 0.5), in double.
FASTAUG_FN float pillow_mean(uint64_t sum, int64_t pixels) {
  return static_cast<float>(static_cast<int>(static_cast<double>(sum) / static_cast<double>(pixels) + 0.5));
}

// torch.mean adds up in float32, which is exact up to a sum of 2^24; beyond, its last bits depend on torch's number of
// threads, and whoever wants them has to ask torch.
FASTAUG_FN float torch_mean(uint64_t sum, int64_t pixels) {
  return static_cast<float>(sum) / static_cast<float>(pixels);
}

// What an op blends with: an integer for CONTRAST, any number for TORCH_CONTRAST.
FASTAUG_FN float mean_of(OpId id, uint64_t sum, int64_t pixels) {
  if (id == OpId::CONTRAST) return pillow_mean(sum, pixels);
  if (id == OpId::TORCH_CONTRAST) return torch_mean(sum, pixels);
#ifndef __CUDA_ARCH__
  fail_on("mean_of", id);
#else
  return 0.0f;
#endif
}

}  // namespace fastaug
