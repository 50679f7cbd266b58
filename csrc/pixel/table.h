// Lookup tables of the ops that map each sample by itself.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/lane.h"
#include "program/program.h"

namespace fastaug {

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

// Pillow, ImageOps.autocontrast with cutoff 0: the samples `low` to `high` of a channel are stretched to 0 to 255.
inline void autocontrast_table(int low, int high, uint8_t* table) {
  const double scale = high > low ? 255.0 / (high - low) : 1.0;
  const double offset = high > low ? -low * scale : 0.0;
  for (int v = 0; v < 256; ++v) {
    const double stretched = v * scale + offset;
    table[v] = static_cast<uint8_t>(stretched < 0.0 ? 0 : stretched > 255.0 ? 255 : static_cast<int>(stretched));
  }
}

// torchvision, _functional_tensor.py, autocontrast: the same in float32, one rounding a step.
inline void torch_autocontrast_table(int low, int high, uint8_t* table) {
  // torch divides a number by a tensor as the number times the reciprocal.
  const float scale = high > low ? 1.0f / static_cast<float>(high - low) * 255.0f : 1.0f;
  for (int v = 0; v < 256; ++v) {
    const float stretched = static_cast<float>(high > low ? v - low : v) * scale;
    table[v] = static_cast<uint8_t>(stretched < 0.0f ? 0.0f : stretched > 255.0f ? 255.0f : stretched);
  }
}

// Pillow, ImageOps.equalize: `counts` is the histogram of a channel.
inline void equalize_table(const uint32_t* counts, uint8_t* table) {
  int64_t total = 0;
  int64_t last = 0;
  for (int v = 0; v < 256; ++v) {
    total += counts[v];
    if (counts[v] != 0) last = counts[v];
  }
  // A channel of one value has step 0 as well.
  const int64_t step = (total - last) / 255;
  int64_t below = step / 2;
  for (int v = 0; v < 256; ++v) {
    const int64_t entry = step == 0 ? v : below / step;
    table[v] = static_cast<uint8_t>(entry > 255 ? 255 : entry);
    below += counts[v];
  }
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

// The table of an op of kTable that needs no statistics.
void plain_table(const Op& op, uint8_t* table);

}  // namespace fastaug
