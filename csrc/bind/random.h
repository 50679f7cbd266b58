// Random draws from torch's CPU generators.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

namespace fastaug::bind {

class Stream;

// A list that Random::choice takes and torch.multinomial takes alike.
std::optional<std::vector<float>> as_weights(pybind11::handle value);

// What `draws`, an object of fastaug._C.Draws, draws from on this thread; null where every draw is torch's.
Stream* stream_of(pybind11::handle draws);

// Its method of that name.
void release(pybind11::handle draws);

void register_random(pybind11::module_& m);

}  // namespace fastaug::bind
