// The links of a part while it is put together.
#pragma once

#include <vector>

#include "base/image.h"
#include "cuda/part.h"

namespace fastaug::cuda {

// The source (the first link) or a step, and the colours behind it.
struct Link {
  Step step{};
  Region region{};   // of its output that is made
  int channels = 0;  // after it, before its colours
  std::vector<Colour> colours;

  int after() const {
    int now = channels;
    for (const Colour& c : colours) {
      if (c.kind == Colour::kLane || c.kind == Colour::kFloat) now = channels_after(c.op, now);
    }
    return now;
  }
};

}  // namespace fastaug::cuda
