// The data of a scan without what is stuffed into it, a part at a time.
#pragma once

#include "base/arena.h"
#include "codec/codec.h"
#include "codec/jpeg_markers.h"
#include "kernels/jpeg.h"

namespace fastaug::codec::jpeg {

// Bytes between two markers, of which `scan` reads. Of bytes that are neither data nor a marker by themselves, such as
// 0xff twice, nothing is made: they end the data like a marker that nobody expects.
class Window {
 public:
  Window(Bytes bytes, size_t from, Arena& arena);

  // Makes more bytes readable, unless all up to the next marker are already.
  void fill(JpegScan* scan);

  // To the first bytes.
  void begin(JpegScan* scan);

  // To a bit of the file; false where it has no such bit.
  bool seek(uint64_t bit, JpegScan* scan);

  // The next bit that `scan` has not used, counted from the file's first. For a scan that is not beyond the data; costs
  // one look at the bytes since the last call.
  uint64_t bit(const JpegScan& scan);

  // An MCU may begin where the next word is read from here or before: up to eight bytes of it are in the last one, and
  // of those that are not readable yet none may be looked at.
  const uint8_t* limit() const { return ended_ ? end_ + 8 : end_ - kJpegMostBytes - 24; }
  bool ended() const { return ended_; }

  // Bits up to the next marker that `scan` has not used yet, as far as they are readable; below 0 where it went beyond.
  ptrdiff_t left(const JpegScan& scan) const { return (end_ - scan.next) * 8 + scan.count; }

  // True if the data ends here, but for less than a byte; and where in the file it does.
  bool at_marker(JpegScan* scan);
  size_t marker() const { return static_cast<size_t>(from_ - source_); }

  // True if this marker is next, with less than a byte of data before it.
  bool is_next(uint8_t marker, JpegScan* scan);

  // To the bytes behind the marker that is_next().
  void pass(JpegScan* scan);

 private:
  const uint8_t* const source_;
  const uint8_t* from_;
  const uint8_t* const source_end_;
  uint8_t* const memory_;
  uint8_t* end_;
  bool ended_ = false;
  // Since begin(): bytes before those in memory; those that bit() was asked for, and where they are in the file.
  ptrdiff_t passed_ = 0;
  ptrdiff_t found_ = 0;
  const uint8_t* found_at_;
};

}  // namespace fastaug::codec::jpeg
