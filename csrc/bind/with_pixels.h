// The pixels of one image for a function that looks at all of them.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "bind/images.h"
#include "bind/without_gil.h"

namespace fastaug::bind {

// All pixels of an image, made if they do not lie in one block of memory.
inline View all_pixels(const Source& source, Arena& arena) {
  const View& view = source.view;
  return source.pixels == nullptr ? view : source.pixels->make({0, 0, view.height, view.width}, arena);
}

// body(view, arena) without Python's lock, with all pixels of an RGB image of bytes.
template <class Body>
void with_pixels(const Source& source, const Body& body) {
  const View& view = source.view;
  if (view.channels != 3 || view.dtype != DType::kUint8) fail(ErrorCode::kType, "the image must be RGB of 8 bits");
  without_gil([&] {
    static thread_local Arena arena;
    const ArenaReset reset{arena};
    body(all_pixels(source, arena), arena);
  });
}

}  // namespace fastaug::bind
