// Measures that separate tissue from glass: OpenCV's gray and saturation of 8 bits, and its Laplacian of that gray.
#pragma once

#include <cstdint>

namespace fastaug {

// cv2.cvtColor, COLOR_RGB2GRAY (modules/imgproc/src/color.simd_helpers.hpp): weights of .299, .587 and .114 in 15 bits,
// which add up to one, and the sum rounded.
constexpr int kGrayShift = 15;
constexpr int kGrayOfRed = 9798, kGrayOfGreen = 19235, kGrayOfBlue = 3735;
static_assert(kGrayOfRed + kGrayOfGreen + kGrayOfBlue == 1 << kGrayShift);

constexpr int cv_gray(int r, int g, int b) {
  return (r * kGrayOfRed + g * kGrayOfGreen + b * kGrayOfBlue + (1 << (kGrayShift - 1))) >> kGrayShift;
}

// cv2.cvtColor, COLOR_RGB2HSV (modules/imgproc/src/color_hsv.simd.hpp), channel 1: 255 * (high - low) / high by a table
// of round(255 * 4096 / high). The quotient of those two is never half of an odd number, as 2 * 255 * 4096 has more
// factors of two than any `high`, so that there is one way to round it; and it is 1 / (2 * high) away from there at
// least, which is eight times what a quotient in float32 may be off.
constexpr int kSaturationShift = 12;
constexpr int kFullSaturation = 255 << kSaturationShift;

constexpr int cv_saturation(int low, int high) {
  if (high == 0) return 0;
  const int scale = (2 * kFullSaturation + high) / (2 * high);
  return ((high - low) * scale + (1 << (kSaturationShift - 1))) >> kSaturationShift;
}

// cv2.Laplacian with ksize=1: the neighbours across and down, less four times the pixel; within 4 * 255 of zero.
constexpr int laplacian(const uint8_t* above, const uint8_t* row, const uint8_t* below, int x) {
  return above[x] + below[x] + row[x - 1] + row[x + 1] - 4 * row[x];
}

}  // namespace fastaug
