#include "pixel/index_table.h"

#include "pixel/index.h"

namespace fastaug {

std::vector<int32_t> nearest_index(NearestRule rule, int in_size, int out_size) {
  std::vector<int32_t> index(static_cast<size_t>(out_size));
  if (rule == NearestRule::kPillow) {
    const double scale = nearest_scale(in_size, out_size);
    double position = nearest_first(in_size, out_size);
    for (int32_t& k : index) {
      k = nearest_clamped(position, in_size);
      position += scale;
    }
    return index;
  }
  for (int k = 0; k < out_size; ++k) {
    index[static_cast<size_t>(k)] = nearest_position(rule, k, in_size, out_size);
  }
  return index;
}

std::vector<int32_t> pad_index(PadMode mode, int in_size, int before, int after) {
  std::vector<int32_t> index(static_cast<size_t>(before) + static_cast<size_t>(in_size) + static_cast<size_t>(after));
  for (size_t k = 0; k < index.size(); ++k) {
    index[k] = pad_position(mode, static_cast<int>(k), before, in_size);
  }
  return index;
}

}  // namespace fastaug
