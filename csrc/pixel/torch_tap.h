// The filter of torch's antialiased interpolation in float32, and its sums: what torchvision makes of uint8 tensors in
// TORCH_RESIZE. From ATen, native/cpu/UpSampleKernel.cpp and native/UpSample.h, as compiled for AVX2 and AVX-512, where
// a product is fused with the sum that follows it; what is fused was found by comparing bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/fma.h"
#include "pixel/lane.h"
#include "pixel/tap.h"

namespace fastaug {

// The numbers that all outputs of an axis share. The filter is bilinear or bicubic.
struct TorchScale {
  float scale;    // source samples per output
  float support;  // the filter's radius in source samples
  float step;     // the filter's argument per source sample
};

FASTAUG_FN TorchScale torch_scale(TapAxis axis) {
  const float scale = static_cast<float>(axis.in) / static_cast<float>(axis.out);
  const float radius = static_cast<Filter>(axis.filter) == Filter::kBicubic ? 2.0f : 1.0f;
  const bool shrinks = scale >= 1.0f;
  return {scale, shrinks ? radius * scale : radius, shrinks ? static_cast<float>(1.0 / scale) : 1.0f};
}

// The most weights that an output has in torch.
FASTAUG_FN double torch_most(TorchScale by) { return ceil(static_cast<double>(by.support)) * 2.0 + 1.0; }

// As many, but for axes that have fewer samples, and for those that stay as they are.
FASTAUG_FN int torch_tap_stride(TapAxis axis) {
  if (axis.in == axis.out) return 1;
  const double most = torch_most(torch_scale(axis));
  return most < axis.in ? static_cast<int>(most) : axis.in;
}

FASTAUG_FN float torch_center(TorchScale by, int k) {
  return static_cast<float>(by.scale * (static_cast<double>(k) + 0.5));
}

// The samples that output k mixes: at least one, inside the axis also where float32 does not tell samples apart. Both
// ends grow with k. An axis that stays as it is has one tap.
FASTAUG_FN TapRange torch_window(TapAxis axis, int k) {
  if (axis.in == axis.out) return {k, 1};
  const TorchScale by = torch_scale(axis);
  const float center = torch_center(by, k);
  const double low = static_cast<double>(center - by.support) + 0.5;
  const double high = static_cast<double>(center + by.support) + 0.5;
  const double last = static_cast<double>(axis.in) - 1.0;
  const int first = static_cast<int>(low > 0.0 ? low < last ? low : last : 0.0);
  const double count = static_cast<double>(static_cast<int>(high < axis.in ? high : axis.in) - first);
  const double most = torch_most(by);
  return {first, static_cast<int>(count < most ? count > 1.0 ? count : 1.0 : most)};
}

FASTAUG_FN float torch_bilinear(float x) {
  const float rest = 1.0f - fabsf(x);
  return rest > 0.0f ? rest : 0.0f;
}

FASTAUG_FN float torch_bicubic(float x) {
  constexpr float a = -0.5f;
  x = fabsf(x);
  if (x < 1.0f) return fused(fused(a + 2.0f, x, -(a + 3.0f)) * x, x, 1.0f);
  if (x < 2.0f) return fused(fused(fused(a, x, -5.0f * a), x, 8.0f * a), x, -4.0f * a);
  return 0.0f;
}

// The samples that output k mixes. Its weights go to weight[t], which may lie anywhere.
template <class Weights>
FASTAUG_FN TapRange torch_taps_of(TapAxis axis, int k, Weights weight) {
  const TapRange window = torch_window(axis, k);
  if (axis.in == axis.out) {
    weight[0] = 1.0f;
    return window;
  }
  const TorchScale by = torch_scale(axis);
  const float center = torch_center(by, k);
  const bool cubic = static_cast<Filter>(axis.filter) == Filter::kBicubic;
  float sum = 0.0f;
  for (int t = 0; t < window.count; ++t) {
    const double from_center = static_cast<double>(static_cast<float>(window.first + t) - center) + 0.5;
    const auto x = static_cast<float>(from_center * by.step);
    const float value = cubic ? torch_bicubic(x) : torch_bilinear(x);
    weight[t] = value;
    sum += value;
  }
  if (sum != 0.0f) {
    for (int t = 0; t < window.count; ++t) weight[t] /= sum;
  }
  return window;
}

// Taps from the second on are added four at a time, each product rounded before it is added; those that are left, and
// all of a short sum, are fused. How many are not:
FASTAUG_FN int torch_unfused(int count) { return (count - 1) / 4 * 4; }

// A sum of weighted samples. sample(t) and weight(t) are floats.
template <class Sample, class Weight>
FASTAUG_FN float torch_sum(int count, Sample sample, Weight weight) {
  float sum = sample(0) * weight(0);
  const int unfused = torch_unfused(count);
  int t = 1;
  for (; t <= unfused; ++t) sum += sample(t) * weight(t);
  for (; t < count; ++t) sum = fused(sample(t), weight(t), sum);
  return sum;
}

// Half to even.
FASTAUG_FN uint8_t torch_rounded(float v) {
  const float whole = rintf(v);
  return static_cast<uint8_t>(whole > 0.0f ? whole < 255.0f ? whole : 255.0f : 0.0f);
}

}  // namespace fastaug
