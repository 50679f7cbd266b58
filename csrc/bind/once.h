// Values that are found once, with Python's help.
#pragma once

#include <atomic>
#include <memory>

namespace fastaug::bind {

// A value of the process. It is made at the first call, and never destroyed: the interpreter may be gone by then.
//
// Nobody waits for another thread: a process that is forked while a value is being made has no thread that would end
// that, and with std::call_once, hence pybind11's gil_safe_call_once_and_store, would wait for ever (but for glibc's,
// which libstdc++ uses). So several threads may make the value, which must come out the same, and the first one's is
// kept.
template <class T>
class Once {
 public:
  // With Python's lock held.
  template <class Make>
  const T& get(const Make& make) {
    if (const T* const known = value_.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<const T>(make());
    const T* first = nullptr;
    if (!value_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      return *first;
    }
    return *made.release();
  }

 private:
  std::atomic<const T*> value_ = nullptr;
};

}  // namespace fastaug::bind
