// What a JPEG file would leave of an image: encoder and decoder without the entropy codes between them, which lose
// nothing.
#pragma once

#include "base/arena.h"
#include "base/image.h"

namespace fastaug::codec::jpeg {

// True if jpeg_filter() takes images of this size and so many channels, and is faster than libjpeg here.
bool filters(int height, int width, int channels);

// Writes the pixels that are read back from a file of this quality, 1 to 100: of one channel gray, of three 4:2:0, as
// Pillow and torchvision write them by default. The target has the image's size, and planes or pixels of 3 or 4 bytes,
// of which a fourth becomes 255. Images as filters() says.
void jpeg_filter(const View& image, int quality, const Target& target, Arena& arena);

}  // namespace fastaug::codec::jpeg
