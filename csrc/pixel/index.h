// Which input sample of an axis, or which input pixel, an op shows at each place of its output.
#pragma once

#include <cmath>
#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// Pillow, Geometry.c, ImagingScaleAffine: the position is accumulated in double, not multiplied out. It begins at
// nearest_first, and nearest_scale is added for each output.
FASTAUG_FN double nearest_scale(int in, int out) { return static_cast<double>(in) / out; }
FASTAUG_FN double nearest_first(int in, int out) { return 0.5 * nearest_scale(in, out); }
FASTAUG_FN int nearest_clamped(double position, int in) {
  const int index = static_cast<int>(position);
  return index < in ? index : in - 1;
}

// The sample of output k by torch's rules, kTorch and kTorchExact. torch, UpSample.h, nearest_idx and
// nearest_exact_idx: float32 scale.
FASTAUG_FN int nearest_position(NearestRule rule, int k, int in, int out) {
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  const float centre = rule == NearestRule::kTorchExact ? 0.5f : 0.0f;
  const int index = static_cast<int>(floorf((static_cast<float>(k) + centre) * scale));
  return index < in ? index : in - 1;
}

// The sample of output k of an axis of `size` samples with `before` more in front. The index rule of numpy.pad, which
// torchvision uses for PIL images: reflections repeat when the padding is longer than the image.
FASTAUG_FN int pad_position(PadMode mode, int k, int before, int size) {
  int p = k - before;
  if (mode == PadMode::kEdge || size == 1) return p < 0 ? 0 : p < size ? p : size - 1;
  // reflect: period 2n - 2, the edge sample once; symmetric: period 2n, the edge sample twice
  const int period = mode == PadMode::kReflect ? 2 * size - 2 : 2 * size;
  p = (p % period + period) % period;
  if (p < size) return p;
  return mode == PadMode::kReflect ? period - p : period - 1 - p;
}

// Index k of an axis that goes on at both ends by reflection, without its end sample twice. -size < k < 2 * size - 1.
FASTAUG_FN int reflect(int k, int size) {
  if (k < 0) k = -k;
  return k < size ? k : 2 * (size - 1) - k;
}

struct Place {
  int y;
  int x;
};

// Pillow, Image.transpose: where pixel (y, x) comes from when an image of that height and width is rotated by `turns`
// times 90 degrees counter-clockwise, 1 to 3. What went there goes back by 4 - turns.
FASTAUG_FN Place before_turn(int turns, int y, int x, int height, int width) {
  if (turns == 1) return {x, width - 1 - y};
  if (turns == 2) return {height - 1 - y, width - 1 - x};
  return {height - 1 - x, y};
}

}  // namespace fastaug
