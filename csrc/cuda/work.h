// How a part is cut into tiles, and the work that this takes.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda/link.h"

namespace fastaug::cuda {

struct Tiling {
  int height = 0;  // 0: nothing fits
  int width = 0;
  uint32_t first = 0;  // bytes of the two buffers
  uint32_t second = 0;
  bool direct = false;
  double work = HUGE_VAL;
};

// Estimates for the links of a part. Work is in instructions for each pixel of three channels, as far as they were
// counted in machine code.
class Work {
 public:
  Work(const std::vector<Link>& links, const Part& part, uint32_t shared_bytes)
      : links_(links), part_(part), shared_bytes_(shared_bytes) {}

  // The work if tiles had no neighbours.
  double ideal() const;
  // Bytes of shared memory for the colours and statistics of steps [begin, end).
  uint32_t fixed_bytes(size_t begin, size_t end) const;
  // The best tiling of steps [begin, end) as one part.
  Tiling tiling(size_t begin, size_t end) const;

 private:
  Tiling tiling(size_t begin, size_t end, bool direct) const;

  const std::vector<Link>& links_;
  const Part& part_;
  uint32_t shared_bytes_;
};

}  // namespace fastaug::cuda
