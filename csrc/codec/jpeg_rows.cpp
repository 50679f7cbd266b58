#include "codec/jpeg_rows.h"

#include <algorithm>
#include <cstring>

#include "codec/convert.h"

namespace fastaug::codec::jpeg {
namespace {

// Bytes before a row of samples, of which the last one is a copy of the first sample.
constexpr ptrdiff_t kBefore = 64;

// Chroma of half as many rows: a row of pixels, `near` to one row of samples and `far` to another. As libjpeg-turbo's
// h1v2_fancy_upsample() (jdsample.c), which rounds the lower row of two in the other direction.
void upsample_down(const uint8_t* near, const uint8_t* far, bool lower, int width, uint8_t* dst) {
  const int bias = lower ? 2 : 1;
  for (int x = 0; x < width; ++x) dst[x] = static_cast<uint8_t>((3 * near[x] + far[x] + bias) >> 2);
}

// Chroma of fewer columns, each sample for `times` pixels.
void repeat_across(const uint8_t* samples, int count, int times, uint8_t* dst) {
  for (int x = 0; x < count; ++x, dst += times) std::memset(dst, samples[x], static_cast<size_t>(times));
}

bool is_chroma(int component) { return component == 1 || component == 2; }

uint8_t* bytes_of(Arena& arena, ptrdiff_t count) { return arena.bytes(static_cast<size_t>(count)); }

}  // namespace

Rows::Rows(const Stream& stream, const Part& part, Arena& arena)
    : stream_(stream),
      part_(part),
      made_(part.stride < 3 ? 1 : stream.channels),
      across_by_(made_ >= 3 ? stream.most.across / stream.components[1].sampling.across : 1),
      down_by_(made_ >= 3 ? stream.most.down / stream.components[1].sampling.down : 1),
      unit_height_(kSide * stream.most.down),
      columns_(divided_up(stream.width, kSide * stream.most.across)),
      rows_(divided_up(stream.height, unit_height_)),
      next_(part.region.y) {
  const Region& wanted = part.region;
  const int unit_width = kSide * stream.most.across;
  // Two pixels beyond an edge: the neighbour of a sample of chroma.
  const int margin = across_by_ == 2 ? 2 : 0;
  across_ = {std::max(wanted.x - margin, 0) / unit_width,
             divided_up(std::min(wanted.x + wanted.width + margin, stream.width), unit_width)};
  down_ = {wanted.y / unit_height_, divided_up(wanted.y + wanted.height, unit_height_)};
  if (down_by_ == 2) {
    down_.from = std::max(wanted.y - 2, 0) / unit_height_;
    // libjpeg also makes both rows of a row of chroma.
    const int below = std::min((wanted.y + wanted.height + 1) / 2 * 2 + 2, stream.height);
    down_.to = divided_up(below, unit_height_);
  }
  for (int c = 0; c < made_; ++c) {
    const Sampling& sampling = stream.components[c].sampling;
    Plane& plane = planes_[c];
    plane.down = sampling.down;
    plane.width = divided_up(stream.width * sampling.across, stream.most.across);
    plane.height = divided_up(stream.height * sampling.down, stream.most.down);
    plane.from = across_.from * sampling.across * kSide;
    const ptrdiff_t columns = ptrdiff_t{across_.to - across_.from} * sampling.across * kSide;
    plane.stride = kBefore + (columns + kRowPad + 63) / 64 * 64;
    plane.samples = bytes_of(arena, plane.stride * 2 * kSide * plane.down) + kBefore;
    const bool made = is_chroma(c) && (across_by_ > 1 || down_by_ > 1);
    plane.wide = made ? bytes_of(arena, ptrdiff_t{wanted.width} + 2 * across_by_ + kRowPad) : nullptr;
  }
  if (made_ == 4) black_ = bytes_of(arena, ptrdiff_t{wanted.width} * part.stride);
}

bool Rows::make(int component, int row, int column, const int16_t* coefs, const uint8_t* last, int blocks) {
  const Plane& plane = planes_[component];
  uint8_t* to = plane.row(row * kSide) + ptrdiff_t{column} * kSide - plane.from;
  return kernels_.jpeg_inverse(coefs, last, stream_.components[component].steps, blocks, to, plane.stride);
}

void Rows::finish(int row) {
  if (across_by_ == 2) repeat_edges(row);
  // The last row of pixels needs chroma of the next row of MCUs.
  const int lacking = down_by_ == 2 && row + 1 < rows_ ? 1 : 0;
  const int ready = std::min((row + 1) * unit_height_ - lacking, part_.region.y + part_.region.height);
  for (; next_ < ready; ++next_) write_row(next_);
}

// Beyond an edge of the image chroma goes on as it ends there.
void Rows::repeat_edges(int row) {
  for (int c = 1; c < 3; ++c) {
    const Plane& plane = planes_[c];
    for (int k = 0; k < kSide * plane.down; ++k) {
      uint8_t* samples = plane.row(row * kSide * plane.down + k);
      if (across_.from == 0) samples[-1] = samples[0];
      if (across_.to == columns_) samples[plane.width - plane.from] = samples[plane.width - plane.from - 1];
    }
  }
}

// The samples of row y of the image from the region's first column on.
const uint8_t* Rows::samples_of(int c, int y) {
  const Plane& plane = planes_[c];
  if (!is_chroma(c) || (across_by_ == 1 && down_by_ == 1)) return plane.row(y) + part_.region.x - plane.from;
  return chroma_of(plane, y);
}

const uint8_t* Rows::chroma_of(const Plane& plane, int y) {
  const Region& region = part_.region;
  const int from = region.x / across_by_, count = divided_up(region.x + region.width, across_by_) - from;
  const int here = y / down_by_;
  const auto at = [&](int line) { return plane.row(line) + from - plane.from; };
  const bool lower = y % 2 != 0;
  const uint8_t* far = nullptr;
  if (down_by_ == 2) far = at(lower ? std::min(here + 1, plane.height - 1) : std::max(here - 1, 0));
  if (across_by_ == 1) {
    upsample_down(at(here), far, lower, count, plane.wide);
  } else if (across_by_ == 2 && part_.smooth) {
    kernels_.jpeg_upsample(at(here), far, count, plane.wide);
  } else {
    // libjpeg is never smooth where there are four pixels to a sample.
    repeat_across(at(here), count, across_by_, plane.wide);
  }
  return plane.wide + region.x % across_by_;
}

void Rows::write_row(int y) {
  uint8_t* to = part_.row(y);
  const int width = part_.region.width, stride = part_.stride;
  const uint8_t* first = samples_of(0, y);
  if (made_ == 1) {
    const uint8_t* const gray[] = {first, first, first};
    kernels_.interleave(gray, stride < 3 ? 1 : 3, stride, width, to);
    return;
  }
  const uint8_t* second = samples_of(1, y);
  const uint8_t* third = samples_of(2, y);
  if (stream_.ycbcr) {
    kernels_.jpeg_colours(first, second, third, width, stride, to);
  } else {
    const uint8_t* const rgb[] = {first, second, third};
    kernels_.interleave(rgb, 3, stride, width, to);
  }
  if (made_ == 4) print(samples_of(3, y), to);
}

// Pixels of three inks, or of what libjpeg takes from white to get inks of YCCK, to RGB with black.
void Rows::print(const uint8_t* black, uint8_t* pixels) const {
  const int width = part_.region.width, stride = part_.stride;
  const uint8_t* const equal[] = {black, black, black};
  kernels_.interleave(equal, 3, stride, width, black_);
  const uint8_t inks = stream_.ycbcr ? 0 : 255;
  for (ptrdiff_t k = 0; k < ptrdiff_t{stride} * width; ++k) pixels[k] = printed(pixels[k] ^ inks, black_[k]);
  for (int x = 0; stride == 4 && x < width; ++x) pixels[4 * x + 3] = 255;
}

}  // namespace fastaug::codec::jpeg
