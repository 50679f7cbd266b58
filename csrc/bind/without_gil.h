// Work that leaves Python to other threads.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <optional>
#include <type_traits>

namespace fastaug::bind {

// Takes Python's lock again. Where the interpreter has ended meanwhile, it does not return.
void take_gil(PyThreadState* state);

// Runs `body` without Python's lock, and returns its result.
template <class Body>
auto without_gil(const Body& body) {
  using Returned = decltype(body());
  std::exception_ptr error;
  std::conditional_t<std::is_void_v<Returned>, std::optional<bool>, std::optional<Returned>> result;
  PyThreadState* const state = PyEval_SaveThread();
  try {
    if constexpr (std::is_void_v<Returned>) {
      body();
    } else {
      result.emplace(body());
    }
  } catch (...) {
    error = std::current_exception();
  }
  take_gil(state);
  if (error) std::rethrow_exception(error);
  if constexpr (!std::is_void_v<Returned>) return *std::move(result);
}

}  // namespace fastaug::bind
