// Stains of a pixel in float64: what decides where float32 cannot, the same bits on every machine.
//
// A pixel's optical densities are a linear mixture of those of its stains (Ruifrok and Johnston, 2001). Matrices and
// steps of HED are those of scikit-image, skimage/color/colorconv.py: rgb_from_hed, separate_stains and combine_stains,
// since 0.18. STAINS is any map of densities, which are natural logarithms there.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/device.h"
#include "program/op.h"

namespace fastaug {

// Densities, the logarithms of light as shares of that of black, by sample; black is 1e-6 of white. The last is of the
// sample after white.
FASTAUG_TABLE double kDensities[257] = {
#include "pixel/densities.def"
};
// The same, rounded.
FASTAUG_TABLE float kDensities32[257] = {
#include "pixel/densities.def"
};

// -log(1e-6), the factor of these shares.
constexpr double kDensityOfBlack = 13.815510557964274;
constexpr double kLog2OfE = 1.4426950408889634;
// The value of white in tiatoolbox's rgb2od.
constexpr double kLeastDensity = 1e-6;
// 0.85 of white, in thousandths of samples: what a pixel without tissue has, as the sum of its weighted samples.
constexpr float kLeastBackground = 216750.0f;

// Row k: the density of stain k (haematoxylin, eosin, DAB) in red, green and blue.
FASTAUG_TABLE double kRgbFromHed[3][3] = {{0.65, 0.70, 0.29}, {0.07, 0.99, 0.11}, {0.27, 0.57, 0.78}};
// Its inverse, of scipy.linalg.inv: row c, what the density of channel c adds to each stain.
FASTAUG_TABLE double kHedFromRgb[3][3] = {{1.8779827368521356, -1.0076786862855642, -0.5561158181996246},
                                          {-0.06590806222356334, 1.1347303724996625, -0.13552179862837116},
                                          {-0.6019073634392891, -0.4804141884970579, 1.5735880719641926}};

// The exponential of x from -60 to 0, within a few units in the last place: 2^n e^r with |r| <= log(2) / 2, where what
// Taylor's series leaves out after r^13 is below 5e-18.
FASTAUG_HOST_DEVICE inline double exp_of(double x) {
  // log(2) in two parts; products of the first one and n are exact.
  constexpr double kHigh = 0x1.62e42feep-1, kLow = 0x1.a39ef35793c76p-33;
  const double n = floor(x * kLog2OfE + 0.5);
  const double r = (x - n * kHigh) - n * kLow;
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const auto bits = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof(power));
  return sum * power;
}

// The sample of light that is left behind a density, before it is truncated more by `half`.
FASTAUG_HOST_DEVICE inline float light_behind(double density, double half) {
  if (!(density > 0.0)) return 255.0f;
  return density < 60.0 ? static_cast<float>(static_cast<int>(exp_of(-density) * 255.0 + half)) : 0.0f;
}

// Of one pixel, its sample of channel c after each stain was multiplied by numbers[k] and numbers[3 + k] was added to
// it, where stains below zero count as zero if `clips`.
FASTAUG_HOST_DEVICE inline float jittered_hed(const int* pixel, int c, const double* numbers, bool clips) {
  double density = 0.0;
  for (int k = 0; k < 3; ++k) {
    double stain = kDensities[pixel[0]] * kHedFromRgb[0][k];
    stain = stain + kDensities[pixel[1]] * kHedFromRgb[1][k];
    stain = stain + kDensities[pixel[2]] * kHedFromRgb[2][k];
    if (clips && !(stain > 0.0)) stain = 0.0;
    stain = stain * numbers[k] + numbers[3 + k];
    density = density + stain * kDensityOfBlack * kRgbFromHed[k][c];
  }
  return light_behind(density, 0.0);
}

// Densities of a pixel mapped to others.
struct StainMap {
  double mix[3][3];  // row k: what the density of channel k adds to that of each channel
  double shift[3];   // and what is added to each then
  uint16_t flags;

  FASTAUG_HOST_DEVICE bool rounds() const { return (flags & kRoundsStains) != 0; }

  FASTAUG_HOST_DEVICE static StainMap of(const Op& op) {
    StainMap map;
    for (int k = 0; k < 9; ++k) map.mix[k / 3][k % 3] = stain_number(op, k);
    for (int c = 0; c < 3; ++c) map.shift[c] = stain_number(op, 9 + c);
    map.flags = op.flags;
    return map;
  }

  // The samples whose densities are taken are brighter by it, which is all that torchstain does to them.
  FASTAUG_HOST_DEVICE int brighter() const { return (flags & kNextDensities) != 0 ? 1 : 0; }
  // tiatoolbox takes 0 for 1, and white for a little less. AlbumentationsX does not.
  FASTAUG_HOST_DEVICE bool bounded() const { return (flags & (kRoundsStains | kNextDensities)) == 0; }

  // Of a sample.
  FASTAUG_HOST_DEVICE double density_of(int sample) const {
    if (bounded() && sample < 1) sample = 1;
    const double density = kDensities[sample + brighter()] * kDensityOfBlack;
    return bounded() && density < kLeastDensity ? kLeastDensity : density;
  }

  FASTAUG_HOST_DEVICE float sample_of(const int* pixel, int c) const {
    double density = shift[c];
    for (int k = 0; k < 3; ++k) density = density + density_of(pixel[k]) * mix[k][c];
    return light_behind(density, rounds() ? 0.5 : 0.0);
  }
};

namespace scalar {

// scikit-image: rgb2hed, each stain times its alpha and plus its beta, hed2rgb, times 255, truncated. Vectors have a
// form of their own (kernels/simd/stains-inl.h) that gives the same samples.
class HedJitter {
 public:
  HedJitter() = default;
  // `numbers`, which it goes on to read: three alphas, three betas.
  FASTAUG_HOST_DEVICE HedJitter(const double* numbers, bool clips) : numbers_(numbers), clips_(clips) {}

  FASTAUG_HOST_DEVICE void operator()(float& r, float& g, float& b) const {
    const int pixel[3] = {static_cast<int>(r), static_cast<int>(g), static_cast<int>(b)};
    r = jittered_hed(pixel, 0, numbers_, clips_);
    g = jittered_hed(pixel, 1, numbers_, clips_);
    b = jittered_hed(pixel, 2, numbers_, clips_);
  }

 private:
  const double* numbers_ = nullptr;
  bool clips_ = true;
};

// tiatoolbox's StainAugmentor and torchstain's normalizers, truncated, and AlbumentationsX's HEStain, rounded.
class Restain {
 public:
  Restain() = default;
  // It goes on to read the op.
  FASTAUG_HOST_DEVICE explicit Restain(const Op& op) : op_(&op) {}

  FASTAUG_HOST_DEVICE void operator()(float& r, float& g, float& b) const {
    const bool keeps = (op_->flags & kKeepsBackground) != 0;
    if (keeps && !(r * 299.0f + g * 587.0f + b * 114.0f < kLeastBackground)) return;
    const StainMap map = StainMap::of(*op_);
    const int pixel[3] = {static_cast<int>(r), static_cast<int>(g), static_cast<int>(b)};
    r = map.sample_of(pixel, 0);
    g = map.sample_of(pixel, 1);
    b = map.sample_of(pixel, 2);
  }

 private:
  const Op* op_ = nullptr;
};

}  // namespace scalar
}  // namespace fastaug
