#include "pixel/torch_taps.h"

namespace fastaug {

FloatTaps make_torch_taps(Filter filter, int in_size, int out_size, int begin, int out) {
  const TapAxis axis = {static_cast<int32_t>(filter), in_size, out_size};
  FloatTaps taps;
  taps.out = out;
  taps.same = in_size == out_size;
  taps.stride = torch_tap_stride(axis);
  taps.first.reserve(static_cast<size_t>(out));
  taps.count.reserve(static_cast<size_t>(out));
  taps.weight.resize(static_cast<size_t>(out) * static_cast<size_t>(taps.stride));
  float* weights = taps.weight.data();
  for (int k = 0; k < out; ++k, weights += taps.stride) {
    const TapRange range = torch_taps_of(axis, begin + k, weights);
    taps.first.push_back(range.first);
    taps.count.push_back(range.count);
  }
  return taps;
}

}  // namespace fastaug
