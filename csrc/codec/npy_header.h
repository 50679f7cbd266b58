// The header of an .npy file.
#pragma once

#include "codec/codec.h"

namespace fastaug::codec::npy {

struct Parsed {
  const char* reason = "";  // why it is not an image that is read here; empty when it is one
  Header header;
  size_t pixels_from = 0;  // where its samples begin

  bool done() const { return *reason == '\0'; }
};

// Images are samples of uint8, in C order, of shape [H, W] or [H, W, 1 to 4], all of which are there. The header is a
// literal of Python's (numpy.lib.format), of which only that of such arrays is known here: nothing is evaluated.
Parsed parse(Bytes bytes);

}  // namespace fastaug::codec::npy
