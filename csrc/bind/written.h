// Whether objects still do what their class was written to do, which is asked of each transform in each call.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_written(pybind11::module_& m);

}  // namespace fastaug::bind
