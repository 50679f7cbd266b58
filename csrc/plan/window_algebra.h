// Windows in the coordinates of what comes before or after an op. Each function leaves its steps as they are when it
// returns false. `in` is the shape that enters the first of the two ops.
#pragma once

#include "plan/rewrite.h"

namespace fastaug {

// Offsets of windows stay in the range that shape_after accepts.
constexpr int64_t kMaxWindowOffset = int64_t{1} << 29;

// Merges `second` into `first`, if one window can show the same.
bool merge_window(Step& first, const Step& second, Shape in);

// PAD, then a window inside: padding that the window does not show goes away; then the window goes first, if the
// padding does not mirror what it cuts off. Sets `swapped`.
bool hoist_before_padding(Step& pad, Step& window, Shape in, bool* swapped);

// Makes `window`, after a flip, the window of the image before it.
bool mirror_window(OpId flip, Step& window, Shape in);

// The same for a quarter turn; always possible.
void turn_window(const Op& turn, Step& window, Shape in);

}  // namespace fastaug
