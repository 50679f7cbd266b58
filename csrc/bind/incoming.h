// Images as users hand them in, where they are plain.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "bind/images.h"
#include "draft/draft.h"

namespace fastaug::bind {

struct Incoming {
  Outline outline;
  Source source;
  pybind11::object info{};     // of a PIL image; null if it is empty
  pybind11::object encoded{};  // bytes, or a handle, whose source is made later
  int orientation = 1;         // by which an encoded image is turned
};

// An image of exactly Pillow's class, in a mode that the core reads; an array of exactly NumPy's, or its memmap, of
// uint8 and at most 4 channels; or a tensor of exactly torch's, contiguous, on the CPU, of uint8 and at most 4
// channels. Nothing of any other, nor of a PIL image that does not lie in one block of memory. `tag` is the class of
// tensors that are tagged, if there are such.
std::optional<Incoming> as_incoming(pybind11::handle image, pybind11::handle tag = {});

// What is known, before its samples are read, of an image of exactly Pillow's class in a mode that the core reads, or
// of a contiguous tensor of exactly torch's with channels, on the CPU, of uint8. Nothing of any other.
std::optional<Outline> as_outline(pybind11::handle image);

// That of a plain tensor that is a mask: the same, but of uint8 or bool, and of any number of planes or a plane alone.
std::optional<Outline> outline_of_mask(pybind11::handle tensor);

// The outline of a PIL image of a mode and a size, both Python's. Nothing where the core does not read the mode.
std::optional<Outline> outline_of_pil(pybind11::handle mode, pybind11::handle size);

// A tensor as one of a class.
pybind11::object as_class(const pybind11::object& tensor, pybind11::handle cls);

// True if torch records what is done to tensors, or is inside a transform of torch.func.
bool is_recording();
bool is_transforming();

// A tensor on the CPU of these sides and one of the dtypes that the core writes.
pybind11::object empty_tensor(int first, int second, int third, DType dtype);

// Where its samples are.
void* address_of(const pybind11::object& tensor);

}  // namespace fastaug::bind
