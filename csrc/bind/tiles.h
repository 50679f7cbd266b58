// Tiles of images in files.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_tiles(pybind11::module_& m);

}  // namespace fastaug::bind
