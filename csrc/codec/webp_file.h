// The container of a WebP: RIFF, its chunks, and the headers of the two bitstreams.
#pragma once

#include "codec/codec.h"

namespace fastaug::codec::webp {

// A file of one image, as libwebp's demuxer and Pillow understand it.
struct Layout {
  bool sound = false;  // all other fields are then valid
  bool lossless = false;
  int height = 0;
  int width = 0;
  bool alpha = false;
  bool alpha_from_above = false;  // the first column of alpha is predicted from the rows above it alone
  int orientation = 1;
  Bytes image;  // the chunks of the image alone: VP8L, or VP8 with ALPH before it where there is alpha
};

// Not sound: animations, files that are not wholly there or too small for their image, and all that libwebp's parts do
// not agree upon, such as a flag of alpha without alpha. Looks at no pixel.
Layout find_layout(Bytes file);

// codec.h's image_end(), which the header says: it may lie behind these bytes.
size_t image_end(Bytes file);

}  // namespace fastaug::codec::webp
