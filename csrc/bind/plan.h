// Plans and reports as Python sees them.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "base/pixel_source.h"
#include "execute/execute.h"

namespace fastaug::bind {

// A list of the passes of a plan. `source` is where encoded pixels come from, or null.
pybind11::list listed(Report report, const PixelSource* source);

void register_plan(pybind11::module_& m);

}  // namespace fastaug::bind
