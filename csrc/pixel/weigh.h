// The weighted sums of RESIZE, and the order of its passes.
#pragma once

#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// Pillow, Resample.c, clip8, after half a unit was added: what is left of a sum of weights in units of 2^-bits. Sums
// are taken modulo 2^32, which changes nothing, for a true sum fits int32.
FASTAUG_FN uint8_t clip8(uint32_t sum, int bits) {
  const int32_t value = static_cast<int32_t>(sum + (uint32_t{1} << (bits - 1))) >> bits;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

// Pillow, Resample.c, ImagingResampleHorizontal_8bpc and ImagingResampleVertical_8bpc: one output sample. sample(t) is
// the one under weight t.
template <class Sample>
FASTAUG_FN uint8_t weighted_sum(const int32_t* weights, int count, int bits, Sample sample) {
  uint32_t sum = 0;
  for (int t = 0; t < count; ++t) sum += static_cast<uint32_t>(weights[t]) * static_cast<uint32_t>(sample(t));
  return clip8(sum, bits);
}

// Pillow, Resample.c, ImagingResample: from 13 on, the height is filtered first where that leaves fewer pixels for the
// second pass.
FASTAUG_FN bool filters_height_first(const Op& resize, Shape in) {
  const int64_t lost_height = int64_t{in.height} - resize.i[0];
  const int64_t lost_width = int64_t{in.width} - resize.i[1];
  return (resize.flags & kWidthFirst) == 0 && lost_height > 0 && lost_height > 2 * lost_width;
}

}  // namespace fastaug
