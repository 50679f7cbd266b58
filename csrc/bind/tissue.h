// Measures that separate tissue from glass.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_tissue(pybind11::module_& m);

}  // namespace fastaug::bind
