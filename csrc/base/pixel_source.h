// An image whose pixels have to be made before they can be read, such as an encoded one.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/image.h"

namespace fastaug {

class PixelSource {
 public:
  virtual ~PixelSource() = default;

  // The size, and how pixels will lie; no memory.
  virtual View layout() const = 0;

  // Makes the pixels of `wanted` in memory of the arena. The view stands for the whole image, laid out as layout()
  // says, of which only that region is there. `scale` is the image's pixels across and down to one of the view; no
  // source makes another than 1 today. Throws Error when it cannot.
  virtual View make(Region wanted, Arena& arena, int scale = 1) = 0;

  // Makes the whole image where it is wanted. False, with nothing done, when it cannot be made in that layout.
  virtual bool make_all(const Target& target, Arena& arena) = 0;

  // For plans: the region that make() works on, the bytes that it reads, and what they are.
  virtual Region made(Region wanted) const = 0;
  virtual int64_t bytes() const = 0;
  virtual const char* name() const = 0;
};

}  // namespace fastaug
