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
  int channels;   // components
  Sampling most;  // the largest factors of any component
  Component components[kMostComponents];
  bool ycbcr;   // the first three are
  int restart;  // MCUs between markers; 0: none
  size_t pixels_from;
};

// True if the first component, alone, is what libjpeg makes of the image in gray.
inline bool has_luma(const Stream& stream) { return stream.channels == 1 || (stream.channels == 3 && stream.ycbcr); }

// A scan of a progressive JPEG (ITU-T T.81, G.1.1.1): bits from `low` up, of coefficients that had those from `high` up
// before; 0 there says that nothing came before.
struct Scan {
  int count;  // components
  int components[kMostComponents];
  const JpegCodes* dc[kMostComponents];  // of the components, in the first scan of DC
  const JpegCodes* ac;                   // in scans of other coefficients, which have one component
  int from;                              // coefficients in zigzag order
  int to;
  int high;
  int low;
  size_t data_from;
};

// The scans of a progressive JPEG, one after the other.
class Scans {
 public:
  enum class Next : uint8_t { kScan, kEnd, kDoubt };

  Scans(Bytes bytes, const Beside& beside, Arena& arena);

  // Without tables of codes. Null as read_stream() says, for the decoder of jpeg_progressive.h.
  const Stream* stream() const;

  // What follows the data that ends at `at`, which is stream()->pixels_from for the first one.
  Next next(size_t at, Scan* scan);

 private:
  struct State;

  State* state_;
};

// In memory of the arena. Null for what the decoder of jpeg_sequential.h does not take on, or libjpeg warns about.
const Stream* read_stream(Bytes bytes, const Beside& beside, Arena& arena);

}  // namespace fastaug::codec::jpeg
