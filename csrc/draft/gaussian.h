// The weights of Gaussian kernels, with the roundings of torch in float32.
#pragma once

#include <optional>
#include <span>

#include "program/op.h"

namespace fastaug {

// torch's exp of each number, in place.
using Exponential = void (*)(std::span<float> powers);

// Sleef's expf of one unit in the last place, by fused multiply-adds, as in torch's vectors.
void sleef_exp(std::span<float> powers);

// How torch computes on a machine: the numbers in one of its vectors, the order of whose sums depends on them.
struct WeightForm {
  int lanes;
  Exponential exp;
};

// The exponents of a kernel whose weights lie at these positions, in place.
void as_exponents(std::span<float> positions, float sigma, bool v2);

// The weights of exponents, in place: exp, divided by the sum as v1's kernels are; or v2's softmax.
void as_weights(std::span<float> exponents, bool v2, WeightForm form);

// BLUR by two kernels of odd lengths, whose second halves mirror the first ones. Nothing where they do not fit into it.
std::optional<Op> blur_by(std::span<const float> across, std::span<const float> down, bool fuses);

}  // namespace fastaug
