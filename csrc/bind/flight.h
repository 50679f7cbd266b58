// Images of one batch that a recipe draws for, one after the other, and that threads process.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_flight(pybind11::module_& m);

}  // namespace fastaug::bind
