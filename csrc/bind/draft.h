// Drafts as Python holds them.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

void register_draft(pybind11::module_& m);

}  // namespace fastaug::bind
