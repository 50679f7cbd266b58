// Plain C++ twins of the pointwise kernels, compiled from the same bodies.
#include <cstring>

#include "kernels/table.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"

namespace fastaug::scalar {
namespace {

uint8_t to_u8(float v) { return static_cast<uint8_t>(static_cast<int>(v)); }

uint8_t luma(const uint8_t* const* planes, int x) {
  return to_u8(
      Luma()(static_cast<float>(planes[0][x]), static_cast<float>(planes[1][x]), static_cast<float>(planes[2][x])));
}

uint8_t gray(const uint8_t* const* planes, int x) {
  return to_u8(TorchGray()(static_cast<float>(planes[0][x]), static_cast<float>(planes[1][x]),
                           static_cast<float>(planes[2][x])));
}

template <class Body>
void each(Body body, uint8_t* row, int width) {
  for (int x = 0; x < width; ++x) row[x] = to_u8(body(static_cast<float>(row[x])));
}

template <class Body>
void each_color(Body body, uint8_t* const* planes, int width) {
  for (int x = 0; x < width; ++x) {
    float r = planes[0][x], g = planes[1][x], b = planes[2][x];
    body(r, g, b);
    planes[0][x] = to_u8(r);
    planes[1][x] = to_u8(g);
    planes[2][x] = to_u8(b);
  }
}

template <class Body>
void each_with_alpha(Body body, int channels, uint8_t* const* planes, int width) {
  const uint8_t* alpha = planes[channels - 1];
  for (int c = 0; c < channels - 1; ++c) {
    for (int x = 0; x < width; ++x) {
      planes[c][x] = to_u8(body(static_cast<float>(planes[c][x]), static_cast<float>(alpha[x])));
    }
  }
}

// Runs one op and returns the channel count after it.
int run(const Op& op, float mean, int channels, uint8_t* const* planes, int width) {
  const auto factor = static_cast<float>(op.f[0]);
  const float rest = torch_rest(op.f[0]);
  const int colors = colours_of(op, channels);
  switch (op.id) {
    case OpId::BRIGHTNESS:
      for (int c = 0; c < colors; ++c) each(Brightness{factor}, planes[c], width);
      return channels;
    case OpId::CONTRAST:
      for (int c = 0; c < colors; ++c) each(Contrast{factor, mean}, planes[c], width);
      return channels;
    case OpId::TORCH_CONTRAST:
      for (int c = 0; c < colors; ++c) each(TorchContrast{factor, rest, mean}, planes[c], width);
      return channels;
    case OpId::SATURATION:
      each_color(Saturation{factor}, planes, width);
      return channels;
    case OpId::TORCH_SATURATION:
      each_color(TorchSaturation{factor, rest}, planes, width);
      return channels;
    case OpId::HUE:
      each_color(Hue{static_cast<float>(op.i[0])}, planes, width);
      if (channels == 4) std::memset(planes[3], 255, static_cast<size_t>(width));
      return channels;
    case OpId::LUMA:
      for (int x = 0; x < width; ++x) planes[0][x] = luma(planes, x);
      return 1;
    case OpId::REPLICATE:
      for (int c = 1; c < op.i[0]; ++c) std::memcpy(planes[c], planes[0], static_cast<size_t>(width));
      return op.i[0];
    case OpId::PREMULTIPLY:
      each_with_alpha(Premultiply(), channels, planes, width);
      return channels;
    case OpId::UNPREMULTIPLY:
      each_with_alpha(Unpremultiply(), channels, planes, width);
      return channels;
    default:
      fail_on("pointwise", op.id);
  }
}

void pointwise(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  for (int k = 0; k < count; ++k) channels = run(ops[k], means[k], channels, planes, width);
}

uint64_t luma_sum(const uint8_t* const* planes, int channels, int width) {
  uint64_t sum = 0;
  for (int x = 0; x < width; ++x) sum += channels < 3 ? planes[0][x] : luma(planes, x);
  return sum;
}

uint64_t gray_sum(const uint8_t* const* planes, int channels, int width) {
  uint64_t sum = 0;
  for (int x = 0; x < width; ++x) sum += channels < 3 ? planes[0][x] : gray(planes, x);
  return sum;
}

}  // namespace

void fill_pointwise(Kernels* table) {
  table->pointwise = pointwise;
  table->luma_sum = luma_sum;
  table->gray_sum = gray_sum;
}

}  // namespace fastaug::scalar
