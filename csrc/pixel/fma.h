// A multiply-add that rounds once, on machines with and without one.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/device.h"

namespace fastaug {

// Without a fused multiply-add, one in double: the product of two floats is exact there. Rounding its sum with a third
// float twice is rounding it once, unless the first time leads to the middle between two floats, the last kDroppedBits
// of which are kMiddle; and floats below the normal ones, all of those below kSmallSum, have other middles.
constexpr uint64_t kDroppedBits = 0x1fffffff;
constexpr uint64_t kMiddle = 0x10000000;
constexpr double kSmallSum = 0x1p-125;

// a * b + c, rounded once.
FASTAUG_HOST_DEVICE inline float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(__aarch64__)
  return fmaf(a, b, c);
#else
  const double sum = static_cast<double>(a) * b + c;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof(bits));
  const bool middle = (bits & kDroppedBits) == kMiddle;
  const bool small = fabs(sum) < kSmallSum && sum != 0.0;
  return middle || small ? fmaf(a, b, c) : static_cast<float>(sum);
#endif
}

}  // namespace fastaug
