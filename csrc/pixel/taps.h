// Filter taps: which source samples an output sample mixes, and with which fixed-point weights. Those of Pillow's
// resize (Resample.c, precompute_coeffs and normalize_coeffs_8bpc) have kWeightBits bits. Those of torch's
// interpolation of uint8 (ATen, native/cpu/UpSampleKernel.cpp, _compute_index_ranges_int16_weights) have as many as
// int16 leaves room for, in the largest weight of the whole axis: 14 where nothing is shrunk, and more the more it is,
// up to kWeightBits.
#pragma once

#include <cstdint>
#include <vector>

#include "pixel/tap.h"
#include "program/op.h"

namespace fastaug {

struct Taps {
  int out = 0;                  // output samples described, [begin, begin + out) of the whole axis
  int stride = 0;               // weights per output sample, >= every count
  std::vector<int32_t> first;   // first source sample
  std::vector<int32_t> count;   // source samples used, >= 1
  std::vector<int32_t> weight;  // out * stride, in units of 2^-bits; zero from count on
  // Fewer than kWeightBits: every weight fits int16, and kernels take half as many multiplications.
  int bits = kWeightBits;

  const int32_t* weights(int index) const { return weight.data() + static_cast<size_t>(index) * stride; }

  bool operator==(const Taps&) const = default;
};

// Taps of outputs [begin, begin + out) when an axis of in_size samples becomes out_size samples.
Taps make_taps(Filter filter, int in_size, int out_size, int begin, int out);

}  // namespace fastaug
