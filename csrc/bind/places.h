// Bounding boxes and key points.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_places(pybind11::module_& m);

}  // namespace fastaug::bind
