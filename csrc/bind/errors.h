// Exceptions of C++ as Python's.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <new>

#include "base/status.h"

namespace fastaug::bind {

inline void set_error(const Error& error) {
  PyObject* const types[] = {PyExc_ValueError, PyExc_TypeError, PyExc_MemoryError, PyExc_RuntimeError};
  pybind11::set_error(types[static_cast<int>(error.code())], error.what());
}

// A new reference as an object; Python's error, thrown, where a call of Python's returned none.
inline pybind11::object owned(PyObject* result) {
  if (result == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

// Runs `body` for a method with Python's own calling convention. Returns null, with Python's error set, if it throws.
// The exceptions become what pybind11 makes of them.
template <class Body>
PyObject* guarded(const Body& body) {
  try {
    return pybind11::object(body()).release().ptr();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const pybind11::builtin_exception& error) {
    error.set_error();
  } catch (const Error& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace fastaug::bind
