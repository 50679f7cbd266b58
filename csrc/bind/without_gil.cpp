#include "bind/without_gil.h"

#include <chrono>
#include <thread>

namespace fastaug::bind {

namespace {

// Holds a thread that is unwound.
struct Holder {
  bool taken = false;

  ~Holder() {
    while (!taken) std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

}  // namespace

// A thread that still runs when the interpreter ends, as daemon threads may, shall not come back to Python. CPython
// before 3.14 unwinds it by pthread_exit, through all that has called it: through destructors that must not throw, and
// through `catch (...)`, which some compilers enter then, whereupon glibc aborts the process. Since 3.14 it stops such
// threads where they are instead, until the process is gone; so does this.
void take_gil(PyThreadState* state) {
  Holder holder;
  PyEval_RestoreThread(state);
  holder.taken = true;
}

}  // namespace fastaug::bind
