// How finished samples become numbers of the output's dtype, and how AugMix mixes finished images.
#pragma once

#include <cstdint>
#include <cstring>

#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"
#include "program/program.h"

namespace fastaug {

static_assert(registry::for_every_op([](OpId id) {
                return registry::follows(kind_of(id) == OpKind::kStore,
                                         id == OpId::TO_FLOAT || id == OpId::NORMALIZE || id == OpId::ERASE);
              }),
              "a store op has no body");

// TO_FLOAT, and NORMALIZE where it follows.
FASTAUG_FN float stored_value(float sample, bool normalized, float mean, float std) {
  const float unit = scalar::ToFloat()(sample);
  return normalized ? scalar::Normalize{mean, std}(unit) : unit;
}

// ERASE: whether pixel (y, x) takes the op's values.
FASTAUG_FN bool erases(const Op& op, int y, int x) {
  return y >= op.i[0] && x >= op.i[1] && y < op.i[0] + op.i[2] && x < op.i[1] + op.i[3];
}

FASTAUG_FN uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// IEEE 754's conversion to binary16, half to even, as torch's Tensor.to has it.
FASTAUG_FN uint16_t to_float16(float value) {
  const uint32_t bits = bits_of(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude > 0x477fefffu) return sign | 0x7c00u;  // rounds to 2^16 or more
  if (magnitude < 113u << 23) {
    // Below 2^-14, adding 0.5 leaves multiples of 2^-24, rounded by the addition, in the last bits of the sum.
    const float sum = fabsf(value) + 0.5f;
    return sign | static_cast<uint16_t>(bits_of(sum) - bits_of(0.5f));
  }
  // The exponent's bias changes by 112, and 13 bits of the fraction go.
  return sign | static_cast<uint16_t>((magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}

// c10, BFloat16.h, round_to_nearest_even: the upper half of the float, half to even.
FASTAUG_FN uint16_t to_bfloat16(float value) {
  const uint32_t bits = bits_of(value);
  if (value != value) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// torchvision, AugMix.forward: sample x of the mixture, every product and sum rounded to float32, from the first to the
// last, truncated.
FASTAUG_FN uint8_t mixed(const uint8_t* const* images, const float* weights, int count, int x) {
  float sum = weights[0] * static_cast<float>(images[0][x]);
  for (int k = 1; k < count; ++k) sum += weights[k] * static_cast<float>(images[k][x]);
  return static_cast<uint8_t>(sum);
}

}  // namespace fastaug
