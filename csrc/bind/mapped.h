// A file's bytes, mapped into memory.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_mapped(pybind11::module_& m);

}  // namespace fastaug::bind
