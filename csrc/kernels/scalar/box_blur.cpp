// The kernels of BOX_BLUR in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include <algorithm>
#include <cstring>

#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

// One pass over `count` samples that lie `step` apart, into dst without gaps.
void box_pass(const BoxBlur& blur, const uint8_t* src, ptrdiff_t step, int count, uint8_t* dst) {
  const int last = count - 1;
  const int radius = blur.radius;
  const auto at = [=](int k) { return uint32_t{src[std::clamp(k, 0, last) * step]}; };
  // The sum at sample -1, of which what lies past the ends is a product.
  uint32_t sum = static_cast<uint32_t>(radius + 1) * at(0);
  for (int k = 0; k < std::min(radius, count); ++k) sum += at(k);
  if (radius > count) sum += static_cast<uint32_t>(radius - count) * at(last);
  for (int k = 0; k < count; ++k) {
    const uint32_t before = at(k - radius - 1);
    sum += at(k + radius) - before;
    dst[k] = box_mean(blur, sum, before + at(k + radius + 1));
  }
}

void blur_line(const BoxBlur& blur, uint8_t* line, ptrdiff_t step, int count, uint8_t* scratch) {
  for (int pass = 0; pass < blur.passes; ++pass) {
    box_pass(blur, line, step, count, scratch);
    for (int k = 0; k < count; ++k) line[k * step] = scratch[k];
  }
}

void box_blur_across(const BoxBlur& blur, uint8_t* plane, ptrdiff_t stride, int height, int width, uint8_t* scratch) {
  for (int y = 0; y < height; ++y) blur_line(blur, plane + y * stride, 1, width, scratch);
}

void box_blur_down(const BoxBlur& blur, uint8_t* plane, ptrdiff_t stride, int height, int width, uint8_t* scratch) {
  for (int x = 0; x < width; ++x) blur_line(blur, plane + x, stride, height, scratch);
}

}  // namespace

void fill_box_blur(Kernels* table) {
  table->box_blur_across = box_blur_across;
  table->box_blur_down = box_blur_down;
}

}  // namespace fastaug::scalar
