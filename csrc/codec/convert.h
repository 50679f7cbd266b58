// Rows of a file's samples to 8 bits and to other channels, as Image.convert() makes them.
#pragma once

#include <array>

#include "base/arena.h"
#include "codec/codec.h"

namespace fastaug::codec {

// The colours that indices stand for: red, green, blue, alpha.
using Colours = std::array<std::array<uint8_t, 4>, 256>;

// True if decode() leaves pixels where they lie in unpacked rows of the file. Alpha that is not wanted stays, too.
bool kept(const Header& header, int channels);

// Bytes from one pixel to the next where interleaved pixels are kept, or else made.
int kept_stride(const Header& header, int channels);

// Where the pixels of `region` lie, which begin at `region_data`; that of pixel (0, 0) may be outside of memory.
View view_of(const Header& header, const uint8_t* region_data, Region region, int channels, ptrdiff_t row_stride,
             ptrdiff_t pixel_stride, ptrdiff_t channel_stride);

// Row y of an image of bytes, however its samples lie, as a plane for each channel.
void read_planes(const View& image, int y, uint8_t* const* planes);

// What black ink leaves of a sample of red, green or blue that the inks of its pixel leave of white. No black is 255,
// as in files of Adobe's. Pillow, src/libImaging/Convert.c, cmyk2rgb(), of CMYK that JpegImagePlugin has inverted.
inline uint8_t printed(int left, int black) {
  const int product = left * black + 128;
  return static_cast<uint8_t>(black - ((product + (product >> 8)) >> 8));
}

// Rows of a file's pixels to those of another number of channels, or further apart.
class Converter {
 public:
  // `colours` are those of a file of a palette, else null.
  Converter(const Header& header, const Colours* colours, int channels, ptrdiff_t pixel_stride, int width,
            Arena& arena);

  // Converts `width` pixels from column x on of a row of the file's samples: of 16 bits the upper byte first, and of
  // fewer than 8 the upper bits of a byte first. Reads and writes nothing else.
  void row(const uint8_t* src, int x, uint8_t* dst) const;

 private:
  void look_up(const uint8_t* indices, uint8_t* dst) const;

  int bits_;
  int from_;
  int stride_;
  int width_;
  int scale_ = 1;          // of samples of fewer than 8 bits
  bool as_it_is_;          // samples of 8 bits are the pixels
  uint8_t* samples_ = {};  // those of a row, in 8 bits
  int count_ = 0;
  int pick_[kMaxChannels] = {};
  uint8_t* planes_[kMaxChannels] = {};
  uint32_t* pixels_ = {};  // of each index, as they lie in memory; none without a palette
};

}  // namespace fastaug::codec
