// libjpeg-turbo behind a function that neither throws nor lets its longjmp() pass a destructor.
#pragma once

#include "codec/codec.h"
#include "codec/jpeg_frame.h"

namespace fastaug::codec::jpeg {

// The result that libjpeg should make of one file.
struct Job {
  Bytes bytes;
  Beside beside;  // its tables are read before the bytes
  const Frame* frame;
  int stride;  // bytes of a pixel: 1; 2, whose second is then 255; 3; or 4, whose fourth is then 255
  // Rows to be made, and which columns of them: a crop begins where a unit of the file does.
  int top;
  int height;
  int crop;
  int crop_width;
  uint8_t* rows;  // where row `top` goes
  ptrdiff_t row_stride;
};

Verdict run(const Job& job);

}  // namespace fastaug::codec::jpeg
