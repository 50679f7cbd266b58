#include "codec/jpeg_filter.h"

#include <algorithm>
#include <cstring>

#include "codec/jpeg_rows.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

// Rows of pixels in memory: those that a row of MCUs makes, and as many before them.
constexpr int kRowsKept = 4 * kSide;

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
  Samples(PlaneRows& image, Shape shape, int width, int unit, Arena& arena)
      : image_(image), shape_(shape), width_(width), unit_(unit), stride_((width + kRowPad + 63) / 64 * 64) {
    const auto rows = [&](int count) { return arena.bytes(static_cast<size_t>(stride_ * count)); };
    for (int c = 0; c < shape.channels; ++c) planes_[c] = rows(unit);
    if (shape.channels == 1) return;
    for (int c = 0; c < 3; ++c) colours_[c] = rows(1);
    for (int c = 1; c < 3; ++c) halved_[c] = rows(unit / 2);
  }

  // A row of MCUs.
  void read(int row) {
    const int top = row * unit_, count = std::min(unit_, shape_.height - top);
    for (int y = 0; y < count; ++y) read_row(top + y, y);
    if (shape_.channels == 1) return repeat_last(planes_[0], count, unit_);
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
    for (int c = 0; c < shape_.channels; ++c) rows[c] = planes_[c] + stride_ * to;
    uint8_t* const* read = shape_.channels == 1 ? rows : colours_;
    image_.read(y, read);
    if (shape_.channels == 3) kernels_.jpeg_ycc(colours_, shape_.width, rows);
    for (int c = 0; c < shape_.channels; ++c) {
      std::memset(rows[c] + shape_.width, rows[c][shape_.width - 1], static_cast<size_t>(width_ - shape_.width));
    }
  }

  const Kernels& kernels_ = kernels();
  PlaneRows& image_;
  const Shape shape_;
  const int width_;  // whole MCUs
  const int unit_;
  const ptrdiff_t stride_;
  uint8_t* planes_[3];
  uint8_t* colours_[3];
  uint8_t* halved_[3];
};

}  // namespace

class FilterState {
 public:
  FilterState(PlaneRows& image, Shape shape, Region wanted, int width, int quality, Arena& arena)
      : steps_{steps_of(kLumaSteps, quality), steps_of(kChromaSteps, quality)},
        stream_(stream_of(shape, steps_)),
        part_(part_of(shape, wanted, width, arena)),
        rows_(stream_, part_, arena),
        samples_(image, shape, rows_.columns() * unit(), unit(), arena) {
    // Kernels read and write a block more.
    const auto most = static_cast<size_t>(rows_.columns() * stream_.most.across + 2);
    coefs_ = reinterpret_cast<int16_t*>(arena.bytes(most * kJpegBlock * sizeof(int16_t)));
    last_ = arena.bytes(most);
  }

  const uint8_t* row(int y) {
    while (rows_.next() <= y) make(made_++);
    return part_.row(y);
  }

 private:
  static Stream stream_of(Shape shape, const JpegSteps (&steps)[2]) {
    Stream stream{};
    stream.height = shape.height;
    stream.width = shape.width;
    stream.channels = shape.channels;
    stream.ycbcr = shape.channels == 3;
    stream.most = stream.ycbcr ? Sampling{2, 2} : Sampling{1, 1};
    for (int c = 0; c < shape.channels; ++c) {
      Component& component = stream.components[c];
      component.sampling = c == 0 ? stream.most : Sampling{1, 1};
      std::ranges::copy(steps[c == 0 ? 0 : 1].steps, component.steps);
    }
    return stream;
  }

  static Part part_of(Shape shape, Region wanted, int width, Arena& arena) {
    const ptrdiff_t stride = ptrdiff_t{wanted.width} * shape.channels;
    uint8_t* rows = arena.bytes(static_cast<size_t>(stride * std::min(kRowsKept, wanted.height)));
    // libjpeg is not smooth where chroma has two columns.
    return {wanted, shape.channels, rows, stride, kRowsKept, width > 4};
  }

  int unit() const { return kSide * stream_.most.down; }

  void make(int row) {
    samples_.read(row);
    for (int c = 0; c < stream_.channels; ++c) {
      const Sampling& sampling = stream_.components[c].sampling;
      const int blocks = rows_.columns() * sampling.across;
      for (int v = 0; v < sampling.down; ++v) {
        kernels().jpeg_forward(samples_.of(c) + samples_.stride() * kSide * v, samples_.stride(),
                               steps_[c == 0 ? 0 : 1], blocks, coefs_, last_);
        // Samples make no coefficients of which libjpeg's versions make different ones.
        rows_.make(c, row * sampling.down + v, 0, coefs_, last_, blocks);
      }
    }
    rows_.finish(row);
  }

  const JpegSteps steps_[2];  // of luma and chroma
  const Stream stream_;
  const Part part_;
  Rows rows_;
  Samples samples_;
  int16_t* coefs_;
  uint8_t* last_;
  int made_ = 0;  // rows of MCUs
};

Filter::Filter(PlaneRows& image, Shape shape, Region wanted, int width, int quality, Arena& arena)
    : state_(arena.make<FilterState>(image, shape, wanted, width, quality, arena)) {}

const uint8_t* Filter::row(int y) { return state_->row(y); }

}  // namespace fastaug::codec::jpeg
