// The region that a filter with a fixed reach reads of its input.
#pragma once

#include "base/image.h"
#include "pixel/extent.h"
#include "program/program.h"

namespace fastaug {

// The region of an image of shape `in` that a region of the output needs, with so many neighbours above and below, and
// on the left and the right.
inline Region neighbourhood(Region out, int half_height, int half_width, Shape in) {
  const Extent rows = neighbourhood(out.y, out.height, half_height, in.height);
  const Extent columns = neighbourhood(out.x, out.width, half_width, in.width);
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

// The region that a region of a filter's output needs.
inline Region filter_region(const Op& op, Shape in, Region out) {
  return neighbourhood(out, reach_of(op, true), reach_of(op, false), in);
}

// The region that a region of JPEG's output needs: whole MCUs, and those of the neighbours of its chroma.
inline Region jpeg_region(Shape in, Region out) {
  const int unit = in.channels == 1 ? kJpegSide : 2 * kJpegSide;
  const int reach = in.channels == 1 ? 0 : 2;
  const auto along = [&](int begin, int count, int size) -> Extent {
    return clipped_extent((begin - reach) / unit * unit, (begin + count + reach + unit - 1) / unit * unit, size);
  };
  const Extent rows = along(out.y, out.height, in.height), columns = along(out.x, out.width, in.width);
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

}  // namespace fastaug
