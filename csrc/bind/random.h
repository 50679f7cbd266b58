// Random draws from torch's CPU generators.
#pragma once

#include <pybind11/pybind11.h>

namespace fastaug::bind {

class Stream;

// What `draws`, an object of fastaug._C.Draws, draws from on this thread; null where every draw is torch's.
Stream* stream_of(pybind11::handle draws);

// Its method of that name.
void release(pybind11::handle draws);

void register_random(pybind11::module_& m);

}  // namespace fastaug::bind
