// What a filter with a fixed reach reads of its input.
#pragma once

#include <algorithm>

#include "base/image.h"
#include "program/program.h"

namespace fastaug {

// [begin, end) of an axis.
struct Extent {
  int begin;
  int end;
};

// What outputs [begin, begin + count) of an axis need when each needs `half` neighbours on both sides. What lies past
// an end is reflected onto samples that are needed anyway.
inline Extent neighbourhood(int begin, int count, int half, int size) {
  return {std::max(begin - half, 0), std::min(begin + count + half, size)};
}

// What a region of the output needs of an image of shape `in`, with so many neighbours above and below, and on the left
// and the right.
inline Region neighbourhood(Region out, int half_height, int half_width, Shape in) {
  const Extent rows = neighbourhood(out.y, out.height, half_height, in.height);
  const Extent columns = neighbourhood(out.x, out.width, half_width, in.width);
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

// What a region of BLUR's output needs.
inline Region blur_region(const Op& op, Shape in, Region out) {
  return neighbourhood(out, op.i[1] / 2, op.i[0] / 2, in);
}

}  // namespace fastaug
