// Images as users hand them in, where they are plain.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "bind/images.h"
#include "draft/draft.h"

namespace fastaug::bind {

// A dimension of a tensor before its channels.
struct Leading {
  int64_t length;
  ptrdiff_t stride;  // in bytes
};

struct Incoming {
  Outline outline;
  Source source;                   // of the first image, with all of its channels
  std::vector<Leading> leading{};  // of a tensor of several images
  pybind11::object info{};         // of a PIL image; null if it is empty
  pybind11::object encoded{};      // bytes, or a handle, whose source is made later
  int orientation = 1;             // by which an encoded image is turned

  // True of what one job does: not of several images, of more channels, or of a plane without an axis of them.
  bool is_one() const { return leading.empty() && outline.shape.channels <= kMaxChannels && !outline.flat; }
};

// An image of exactly Pillow's class, in a mode that the core reads; an array of exactly NumPy's, or its memmap, of
// uint8 and at most 4 channels; or a tensor of exactly torch's on the CPU. That is of uint8, with any strides, channels
// and leading dimensions; or of float32 in one of the two orders that torch's functions keep, for v2 plane by plane,
// without gaps, leading dimensions or a gradient. Nothing of any other, nor of a PIL image that does not lie in one
// block of memory.
std::optional<Incoming> as_incoming(pybind11::handle image, bool v2);

// The same before samples are read, but for arrays: without its source.
std::optional<Incoming> before_samples(pybind11::handle image, bool v2);

// That of a tensor of uint8 that a device has. torch does those with leading dimensions or many channels there.
std::optional<Incoming> on_device(pybind11::handle tensor, bool v2);

// What is known of a plain tensor that is a mask, contiguous, planes or a plane alone: channels, or images if its
// samples are larger than bytes.
std::optional<Outline> outline_of_mask(pybind11::handle tensor);

// The outline of a PIL image of a mode and a size, both Python's. Nothing where the core does not read the mode.
std::optional<Outline> outline_of_pil(pybind11::handle mode, pybind11::handle size);

}  // namespace fastaug::bind
