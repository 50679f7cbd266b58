// The orientation that metadata names, as Pillow's Image.getexif() finds it.
#pragma once

#include "codec/codec.h"

namespace fastaug::codec {

constexpr int kNoOrientation = 0;
constexpr int kUnclearOrientation = -1;

// What the Exif directory says, 1 to 8 (1 also for values that turn nothing); or kNoOrientation; or kUnclearOrientation
// where Pillow raises, which it does only when asked. `tiff` is what follows "Exif\0\0", which may stand there once
// more.
int exif_orientation(Bytes tiff);

// What XMP says, text of UTF-8, which Pillow asks where Exif has none: 1 to 8, or kNoOrientation.
int xmp_orientation(Bytes text);

}  // namespace fastaug::codec
