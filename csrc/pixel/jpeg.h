// The arithmetic of JPEG: the accurate inverse DCT, smooth upsampling and colours, and their counterparts that come
// before a file, in the integer formulas of the Independent JPEG Group's library (jidctint.c, jdsample.c, jdcolor.c,
// jfdctint.c, jcdctmgr.c, jcsample.c, jccolor.c), so that samples equal its own and Pillow's.
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

// RGB to YCbCr, in 16 bits behind the point. Chroma is more by 128, and its halves go down.
inline void jpeg_ycc(int red, int green, int blue, uint8_t* ycc) {
  constexpr int kHalf = 1 << 15, kChroma = 128 << 16;
  ycc[0] = static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + kHalf) >> 16);
  ycc[1] = static_cast<uint8_t>((-11059 * red - 21709 * green + 32768 * blue + kChroma + kHalf - 1) >> 16);
  ycc[2] = static_cast<uint8_t>((32768 * red - 27439 * green - 5329 * blue + kChroma + kHalf - 1) >> 16);
}

// The mean of four samples: halves go down in even columns, and up in odd ones.
inline uint8_t jpeg_mean(int sum, int column) { return static_cast<uint8_t>((sum + 1 + column % 2) >> 2); }

// The forward DCT, of samples less 128, goes along rows first, and keeps two bits more from there to its second pass.
// Both together enlarge by 8.
constexpr int kJpegForwardShift = 13 - 2;
constexpr int kJpegForwardLastShift = 13 + 2;

// One line of eight values, `step` apart, in place.
template <int kShift>
inline void jpeg_forward_line(int16_t* line, ptrdiff_t step) {
  const auto in = [&](int k) { return int32_t{line[k * step]}; };
  const int32_t sum0 = in(0) + in(7), sum1 = in(1) + in(6), sum2 = in(2) + in(5), sum3 = in(3) + in(4);
  const int32_t difference0 = in(0) - in(7), difference1 = in(1) - in(6);
  const int32_t difference2 = in(2) - in(5), difference3 = in(3) - in(4);
  const auto set = [&](int k, int32_t value, int shift) {
    line[k * step] = static_cast<int16_t>((value + (1 << shift >> 1)) >> shift);
  };
  const int32_t outer = sum0 + sum3, inner = sum1 + sum2;
  if (kShift == kJpegForwardShift) {
    set(0, (outer + inner) * 4, 0);
    set(4, (outer - inner) * 4, 0);
  } else {
    set(0, outer + inner, 2);
    set(4, outer - inner, 2);
  }
  const int32_t tmp12 = sum1 - sum2, tmp13 = sum0 - sum3;
  set(2, tmp12 * kJpeg0_541 + tmp13 * (kJpeg0_541 + kJpeg0_765), kShift);
  set(6, tmp12 * (kJpeg0_541 - kJpeg1_847) + tmp13 * kJpeg0_541, kShift);

  const int32_t tmp24 = difference3 + difference1, tmp57 = difference2 + difference0;
  const int32_t z3 = tmp24 * (kJpeg1_175 - kJpeg1_961) + tmp57 * kJpeg1_175;
  const int32_t z4 = tmp24 * kJpeg1_175 + tmp57 * (kJpeg1_175 - kJpeg0_390);
  set(7, difference3 * (kJpeg0_298 - kJpeg0_899) + difference0 * -kJpeg0_899 + z3, kShift);
  set(5, difference2 * (kJpeg2_053 - kJpeg2_562) + difference1 * -kJpeg2_562 + z4, kShift);
  set(3, difference2 * -kJpeg2_562 + difference1 * (kJpeg3_072 - kJpeg2_562) + z3, kShift);
  set(1, difference3 * -kJpeg0_899 + difference0 * (kJpeg1_501 - kJpeg0_899) + z4, kShift);
}

// A value of the forward DCT in steps of quantisation, to the nearest, halves away from zero.
inline int16_t jpeg_quantised(int value, int step) {
  const int divisor = 8 * step, magnitude = ((value < 0 ? -value : value) + divisor / 2) / divisor;
  return static_cast<int16_t>(value < 0 ? -magnitude : magnitude);
}

}  // namespace fastaug
