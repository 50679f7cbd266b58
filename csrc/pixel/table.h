// Lookup tables of the ops that map each sample by itself: their entries for hosts and devices, and whole tables for
// hosts. Entries of powers come from libm, whose last bits differ from library to library, so from the host alone.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// How the samples `low` to `high` of a channel are stretched to 0 to 255.
template <class T>
struct Stretch {
  T scale;
  T offset;
  int low;
};

// Pillow, ImageOps.autocontrast with cutoff 0.
FASTAUG_FN Stretch<double> pillow_stretch(int low, int high) {
  const double scale = high > low ? 255.0 / (high - low) : 1.0;
  return {scale, high > low ? -low * scale : 0.0, 0};
}

// torchvision, _functional_tensor.py, autocontrast: the same in float32, one rounding a step.
FASTAUG_FN Stretch<float> torch_stretch(int low, int high) {
  // torch divides a number by a tensor as the number times the reciprocal.
  const float scale = high > low ? 1.0f / static_cast<float>(high - low) * 255.0f : 1.0f;
  return {scale, 0.0f, high > low ? low : 0};
}

template <class T>
FASTAUG_FN uint8_t stretched(const Stretch<T>& by, int v) {
  const T value = static_cast<T>(v - by.low) * by.scale + by.offset;
  return static_cast<uint8_t>(value < T{0} ? 0 : value > T{255} ? 255 : static_cast<int>(value));
}

// torchvision, v2/functional/_color.py, autocontrast: a quotient by (high - low) / 255, all in float32.
FASTAUG_FN uint8_t v2_autocontrast_entry(int low, int high, int v) {
  if (high <= low) return static_cast<uint8_t>(v);
  const float scale = static_cast<float>(high - low) * (1.0f / 255.0f);
  const float value = static_cast<float>(v - low) / scale;
  return static_cast<uint8_t>(value < 0.0f ? 0 : value > 255.0f ? 255 : static_cast<int>(value));
}

FASTAUG_FN uint8_t autocontrast_entry(int low, int high, int v) { return stretched(pillow_stretch(low, high), v); }
FASTAUG_FN uint8_t torch_autocontrast_entry(int low, int high, int v) { return stretched(torch_stretch(low, high), v); }

// Pillow, ImageOps.equalize, for a channel of `total` samples, of which `last` have the largest value that occurs. A
// channel of one value has step 0 as well.
FASTAUG_FN int64_t equalize_step(int64_t total, int64_t last) { return (total - last) / 255; }

// `below` is step / 2 and the number of samples below v.
FASTAUG_FN uint8_t equalize_entry(int64_t step, int64_t below, int v) {
  const int64_t entry = step == 0 ? v : below / step;
  return static_cast<uint8_t>(entry > 255 ? 255 : entry);
}

// Pillow, ImageOps.invert.
FASTAUG_FN uint8_t inverted(uint8_t v) { return static_cast<uint8_t>(255 - v); }

// Pillow, ImageOps.posterize: what keeps the highest `bits` bits, 1 to 8.
FASTAUG_FN int posterize_mask(int bits) { return 0x100 - (1 << (8 - bits)); }

FASTAUG_FN uint8_t posterized(uint8_t v, int mask) { return static_cast<uint8_t>(v & mask); }

// The first sample that ImageOps.solarize inverts, 256 if none: those that are not below the threshold.
FASTAUG_FN int solarize_threshold(double threshold) {
  if (!(threshold > 0.0)) return 0;
  return threshold > 255.0 ? 256 : static_cast<int>(ceil(threshold));
}

FASTAUG_FN uint8_t solarized(uint8_t v, int threshold) { return v < threshold ? v : inverted(v); }

#ifndef __CUDACC_RTC__

// Entry v of torchvision's table for adjust_gamma before it becomes a sample: _functional_pil.py, adjust_gamma.
inline double gamma_entry(double exponent, double gain, int v) {
  // Python folds the first factor, then multiplies from left to right.
  return (255 + 1 - 1e-3) * gain * std::pow(v / 255.0, exponent);
}

// False where torchvision raises instead: an entry is not finite, or not a C long.
inline bool gamma_table_exists(double exponent, double gain) {
  for (int v = 0; v < 256; ++v) {
    const double entry = std::trunc(gamma_entry(exponent, gain, v));
    if (!(entry >= -9223372036854775808.0 && entry < 9223372036854775808.0)) return false;
  }
  return true;
}

