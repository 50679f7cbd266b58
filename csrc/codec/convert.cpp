#include "codec/convert.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace fastaug::codec {

bool kept(int from, int channels, ptrdiff_t pixel_stride) {
  return from == pixel_stride && (channels == from || (channels == 3 && from == 4));
}

View view_of(const Header& header, const uint8_t* region_data, Region region, int channels, ptrdiff_t row_stride,
             ptrdiff_t pixel_stride, ptrdiff_t channel_stride) {
  const uint8_t* data = region_data - region.y * row_stride - region.x * pixel_stride;
  return {data, header.height, header.width, channels, row_stride, pixel_stride, channel_stride};
}

Converter::Converter(const Header& header, int channels, ptrdiff_t pixel_stride, int width, Arena& arena)
    : from_(header.channels), stride_(static_cast<int>(pixel_stride)), width_(width) {
  for (uint8_t*& plane : planes_) plane = arena.bytes(static_cast<size_t>(width) + kRowPad);
  // Gray three times, and what alpha there is; opaque is what interleave() fills with.
  const bool gray = from_ <= 2;
  const bool colours = channels >= 3;
  for (int c = 0; c < (colours ? 3 : 1); ++c) pick_[count_++] = gray ? 0 : c;
  const bool alpha = from_ % 2 == 0;
  if (alpha && channels % 2 == 0) pick_[count_++] = from_ - 1;
}

void Converter::row(const uint8_t* src, uint8_t* dst) const {
  const Kernels& use = kernels();
  const int last = *std::max_element(pick_, pick_ + count_);
  use.deinterleave(src, from_, last + 1, width_, planes_);
  const uint8_t* picked[kMaxChannels];
  for (int k = 0; k < count_; ++k) picked[k] = planes_[pick_[k]];
  use.interleave(picked, count_, stride_, width_, dst);
}

}  // namespace fastaug::codec
