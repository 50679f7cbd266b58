// The blur kernels in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

uint8_t blurred(const BlurKernel& kernel, const uint8_t* const* rows, int x) {
  return round_blur(blur_chain(kernel, [=](int i, int j) { return static_cast<float>(rows[i][x + j]); }));
}

// Leaves nothing open.
int blur_rows(const BlurKernel& kernel, const uint8_t* const* rows, int count, int width, uint8_t* const* dst,
              BlurSample*) {
  for (int y = 0; y < count; ++y) {
    for (int x = 0; x < width; ++x) dst[y][x] = blurred(kernel, rows + y, x);
  }
  return 0;
}

void blur_samples(const BlurKernel& kernel, const BlurSample* samples, int count) {
  for (const BlurSample* s = samples; s != samples + count; ++s) s->dst[s->x] = blurred(kernel, s->rows, s->x);
}

void blur_float_rows(const BlurKernel& kernel, const float* const* rows, int count, int width, float* const* dst) {
  for (int y = 0; y < count; ++y) {
    for (int x = 0; x < width; ++x) dst[y][x] = blur_chain(kernel, [=](int i, int j) { return rows[y + i][x + j]; });
  }
}

}  // namespace

void fill_blur(Kernels* table) {
  table->blur_rows = blur_rows;
  table->blur_samples = blur_samples;
  table->blur_float_rows = blur_float_rows;
}

}  // namespace fastaug::scalar
