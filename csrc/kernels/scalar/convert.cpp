// The conversion kernels in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include "kernels/table.h"
#include "pixel/store.h"

namespace fastaug::scalar {
namespace {

void deinterleave(const uint8_t* foreign, int pixel_stride, int channels, int width, uint8_t* const* dst) {
  for (int x = 0; x < width; ++x, foreign += pixel_stride)
    for (int c = 0; c < channels; ++c) dst[c][x] = foreign[c];
}

void interleave(const uint8_t* const* src, int channels, int pixel_stride, int width, uint8_t* foreign) {
  for (int x = 0; x < width; ++x, foreign += pixel_stride) {
    for (int c = 0; c < channels; ++c) foreign[c] = src[c][x];
    for (int c = channels; c < pixel_stride; ++c) foreign[c] = 255;
  }
}

void take(const TakeTable& table, const uint8_t* src, uint8_t* dst) {
  for (int x = 0; x < table.width(); ++x) dst[x] = src[table.index[static_cast<size_t>(x)]];
}

void reverse(const uint8_t* src, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) dst[x] = src[width - 1 - x];
}

void mix(const uint8_t* const* images, const float* weights, int count, int width, uint8_t* foreign) {
  for (int x = 0; x < width; ++x) foreign[x] = mixed(images, weights, count, x);
}

}  // namespace

void fill_convert(Kernels* table) {
  table->deinterleave = deinterleave;
  table->interleave = interleave;
  table->take = take;
  table->reverse = reverse;
  table->mix = mix;
}

}  // namespace fastaug::scalar
