// The resampling kernels in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include <algorithm>

#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

// Sums are taken modulo 2^32, as the vector kernels and, in effect, Pillow take them.
uint8_t clip8(uint32_t sum, int bits) {
  return static_cast<uint8_t>(std::clamp(static_cast<int32_t>(sum + (1u << (bits - 1))) >> bits, 0, 255));
}

// Per output: first, count, weights[table.groups], all in table.base.
void build_row_table(const Taps& taps, RowTable* table) {
  int longest = 1;
  for (int i = 0; i < taps.out; ++i) longest = std::max(longest, taps.count[i]);
  table->out = taps.out;
  table->groups = longest;
  table->layout = 0;
  table->bits = taps.bits;
  table->data.clear();
  table->base.clear();
  table->base.reserve(static_cast<size_t>(taps.out) * (longest + 2));
  for (int i = 0; i < taps.out; ++i) {
    const int32_t* weights = taps.weights(i);
    table->base.push_back(taps.first[i]);
    table->base.push_back(taps.count[i]);
    table->base.insert(table->base.end(), weights, weights + taps.count[i]);
    table->base.resize(table->base.size() + (longest - taps.count[i]));
  }
}

void resample_row(const RowTable& table, const uint8_t* const* src, uint8_t* const* dst, int channels) {
  const int32_t* entry = table.base.data();
  for (int x = 0; x < table.out; ++x, entry += table.groups + 2) {
    for (int c = 0; c < channels; ++c) {
      const uint8_t* samples = src[c] + entry[0];
      uint32_t sum = 0;
      for (int t = 0; t < entry[1]; ++t) sum += static_cast<uint32_t>(entry[2 + t]) * samples[t];
      dst[c][x] = clip8(sum, table.bits);
    }
  }
}

void resample_column(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) {
    uint32_t sum = 0;
    for (int t = 0; t < taps; ++t) sum += static_cast<uint32_t>(weights[t]) * rows[t][x];
    dst[x] = clip8(sum, bits);
  }
}

}  // namespace

void fill_resample(Kernels* table) {
  table->build_row_table = build_row_table;
  table->resample_row = resample_row;
  table->resample_column = resample_column;
}

}  // namespace fastaug::scalar
