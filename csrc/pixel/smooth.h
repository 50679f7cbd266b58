// The 3x3 smoothing that SHARPNESS and TORCH_SHARPNESS blend with.
#pragma once

#include <cstdint>

#include "pixel/lane.h"

namespace fastaug {

// Pillow, ImageFilter.SMOOTH, which is also torchvision's _blurred_degenerate_image: the 3x3 mean in which the centre
// counts five times, S / 13, rounded. Pillow truncates S / 13 + 1/2, torch rounds S / 13 half to even, both after
// float32 sums of at most 255.5. As 2 S + 13 is odd, S / 13 + 1/2 = (2 S + 13) / 26 is never an integer, and always
// 1/26 or more away from one. Nine weights, nine products and nine sums, each off by 2^-17 at most, are together off by
// 2^-12 at most in any order. Hence both are floor((2 S + 13) / 26), which is (S + 6) / 13 in integers.
FASTAUG_FN int smooth_of(int sum) { return (sum + 6) / 13; }

// x / 13 for x of 16 bits in smooth_of's range, up to 13 * 255 + 6, is the high half of x times this.
constexpr int kThirteenth = 5042;

// S for column x.
FASTAUG_FN int smooth_sum(const uint8_t* above, const uint8_t* row, const uint8_t* below, int x) {
  const int outer = above[x - 1] + above[x] + above[x + 1] + below[x - 1] + below[x] + below[x + 1];
  return outer + row[x - 1] + row[x + 1] + 5 * row[x];
}

// Pixels at the border lack neighbours and are blended with themselves, which changes nothing in Pillow's arithmetic.
// In torchvision's it does; but torchvision leaves images alone that are all border: _functional_tensor.py,
// adjust_sharpness.
FASTAUG_FN bool torch_sharpens(int height, int width) { return height > 2 && width > 2; }

}  // namespace fastaug
