// Rows of interleaved pixels to those of other channels, as Image.convert() makes them.
#pragma once

#include "base/arena.h"
#include "codec/codec.h"

namespace fastaug::codec {

// True if pixels of `from` channels need no conversion.
bool kept(int from, int channels, ptrdiff_t pixel_stride);

// Where the pixels of `region` lie, which begin at `region_data`; that of pixel (0, 0) may be outside of memory.
View view_of(const Header& header, const uint8_t* region_data, Region region, int channels, ptrdiff_t row_stride,
             ptrdiff_t pixel_stride, ptrdiff_t channel_stride);

// Rows of a file's pixels to those of another number of channels, or further apart.
class Converter {
 public:
  Converter(const Header& header, int channels, ptrdiff_t pixel_stride, int width, Arena& arena);

  // Reads and writes `width` pixels and nothing behind them.
  void row(const uint8_t* src, uint8_t* dst) const;

 private:
  int from_;
  int stride_;
  int width_;
  int count_ = 0;
  int pick_[kMaxChannels] = {};
  uint8_t* planes_[kMaxChannels];
};

}  // namespace fastaug::codec
