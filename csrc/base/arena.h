// Scratch memory of one run: bump allocation, everything freed at once. One arena per thread is kept between runs, so
// that steady work allocates nothing and stays on warm pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace fastaug {

class Arena {
 public:
  static constexpr size_t kAlign = 64;

  // 64-byte aligned, uninitialised. Throws std::bad_alloc.
  uint8_t* bytes(size_t count) {
    count = (count + kAlign - 1) / kAlign * kAlign;
    if (blocks_.empty() || blocks_.back().size - used_ < count) grow(count);
    uint8_t* result = blocks_.back().data.get() + used_;
    used_ += count;
    return result;
  }

  // Objects are destroyed in reverse order by reset().
  template <class T, class... Args>
  T* make(Args&&... args) {
    T* object = new (bytes(sizeof(T))) T(std::forward<Args>(args)...);
    cleanup_.emplace_back(object, [](void* p) { static_cast<T*>(p)->~T(); });
    return object;
  }

  // Frees everything. Keeps one block as large as this run needed, up to kKeep.
  void reset() {
    while (!cleanup_.empty()) {
      auto [object, destroy] = cleanup_.back();
      cleanup_.pop_back();
      destroy(object);
    }
    size_t total = 0;
    for (const Block& block : blocks_) total += block.size;
    if (total > kKeep) {
      blocks_.clear();
    } else if (blocks_.size() > 1) {
      blocks_.clear();
      wanted_ = total;
    }
    used_ = 0;
  }

  ~Arena() { reset(); }

 private:
  static constexpr size_t kFirst = size_t{1} << 18;
  static constexpr size_t kKeep = size_t{1} << 28;

  struct Free {
    void operator()(uint8_t* p) const { ::operator delete(p, std::align_val_t{kAlign}); }
  };
  struct Block {
    std::unique_ptr<uint8_t, Free> data;
    size_t size;
  };

  void grow(size_t count) {
    size_t size = wanted_ > kFirst ? wanted_ : kFirst;
    if (!blocks_.empty()) size = blocks_.back().size;
    if (size < count) size = count;
    size = (size + kAlign - 1) / kAlign * kAlign;
    std::unique_ptr<uint8_t, Free> data(static_cast<uint8_t*>(::operator new(size, std::align_val_t{kAlign})));
    blocks_.push_back({std::move(data), size});
    used_ = 0;
  }

  std::vector<Block> blocks_;
  std::vector<std::pair<void*, void (*)(void*)>> cleanup_;
  size_t used_ = 0;
  size_t wanted_ = 0;
};

// Resets an arena at the end of a scope.
struct ArenaReset {
  Arena& arena;
  ~ArenaReset() { arena.reset(); }
};

}  // namespace fastaug
