// The JPEG kernels in plain C++: the fallback of machines without SIMD, and what the others are tested against.
#include <algorithm>

#include "kernels/table.h"
#include "pixel/lane.h"
// After lane.h.
#include "kernels/jpeg_band-inl.h"
#include "kernels/jpeg_scan-inl.h"
#include "pixel/jpeg.h"

namespace fastaug::scalar {
namespace {

bool jpeg_inverse(const int16_t* coefs, const uint8_t*, const uint16_t* steps, int blocks, uint8_t* dst,
                  ptrdiff_t stride) {
  bool certain = true;
  for (int b = 0; b < blocks; ++b, coefs += kJpegBlock, dst += 8) {
    int16_t values[kJpegBlock];
    for (int k = 0; k < kJpegBlock; ++k) values[k] = static_cast<int16_t>(coefs[k] * steps[k]);
    for (int k = 0; k < 8; ++k) certain &= jpeg_is_certain(values[k]);
    for (int x = 0; x < 8; ++x) jpeg_inverse_line<kJpegFirstShift>(values + x, 8);
    for (int y = 0; y < 8; ++y) {
      jpeg_inverse_line<kJpegSecondShift>(values + 8 * y, 1);
      for (int x = 0; x < 8; ++x) dst[stride * y + x] = jpeg_sample(values[8 * y + x]);
    }
  }
  return certain;
}

void jpeg_upsample(const uint8_t* near, const uint8_t* far, int width, uint8_t* dst) {
  const auto column = [&](int x) { return far == nullptr ? near[x] : 3 * near[x] + far[x]; };
  const int shift = far == nullptr ? 2 : 4;
  for (int x = 0; x < width; ++x) {
    const int thrice = 3 * column(x);
    dst[2 * x] = static_cast<uint8_t>((thrice + column(x - 1) + jpeg_left_half(shift)) >> shift);
    dst[2 * x + 1] = static_cast<uint8_t>((thrice + column(x + 1) + jpeg_right_half(shift)) >> shift);
  }
}

void jpeg_colours(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, int width, int pixel_stride,
                  uint8_t* foreign) {
  for (int x = 0; x < width; ++x, foreign += pixel_stride) {
    jpeg_rgb(luma[x], blue[x] - 128, red[x] - 128, foreign);
    if (pixel_stride == 4) foreign[3] = 255;
  }
}

void jpeg_ycc(const uint8_t* const* rgb, int width, uint8_t* const* ycc) {
  for (int x = 0; x < width; ++x) {
    uint8_t made[3];
    fastaug::jpeg_ycc(rgb[0][x], rgb[1][x], rgb[2][x], made);
    for (int c = 0; c < 3; ++c) ycc[c][x] = made[c];
  }
}

void jpeg_halve(const uint8_t* above, const uint8_t* below, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) {
    dst[x] = jpeg_mean(above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1], x);
  }
}

void jpeg_forward(const uint8_t* src, ptrdiff_t stride, const JpegSteps& steps, int blocks, int16_t* coefs,
                  uint8_t* last) {
  for (int b = 0; b < blocks; ++b, src += 8, coefs += kJpegBlock) {
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) coefs[8 * y + x] = static_cast<int16_t>(src[stride * y + x] - 128);
      jpeg_forward_line<kJpegForwardShift>(coefs + 8 * y, 1);
    }
    for (int x = 0; x < 8; ++x) jpeg_forward_line<kJpegForwardLastShift>(coefs + x, 8);
    int any = 0;
    for (int k = 0; k < kJpegBlock; ++k) {
      coefs[k] = jpeg_quantised(coefs[k], steps.steps[k]);
      if (k > 0) any |= coefs[k];
    }
    last[b] = any == 0 ? 0 : kJpegBlock - 1;
  }
}

}  // namespace

void fill_jpeg(Kernels* table) {
  table->jpeg_blocks = jpeg_mcus<true>;
  table->jpeg_skip = jpeg_mcus<false>;
  table->jpeg_band = jpeg_band;
  table->jpeg_inverse = jpeg_inverse;
  table->jpeg_upsample = jpeg_upsample;
  table->jpeg_colours = jpeg_colours;
  table->jpeg_ycc = jpeg_ycc;
  table->jpeg_halve = jpeg_halve;
  table->jpeg_forward = jpeg_forward;
  table->quick_jpeg = false;
  table->quick_progressive_jpeg = false;
}

}  // namespace fastaug::scalar
