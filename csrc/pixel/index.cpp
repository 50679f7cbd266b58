#include "pixel/index.h"

#include <algorithm>
#include <cmath>

namespace fastaug {

// Pillow, Geometry.c, ImagingScaleAffine: the position is accumulated in double, not multiplied out.
// torch, UpSample.h, nearest_idx and nearest_exact_idx: float32 scale.
std::vector<int32_t> nearest_index(NearestRule rule, int in_size, int out_size) {
  std::vector<int32_t> index(static_cast<size_t>(out_size));
  if (rule == NearestRule::kPillow) {
    const double scale = static_cast<double>(in_size) / out_size;
    double position = 0.5 * scale;
    for (int32_t& k : index) {
      k = std::min(static_cast<int32_t>(position), in_size - 1);
      position += scale;
    }
    return index;
  }
  const float scale = static_cast<float>(in_size) / static_cast<float>(out_size);
  const float centre = rule == NearestRule::kTorchExact ? 0.5f : 0.0f;
  for (size_t k = 0; k < index.size(); ++k) {
    const float position = (static_cast<float>(k) + centre) * scale;
    index[k] = std::min(static_cast<int32_t>(std::floor(position)), in_size - 1);
  }
  return index;
}

// The index rule of numpy.pad, which torchvision uses for PIL images: reflections repeat when the padding is longer
// than the image.
std::vector<int32_t> pad_index(PadMode mode, int in_size, int before, int after) {
  std::vector<int32_t> index(static_cast<size_t>(before) + static_cast<size_t>(in_size) + static_cast<size_t>(after));
  for (size_t k = 0; k < index.size(); ++k) {
    int64_t p = static_cast<int64_t>(k) - before;
    if (mode == PadMode::kEdge || in_size == 1) {
      p = std::clamp<int64_t>(p, 0, in_size - 1);
    } else {
      // reflect: period 2n - 2, the edge sample once; symmetric: period 2n, the edge sample twice
      const int64_t period = mode == PadMode::kReflect ? 2 * int64_t{in_size} - 2 : 2 * int64_t{in_size};
      p = (p % period + period) % period;
      if (p >= in_size) p = mode == PadMode::kReflect ? period - p : period - 1 - p;
    }
    index[k] = static_cast<int32_t>(p);
  }
  return index;
}

}  // namespace fastaug
