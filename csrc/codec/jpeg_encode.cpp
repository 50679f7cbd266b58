#include "codec/jpeg_encode.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <type_traits>

// jpeglib.h needs FILE and size_t before it.
#include <jerror.h>
#include <jpeglib.h>

#include "codec/convert.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

// Rows given to libjpeg at once: those of an MCU of 4:2:0.
constexpr int kRowsAtOnce = 16;

// One use of libjpeg. It is jumped over, so nothing in it has a destructor.
struct Session {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf escape;
  uint8_t* bytes;
  unsigned long size;
  const char* error;
};
static_assert(std::is_trivially_destructible_v<Session>);

const char* error_of(int code) {
  if (code == JERR_OUT_OF_MEMORY) return "not enough memory";
  return code == JERR_IMAGE_TOO_BIG ? "more than 65500 rows or columns" : "libjpeg does not take the image";
}

[[noreturn]] void on_error(j_common_ptr info) {
  Session& session = *static_cast<Session*>(info->client_data);
  session.error = error_of(info->err->msg_code);
  std::longjmp(session.escape, 1);
}

void ignore_message(j_common_ptr) {}

// Rows of an image as libjpeg takes them: where they lie, or made in memory of the arena.
class Rows {
 public:
  Rows(const View& image, Arena& arena) : image_(image) {
    const bool gray = image.channels == 1;
    stays_ = gray ? image.pixel_stride == 1
                  : image.channel_stride == 1 && (image.pixel_stride == 3 || image.pixel_stride == 4);
    stride_ = stays_ ? static_cast<int>(image.pixel_stride) : image.channels;
    if (stays_) return;
    row_bytes_ = ptrdiff_t{stride_} * image.width;
    made_ = arena.bytes(static_cast<size_t>(row_bytes_ * kRowsAtOnce));
    for (int c = 0; c < image.channels; ++c) planes_[c] = arena.bytes(static_cast<size_t>(image.width + kRowPad));
  }

  // Bytes of a pixel: 1, 3, or 4 whose fourth is no sample.
  int stride() const { return stride_; }

  // Row y, of which `slot` says the place if it has to be made.
  uint8_t* row(int y, int slot) const {
    // libjpeg reads rows of an image through pointers that are not const.
    if (stays_) return const_cast<uint8_t*>(image_.at(y, 0, 0));
    uint8_t* out = made_ + row_bytes_ * slot;
    read_planes(image_, y, planes_);
    kernels().interleave(planes_, image_.channels, stride_, image_.width, out);
    return out;
  }

 private:
  const View image_;
  bool stays_;
  int stride_;
  ptrdiff_t row_bytes_ = 0;
  uint8_t* made_ = nullptr;
  uint8_t* planes_[3] = {};
};

J_COLOR_SPACE colours(int stride) {
  if (stride == 1) return JCS_GRAYSCALE;
  return stride == 3 ? JCS_RGB : JCS_EXT_RGBX;
}

void compress(Session& session, const View& image, int quality, const Rows& rows) {
  jpeg_compress_struct& info = session.info;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &session.bytes, &session.size);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.input_components = rows.stride();
  info.in_color_space = colours(rows.stride());
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < image.height;) {
    JSAMPROW pointers[kRowsAtOnce];
    const int count = std::min(kRowsAtOnce, image.height - y);
    for (int k = 0; k < count; ++k) pointers[k] = rows.row(y + k, k);
    y += static_cast<int>(jpeg_write_scanlines(&info, pointers, static_cast<JDIMENSION>(count)));
  }
  jpeg_finish_compress(&info);
}

// The function that is jumped into. All that changes lies in the session, which is its caller's.
void guarded(Session& session, const View& image, int quality, const Rows& rows) {
  if (setjmp(session.escape) == 0) compress(session, image, quality, rows);
  jpeg_destroy_compress(&session.info);
}

}  // namespace

EncodedFile encode(const View& image, int quality, Arena& arena) {
  const Rows rows(image, arena);
  Session session{};
  session.info.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = on_error;
  session.errors.output_message = ignore_message;
  session.info.client_data = &session;
  guarded(session, image, quality, rows);
  EncodedFile file;
  file.error = session.error;
  file.bytes.reset(session.bytes);
  file.size = session.size;
  return file;
}

}  // namespace fastaug::codec::jpeg
