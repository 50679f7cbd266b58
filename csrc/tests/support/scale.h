// One knob for how many random cases the native tests run: FASTAUG_SCALE, as of the Python tests
// (tests/support/scale.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace fastaug::test {

inline double scale() {
  const char* text = std::getenv("FASTAUG_SCALE");
  if (text == nullptr || *text == '\0') return 1;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(value) || value <= 0) {
    throw std::invalid_argument("FASTAUG_SCALE should be a positive number, such as 0.1, 1 or 10");
  }
  return value;
}

// How many cases to run of a family that has `count` of them at a scale of 1; one at least.
template <std::integral T>
T cases(T count) {
  return std::max(T{1}, static_cast<T>(std::llround(static_cast<double>(count) * scale())));
}

// Which members of a long list to try: all at a scale of 1 or more, below it about that share of them, the same ones
// in each run.
class Share {
 public:
  bool next() { return scale_ >= 1 || std::uniform_real_distribution<>()(rng_) < scale_; }

 private:
  double scale_ = scale();
  std::mt19937 rng_{1};
};

}  // namespace fastaug::test
