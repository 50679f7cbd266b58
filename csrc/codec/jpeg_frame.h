// The markers of a JPEG up to its first scan.
#pragma once

#include <optional>

#include "codec/codec.h"

namespace fastaug::codec::jpeg {

// Sampling factors: samples of a component in each unit of the image, across and down.
struct Sampling {
  int across = 1;
  int down = 1;

  bool operator==(const Sampling&) const = default;
};

// One is gray, three are YCbCr or RGB, and four are CMYK, or YCCK: YCbCr of the first three, and black.
constexpr int kMostComponents = 4;

struct Frame {
  Header header;
  int components;
  uint8_t ids[kMostComponents];
  Sampling samplings[kMostComponents];
  uint8_t steps[kMostComponents];  // the places of their quantisation tables, whatever these are
  Sampling most;                   // the largest factors of any component
  size_t pixels_from;              // where the data of the first scan begins

  // The blocks of 8 x 8 samples that the image holds at least, all components together.
  int64_t blocks() const;
};

// Takes down a frame header (ITU-T T.81, B.2.2) in a frame that has none yet. False where read_frame() gives nothing.
bool read_sof(Bytes content, Frame* frame);

// Only of files that are decoded here: sound up to their first scan, Huffman-coded, of 8 bits, with one component, or
// three or four of a usual layout. Strict, because Pillow and libjpeg agree about what is not odd.
std::optional<Frame> read_frame(Bytes bytes);

// What anything that begins like a JPEG announces, of whatever kind it is and whatever else is wrong with it: blocks of
// all components, were each of full size, in all scans. 0 where that cannot be found out.
struct Announced {
  int scans = 0;
  int64_t blocks = 0;
};
Announced read_announced(Bytes bytes);

// Scans of a file whose first scan's data begins at `from`. Needs one pass over the bytes up to the image's end, though
// a fast one: for files that may have several. Of too many, it counts one more than may be.
int count_scans(Bytes bytes, size_t from);

// The content of the first segment of a marker before the first scan's; without data where there is none.
Bytes find_segment(Bytes bytes, uint8_t marker);

// True if so many scans of so many blocks cost more than any honest image. Decoders count once more, as they go.
bool too_dear(int64_t scans, int64_t blocks);
constexpr const char* kTooManyScans = "too many scans";

// codec.h's image_end().
size_t find_end(Bytes bytes);

}  // namespace fastaug::codec::jpeg
