// JPEG files decoded by the codec and by libjpeg itself, and random ones of every layout.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "codec/codec.h"
#include "tests/support/guard.h"
#include "tests/support/jpeg_file.h"

namespace fastaug::codec::test {

using fastaug::test::JpegOptions;
using fastaug::test::Random;
using File = std::vector<uint8_t>;
using Pixels = std::vector<uint8_t>;

inline Bytes bytes_of(const File& file) { return {file.data(), file.size()}; }
inline Header header_of(const File& file) { return read_header(bytes_of(file)); }

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
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return pixels;
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
};

inline JpegOptions random_options(Random& random) {
  JpegOptions options;
  options.sampling = kLayouts[random.between(0, static_cast<int>(std::size(kLayouts)) - 1)];
  options.channels = static_cast<int>(options.sampling.size()) / 2;
  const int kind = random.between(0, 5);
  options.progressive = kind == 0;
  options.one_scan_each = kind == 1 && options.channels == 3;
  options.optimise = kind == 2;
  options.rgb = options.channels == 3 && random.between(0, 7) == 0;
  options.restart = random.between(0, 2) == 0 ? random.between(1, 5) : 0;
  options.quality = random.between(40, 98);
  return options;
}

}  // namespace fastaug::codec::test
