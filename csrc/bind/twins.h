// What is called in the places of objects, while these are as they were.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_twins(pybind11::module_& m);

}  // namespace fastaug::bind
