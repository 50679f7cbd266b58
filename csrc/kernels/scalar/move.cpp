// The moves in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include <cstring>

#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

void reverse_pixels(const uint8_t* src, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) std::memcpy(dst + ptrdiff_t{4} * x, src + ptrdiff_t{4} * (width - 1 - x), 4);
}

// Loops of their own, so that the compiler sees how long a pixel is.
template <int kBytes>
void turn(const uint8_t* const* rows, ptrdiff_t offset, uint8_t* dst, ptrdiff_t row_stride) {
  for (int y = 0; y < kSquareSide; ++y) {
    for (int x = 0; x < kSquareSide; ++x) {
      std::memcpy(dst + y * row_stride + x * kBytes, rows[x] + offset + y * kBytes, kBytes);
    }
  }
}

void turn_square(const uint8_t* const* rows, ptrdiff_t offset, int bytes, uint8_t* dst, ptrdiff_t row_stride) {
  if (bytes == 1) {
    turn<1>(rows, offset, dst, row_stride);
  } else if (bytes == 3) {
    turn<3>(rows, offset, dst, row_stride);
  } else {
    turn<4>(rows, offset, dst, row_stride);
  }
}

}  // namespace

void fill_move(Kernels* table) {
  table->reverse_pixels = reverse_pixels;
  table->turn_square = turn_square;
}

}  // namespace fastaug::scalar
