// Plain C++ twins of the adjust kernels.
#include "kernels/table.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"
#include "pixel/smooth.h"
#include "pixel/table.h"

namespace fastaug::scalar {
namespace {

void lookup(const uint8_t* table, uint8_t* row, int width) {
  for (int x = 0; x < width; ++x) row[x] = table[row[x]];
}

void solarize(int threshold, uint8_t* row, int width) {
  for (int x = 0; x < width; ++x) row[x] = solarized(row[x], threshold);
}

void posterize(int mask, uint8_t* row, int width) {
  for (int x = 0; x < width; ++x) row[x] = posterized(row[x], mask);
}

void extremes(const uint8_t* row, int width, uint8_t* low, uint8_t* high) {
  for (int x = 0; x < width; ++x) {
    if (row[x] < *low) *low = row[x];
    if (row[x] > *high) *high = row[x];
  }
}

void histogram(const uint8_t* row, int width, uint32_t (*counts)[256]) {
  for (int x = 0; x < width; ++x) ++counts[0][row[x]];
}

template <class Body>
void sharpen_with(Body body, const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, uint8_t* dst) {
  for (int x = 0; x < width; ++x) {
    const int smooth = smooth_of(smooth_sum(above, row, below, x));
    dst[x] = static_cast<uint8_t>(static_cast<int>(body(static_cast<float>(smooth), static_cast<float>(row[x]))));
  }
}

void sharpen(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor, uint8_t* dst) {
  sharpen_with(Sharpness{static_cast<float>(factor)}, above, row, below, width, dst);
}

void torch_sharpen(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                   uint8_t* dst) {
  sharpen_with(blend_by<TorchBlend>(factor), above, row, below, width, dst);
}

void v2_sharpen(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                uint8_t* dst) {
  sharpen_with(V2Sharpness{torch_rest(factor)}, above, row, below, width, dst);
}

}  // namespace

void fill_adjust(Kernels* table) {
  table->lookup = lookup;
  table->solarize = solarize;
  table->posterize = posterize;
  table->extremes = extremes;
  table->histogram = histogram;
  table->sharpen = sharpen;
  table->torch_sharpen = torch_sharpen;
  table->v2_sharpen = v2_sharpen;
}

}  // namespace fastaug::scalar
