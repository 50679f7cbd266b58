// JPEG files for tests, written by libjpeg.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// jpeglib.h needs FILE and size_t before it.
#include <jpeglib.h>

#include "tests/support/guard.h"

namespace fastaug::test {

struct JpegOptions {
  int channels = 3;
  std::vector<int> sampling = {2, 2, 1, 1, 1, 1};  // across and down of each component
  bool progressive = false;
  bool one_scan_each = false;
  bool optimise = false;
  bool arithmetic = false;
  bool rgb = false;   // no conversion to YCbCr, as the Adobe marker says
  bool ycck = false;  // of four channels, which are CMYK else
  int restart = 0;    // MCUs
  int quality = 85;
};

// Smooth in places, noisy in others, so that blocks of every kind occur.
inline std::vector<uint8_t> jpeg_pixels(int height, int width, int channels, uint32_t seed) {
  Random random(seed);
  std::vector<uint8_t> pixels(static_cast<size_t>(height) * static_cast<size_t>(width) * static_cast<size_t>(channels));
  size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int noise = (x / 8 + y / 8) % 3 == 0 ? random.between(0, 90) : 0;
        pixels[at++] = static_cast<uint8_t>((x * (3 + c) + y * (5 - c) + 40 * c + noise) & 255);
      }
    }
  }
  return pixels;
}

inline std::vector<uint8_t> write_jpeg(int height, int width, const JpegOptions& options, uint32_t seed = 1) {
  std::vector<uint8_t> pixels = jpeg_pixels(height, width, options.channels, seed);
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  uint8_t* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = options.channels;
  info.in_color_space = options.channels == 1 ? JCS_GRAYSCALE : options.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (options.rgb) jpeg_set_colorspace(&info, JCS_RGB);
  if (options.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  for (int i = 0; i < options.channels && 2 * static_cast<size_t>(i) < options.sampling.size(); ++i) {
    info.comp_info[i].h_samp_factor = options.sampling[2 * static_cast<size_t>(i)];
    info.comp_info[i].v_samp_factor = options.sampling[2 * static_cast<size_t>(i) + 1];
  }
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_scan_info scans[4] = {};
  if (options.one_scan_each) {
    for (int i = 0; i < options.channels; ++i) scans[i] = {1, {i, 0, 0, 0}, 0, 63, 0, 0};
    info.scan_info = scans;
    info.num_scans = options.channels;
  }
  info.optimize_coding = options.optimise ? TRUE : FALSE;
  info.arith_code = options.arithmetic ? TRUE : FALSE;
  info.restart_interval = static_cast<unsigned>(options.restart);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + size_t{info.next_scanline} * static_cast<size_t>(width * options.channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<uint8_t> file(bytes, bytes + size);
  std::free(bytes);
  return file;
}

// The offset of the n-th marker of this kind (0: the first), and the file's size where there is none.
inline size_t find_marker(const std::vector<uint8_t>& file, uint8_t marker, int n = 0) {
  for (size_t at = 0; at + 1 < file.size(); ++at) {
    if (file[at] == 0xff && file[at + 1] == marker && n-- == 0) return at;
  }
  return file.size();
}

// A segment put behind SOI.
inline std::vector<uint8_t> with_segment(std::vector<uint8_t> file, uint8_t marker, const std::string& content) {
  const size_t length = content.size() + 2;
  std::vector<uint8_t> segment = {0xff, marker, static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)};
  segment.insert(segment.end(), content.begin(), content.end());
  file.insert(file.begin() + 2, segment.begin(), segment.end());
  return file;
}

}  // namespace fastaug::test
