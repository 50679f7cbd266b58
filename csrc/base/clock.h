// The clock of all measurements.
#pragma once

#include <chrono>

namespace fastaug {

// Seconds from some moment on, by the clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace fastaug
