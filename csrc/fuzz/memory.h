// How much memory a piece of code held at its peak, libraries included. Zero where no sanitizer counts it.
#pragma once

#include <cstddef>

namespace fastaug::fuzz {

class PeakMemory {
 public:
  PeakMemory();  // starts anew; one at a time
  size_t bytes() const;
};

}  // namespace fastaug::fuzz
