// Targets that lie in patches.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_patches(pybind11::module_& m);

}  // namespace fastaug::bind
