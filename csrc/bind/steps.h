// Transforms as fastaug._draft.packed describes them: tuples of a name and the transform's arguments.
#pragma once

#include <pybind11/pybind11.h>

#include "draft/recipe.h"

namespace fastaug::bind {

// Throws Error of kind kValue where torch, Pillow or torchvision are to say what the numbers mean.
Steps as_steps(const pybind11::tuple& described);

}  // namespace fastaug::bind
