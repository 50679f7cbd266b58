// Plain C++ twins of the recolour kernels.
#include <cstring>

#include "kernels/table.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"

namespace fastaug::scalar {
namespace {

void recolour(const PixelTables& tables, const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  for (ptrdiff_t x = 0; x < pixels; ++x, src += tables.stride, dst += tables.stride) {
    for (int k = 0; k < tables.stride; ++k) {
      const int which = tables.which[k];
      dst[k] = which == PixelTables::kFull ? 255 : which == PixelTables::kKept ? src[k] : tables.table[which][src[k]];
    }
  }
}

uint8_t luma_of(const uint8_t* pixel) {
  return static_cast<uint8_t>(
      Luma()(static_cast<float>(pixel[0]), static_cast<float>(pixel[1]), static_cast<float>(pixel[2])));
}

void gray(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  for (ptrdiff_t x = 0; x < pixels; ++x) dst[x] = luma_of(src + 4 * x);
}

void gray_pixels(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  for (ptrdiff_t x = 0; x < pixels; ++x) {
    std::memset(dst + 4 * x, luma_of(src + 4 * x), 3);
    dst[4 * x + 3] = 255;
  }
}

}  // namespace

void fill_recolour(Kernels* table) {
  table->recolour = recolour;
  table->gray = gray;
  table->gray_pixels = gray_pixels;
  table->costs = {.apart = true};
}

}  // namespace fastaug::scalar
