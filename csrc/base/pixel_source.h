// An image whose pixels have to be made before they can be read, such as an encoded one.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/image.h"

namespace fastaug {

// True if pixels of so many channels are made in the target itself: packed bytes, or three in pixels of four.
inline bool is_decoder_target(const Target& target, int channels) {
  const bool packed = target.pixel_stride == target.channels || (target.pixel_stride == 4 && target.channels == 3);
  return target.dtype == DType::kUint8 && target.channels == channels && target.channel_stride == 1 && packed;
}

class PixelSource {
 public:
  virtual ~PixelSource() = default;

  // The size, and how pixels will lie; no memory.
  virtual View layout() const = 0;

  // Makes the pixels of `wanted` in memory of the arena. The view stands for the whole image, laid out as layout()
  // says, of which only that region is there. `scale` is the image's pixels across and down to one of the view; no
  // source makes another than 1 today. Throws Error when it cannot.
  virtual View make(Region wanted, Arena& arena, int scale = 1) = 0;

  // Makes the whole image where it is wanted; is_decoder_target() holds. Throws Error when it cannot.
  virtual void make_all(const Target& target, Arena& arena) = 0;

  // Where the rows are, of pixels that lie in memory but not in one block: make() then copies them, unless all that is
  // wanted lies in one. Null for pixels that do not exist yet.
  virtual const uint8_t* const* rows() const { return nullptr; }

  // For plans: the region that make() works on, the bytes that it reads, and what they are.
  virtual Region made(Region wanted) const = 0;
  virtual int64_t bytes() const = 0;
  virtual const char* name() const = 0;
};

}  // namespace fastaug
