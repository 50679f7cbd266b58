// Statistics of optical densities.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_densities(pybind11::module_& m);

}  // namespace fastaug::bind
