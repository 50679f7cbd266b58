// How many scans libjpeg goes through, whatever else it says of a file.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <cstdio>

// jpeglib.h needs FILE and size_t before it.
#include <jpeglib.h>

#include "codec/codec.h"

namespace fastaug::test {

// As anybody uses libjpeg, who lets it warn and guess; up to one more than `most`, and of small images only.
class Scans {
 public:
  static int of(codec::Bytes bytes, int most) {
    Scans scans;
    scans.most_ = most;
    scans.go(bytes);
    return scans.count_;
  }

 private:
  static constexpr int64_t kMostPixels = 1 << 16;

  void go(codec::Bytes bytes) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) { std::longjmp(static_cast<Scans*>(info->client_data)->escape_, 1); };
    errors_.emit_message = [](j_common_ptr, int) {};
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = [](j_common_ptr info) {
      auto* scans = static_cast<Scans*>(info->client_data);
      scans->note();
      if (scans->count_ > scans->most_) std::longjmp(scans->escape_, 1);
    };
    jpeg_create_decompress(&info_);
    if (setjmp(escape_) == 0) read(bytes);
    jpeg_destroy_decompress(&info_);
  }

  void read(codec::Bytes bytes) {
    jpeg_mem_src(&info_, bytes.data, bytes.size);
    // Behind the end there is nothing, not even the end that libjpeg would make up.
    info_.src->fill_input_buffer = [](j_decompress_ptr info) -> boolean {
      std::longjmp(static_cast<Scans*>(info->client_data)->escape_, 1);
    };
    jpeg_read_header(&info_, TRUE);
    if (int64_t{info_.image_height} * info_.image_width > kMostPixels) return;
    info_.progress = &progress_;
    // The coefficients of all scans, which are not made to pixels.
    jpeg_read_coefficients(&info_);
    note();
  }

  void note() { count_ = info_.input_scan_number > count_ ? info_.input_scan_number : count_; }

  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf escape_{};
  int most_ = 0;
  int count_ = 0;
};

}  // namespace fastaug::test
