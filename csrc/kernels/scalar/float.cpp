// Plain C++ twins of the float kernels, compiled from the same bodies.
#include <cmath>

#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "kernels/table.h"
#include "pixel/float_colour.h"
#include "pixel/store.h"

namespace fastaug::scalar {
namespace {

// Pixel x of a row after a run; returns how many channels it has then.
int run(const Op* ops, const float* means, int count, int channels, const uint8_t* const* planes, int x, float* v) {
  for (int c = 0; c < channels; ++c) v[c] = static_cast<float>(planes[c][x]);
  for (int k = 0; k < count; ++k) {
    const FloatOp op = float_op(ops[k], means[k], channels);
    visit_float(op, FloatPixel<float>{v, op.channels});
    channels = op.channels;
  }
  return channels;
}

void pointwise_float(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  float v[kMaxChannels];
  for (int x = 0; x < width; ++x) {
    const int out = run(ops, means, count, channels, planes, x, v);
    for (int c = 0; c < out; ++c) planes[c][x] = static_cast<uint8_t>(v[c] + 0.5f);
  }
}

void pointwise_store(const FloatStore& store, const Op* ops, const float* means, int count, int channels,
                     const uint8_t* const* planes, int width, bool reversed, float* const* foreign) {
  float v[kMaxChannels];
  for (int x = 0; x < width; ++x) {
    const int out = run(ops, means, count, channels, planes, x, v);
    for (int c = 0; c < out; ++c) {
      foreign[c][reversed ? width - 1 - x : x] =
          stored_value(v[c], store.normalize, store.mean[c], store.std[c], store.multiplied, store.factor);
    }
  }
}

}  // namespace

void fill_float(Kernels* table) {
  table->pointwise_float = pointwise_float;
  table->pointwise_store = pointwise_store;
}

}  // namespace fastaug::scalar
