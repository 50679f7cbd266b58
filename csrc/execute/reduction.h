// Statistics of its whole input that a reduction needs before its first pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "base/image.h"
#include "kernels/kernels.h"
#include "program/program.h"

namespace fastaug {

// One table of 256 samples per channel.
struct ChannelTables {
  uint8_t table[kMaxChannels][256];
};

// Takes the rows of a reduction's input, from the first to the last: the order matters to torch's mean.
class Reduction {
 public:
  Reduction(const Op& op, Shape in, const Kernels& kernels);

  void add(const uint8_t* const* planes);

  // For ops that need the mean: the value to blend with; see mean_of in pixel/statistics.h.
  float mean(bool unrounded) const;
  // For ops that need extremes or a histogram.
  void tables(ChannelTables* out) const;

 private:
  int64_t pixels() const { return int64_t{in_.height} * in_.width; }
  void add_grays(const uint8_t* const* planes);

  const Op& op_;
  Shape in_;
  const Kernels& kernels_;
  uint64_t sum_ = 0;
  std::vector<uint32_t> grays_;  // as torch_order() says
  int64_t place_ = 0;            // of the next row's first pixel
  uint8_t low_[kMaxChannels];
  uint8_t high_[kMaxChannels] = {};
  uint32_t counts_[kMaxChannels][kHistograms][256];
};

}  // namespace fastaug
