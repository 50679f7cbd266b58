// The kernels that write results in plain C++: the fallback of machines without SIMD, and what the others are tested
// against.
#include "pixel/store.h"

#include <cstring>

#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

void prepare_store(int, FloatStore*) {}

void store_float(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed, float* foreign) {
  for (int x = 0; x < width; ++x) {
    foreign[reversed ? width - 1 - x : x] =
        stored_value(static_cast<float>(src[x]), store.normalize, store.mean[channel], store.std[channel],
                     store.multiplied, store.factor);
  }
}

void move_floats(const FloatStore& store, int channel, const float* src, int width, bool reversed, float* foreign) {
  const Normalize normalize{store.mean[channel], store.std[channel]};
  for (int x = 0; x < width; ++x) {
    float* to = foreign + (reversed ? width - 1 - x : x);
    // Through memory: on some machines a float in a register loses bits of a signalling NaN.
    if (store.normalize) {
      *to = normalize(src[x]);
    } else {
      std::memcpy(to, src + x, sizeof(float));
    }
  }
}

void narrow(DType dtype, const float* src, int width, uint16_t* foreign) {
  for (int x = 0; x < width; ++x) foreign[x] = dtype == DType::kFloat16 ? to_float16(src[x]) : to_bfloat16(src[x]);
}

void deinterleave_float(const float* foreign, int channels, int width, float* const* dst) {
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < channels; ++c) std::memcpy(dst[c] + x, foreign++, sizeof(float));
}

void interleave_float(const float* const* src, int channels, int width, float* foreign) {
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < channels; ++c) *foreign++ = src[c][x];
}

}  // namespace

void fill_store(Kernels* table) {
  table->prepare_store = prepare_store;
  table->store_float = store_float;
  table->narrow = narrow;
  table->interleave_float = interleave_float;
  table->move_floats = move_floats;
  table->deinterleave_float = deinterleave_float;
}

}  // namespace fastaug::scalar
