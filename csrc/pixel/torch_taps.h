// The taps of TORCH_RESIZE for a whole axis, made on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "pixel/torch_tap.h"

namespace fastaug {

// Taps with weights in float32.
struct FloatTaps {
  int out = 0;
  int stride = 0;
  std::vector<int32_t> first;
  std::vector<int32_t> count;
  std::vector<float> weight;  // out * stride; zero from count on
  bool same = false;          // the axis stays as it is

  const float* weights(int index) const { return weight.data() + static_cast<size_t>(index) * stride; }

  bool operator==(const FloatTaps&) const = default;
};

// Taps of outputs [begin, begin + out) when an axis of in_size samples becomes out_size samples by torch's bilinear or
// bicubic filter: one each, of weight 1, where it stays as it is.
FloatTaps make_torch_taps(Filter filter, int in_size, int out_size, int begin, int out);

}  // namespace fastaug
