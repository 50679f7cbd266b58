// Random draws from torch's CPU generators.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_random(pybind11::module_& m);

}  // namespace fastaug::bind
