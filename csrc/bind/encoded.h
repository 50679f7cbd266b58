// Encoded bytes that come in, and the exceptions by which the caller learns that they are not decoded here.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_encoded(pybind11::module_& m);

}  // namespace fastaug::bind
