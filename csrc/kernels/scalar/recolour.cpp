// The plain C++ twin of the recolour kernel.
#include "kernels/table.h"

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

}  // namespace

void fill_recolour(Kernels* table) {
  table->recolour = recolour;
  table->recolours_apart = true;
}

}  // namespace fastaug::scalar
