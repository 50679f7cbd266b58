// Generators that a thread draws from instead of the process's.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>

namespace fastaug::bind {

// A context of Python's, in C++, so that no interrupt comes between its steps: within it, this thread draws by `draws`,
// an object of fastaug._C.Draws, instead of from torch's default generator.
class Instead : public std::enable_shared_from_this<Instead> {
 public:
  // `others` has the generators `python` and `numpy`, the latter perhaps None.
  Instead(pybind11::object draws, pybind11::object others);

  // The innermost context of this thread; null outside of any.
  static Instead* here();

  void enter();
  // May be called by another thread, or while contexts within this one go on.
  void exit();

  const pybind11::object draws, others;

 private:
  static thread_local Instead* top;

  std::atomic<bool> over_ = true;
  std::shared_ptr<Instead> self_;  // while it is in the thread's list
  Instead* below_ = nullptr;
};

void register_instead(pybind11::module_& m);

}  // namespace fastaug::bind
