// Plain C++ twins of the pointwise kernels, compiled from the same bodies.
#include <cstring>

#include "kernels/table.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/point.h"
#include "pixel/statistics.h"

namespace fastaug::scalar {
namespace {

uint8_t to_u8(float v) { return static_cast<uint8_t>(static_cast<int>(v)); }

// By Luma, TorchGray or V2Gray.
template <class Gray>
uint8_t gray(const uint8_t* const* planes, int x) {
  return to_u8(
      Gray()(static_cast<float>(planes[0][x]), static_cast<float>(planes[1][x]), static_cast<float>(planes[2][x])));
}

template <class Body>
void each_sample(Body body, uint8_t* row, int width) {
  for (int x = 0; x < width; ++x) row[x] = to_u8(body(static_cast<float>(row[x])));
}

// Whole rows, one op at a time.
struct Rows {
  uint8_t* const* planes;
  int width;

  float load(int c, int x) const { return static_cast<float>(planes[c][x]); }

  template <class Body>
  void each(Body body, int colours, int) const {
    for (int c = 0; c < colours; ++c) each_sample(body, planes[c], width);
  }

  template <class Body>
  void together(Body body, int) const {
    for (int x = 0; x < width; ++x) {
      float r = load(0, x), g = load(1, x), b = load(2, x);
      body(r, g, b);
      planes[0][x] = to_u8(r);
      planes[1][x] = to_u8(g);
      planes[2][x] = to_u8(b);
    }
  }

  template <class Body>
  void opaque(Body body, int channels) const {
    together(body, channels);
    if (channels == 4) std::memset(planes[3], 255, static_cast<size_t>(width));
  }

  template <class Body>
  void reduce(Body body) const {
    for (int x = 0; x < width; ++x) planes[0][x] = to_u8(body(load(0, x), load(1, x), load(2, x)));
  }

  void replicate(int copies) const {
    for (int c = 1; c < copies; ++c) std::memcpy(planes[c], planes[0], static_cast<size_t>(width));
  }

  template <class Body>
  void with_alpha(Body body, int channels) const {
    for (int c = 0; c < channels - 1; ++c) {
      for (int x = 0; x < width; ++x) planes[c][x] = to_u8(body(load(c, x), load(channels - 1, x)));
    }
  }

  void permute(const int32_t* from, int channels) const {
    for (int x = 0; x < width; ++x) {
      uint8_t v[kMaxChannels];
      for (int c = 0; c < channels; ++c) v[c] = planes[from[c]][x];
      for (int c = 0; c < channels; ++c) planes[c][x] = v[c];
    }
  }
};

void pointwise(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  for (int k = 0; k < count; ++k) {
    visit(ops[k], means[k], channels, Rows{planes, width});
    channels = channels_after(ops[k], channels);
  }
}

uint64_t luma_sum(const uint8_t* const* planes, int channels, int width) {
  uint64_t sum = 0;
  for (int x = 0; x < width; ++x) sum += channels < 3 ? planes[0][x] : gray<Luma>(planes, x);
  return sum;
}

template <class Gray>
void gray_sums(const uint8_t* const* planes, int channels, int width, uint32_t* sums) {
  for (int x = 0; x < width; ++x) sums[x % kTorchClasses] += channels < 3 ? planes[0][x] : gray<Gray>(planes, x);
}

}  // namespace

void fill_pointwise(Kernels* table) {
  table->pointwise = pointwise;
  table->luma_sum = luma_sum;
  table->gray_sums = gray_sums<TorchGray>;
  table->v2_gray_sums = gray_sums<V2Gray>;
}

}  // namespace fastaug::scalar
