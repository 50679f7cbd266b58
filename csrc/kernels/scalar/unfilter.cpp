// Filters of PNG in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include <cstring>

#include "kernels/table.h"
#include "pixel/png_filter.h"

namespace fastaug::scalar {
namespace {

// PNG Specification, "Filter algorithms". `above` may be nullptr, for zeros.
bool unfilter_row(int type, const uint8_t* src, const uint8_t* above, ptrdiff_t size, ptrdiff_t pixel, uint8_t* dst) {
  switch (type) {
    case 0:
      std::memmove(dst, src, static_cast<size_t>(size));
      return true;
    case 1:
      for (ptrdiff_t i = 0; i < size; ++i) dst[i] = static_cast<uint8_t>(src[i] + (i < pixel ? 0 : dst[i - pixel]));
      return true;
    case 2:
      for (ptrdiff_t i = 0; i < size; ++i) dst[i] = static_cast<uint8_t>(src[i] + (above == nullptr ? 0 : above[i]));
      return true;
    case 3:
      for (ptrdiff_t i = 0; i < size; ++i) {
        const int left = i < pixel ? 0 : dst[i - pixel];
        const int up = above == nullptr ? 0 : above[i];
        dst[i] = static_cast<uint8_t>(src[i] + png_average(left, up));
      }
      return true;
    case 4:
      for (ptrdiff_t i = 0; i < size; ++i) {
        const int left = i < pixel ? 0 : dst[i - pixel];
        const int up = above == nullptr ? 0 : above[i];
        const int corner = i < pixel || above == nullptr ? 0 : above[i - pixel];
        dst[i] = static_cast<uint8_t>(src[i] + png_paeth(left, up, corner));
      }
      return true;
    default:
      return false;
  }
}

bool unfilter(const FilteredRows& rows) {
  const uint8_t* src = rows.filtered;
  const uint8_t* above = rows.above;
  uint8_t* dst = rows.rows;
  for (int y = 0; y < rows.count; ++y) {
    if (!unfilter_row(src[0], src + 1, above, rows.size, rows.pixel, dst)) return false;
    above = dst;
    src += rows.size + 1;
    dst += rows.row_stride;
  }
  return true;
}

}  // namespace

void fill_unfilter(Kernels* table) { table->unfilter = unfilter; }

}  // namespace fastaug::scalar
