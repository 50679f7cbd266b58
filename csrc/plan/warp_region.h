// The region that a warp reads of its input.
#pragma once

#include "base/image.h"
#include "program/program.h"

namespace fastaug {

// The pixels of an image of shape `in` that a warp may read for a region of its output, and some more.
// Never empty.
Region warp_region(const Op& op, Shape in, Region out);

}  // namespace fastaug
