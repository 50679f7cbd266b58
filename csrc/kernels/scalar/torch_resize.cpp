// The passes of TORCH_RESIZE in plain C++: the fallback of machines without SIMD, and what the others are tested
// against.
#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

void torch_resize_rows(const FloatTaps& taps, const uint8_t* const* rows, int count, int, float*, float* const* dst) {
  for (int x = 0; x < taps.out; ++x) {
    const float* weights = taps.weights(x);
    for (int y = 0; y < count; ++y) {
      const uint8_t* samples = rows[y] + taps.first[static_cast<size_t>(x)];
      dst[y][x] = torch_sum(
          taps.count[static_cast<size_t>(x)], [=](int t) { return static_cast<float>(samples[t]); },
          [=](int t) { return weights[t]; });
    }
  }
}

void widen(const uint8_t* src, int width, float* dst) {
  for (int x = 0; x < width; ++x) dst[x] = static_cast<float>(src[x]);
}

void torch_resize_column(const float* const* rows, const float* weights, int taps, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) {
    dst[x] = torch_rounded(torch_sum(taps, [=](int t) { return rows[t][x]; }, [=](int t) { return weights[t]; }));
  }
}

}  // namespace

void fill_torch_resize(Kernels* table) {
  table->torch_resize_rows = torch_resize_rows;
  table->widen = widen;
  table->torch_resize_column = torch_resize_column;
}

}  // namespace fastaug::scalar
