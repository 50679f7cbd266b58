// The links of a part while it is put together.
#pragma once

#include <vector>

#include "base/image.h"
#include "cuda/part.h"

namespace fastaug::cuda {

// What pixels go through, after the source (the first one) or a step.
struct Link {
  Step step{};
  Region region{};   // that is made of its output
  int channels = 0;  // that it leaves before its colours
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
