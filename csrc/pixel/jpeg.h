// The arithmetic of JPEG: the accurate inverse DCT, smooth upsampling and colours, in the integer formulas of the
// Independent JPEG Group's library (jidctint.c, jdsample.c, jdcolor.c), so that samples equal its own and Pillow's.
//
// What coefficients beyond those of any image come to is that library's matter on x86: its vector code has sums of 16
// bits that wrap around, and saturates what goes from one pass to the other. So has this.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastaug {

// The inverse DCT has 13 bits behind the point (CONST_BITS), and keeps two more from its first pass, along columns, to
// its second (PASS1_BITS), which takes out the 3 by which both together enlarge too.
constexpr int kJpegFirstShift = 13 - 2;
constexpr int kJpegSecondShift = 13 + 2 + 3;

// Products of the rotations, rounded to 13 bits. Names are those of the sums that they multiply.
constexpr int kJpeg0_298 = 2446, kJpeg0_390 = 3196, kJpeg0_541 = 4433, kJpeg0_765 = 6270, kJpeg0_899 = 7373,
              kJpeg1_175 = 9633, kJpeg1_501 = 12299, kJpeg1_847 = 15137, kJpeg1_961 = 16069, kJpeg2_053 = 16819,
              kJpeg2_562 = 20995, kJpeg3_072 = 25172;

// True if a dequantised coefficient of the first row is one that all versions make the same of: for blocks with nothing
// below that row some have a shorter way, that wraps around where the longer one saturates.
inline bool jpeg_is_certain(int16_t value) { return value >= -8192 && value < 8192; }

// One line of eight values, `step` apart, in place.
template <int kShift>
inline void jpeg_inverse_line(int16_t* line, ptrdiff_t step) {
  const auto in = [&](int k) { return int32_t{line[k * step]}; };
  const auto wrapped = [](int32_t sum) { return int32_t{static_cast<int16_t>(sum)}; };
  const int32_t tmp2 = in(2) * kJpeg0_541 + in(6) * (kJpeg0_541 - kJpeg1_847);
  const int32_t tmp3 = in(2) * (kJpeg0_541 + kJpeg0_765) + in(6) * kJpeg0_541;
  const int32_t half = 1 << (kShift - 1);
  const int32_t tmp0 = wrapped(in(0) + in(4)) * (1 << 13) + half;
  const int32_t tmp1 = wrapped(in(0) - in(4)) * (1 << 13) + half;
  const int32_t even[4] = {tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3};

  const int32_t sum3 = wrapped(in(7) + in(3)), sum4 = wrapped(in(5) + in(1));
  const int32_t z3 = sum3 * (kJpeg1_175 - kJpeg1_961) + sum4 * kJpeg1_175;
  const int32_t z4 = sum3 * kJpeg1_175 + sum4 * (kJpeg1_175 - kJpeg0_390);
  const int32_t odd[4] = {in(7) * -kJpeg0_899 + in(1) * (kJpeg1_501 - kJpeg0_899) + z4,
                          in(5) * -kJpeg2_562 + in(3) * (kJpeg3_072 - kJpeg2_562) + z3,
                          in(5) * (kJpeg2_053 - kJpeg2_562) + in(3) * -kJpeg2_562 + z4,
                          in(7) * (kJpeg0_298 - kJpeg0_899) + in(1) * -kJpeg0_899 + z3};
  const auto scaled = [](int32_t value) {
    value >>= kShift;
    return static_cast<int16_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
  };
  for (int k = 0; k < 4; ++k) {
    line[k * step] = scaled(even[k] + odd[k]);
    line[(7 - k) * step] = scaled(even[k] - odd[k]);
  }
}

// A value of the second pass to a sample.
inline uint8_t jpeg_sample(int value) {
  return static_cast<uint8_t>((value < -128 ? -128 : value > 127 ? 127 : value) + 128);
}

// A block whose only coefficient is DC, dequantised.
inline uint8_t jpeg_flat_sample(int dc) { return jpeg_sample((dc + 4) >> 3); }

// Smooth upsampling doubles rows by three quarters of the nearer sample and one of the farther, in units of 1 / 4, and
// of 1 / 16 where columns were weighed likewise before: what is added before the shift to the left of the two, and to
// the right. They differ so that halves go down as often as up.
constexpr int jpeg_left_half(int shift) { return shift == 2 ? 1 : 8; }
constexpr int jpeg_right_half(int shift) { return shift == 2 ? 2 : 7; }

// YCbCr to RGB, in 16 bits behind the point: 1.402, 0.34414, 0.71414, 1.772. Chroma is less 128.
inline void jpeg_rgb(int luma, int blue, int red, uint8_t* rgb) {
  const auto clipped = [](int value) { return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value); };
  constexpr int kHalf = 1 << 15;
  rgb[0] = clipped(luma + ((91881 * red + kHalf) >> 16));
  rgb[1] = clipped(luma + ((-22554 * blue - 46802 * red + kHalf) >> 16));
  rgb[2] = clipped(luma + ((116130 * blue + kHalf) >> 16));
}

}  // namespace fastaug
