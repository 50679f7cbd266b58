// Whole calls of pipelines, from the image that comes in to the one that goes out.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_recipe(pybind11::module_& m);

}  // namespace fastaug::bind
