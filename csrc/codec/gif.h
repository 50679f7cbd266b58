// GIF files, all of whose images are drawn one upon another as torchvision.io.decode_gif() does. Pillow shows them
// otherwise, so that GIF is no row of the table of codecs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "codec/codec.h"

namespace fastaug::codec::gif {

// An image of a file, which may lie outside of the canvas.
struct Frame {
  int left;
  int top;
  int width;   // at least 1
  int height;  // at least 1
  bool interlaced;
  bool on_background;  // the canvas is cleared before it; else it shows the image before this one
  int transparent;     // the index of pixels that are not drawn; -1 if all are
  int bits;            // of the smallest code's index: 0 to 8
  Bytes colours;       // 3 bytes each, of 256 at most
  Bytes codes;         // the sub-blocks, to the empty one
};

// What the blocks of a file say. `frames` is not empty if the verdict is kDone.
struct File {
  Verdict verdict;
  int height = 0;
  int width = 0;
  std::array<uint8_t, 3> background = {};
  std::vector<Frame> frames;

  // Those to be drawn, on canvases and beside them, or those of all canvases if there are more: for limits.
  int64_t pixels() const;
};

// Looks at no pixel.
File read_file(Bytes bytes);

// Draws every image of a sound file: frames of height rows of width pixels of red, green and blue, one after another.
// Discard the pixels unless the verdict is kDone.
Verdict draw(const File& file, uint8_t* pixels);

}  // namespace fastaug::codec::gif
