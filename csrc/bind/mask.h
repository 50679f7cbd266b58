// Masks that follow an image: their samples, and their results.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "draft/sample.h"

namespace fastaug::bind {

// The result of a mask that is a plain tensor: a view of it where torchvision's is one.
pybind11::object result_of(const MaskDraft& mask, const pybind11::object& plain, uint32_t rewrites);

}  // namespace fastaug::bind
