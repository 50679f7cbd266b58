// JPEG files as torchvision and Pillow write them by default: baseline, 4:2:0, with the tables of the standard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/arena.h"
#include "base/image.h"

namespace fastaug::codec::jpeg {

// A file in memory of libjpeg's.
struct EncodedFile {
  struct Free {
    void operator()(uint8_t* file) const { std::free(file); }
  };
  const char* error = nullptr;  // of constant storage; null if there is a file
  std::unique_ptr<uint8_t, Free> bytes;
  size_t size = 0;
};

// The file of an image of bytes with one or three channels, at a quality of 1 to 100.
EncodedFile encode(const View& image, int quality, Arena& arena);

}  // namespace fastaug::codec::jpeg
