// Jobs that several of Python's threads run.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_queue(pybind11::module_& m);

}  // namespace fastaug::bind
