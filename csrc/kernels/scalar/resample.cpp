// The resampling kernels in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include <algorithm>

#include "kernels/table.h"
#include "pixel/weigh.h"

namespace fastaug::scalar {
namespace {

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
      dst[c][x] = weighted_sum(entry + 2, entry[1], table.bits, [=](int t) { return samples[t]; });
    }
  }
}

void resample_column(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) dst[x] = weighted_sum(weights, taps, bits, [=](int t) { return rows[t][x]; });
}

}  // namespace

void fill_resample(Kernels* table) {
  table->build_row_table = build_row_table;
  table->resample_row = resample_row;
  table->build_pixel_table = [](const Taps&, const RowTable&, RowTable*) { return false; };
  table->resample_column = resample_column;
}

}  // namespace fastaug::scalar
