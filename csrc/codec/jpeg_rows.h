// From coefficients to rows of pixels: what decoders of all kinds of scans do with a region, a row of MCUs at a time.
#pragma once

#include <limits>

#include "base/arena.h"
#include "codec/codec.h"
#include "codec/jpeg_stream.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {

constexpr int kSide = 8;  // samples of a block, across and down

inline int divided_up(int value, int unit) { return (value + unit - 1) / unit; }

// The result to make of one file: a region of it, with `stride` bytes a pixel as in Job of jpeg_session.h.
struct Part {
  Region region;
  int stride;     // below 3: luma alone, of three components
  uint8_t* rows;  // where pixel (region.y, region.x) goes
  ptrdiff_t row_stride;
  int kept = std::numeric_limits<int>::max();  // rows there, of which the first follows the last
  bool smooth = true;                          // chroma of half the columns is interpolated

  uint8_t* row(int y) const { return rows + row_stride * ((y - region.y) % kept); }
};

// MCUs of which something is made, in a row of them or rows.
struct Span {
  int from;
  int to;
};

class Rows {
 public:
  Rows(const Stream& stream, const Part& part, Arena& arena);

  // The first row of pixels that is not written yet.
  int next() const { return next_; }

  // MCUs of the image.
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  // Those that are needed: beside those of the region, for smooth upsampling.
  Span across() const { return across_; }
  Span down() const { return down_; }
  // Components of which anything is made; luma is the first.
  int made() const { return made_; }

  // The samples of blocks side by side, of a component that is made: `row` and `column` are the first one's, counted in
  // blocks of that component. As jpeg_inverse of kernels.h. False where libjpeg's versions differ.
  bool make(int component, int row, int column, const int16_t* coefs, const uint8_t* last, int blocks);

  // All samples of a row of MCUs are made, and of all before it: writes the rows of pixels that can be written now.
  void finish(int row);

 private:
  // Samples of two rows of MCUs of a component, of which every other one is in the same place.
  struct Plane {
    int down;   // blocks of an MCU
    int width;  // samples of the image
    int height;
    int from;  // the first column in memory
    ptrdiff_t stride;
    uint8_t* samples;
    uint8_t* wide;  // a row of samples of chroma, one a pixel

    uint8_t* row(int y) const { return samples + stride * (y % (2 * kSide * down)); }
  };

  void repeat_edges(int row);
  const uint8_t* samples_of(int component, int y);
  const uint8_t* chroma_of(const Plane& plane, int y);
  void write_row(int y);
  void print(const uint8_t* black, uint8_t* pixels) const;

  const Kernels& kernels_ = kernels();
  const Stream& stream_;
  const Part part_;
  const int made_;
  const int across_by_;  // pixels to a sample of chroma, across and down: 1, 2, or 4 across
  const int down_by_;
  const int unit_height_;
  const int columns_;
  const int rows_;
  Span across_{};
  Span down_{};
  Plane planes_[kMostComponents];
  uint8_t* black_ = nullptr;  // of a row of pixels, once for each of their bytes
  int next_;                  // the row of pixels to be written
};

}  // namespace fastaug::codec::jpeg
