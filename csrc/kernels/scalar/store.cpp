// The kernels that write results in plain C++: the fallback of machines without SIMD, and what the others are tested
// against.
#include <bit>
#include <cmath>

#include "kernels/table.h"

namespace fastaug::scalar {
namespace {

void prepare_store(int, FloatStore*) {}

void store_float(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed, float* foreign) {
  for (int x = 0; x < width; ++x) {
    float value = static_cast<float>(src[x]) / 255.0f;
    if (store.normalize) value = (value - store.mean[channel]) / store.std[channel];
    foreign[reversed ? width - 1 - x : x] = value;
  }
}

uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude > 0x477fefffu) return sign | 0x7c00u;  // rounds to 2^16 or more
  if (magnitude < 113u << 23) {
    // Below 2^-14, adding 0.5 leaves multiples of 2^-24, rounded by the addition, in the last bits of the sum.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f));
  }
  // The exponent's bias changes by 112, and 13 bits of the fraction go.
  return sign | static_cast<uint16_t>((magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}

uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

void narrow(DType dtype, const float* src, int width, uint16_t* foreign) {
  for (int x = 0; x < width; ++x) foreign[x] = dtype == DType::kFloat16 ? to_float16(src[x]) : to_bfloat16(src[x]);
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
}

}  // namespace fastaug::scalar
