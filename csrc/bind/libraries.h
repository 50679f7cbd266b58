// Pillow and torch as drafts ask them, by functions of Python's.
#pragma once

#include <pybind11/pybind11.h>

#include "draft/draft.h"

namespace fastaug::bind {

const Torch& libraries();

// A number of another type than Python's own, or NaN; and an int of another type, or None.
double real_of(pybind11::handle value);
pybind11::object whole_of(pybind11::handle value);

void register_libraries(pybind11::module_& m);

}  // namespace fastaug::bind
