// Which input sample of an axis, or which input pixel, an op shows at each place of its output.
#pragma once

#include <cstdint>
#include <vector>

#include "pixel/lane.h"
#include "program/program.h"

namespace fastaug {

// Index tables for the whole output axis.
std::vector<int32_t> nearest_index(NearestRule rule, int in_size, int out_size);
std::vector<int32_t> pad_index(PadMode mode, int in_size, int before, int after);

// Index k of an axis that goes on at both ends by reflection, without its end sample twice. -size < k < 2 * size - 1.
FASTAUG_FN int reflect(int k, int size) {
  if (k < 0) k = -k;
  return k < size ? k : 2 * (size - 1) - k;
}

struct Place {
  int y;
  int x;
};

// Pillow, Image.transpose: where pixel (y, x) comes from when an image of that height and width is rotated by `turns`
// times 90 degrees counter-clockwise, 1 to 3. What went there goes back by 4 - turns.
FASTAUG_FN Place before_turn(int turns, int y, int x, int height, int width) {
  if (turns == 1) return {x, width - 1 - y};
  if (turns == 2) return {height - 1 - y, width - 1 - x};
  return {height - 1 - x, y};
}

}  // namespace fastaug
