// The exception of the core as one of Python's.
#pragma once

#include <pybind11/pybind11.h>

#include "base/status.h"

namespace fastaug::bind {

inline void set_error(const Error& error) {
  PyObject* const types[] = {PyExc_ValueError, PyExc_TypeError, PyExc_MemoryError, PyExc_RuntimeError};
  pybind11::set_error(types[static_cast<int>(error.code())], error.what());
}

}  // namespace fastaug::bind
