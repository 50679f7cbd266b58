// The predictors of PNG's filters: PNG Specification, "Filter algorithms".
#pragma once

#include <cstdint>

#include "pixel/lane.h"

namespace fastaug {

FASTAUG_FN int png_average(int left, int up) { return (left + up) / 2; }

// Whichever of the three is nearest to left + up - corner.
FASTAUG_FN int png_paeth(int left, int up, int corner) {
  const auto distance = [](int a, int b) { return a < b ? b - a : a - b; };
  const int estimate = left + up - corner;
  const int to_left = distance(estimate, left);
  const int to_up = distance(estimate, up);
  const int to_corner = distance(estimate, corner);
  if (to_left <= to_up && to_left <= to_corner) return left;
  return to_up <= to_corner ? up : corner;
}

}  // namespace fastaug
