// Bags of images on a device, and the text of its kernels.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_bag(pybind11::module_& m);

}  // namespace fastaug::bind
