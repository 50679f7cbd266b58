// Pillow's extended box blur: means of 2r + 1 samples and a part of one more at either end, in fixed point. Pillow,
// src/libImaging/BoxBlur.c.
#pragma once

#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// One axis of a box blur. Past the ends of the axis its first and last samples repeat.
struct BoxBlur {
  int radius;      // whole samples on either side
  uint32_t whole;  // weight of each of the 2 * radius + 1 samples, in 2^-24
  uint32_t part;   // weight of the samples beside them
  int passes;      // one after the other, each rounded to bytes

  bool is_nothing() const { return radius == 0 && part == 0; }
};

// As Pillow computes the weights: a quotient in float32, and the rest in unsigned integers.
FASTAUG_FN BoxBlur box_blur(float radius, int passes) {
  BoxBlur blur{static_cast<int>(radius), 0, 0, passes};
  blur.whole = static_cast<uint32_t>(16777216.0f / (radius * 2.0f + 1.0f));
  blur.part = ((1u << 24) - static_cast<uint32_t>(blur.radius * 2 + 1) * blur.whole) / 2u;
  return blur;
}

FASTAUG_FN BoxBlur box_blur(const Op& op, bool rows) {
  return box_blur(static_cast<float>(op.f[rows ? 1 : 0]), op.i[0]);
}

// The result of a pass for the sum of the 2r + 1 samples and that of the two beside them; modulo 2^32, as Pillow's.
FASTAUG_FN uint8_t box_mean(const BoxBlur& blur, uint32_t sum, uint32_t beside) {
  return static_cast<uint8_t>((sum * blur.whole + beside * blur.part + (1u << 23)) >> 24);
}

}  // namespace fastaug
