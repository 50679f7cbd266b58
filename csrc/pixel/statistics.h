// The number that an op of WholeInput::kMean takes from the sum of luma or gray over its whole input.
#pragma once

#include <cstdint>

#include "pixel/lane.h"
#include "program/op.h"

namespace fastaug {

// Pillow, ImageEnhance.Contrast: int(mean + 0.5), in double.
FASTAUG_FN float pillow_mean(uint64_t sum, int64_t pixels) {
  return static_cast<float>(static_cast<int>(static_cast<double>(sum) / static_cast<double>(pixels) + 0.5));
}

// torch.mean adds up in float32. For so many bytes that is exact, and the order does not matter.
constexpr int64_t kExactTorchPixels = (int64_t{1} << 24) / 255;

FASTAUG_FN float torch_mean(uint64_t sum, int64_t pixels) {
  return static_cast<float>(sum) / static_cast<float>(pixels);
}

// The order in which torch adds up more of them, with one thread: ATen, SumKernel.cpp, vectorized_inner_sum on vectors
// of 8 floats, whatever the instruction set. A row is 4 vectors, so a sample's place modulo 32 is its class, and each
// class is summed on its own: `step` rows at a time, `step` such sums at a time, and so on, on four levels. Bytes make
// all sums exact but those of the last levels; so a class is a list of integer sums of `chunk()` rows each, of which
// `group` are added up in float32 before they are added to the other groups. What is left of the last row comes last.
constexpr int kTorchLanes = 8;
constexpr int kTorchClasses = 4 * kTorchLanes;

struct TorchOrder {
  int64_t rows;
  int chunk_log;
  int64_t group;

  FASTAUG_FN int64_t chunk() const { return int64_t{1} << chunk_log; }
  // Chunks that are whole.
  FASTAUG_FN int64_t whole() const { return rows >> chunk_log; }

  // Of a list of all integers: those of each chunk, of which the last is not whole and may be empty, by class; then the
  // samples behind the last row.
  FASTAUG_FN int64_t size() const { return (whole() + 2) * kTorchClasses; }
  // Where sample n of the image is counted in it.
  FASTAUG_FN int64_t place(int64_t n) const {
    const int64_t row = n / kTorchClasses;
    return (row < rows ? row >> chunk_log : whole() + 1) * kTorchClasses + n % kTorchClasses;
  }
  // The first sample behind n that is not counted in the same chunk.
  FASTAUG_FN int64_t next(int64_t n) const {
    const int64_t row = n / kTorchClasses;
    if (row >= rows) return n + kTorchClasses - n % kTorchClasses;
    const int64_t end = ((row >> chunk_log) + 1) << chunk_log;
    return (end < rows ? end : rows) * kTorchClasses;
  }
};

FASTAUG_FN TorchOrder torch_order(int64_t pixels) {
  const int64_t rows = pixels / kTorchClasses;
  int log = 0;
  while ((int64_t{1} << log) < rows) ++log;
  const int power = log / 4 > 4 ? log / 4 : 4;
  const bool exact = (int64_t{1} << (3 * power)) <= kExactTorchPixels;
  return {rows, (exact ? 3 : 2) * power, exact ? 1 : int64_t{1} << power};
}

// torch.mean of bytes, whose sums are in the list that torch_order describes.
FASTAUG_FN float torch_mean(const uint32_t* sums, int64_t pixels) {
  const TorchOrder order = torch_order(pixels);
  const int64_t whole = order.whole();
  const uint32_t* rest = sums + (whole + 1) * kTorchClasses;
  const int left = static_cast<int>(pixels % kTorchClasses);
  const int vectors = left / kTorchLanes;
  float total = 0.0f;
  for (int n = vectors * kTorchLanes; n < left; ++n) total += static_cast<float>(rest[n]);
  for (int lane = 0; lane < kTorchLanes; ++lane) {
    float sum = 0.0f;
    for (int of_class = lane; of_class < kTorchClasses; of_class += kTorchLanes) {
      float group = 0.0f;
      float groups = 0.0f;
      int64_t open = order.group;
      for (int64_t k = 0; k < whole; ++k) {
        group += static_cast<float>(sums[k * kTorchClasses + of_class]);
        if (--open != 0) continue;
        open = order.group;
        groups += group;
        group = 0.0f;
      }
      sum += static_cast<float>(sums[whole * kTorchClasses + of_class]) + group + groups;
      if (of_class != lane) continue;
      for (int k = 0; k < vectors; ++k) sum += static_cast<float>(rest[k * kTorchLanes + lane]);
    }
    total += sum;
  }
  return total / static_cast<float>(pixels);
}

// The mean that an op blends with: an integer for CONTRAST, any number for ops of takes_torch_mean, which have at most
// kExactTorchPixels. `unrounded`, for fast mode's colour: any number for CONTRAST too.
FASTAUG_FN float mean_of(OpId id, uint64_t sum, int64_t pixels, bool unrounded) {
  if (id == OpId::CONTRAST && unrounded) {
    return static_cast<float>(static_cast<double>(sum) / static_cast<double>(pixels));
  }
  if (id == OpId::CONTRAST) return pillow_mean(sum, pixels);
  if (takes_torch_mean(id)) return torch_mean(sum, pixels);
  fail_on_host("mean_of", id);
  return 0.0f;
}

}  // namespace fastaug
