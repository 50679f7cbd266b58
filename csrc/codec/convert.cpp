#include "codec/convert.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/kernels.h"

namespace fastaug::codec {
namespace {

// The samples of each byte, in the bytes of a word.
template <class Word>
constexpr std::array<Word, 256> words() {
  constexpr int kSamples = sizeof(Word);
  constexpr int kBits = 8 / kSamples;
  std::array<Word, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    std::array<uint8_t, sizeof(Word)> samples{};
    for (int k = 0; k < kSamples; ++k) {
      samples[static_cast<size_t>(k)] = static_cast<uint8_t>(byte >> (8 - kBits * (k + 1)) & ((1 << kBits) - 1));
    }
    table[static_cast<size_t>(byte)] = std::bit_cast<Word>(samples);
  }
  return table;
}

// `width` samples from the one of column x on, each times `scale`, which carries nothing from byte to byte.
template <class Word>
void unpack(const uint8_t* src, int x, int width, int scale, uint8_t* dst) {
  static constexpr std::array<Word, 256> kWords = words<Word>();
  constexpr int kSamples = sizeof(Word);
  const auto next = [&] { return static_cast<Word>(kWords[*src++] * static_cast<Word>(scale)); };
  const auto part = [&](int first, int count) {
    const Word word = next();
    uint8_t samples[kSamples];
    std::memcpy(samples, &word, sizeof word);
    std::copy_n(samples + first, count, dst);
    dst += count;
    width -= count;
  };
  src += x / kSamples;
  if (x % kSamples > 0) part(x % kSamples, std::min(width, kSamples - x % kSamples));
  for (; width >= kSamples; width -= kSamples, dst += kSamples) {
    const Word word = next();
    std::memcpy(dst, &word, sizeof word);
  }
  if (width > 0) part(0, width);
}

void unpack(const uint8_t* src, int bits, int x, int width, int scale, uint8_t* dst) {
  switch (bits) {
    case 1:
      return unpack<uint64_t>(src, x, width, scale, dst);
    case 2:
      return unpack<uint32_t>(src, x, width, scale, dst);
    default:
      return unpack<uint16_t>(src, x, width, scale, dst);
  }
}

// Pillow opens gray of 16 bits as I;16, which it clips at 255, and of colours it keeps the upper byte.
void narrow(const uint8_t* src, ptrdiff_t count, bool clips, uint8_t* dst) {
  if (clips) {
    for (ptrdiff_t k = 0; k < count; ++k) dst[k] = src[2 * k] != 0 ? 255 : src[2 * k + 1];
  } else {
    for (ptrdiff_t k = 0; k < count; ++k) dst[k] = src[2 * k];
  }
}

// Pillow's L24 (libImaging/ImagingUtils.h).
uint8_t luma(const std::array<uint8_t, 4>& rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

bool looks_up(const Header& header) { return header.palette != Palette::kNone && !header.stored; }

}  // namespace

bool kept(const Header& header, int channels) {
  const int from = header.channels;
  return header.bits == 8 && !looks_up(header) && (channels == from || (channels == 3 && from == 4));
}

int kept_stride(const Header& header, int channels) { return kept(header, channels) ? header.channels : channels; }

void read_planes(const View& image, int y, uint8_t* const* planes) {
  const auto width = static_cast<size_t>(image.width);
  if (image.pixel_stride == 1) {
    for (int c = 0; c < image.channels; ++c) std::memcpy(planes[c], image.at(y, 0, c), width);
  } else if (image.channel_stride == 1 && image.pixel_stride >= image.channels && image.pixel_stride <= kMaxChannels) {
    kernels().deinterleave(image.at(y, 0, 0), static_cast<int>(image.pixel_stride), image.channels, image.width,
                           planes);
  } else {
    for (int c = 0; c < image.channels; ++c) {
      for (int x = 0; x < image.width; ++x) planes[c][x] = *image.at(y, x, c);
    }
  }
}

View view_of(const Header& header, const uint8_t* region_data, Region region, int channels, ptrdiff_t row_stride,
             ptrdiff_t pixel_stride, ptrdiff_t channel_stride) {
  const uint8_t* data = region_data - region.y * row_stride - region.x * pixel_stride;
  return {data, header.height, header.width, channels, row_stride, pixel_stride, channel_stride};
}

Converter::Converter(const Header& header, const Colours* colours, int channels, ptrdiff_t pixel_stride, int width,
                     Arena& arena)
    : bits_(header.bits), from_(header.channels), stride_(static_cast<int>(pixel_stride)), width_(width) {
  const bool indexed = looks_up(header);
  as_it_is_ = !indexed && from_ == channels && from_ == stride_;
  if (bits_ != 8 && !as_it_is_) samples_ = arena.bytes(static_cast<size_t>(width) * static_cast<size_t>(from_));
  if (bits_ < 8 && !indexed && !header.stored) scale_ = 255 / ((1 << bits_) - 1);
  if (indexed) {
    pixels_ = reinterpret_cast<uint32_t*>(arena.bytes(colours->size() * sizeof(uint32_t)));
    for (size_t k = 0; k < colours->size(); ++k) {
      std::array<uint8_t, 4> pixel = (*colours)[k];
      if (channels < 3) pixel = {luma(pixel), pixel[3], 0, 0};
      if (channels == 3) pixel[3] = 255;
      std::memcpy(pixels_ + k, pixel.data(), sizeof *pixels_);
    }
    return;
  }
  if (as_it_is_) return;
  for (uint8_t*& plane : planes_) plane = arena.bytes(static_cast<size_t>(width) + kRowPad);
  // Gray three times, and what alpha there is; opaque is what interleave() fills with.
  const bool gray = from_ <= 2;
  const bool are_colours = channels >= 3;
  for (int c = 0; c < (are_colours ? 3 : 1); ++c) pick_[count_++] = gray ? 0 : c;
  const bool alpha = from_ % 2 == 0;
  if (alpha && channels % 2 == 0) pick_[count_++] = from_ - 1;
}

void Converter::row(const uint8_t* src, int x, uint8_t* dst) const {
  const uint8_t* samples = src + ptrdiff_t{x} * from_;
  if (bits_ != 8) {
    uint8_t* const made = as_it_is_ ? dst : samples_;
    const ptrdiff_t count = ptrdiff_t{width_} * from_;
    if (bits_ == 16) {
      narrow(src + ptrdiff_t{2} * x * from_, count, from_ == 1, made);
    } else {
      unpack(src, bits_, x, width_, scale_, made);
    }
    samples = made;
  } else if (as_it_is_) {
    std::memcpy(dst, samples, static_cast<size_t>(width_) * static_cast<size_t>(from_));
  }
  if (as_it_is_) return;
  if (pixels_ != nullptr) return look_up(samples, dst);
  const Kernels& use = kernels();
  const int last = *std::max_element(pick_, pick_ + count_);
  use.deinterleave(samples, from_, last + 1, width_, planes_);
  const uint8_t* picked[kMaxChannels];
  for (int k = 0; k < count_; ++k) picked[k] = planes_[pick_[k]];
  use.interleave(picked, count_, stride_, width_, dst);
}

void Converter::look_up(const uint8_t* indices, uint8_t* dst) const {
  const auto all = [&]<int kStride>(std::integral_constant<int, kStride>) {
    // Three bytes are written as four, of which the next pixel overwrites one.
    constexpr int kOver = kStride == 3 ? 1 : 0;
    for (int x = 0; x < width_ - kOver; ++x)
      std::memcpy(dst + ptrdiff_t{x} * kStride, pixels_ + indices[x], kStride + kOver);
    if (kOver > 0) std::memcpy(dst + ptrdiff_t{width_ - 1} * kStride, pixels_ + indices[width_ - 1], kStride);
  };
  switch (stride_) {
    case 1:
      return all(std::integral_constant<int, 1>());
    case 2:
      return all(std::integral_constant<int, 2>());
    case 3:
      return all(std::integral_constant<int, 3>());
    default:
      return all(std::integral_constant<int, 4>());
  }
}

}  // namespace fastaug::codec
