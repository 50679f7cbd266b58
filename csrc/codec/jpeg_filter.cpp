#include "codec/jpeg_filter.h"

#include <algorithm>
#include <cstring>

#include "codec/convert.h"
#include "codec/jpeg_rows.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

constexpr int kMostPixels = 65500;  // JPEG_MAX_DIMENSION of libjpeg

// ITU-T T.81, tables K.1 and K.2, in natural order.
constexpr uint8_t kLumaSteps[kJpegBlock] = {16, 11, 10, 16, 24,  40,  51,  61,   //
                                            12, 12, 14, 19, 26,  58,  60,  55,   //
                                            14, 13, 16, 24, 40,  57,  69,  56,   //
                                            14, 17, 22, 29, 51,  87,  80,  62,   //
                                            18, 22, 37, 56, 68,  109, 103, 77,   //
                                            24, 35, 55, 64, 81,  104, 113, 92,   //
                                            49, 64, 78, 87, 103, 121, 120, 101,  //
                                            72, 92, 95, 98, 112, 100, 103, 99};
constexpr uint8_t kChromaSteps[kJpegBlock] = {17, 18, 24, 47, 99, 99, 99, 99,  //
                                              18, 21, 26, 66, 99, 99, 99, 99,  //
                                              24, 26, 56, 99, 99, 99, 99, 99,  //
                                              47, 66, 99, 99, 99, 99, 99, 99,  //
                                              99, 99, 99, 99, 99, 99, 99, 99,  //
                                              99, 99, 99, 99, 99, 99, 99, 99,  //
                                              99, 99, 99, 99, 99, 99, 99, 99,  //
                                              99, 99, 99, 99, 99, 99, 99, 99};

// libjpeg's jpeg_set_quality(), of baseline files.
JpegSteps steps_of(const uint8_t (&base)[kJpegBlock], int quality) {
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  JpegSteps steps;
  for (int k = 0; k < kJpegBlock; ++k) steps.set(k, std::clamp((base[k] * percent + 50) / 100, 1, 255));
  return steps;
}

// Rows of MCUs of the samples that an encoder makes blocks of: of luma, and of chroma half as wide and high.
class Samples {
 public:
  Samples(const View& image, int width, int unit, Arena& arena)
      : image_(image), width_(width), unit_(unit), stride_((width + kRowPad + 63) / 64 * 64) {
    const auto rows = [&](int count) { return arena.bytes(static_cast<size_t>(stride_ * count)); };
    for (int c = 0; c < image.channels; ++c) planes_[c] = rows(unit);
    if (image.channels == 1) return;
    for (int c = 0; c < 3; ++c) colours_[c] = rows(1);
    for (int c = 1; c < 3; ++c) halved_[c] = rows(unit / 2);
  }

  // A row of MCUs.
  void read(int row) {
    const int top = row * unit_, count = std::min(unit_, image_.height - top);
    for (int y = 0; y < count; ++y) read_row(top + y, y);
    if (image_.channels == 1) return repeat_last(planes_[0], count, unit_);
    if (count % 2 != 0) {
      for (uint8_t* plane : planes_) std::memcpy(plane + stride_ * count, plane + stride_ * (count - 1), width_);
    }
    repeat_last(planes_[0], count, unit_);
    const int half = (count + 1) / 2;
    for (int c = 1; c < 3; ++c) {
      for (int y = 0; y < half; ++y) {
        const uint8_t* above = planes_[c] + stride_ * 2 * y;
        kernels_.jpeg_halve(above, above + stride_, width_ / 2, halved_[c] + stride_ * y);
      }
      repeat_last(halved_[c], half, unit_ / 2);
    }
  }

  const uint8_t* of(int component) const { return component == 0 ? planes_[0] : halved_[component]; }
  ptrdiff_t stride() const { return stride_; }

 private:
  // Below an image its last row goes on, that of chroma as it was made.
  void repeat_last(uint8_t* rows, int count, int wanted) const {
    for (int y = count; y < wanted; ++y) std::memcpy(rows + stride_ * y, rows + stride_ * (count - 1), width_);
  }

