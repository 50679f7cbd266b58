// All that a decoder has to know of a sequential JPEG before its first scan's data.
#pragma once

#include "base/arena.h"
#include "codec/codec.h"
#include "codec/jpeg_frame.h"
#include "kernels/jpeg.h"

namespace fastaug::codec::jpeg {

struct Component {
  Sampling sampling;
  const JpegCodes* dc;
  const JpegPairs* ac;
  uint16_t steps[kJpegBlock];  // of quantisation, in natural order
};

struct Stream {
  int height;
  int width;
  int channels;
  Sampling most;  // the largest factors of any component
  Component components[3];
  bool ycbcr;
  int restart;  // MCUs between markers; 0: none
  size_t pixels_from;
};

// In memory of the arena. Null for what the decoder of jpeg_sequential.h does not take on, or libjpeg warns about.
const Stream* read_stream(Bytes bytes, const Beside& beside, Arena& arena);

}  // namespace fastaug::codec::jpeg
