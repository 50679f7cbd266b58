// Pillow's filter taps of one output of an axis, alone: additions, multiplications and divisions of doubles, so that a
// device gives the bits of pixel/taps.cpp, which makes the taps of a whole axis from the same rules.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// Weights are in units of 2^-kWeightBits.
constexpr int kWeightBits = 22;

// An axis that a RESIZE changes. `filter` is one of enum Filter.
struct TapAxis {
  int32_t filter;
  int32_t in;
  int32_t out;
};

// Samples [first, first + count) of the input.
struct TapRange {
  int32_t first;
  int32_t count;
};

// Pillow, Resample.c: the filters that are polynomials. X is double, or a vector of doubles.
struct BoxFilter {
  template <class X>
  static FASTAUG_FN X at(X x) {
    return ((x > -0.5) & (x <= 0.5)) ? X{} + 1.0 : X{};
  }
};

struct BilinearFilter {
  template <class X>
  static FASTAUG_FN X at(X x) {
    const X rest = 1.0 - (x < 0.0 ? -x : x);
    return rest > 0.0 ? rest : X{};
  }
};

struct BicubicFilter {
  template <class X>
  static FASTAUG_FN X at(X x) {
    constexpr double a = -0.5;
    x = x < 0.0 ? -x : x;
    const X inner = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    const X outer = (((x - 5.0) * x + 8.0) * x - 4.0) * a;
    return x < 1.0 ? inner : x < 2.0 ? outer : X{};
  }
};

// True if taps_of has a filter. Lanczos and Hamming call for sines and cosines, whose last bits differ from library
// to library; short weights of one output depend on those of all others.
FASTAUG_FN bool has_plain_taps(int filter) {
  const auto known = static_cast<Filter>(filter);
  return known == Filter::kBilinear || known == Filter::kBicubic || known == Filter::kBox;
}

// Radius of a filter in source samples when nothing is shrunk.
FASTAUG_FN double filter_radius(int filter) {
  switch (static_cast<Filter>(filter)) {
    case Filter::kLanczos:
    case Filter::kShortLanczos:
      return 3.0;
    case Filter::kBicubic:
    case Filter::kShortBicubic:
      return 2.0;
    case Filter::kBox:
      return 0.5;
    case Filter::kBilinear:
    case Filter::kShortBilinear:
    case Filter::kHamming:
      return 1.0;
  }
  return 1.0;
}

// Pillow, Resample.c, precompute_coeffs, which takes the box as float32, or torch, native/cpu/UpSampleKernel.cpp, which
// does not: the numbers that all outputs of an axis share.
struct TapScale {
  double scale;    // source samples per output
  double support;  // the filter's radius in source samples
  double step;     // the filter's argument per source sample
};

FASTAUG_FN TapScale tap_scale(TapAxis axis) {
  const double in = has_short_weights(axis.filter) ? axis.in : static_cast<double>(static_cast<float>(axis.in));
  const double scale = in / axis.out;
  const double filter_scale = scale < 1.0 ? 1.0 : scale;
  return {scale, filter_radius(axis.filter) * filter_scale, 1.0 / filter_scale};
}

// The most weights that an output has.
FASTAUG_FN int tap_stride(double support, int in) {
  const double most = ceil(support) * 2.0 + 1.0;
  const int there = in > 1 ? in : 1;
  return most < there ? static_cast<int>(most) : there;
}
FASTAUG_FN int tap_stride(TapAxis axis) { return tap_stride(tap_scale(axis).support, axis.in); }

FASTAUG_FN double tap_center(TapScale by, int k) { return (static_cast<double>(k) + 0.5) * by.scale; }

// Where float32 rounds the size of an axis up, the last outputs may lie past its end. They have no taps in Pillow, and
// become black; here they have one, the last sample with a weight of zero.
FASTAUG_FN TapRange tap_window(TapScale by, int in, double center) {
  const double low = center - by.support + 0.5;
  const double high = center + by.support + 0.5;
  const double last = static_cast<double>(in) - 1.0;
  const int first = static_cast<int>(low > 0.0 ? low < last ? low : last : 0.0);
  return {first, static_cast<int>(high < in ? high : static_cast<double>(in)) - first};
}

// The samples that the filter's support covers for output k. Both ends grow with k, and what taps_of gives lies within.
FASTAUG_FN TapRange tap_window(TapAxis axis, int k) {
  const TapScale by = tap_scale(axis);
  return tap_window(by, axis.in, tap_center(by, k));
}

// taps_of for one filter.
template <class F, class Weights>
FASTAUG_FN TapRange filter_taps(TapAxis axis, int k, Weights weight) {
  const TapScale by = tap_scale(axis);
  const double center = tap_center(by, k);
  const TapRange window = tap_window(by, axis.in, center);
  const auto at = [=](int t) {
    return F::at((static_cast<double>(t) + static_cast<double>(window.first) - center + 0.5) * by.step);
  };
  double sum = 0.0;
  for (int t = 0; t < window.count; ++t) sum += at(t);
  if (sum == 0.0) sum = 1.0;
  // Weights that come out as zero at either end are dropped; of zeros alone, the first is left.
  int lead = 0;
  int used = 0;
  for (int t = 0; t < window.count; ++t) {
    const double value = at(t) / sum * static_cast<double>(1 << kWeightBits);
    const auto rounded = static_cast<int32_t>(value + (value < 0.0 ? -0.5 : 0.5));
    if (rounded == 0 && lead == t) {
      ++lead;
      continue;
    }
    weight[t - lead] = rounded;
    if (rounded != 0) used = t - lead + 1;
  }
  if (used == 0) {
    lead = 0;
    used = 1;
    weight[0] = 0;
  }
  const int stride = tap_stride(by.support, axis.in);
  for (int t = used; t < stride; ++t) weight[t] = 0;
  return {window.first + lead, used};
}

// The samples that output k mixes, for a filter of has_plain_taps. The weights, and zeros up to tap_stride(axis), go to
// weight[t], which may lie anywhere.
template <class Weights>
FASTAUG_FN TapRange taps_of(TapAxis axis, int k, Weights weight) {
  switch (static_cast<Filter>(axis.filter)) {
    case Filter::kBilinear:
      return filter_taps<BilinearFilter>(axis, k, weight);
    case Filter::kBox:
      return filter_taps<BoxFilter>(axis, k, weight);
    case Filter::kBicubic:
      return filter_taps<BicubicFilter>(axis, k, weight);
    case Filter::kLanczos:
    case Filter::kHamming:
    case Filter::kShortLanczos:
    case Filter::kShortBilinear:
    case Filter::kShortBicubic:
      break;
  }
  return {0, 0};
}

}  // namespace fastaug
