// What the fuzz targets share. Each target is one file with the two functions that libFuzzer knows; where there is no
// libFuzzer, main.cpp calls them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Optional: changes data in place and returns its new size.
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed);
// The fuzzer's own.
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);
}

namespace fastaug::fuzz {

// Ends the process where an invariant does not hold, so that the fuzzer keeps the input.
inline void require(bool holds, const char* invariant) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", invariant);
  std::abort();
}

// Random bits made of bytes, two of them at a time, and of a generator seeded by them once they are used up. For the
// distributions of <random>, whose results follow the high bits.
class Bits {
 public:
  using result_type = uint64_t;

  Bits(const uint8_t* data, size_t size) : data_(data), size_(size) {
    for (size_t k = 0; k < size; ++k) state_ = (state_ ^ data[k]) * 0x100000001b3;
  }

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }

  uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t value = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    if (size_ - used_ < 2) return value;
    const uint64_t high = uint64_t{data_[used_]} << 8 | data_[used_ + 1];
    used_ += 2;
    return high << 48 | value >> 16;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t used_ = 0;
  uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace fastaug::fuzz
