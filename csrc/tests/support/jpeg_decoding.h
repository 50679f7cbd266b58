// JPEG files decoded by the codec and by libjpeg itself, and random ones of every layout.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "codec/codec.h"
#include "codec/jpeg_frame.h"
#include "codec/jpeg_rows.h"
#include "codec/jpeg_session.h"
#include "tests/support/guard.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/scale.h"

namespace fastaug::codec::test {

using fastaug::test::JpegOptions;
using fastaug::test::Random;
using File = std::vector<uint8_t>;
using Pixels = std::vector<uint8_t>;

inline Bytes bytes_of(const File& file) { return {file.data(), file.size()}; }
inline Header header_of(const File& file) { return read_header(bytes_of(file)); }

// RGB of CMYK as libjpeg makes it of a file of Adobe's, where 255 is no ink: black ink leaves its share of what the
// others leave.
inline Pixels without_inks(const Pixels& inks) {
  Pixels pixels;
  for (size_t at = 0; at < inks.size(); at += 4) {
    const int black = inks[at + 3];
    for (size_t c = 0; c < 3; ++c) {
      const int taken = (2 * (255 - inks[at + c]) * black + 255) / 510;
      pixels.push_back(static_cast<uint8_t>(black - taken));
    }
  }
  return pixels;
}

// As anybody uses libjpeg: the whole image, in gray or RGB, or in gray whatever it is.
inline Pixels decode_plainly(const File& file, bool gray = false) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  if (gray) info.out_color_space = JCS_GRAYSCALE;
  jpeg_start_decompress(&info);
  const size_t row_size = size_t{info.output_width} * static_cast<size_t>(info.output_components);
  Pixels pixels(row_size * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + row_size * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  const bool inks = info.output_components == 4;
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return inks ? without_inks(pixels) : pixels;
}

inline Region all_of(const Header& header) { return {0, 0, header.height, header.width}; }

// Packed pixels of a region; empty when the verdict is another than done.
inline Pixels pixels_of(const File& file, const Header& header, Region region, int channels, Verdict* verdict = nullptr,
                        const Beside& beside = {}) {
  Arena arena;
  const Decoded decoded = decode(bytes_of(file), header, {region, channels}, arena, beside);
  if (verdict != nullptr) *verdict = decoded.verdict;
  if (!decoded.verdict.done()) return {};
  REQUIRE(decoded.view.channels == channels);
  REQUIRE(decoded.view.channel_stride == 1);
  Pixels pixels;
  for (int y = region.y; y < region.y + region.height; ++y) {
    for (int x = region.x; x < region.x + region.width; ++x) {
      for (int c = 0; c < channels; ++c) pixels.push_back(*decoded.view.at(y, x, c));
    }
  }
  return pixels;
}

inline Pixels pixels_of(const File& file, Region region, int channels, Verdict* verdict = nullptr,
                        const File& tables = {}, Components components = Components::kAsMarked) {
  return pixels_of(file, header_of(file), region, channels, verdict, {bytes_of(tables), components});
}

inline Pixels crop(const Pixels& whole, const Header& header, Region region) {
  Pixels pixels;
  const int channels = header.channels;
  for (int y = region.y; y < region.y + region.height; ++y) {
    const auto row = whole.begin() + (ptrdiff_t{y} * header.width + region.x) * channels;
    pixels.insert(pixels.end(), row, row + ptrdiff_t{region.width} * channels);
  }
  return pixels;
}

// Gray or RGB as another number of channels: gray repeated, alpha 255.
inline Pixels converted(const Pixels& pixels, int from, int to) {
  Pixels result;
  for (size_t at = 0; at < pixels.size(); at += static_cast<size_t>(from)) {
    for (int c = 0; c < to; ++c) {
      const bool alpha = (to == 2 || to == 4) && c == to - 1;
      result.push_back(alpha ? 255 : pixels[at + static_cast<size_t>(from == 1 ? 0 : c)]);
    }
  }
  return result;
}

inline Region random_region(Random& random, const Header& header) {
  Region region;
  region.height = random.between(1, header.height);
  region.width =
      random.between(0, 1) == 0 ? random.between(1, std::min(header.width, 4)) : random.between(1, header.width);
  region.y = random.between(0, header.height - region.height);
  region.x = random.between(0, 3) == 0 ? header.width - region.width : random.between(0, header.width - region.width);
  return region;
}

inline const std::vector<int> kLayouts[] = {
    {1, 1, 1, 1, 1, 1},  // 4:4:4
    {2, 1, 1, 1, 1, 1},  // 4:2:2
    {2, 2, 1, 1, 1, 1},  // 4:2:0
    {1, 2, 1, 1, 1, 1},  // 4:4:0
    {4, 1, 1, 1, 1, 1},  // 4:1:1
    {2, 2, 1, 2, 1, 2},  // 4:2:2, otherwise said
    {2, 1, 2, 1, 2, 1},  // 4:4:4, otherwise said
    {1, 1},
    {2, 2},  // factors of a component alone mean nothing
    {1, 1, 1, 1, 1, 1, 1, 1},
    {2, 2, 1, 1, 1, 1, 2, 2},
};

inline JpegOptions random_options(Random& random) {
  JpegOptions options;
  options.sampling = kLayouts[random.between(0, static_cast<int>(std::size(kLayouts)) - 1)];
  options.channels = static_cast<int>(options.sampling.size()) / 2;
  const int kind = random.between(0, 5);
  options.progressive = kind == 0;
  options.one_scan_each = kind == 1 && options.channels >= 3;
  options.optimise = kind == 2;
  options.rgb = options.channels == 3 && random.between(0, 7) == 0;
  options.ycck = options.channels == 4 && random.between(0, 1) == 0;
  options.restart = random.between(0, 2) == 0 ? random.between(1, 5) : 0;
  options.quality = random.between(40, 98);
  return options;
}

// A number that the environment may say.
inline int count_of(const char* name, int usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? fastaug::test::cases(usual) : std::atoi(value);
}

// By libjpeg behind the codec's function; empty where it is not done.
inline Pixels by_libjpeg(const File& file, const jpeg::Frame& frame, int stride) {
  const Header& header = frame.header;
  Pixels pixels(static_cast<size_t>(header.height) * static_cast<size_t>(header.width * stride));
  const jpeg::Job job = {.bytes = bytes_of(file),
                         .beside = {},
                         .frame = &frame,
                         .stride = stride,
                         .top = 0,
                         .height = header.height,
                         .crop = 0,
                         .crop_width = header.width,
                         .rows = pixels.data(),
                         .row_stride = ptrdiff_t{header.width} * stride};
  return jpeg::run(job).done() ? pixels : Pixels();
}

// By a decoder of our own, which may be another than decode() would choose. Empty where nothing was made. The file ends
// where memory does.
using Decoder = bool(Bytes bytes, const Beside& beside, const jpeg::Part& part, Arena& arena);
inline Pixels decoded_by(Decoder* decoder, const File& file, Region region, int stride, const Beside& beside = {}) {
  fastaug::test::Guarded input(file.size());
  std::copy(file.begin(), file.end(), input.data());
  Pixels pixels(static_cast<size_t>(region.height) * static_cast<size_t>(region.width * stride));
  Arena arena;
  const jpeg::Part part = {region, stride, pixels.data(), ptrdiff_t{region.width} * stride};
  return decoder({input.data(), input.size()}, beside, part, arena) ? pixels : Pixels();
}

// The channels that are decoded.
inline int colours_of(const JpegOptions& options) { return std::min(options.channels, 3); }

// What the decoders of our own take on.
inline const std::vector<int> kTaken[] = {{1, 1, 1, 1, 1, 1},
                                          {2, 1, 1, 1, 1, 1},
                                          {2, 2, 1, 1, 1, 1},
                                          {1, 2, 1, 1, 1, 1},
                                          {4, 1, 1, 1, 1, 1},
                                          {2, 2, 1, 2, 1, 2},
                                          {2, 2, 2, 1, 2, 1},
                                          {2, 1, 2, 1, 2, 1},
                                          {1, 1},
                                          {2, 2},
                                          {1, 1, 1, 1, 1, 1, 1, 1},
                                          {2, 1, 1, 1, 1, 1, 2, 1},
                                          {2, 2, 1, 1, 1, 1, 2, 2}};

inline JpegOptions taken_options(Random& random) {
  JpegOptions options;
  options.sampling = kTaken[random.between(0, static_cast<int>(std::size(kTaken)) - 1)];
  options.channels = static_cast<int>(options.sampling.size()) / 2;
  options.optimise = random.between(0, 2) == 0;
  options.rgb = options.channels == 3 && random.between(0, 7) == 0;
  options.ycck = options.channels == 4 && random.between(0, 1) == 0;
  options.restart = random.between(0, 2) == 0 ? random.between(1, 5) : 0;
  options.quality = random.between(1, 100);
  return options;
}

// Fewer than three samples of chroma in a row are left to libjpeg.
inline bool is_taken(const JpegOptions& options, int width) {
  const bool halved = options.channels >= 3 && options.sampling[0] == 2 && options.sampling[2] == 1;
  return !halved || width > 4;
}

// Where a byte is changed: anywhere, or in the data of the scan.
inline void change(File& file, Random& random) {
  const auto size = static_cast<int>(file.size());
  const int from = random.between(0, 3) == 0
                       ? 3
                       : static_cast<int>(std::min(fastaug::test::find_marker(file, 0xda) + 10, file.size() - 3));
  const auto at = static_cast<size_t>(random.between(from, size - 2));
  switch (random.between(0, 4)) {
    case 0:
      file[at] = static_cast<uint8_t>(file[at] ^ 1 << random.between(0, 7));
      return;
    case 1:
      file[at] = static_cast<uint8_t>(random.next() >> 8);
      return;
    case 2:
      file.erase(file.begin() + static_cast<ptrdiff_t>(at),
                 file.begin() + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(at) + random.between(1, 9), size - 2));
      return;
    case 3:
      file.insert(file.begin() + static_cast<ptrdiff_t>(at), static_cast<uint8_t>(random.next() >> 8));
      return;
    default: {
      static constexpr uint8_t kMarkers[] = {0x00, 0xd0, 0xd1, 0xd9, 0xff, 0xda, 0xc4};
      file[at] = 0xff;
      if (at + 1 < file.size()) file[at + 1] = kMarkers[random.between(0, static_cast<int>(std::size(kMarkers)) - 1)];
    }
  }
}

}  // namespace fastaug::codec::test
