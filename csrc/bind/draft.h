// Drafts as Python holds them.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "draft/draft.h"

namespace fastaug::bind {

struct DraftObject {
  PyObject_HEAD Draft draft;
  PyObject* leading;  // dimensions, as a tuple
  PyObject* mode;     // the name of one that the core does not read; null where it does
};

inline DraftObject& draft_in(PyObject* self) { return *reinterpret_cast<DraftObject*>(self); }

// The mode of a name, or of None.
Mode mode_of(PyObject* name);

// A method with Python's own calling convention: pybind11's takes longer than most methods.
template <PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)>
PyMethodDef fast_method(const char* name, const char* signature) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, signature};
}

// False, with an error of Python's, if there are more or fewer.
inline bool takes(Py_ssize_t count, Py_ssize_t given) {
  if (given != count) PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", count, given);
  return given == count;
}

// The methods that draft ops.
std::vector<PyMethodDef> methods_of_ops();

void register_draft(pybind11::module_& m);

}  // namespace fastaug::bind
