// Images that come in: a view, and whatever Python object keeps its memory alive.
#pragma once

#include <pybind11/pybind11.h>

#include "core/image.h"

namespace fastaug::bind {

struct Source {
  View view;
  pybind11::object owner;
};

void register_source(pybind11::module_& m);

}  // namespace fastaug::bind
