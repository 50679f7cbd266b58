// Where Pillow keeps the rows of an image that lies in several blocks of memory.
#pragma once

#include <pybind11/pybind11.h>

#include "base/image.h"

namespace fastaug::bind {

// The address of each row of what an image keeps as its `im`, whose pixels are laid out as `layout` says. They are
// those of Pillow's own struct, found at the first call: images whose addresses Pillow exports, of several modes, prove
// the places of its fields. Null where they do not, or where the image is not as they are. The caller keeps the core.
const uint8_t* const* rows_of_pillow(const pybind11::object& core, const View& layout);

}  // namespace fastaug::bind
