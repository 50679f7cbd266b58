// What transforms need beside programs: ElasticTransform a field of random numbers to blur and an image sampled along a
// grid, AugMix a mixture of images.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_fields(pybind11::module_& m);

}  // namespace fastaug::bind
