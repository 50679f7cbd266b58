// The text of the headers that kernels are compiled from at run time; cmake/device_headers.cmake writes it into
// headers.cpp of the build.
#pragma once

#include <span>

namespace fastaug::cuda {

struct Header {
  const char* name;  // as it is included: "cuda/tile.h"
  const char* text;
};

std::span<const Header> headers();

}  // namespace fastaug::cuda
