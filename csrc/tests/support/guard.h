// Buffers that end (or begin) exactly where inaccessible memory begins (or ends): one byte too far is a crash.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"

namespace fastaug::test {

// Which end of the buffer touches the inaccessible page. The bytes between the other end and its page hold a pattern
// that intact() checks.
enum class Side { kFront, kBack };

class Guarded {
 public:
  explicit Guarded(size_t size, Side side = Side::kBack) : size_(size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    pages_ = std::max<size_t>((size + page - 1) / page, 1);
    inner_ = pages_ * page;
    map_ = kept();
    if (map_ == nullptr) {
      void* memory = mmap(nullptr, mapped(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      REQUIRE(memory != MAP_FAILED);
      map_ = static_cast<uint8_t*>(memory);
      REQUIRE(mprotect(map_ + page, inner_, PROT_READ | PROT_WRITE) == 0);
    }
    begin_ = map_ + page;
    std::memset(begin_, kPattern, inner_);
    data_ = side == Side::kBack ? begin_ + inner_ - size : begin_;
  }
  ~Guarded() {
    if (map_ == nullptr) return;
    if (pages_ <= kMostKept) {
      maps_[pages_].push_back(map_);
    } else {
      munmap(map_, mapped());
    }
  }
  Guarded(Guarded&& other) noexcept
      : map_(other.map_),
        begin_(other.begin_),
        data_(other.data_),
        pages_(other.pages_),
        inner_(other.inner_),
        size_(other.size_) {
    other.map_ = nullptr;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  Guarded& operator=(Guarded&&) = delete;

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  // Nothing outside the buffer was written.
  bool intact() const {
    for (const uint8_t* p = begin_; p != data_; ++p)
      if (*p != kPattern) return false;
    for (const uint8_t* p = data_ + size_; p != begin_ + inner_; ++p)
      if (*p != kPattern) return false;
    return true;
  }

 private:
  static constexpr uint8_t kPattern = 0xa5;
  static constexpr size_t kMostKept = 4;

  size_t mapped() const { return (pages_ + 2) * (inner_ / pages_); }

  // A mapping of so many pages that was used before, or nothing.
  uint8_t* kept() const {
    if (pages_ > kMostKept || maps_[pages_].empty()) return nullptr;
    uint8_t* map = maps_[pages_].back();
    maps_[pages_].pop_back();
    return map;
  }

  // Small mappings are kept, by their number of pages: mapping anew was most of the time of the tests of kernels.
  static inline thread_local std::array<std::vector<uint8_t*>, kMostKept + 1> maps_;

  uint8_t* map_ = nullptr;
  uint8_t* begin_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t pages_ = 0;
  size_t inner_ = 0;
  size_t size_ = 0;
};

// A row buffer as the kernels are given them: width samples and kRowPad bytes that belong to it too.
inline Guarded guarded_row(int width, Side side = Side::kBack) {
  return Guarded(static_cast<size_t>(width) + kRowPad, side);
}

// `count` row buffers and the pointers to them.
class GuardedRows {
 public:
  GuardedRows(int count, int width, Side side = Side::kBack) {
    buffers_.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      buffers_.push_back(guarded_row(width, side));
      pointers_.push_back(buffers_.back().data());
      const_pointers_.push_back(buffers_.back().data());
    }
  }
  uint8_t* const* get() { return pointers_.data(); }
  const uint8_t* const* get_const() const { return const_pointers_.data(); }
  uint8_t* operator[](int i) { return pointers_[static_cast<size_t>(i)]; }
  bool intact() const {
    for (const Guarded& buffer : buffers_)
      if (!buffer.intact()) return false;
    return true;
  }

 private:
  std::vector<Guarded> buffers_;
  std::vector<uint8_t*> pointers_;
  std::vector<const uint8_t*> const_pointers_;
};

// A small deterministic generator (xorshift32), so that a failure repeats.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 1u) {}
  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  // In [low, high].
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<uint32_t>(high - low + 1)); }
  double unit() { return next() * (1.0 / 4294967296.0); }
  void fill(uint8_t* data, size_t size) {
    for (size_t i = 0; i < size; ++i) data[i] = static_cast<uint8_t>(next() >> 11);
  }

 private:
  uint32_t state_;
};

}  // namespace fastaug::test
