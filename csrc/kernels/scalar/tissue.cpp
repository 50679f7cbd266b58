// Plain C++ twins of the tissue kernels.
#include "pixel/tissue.h"

#include <algorithm>

#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

void tissue_row(const uint8_t* const* planes, int width, int white, int black, uint8_t* gray, uint8_t* saturation,
                TissueSums* sums) {
  for (int x = 0; x < width; ++x) {
    const int r = planes[0][x], g = planes[1][x], b = planes[2][x];
    const int low = std::min({r, g, b}), high = std::max({r, g, b});
    sums->colour[0] += static_cast<uint64_t>(r);
    sums->colour[1] += static_cast<uint64_t>(g);
    sums->colour[2] += static_cast<uint64_t>(b);
    sums->white += low > white ? 1 : 0;
    sums->black += high < black ? 1 : 0;
    gray[x] = static_cast<uint8_t>(cv_gray(r, g, b));
    saturation[x] = static_cast<uint8_t>(cv_saturation(low, high));
  }
}

void laplacian_row(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, LaplacianSums* sums) {
  for (int x = 0; x < width; ++x) {
    const int v = laplacian(above, row, below, x);
    sums->sum += v;
    sums->squares += static_cast<uint64_t>(v * v);
  }
}

}  // namespace

void fill_tissue(Kernels* table) {
  table->tissue_row = tissue_row;
  table->laplacian_row = laplacian_row;
}

}  // namespace fastaug::scalar