// Entries that do not exist become 0.
inline void gamma_table(double exponent, double gain, uint8_t* table) {
  for (int v = 0; v < 256; ++v) {
    const double entry = std::trunc(gamma_entry(exponent, gain, v));
    const bool exists = entry >= -9223372036854775808.0 && entry < 9223372036854775808.0;
    // Pillow, _imaging.c, getlist: through long into int, where a huge number wraps around, then clipped.
    const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(exists ? static_cast<int64_t>(entry) : 0));
    table[v] = static_cast<uint8_t>(wrapped < 0 ? 0 : wrapped > 255 ? 255 : wrapped);
  }
}

// torchvision, _functional_tensor.py, adjust_gamma on uint8: a power of v / 255, times gain, clamped to 0..1, and
// convert_image_dtype, which multiplies by 255.999 and truncates; all in float32. ATen, Pow.cpp and PowKernel.cpp, has
// some exponents done exactly, and the others by functions that are less than a unit in the last place off.
class TorchPower {
 public:
  TorchPower(double exponent, int v) : TorchPower(exponent, v, share(v)) {}
  TorchPower(double exponent, int v, float x) {
    exact_ = true;
    if (exponent == 0.0) {
      power_ = 1.0f;
    } else if (exponent == 0.5) {
      power_ = std::sqrt(x);
    } else if (exponent == 1.0) {
      power_ = x;
    } else if (exponent == 2.0) {
      power_ = x * x;
    } else if (exponent == 3.0) {
      power_ = x * x * x;
    } else {
      power_ = static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(static_cast<float>(exponent))));
      exact_ = v == 0;
    }
  }

  static float share(int v) { return static_cast<float>(v) / 255.0f; }
  // v2/functional/_color.py, adjust_gamma_image: v * (1 / 255), the reciprocal rounded too.
  static float v2_share(int v) { return static_cast<float>(v) * (1.0f / 255.0f); }

  uint8_t entry(double gain) const { return entry(power_, gain); }

  // True if every number that torch could compute instead of the power gives the same entry.
  bool is_certain(double gain) const {
    if (exact_) return true;
    // Powers that are not normal numbers may have lost digits, or all of them.
    const float below = power_ < kNormal ? 0.0f : std::nextafter(power_, 0.0f);
    const float above = power_ < kNormal ? kNormal : std::nextafter(power_, 2.0f);
    return entry(below, gain) == entry(above, gain);
  }

 private:
  static constexpr float kNormal = 0x1p-125f;

  static uint8_t entry(float power, double gain) {
    const float v = static_cast<float>(gain) * power;
    return static_cast<uint8_t>(static_cast<int>((v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v) * 255.999f));
  }

  float power_;
  bool exact_;
};

// True if the table of TORCH_GAMMA is torchvision's, whatever the last bits of torch's powers.
inline bool torch_gamma_is_certain(double exponent, double gain) {
  if (!(exponent >= 0.0 && exponent <= 1e30 && std::fabs(gain) <= 1e30)) return false;
  for (int v = 0; v < 256; ++v) {
    if (!TorchPower(exponent, v).is_certain(gain)) return false;
  }
  return true;
}

// The same for the table of torchvision.transforms.v2.
inline bool v2_gamma_is_certain(double exponent, double gain) {
  if (!torch_gamma_is_certain(exponent, gain)) return false;
  for (int v = 0; v < 256; ++v) {
    if (TorchPower::v2_share(v) == TorchPower::share(v)) continue;
    const TorchPower power(exponent, v, TorchPower::v2_share(v));
    if (!power.is_certain(gain) || power.entry(gain) != TorchPower(exponent, v).entry(gain)) return false;
  }
  return true;
}

inline void autocontrast_table(int low, int high, uint8_t* table) {
  const Stretch<double> by = pillow_stretch(low, high);
  for (int v = 0; v < 256; ++v) table[v] = stretched(by, v);
}

inline void torch_autocontrast_table(int low, int high, uint8_t* table) {
  const Stretch<float> by = torch_stretch(low, high);
  for (int v = 0; v < 256; ++v) table[v] = stretched(by, v);
}

inline void v2_autocontrast_table(int low, int high, uint8_t* table) {
  for (int v = 0; v < 256; ++v) table[v] = v2_autocontrast_entry(low, high, v);
}

// `counts` is the histogram of a channel.
inline void equalize_table(const uint32_t* counts, uint8_t* table) {
  int64_t total = 0;
  int64_t last = 0;
  for (int v = 0; v < 256; ++v) {
    total += counts[v];
    if (counts[v] != 0) last = counts[v];
  }
  const int64_t step = equalize_step(total, last);
  int64_t below = step / 2;
  for (int v = 0; v < 256; ++v) {
    table[v] = equalize_entry(step, below, v);
    below += counts[v];
  }
}

// The table of an op of kTable that needs no statistics.
void plain_table(const Op& op, uint8_t* table);

#endif  // __CUDACC_RTC__

}  // namespace fastaug
