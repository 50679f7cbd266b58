// How finished samples become numbers of the output's dtype, and how AugMix mixes finished images.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"
#include "program/op.h"

namespace fastaug {

static_assert(registry::for_every_op([](OpId id) {
                return registry::follows(kind_of(id) == OpKind::kStore,
                                         begins_store(id) || id == OpId::NORMALIZE || id == OpId::ERASE);
              }),
              "a store op has no body");

// TO_FLOAT, or a product with `factor` where `multiplied`, and NORMALIZE where it follows.
FASTAUG_FN float stored_value(float sample, bool normalized, float mean, float std, bool multiplied, float factor) {
  const float unit = multiplied ? scalar::Scale{factor}(sample) : scalar::ToFloat()(sample);
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

// How a channel's samples are stored: stored_value for all 256 of them, without its divisions where `quick` says so.
struct StoreForm {
  bool normalize;
  bool quick;
  float mean;
  float std;
  float inverse;  // 1 / std, and what rounding it to float32 left out
  float residue;
  bool multiplied;  // by unit_high, of V2_TO_FLOAT and SCALE
  float unit_high;  // the factor, or 1 / 255
  float unit_low;   // what is added to 1 / 255; to a factor a negative zero, by which a lane of -0 is stored as 0
};

// 1 / 255 in two parts.
constexpr float kUnitHigh = 1.0f / 255.0f;
constexpr float kUnitLow = static_cast<float>(1.0 / 255.0 - kUnitHigh);

// The short form: both quotients are products with a reciprocal in two parts. The first has the bits of a division by
// 255 for every sample, and those of a product without the second part; the second lacks a correction, and is wrong
// where a quotient lies as close to the middle between two floats as the reciprocal's 48 bits cannot tell.
FASTAUG_FN float quickly_stored(const StoreForm& form, float sample) {
  const float unit = fmaf(sample, form.unit_high, sample * form.unit_low);
  if (!form.normalize) return unit;
  const float centred = unit - form.mean;
  return fmaf(centred, form.inverse, centred * form.residue);
}

FASTAUG_FN float stored(const StoreForm& form, float sample) {
  return form.quick ? quickly_stored(form, sample)
                    : stored_value(sample, form.normalize, form.mean, form.std, form.multiplied, form.unit_high);
}

// For hosts: tries the short form on all samples.
inline StoreForm store_form(bool normalize, float mean, float std, bool multiplied = false, float factor = kUnitHigh) {
  StoreForm form = {normalize, true, mean, std, 1.0f, 0.0f, multiplied, factor, multiplied ? -0.0f : kUnitLow};
  if (normalize) {
    form.inverse = 1.0f / std;
    form.residue = static_cast<float>(1.0 / std - form.inverse);
  }
  for (int v = 0; v < 256 && form.quick; ++v) {
    const auto sample = static_cast<float>(v);
    const float wanted = stored_value(sample, normalize, mean, std, multiplied, factor);
    form.quick = bits_of(quickly_stored(form, sample)) == bits_of(wanted);
  }
  return form;
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