  // Row y of the image, as YCbCr if it has colours, to row `to`. Beyond the image its last column goes on.
  void read_row(int y, int to) {
    uint8_t* rows[3];
    for (int c = 0; c < image_.channels; ++c) rows[c] = planes_[c] + stride_ * to;
    uint8_t* const* read = image_.channels == 1 ? rows : colours_;
    read_planes(image_, y, read);
    if (image_.channels == 3) kernels_.jpeg_ycc(colours_, image_.width, rows);
    for (int c = 0; c < image_.channels; ++c) {
      std::memset(rows[c] + image_.width, rows[c][image_.width - 1], static_cast<size_t>(width_ - image_.width));
    }
  }

  const Kernels& kernels_ = kernels();
  const View image_;
  const int width_;  // whole MCUs
  const int unit_;
  const ptrdiff_t stride_;
  uint8_t* planes_[3];
  uint8_t* colours_[3];
  uint8_t* halved_[3];
};

// To pixels, and from there to the target's planes.
void filter_to_planes(const View& image, int quality, const Target& target, Arena& arena) {
  Target pixels = target;
  pixels.pixel_stride = 3;
  pixels.channel_stride = 1;
  pixels.row_stride = ptrdiff_t{3} * target.width;
  pixels.data = arena.bytes(static_cast<size_t>(pixels.row_stride * target.height));
  jpeg_filter(image, quality, pixels, arena);
  uint8_t* rows[3];
  for (uint8_t*& row : rows) row = arena.bytes(static_cast<size_t>(target.width + kRowPad));
  for (int y = 0; y < target.height; ++y) {
    kernels().deinterleave(pixels.at(y, 0, 0), 3, 3, target.width, rows);
    for (int c = 0; c < 3; ++c) std::memcpy(target.at(y, 0, c), rows[c], static_cast<size_t>(target.width));
  }
}

}  // namespace

bool filters(int height, int width, int channels) {
  if (!kernels().quick_jpeg || height < 1 || width < 1 || std::max(height, width) > kMostPixels) return false;
  // Chroma of up to two columns is not upsampled smoothly.
  return channels == 1 || (channels == 3 && width > 4);
}

void jpeg_filter(const View& image, int quality, const Target& target, Arena& arena) {
  if (image.channels == 3 && target.pixel_stride == 1) return filter_to_planes(image, quality, target, arena);
  const bool gray = image.channels == 1;
  const JpegSteps luma = steps_of(kLumaSteps, quality), chroma = steps_of(kChromaSteps, quality);
  auto* stream = arena.make<Stream>();
  stream->height = image.height;
  stream->width = image.width;
  stream->channels = image.channels;
  stream->most = gray ? Sampling{1, 1} : Sampling{2, 2};
  stream->ycbcr = !gray;
  for (int c = 0; c < image.channels; ++c) {
    Component& component = stream->components[c];
    component.sampling = c == 0 ? stream->most : Sampling{1, 1};
    std::ranges::copy((c == 0 ? luma : chroma).steps, component.steps);
  }
  const Part part = {{0, 0, image.height, image.width},
                     static_cast<int>(target.pixel_stride),
                     static_cast<uint8_t*>(target.data),
                     target.row_stride};
  Rows rows(*stream, part, arena);
  const int unit = kSide * stream->most.down;
  Samples samples(image, rows.columns() * unit, unit, arena);
  // Kernels read and write a block more.
  const int most = rows.columns() * stream->most.across + 2;
  auto* coefs = reinterpret_cast<int16_t*>(arena.bytes(static_cast<size_t>(most) * kJpegBlock * sizeof(int16_t)));
  uint8_t* last = arena.bytes(static_cast<size_t>(most));
  for (int row = 0; row < rows.rows(); ++row) {
    samples.read(row);
    for (int c = 0; c < image.channels; ++c) {
      const Sampling& sampling = stream->components[c].sampling;
      const int blocks = rows.columns() * sampling.across;
      for (int v = 0; v < sampling.down; ++v) {
        kernels().jpeg_forward(samples.of(c) + samples.stride() * kSide * v, samples.stride(), c == 0 ? luma : chroma,
                               blocks, coefs, last);
        // Samples make no coefficients of which libjpeg's versions make different ones.
        rows.make(c, row * sampling.down + v, 0, coefs, last, blocks);
      }
    }
    rows.finish(row);
  }
}

}  // namespace fastaug::codec::jpeg
