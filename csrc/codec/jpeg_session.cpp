#include "codec/jpeg_session.h"

#include <csetjmp>
#include <cstdio>
#include <type_traits>

// jpeglib.h needs FILE and size_t before it.
#include <jerror.h>
#include <jpeglib.h>

#include "codec/convert.h"

namespace fastaug::codec::jpeg {
namespace {

// Bytes that libjpeg may hold at once, beyond which it fails: coefficients of the largest progressive image that Pillow
// opens by default at 4:4:4, 2^30 bytes, and what else it needs.
constexpr long kMostMemory = (1L << 30) + (1L << 26);

// Rows given to libjpeg at once; it makes one or two of them at a time.
constexpr int kRowsAtOnce = 4;

// The block smoothing of libjpeg, which differs between its versions, looks at this many coefficients.
constexpr int kSmoothed = 10;

// One use of libjpeg. It is jumped over, so nothing in it has a destructor.
struct Session {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_source_mgr source;
  jpeg_progress_mgr progress;
  int64_t blocks;  // of a scan
  std::jmp_buf escape;
  const uint8_t* file;  // null while tables are read
  Verdict verdict;
};
static_assert(std::is_trivially_destructible_v<Session>);

template <class Info>
Session& session_of(Info* info) {
  return *static_cast<Session*>(info->client_data);
}

[[noreturn]] void stop(Session& session, Outcome outcome, const char* reason) {
  session.verdict = {outcome, reason, Verdict::kNowhere};
  if (session.file != nullptr) {
    session.verdict.offset = static_cast<size_t>(session.source.next_input_byte - session.file);
  }
  std::longjmp(session.escape, 1);
}

[[noreturn]] void defer(Session& session, const char* reason) { stop(session, Outcome::kDeferred, reason); }

[[noreturn]] void on_error(j_common_ptr info) {
  Session& session = session_of(info);
  defer(session, session.errors.msg_code == JERR_OUT_OF_MEMORY ? "not enough memory" : "broken JPEG data");
}

// A warning (below 0) is about data that libjpeg goes on with after a guess.
void on_message(j_common_ptr info, int level) {
  if (level < 0) defer(session_of(info), "corrupt JPEG data");
}

void ignore_message(j_common_ptr) {}

// Called with each row of blocks.
void on_progress(j_common_ptr info) {
  Session& session = session_of(info);
  if (too_dear(session.info.input_scan_number, session.blocks)) stop(session, Outcome::kRefused, kTooManyScans);
}

void ignore(j_decompress_ptr) {}

// All bytes were there from the start.
boolean on_end(j_decompress_ptr info) { defer(session_of(info), "JPEG data ends too early"); }

void on_skip(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  jpeg_source_mgr& source = *info->src;
  if (static_cast<unsigned long>(count) > source.bytes_in_buffer) on_end(info);
  source.next_input_byte += count;
  source.bytes_in_buffer -= static_cast<size_t>(count);
}

void read_from(Session& session, Bytes bytes) {
  session.source.next_input_byte = bytes.data;
  session.source.bytes_in_buffer = bytes.size;
}

J_COLOR_SPACE colours(int stride) {
  if (stride <= 2) return JCS_GRAYSCALE;
  return stride == 3 ? JCS_RGB : JCS_EXT_RGBA;
}

// libjpeg guesses by the markers of JFIF and Adobe, and by the components' ids where there are none. Whoever knows
// better may say so between the header and the start.
void name_components(jpeg_decompress_struct& info, Components components) {
  if (info.num_components != 3 || components == Components::kAsMarked) return;
  info.jpeg_color_space = components == Components::kRgb ? JCS_RGB : JCS_YCbCr;
}

// Gray samples that fill the second half of a row, and 255 after each. Sample i moves down from width + i to 2 * i.
void add_alpha(uint8_t* row, int width) {
  for (int i = 0; i < width; ++i) {
    row[2 * i] = row[width + i];
    row[2 * i + 1] = 255;
  }
}

// Nothing may be left out of a file of several scans, as of one that was cut off between two and ended properly.
void check_complete(Session& session) {
  const jpeg_decompress_struct& info = session.info;
  for (int i = 0; i < info.num_components; ++i) {
    if (info.comp_info[i].quant_table == nullptr) defer(session, "a component has no scan");
    if (info.coef_bits == nullptr) continue;
    for (int k = 0; k < kSmoothed; ++k) {
      if (info.coef_bits[i][k] != 0) defer(session, "scans are missing");
    }
  }
}

// Four bytes of each pixel to `stride`, of which a fourth becomes 255.
void print_row(const uint8_t* inks, int width, int stride, uint8_t* row) {
  for (int x = 0; x < width; ++x, inks += 4, row += stride) {
    for (int c = 0; c < 3; ++c) row[c] = printed(255 - inks[c], inks[3]);
    if (stride == 4) row[3] = 255;
  }
}

void read_inks(Session& session, const Job& job) {
  jpeg_decompress_struct& info = session.info;
  const JSAMPARRAY row = info.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&info), JPOOL_IMAGE,
                                                static_cast<JDIMENSION>(job.crop_width) * 4, 1);
  for (int y = 0; y < job.height; ++y) {
    if (jpeg_read_scanlines(&info, row, 1) != 1) defer(session, "JPEG data ends too early");
    print_row(*row, job.crop_width, job.stride, job.rows + y * job.row_stride);
  }
}

void read_rows(Session& session, const Job& job) {
  jpeg_decompress_struct& info = session.info;
  const int offset = job.stride == 2 ? job.crop_width : 0;
  const int end = job.top + job.height;
  for (int y = job.top; y < end;) {
    JSAMPROW rows[kRowsAtOnce];
    int count = 0;
    for (; count < kRowsAtOnce && y + count < end; ++count) {
      rows[count] = job.rows + (y + count - job.top) * job.row_stride + offset;
    }
    const int made = static_cast<int>(jpeg_read_scanlines(&info, rows, static_cast<JDIMENSION>(count)));
    if (made <= 0) defer(session, "JPEG data ends too early");
    if (offset != 0) {
      for (int i = 0; i < made; ++i) add_alpha(rows[i] - offset, job.crop_width);
    }
    y += made;
  }
}

void decompress(Session& session, const Job& job) {
  jpeg_decompress_struct& info = session.info;
  const Header& header = job.frame->header;
  jpeg_create_decompress(&info);
  info.mem->max_memory_to_use = kMostMemory;
  session.source.init_source = ignore;
  session.source.fill_input_buffer = on_end;
  session.source.skip_input_data = on_skip;
  session.source.resync_to_restart = jpeg_resync_to_restart;
  session.source.term_source = ignore;
  info.src = &session.source;
  session.blocks = job.frame->blocks();
  session.progress.progress_monitor = on_progress;
  info.progress = &session.progress;

  if (job.beside.tables.size != 0) {
    read_from(session, job.beside.tables);
    if (jpeg_read_header(&info, FALSE) != JPEG_HEADER_TABLES_ONLY) defer(session, "tables hold an image");
  }
  session.file = job.bytes.data;
  read_from(session, job.bytes);
  jpeg_read_header(&info, TRUE);
  if (info.image_height != static_cast<JDIMENSION>(header.height) ||
      info.image_width != static_cast<JDIMENSION>(header.width) || info.num_components != job.frame->components ||
      info.arith_code) {
    defer(session, "a second header");
  }
  name_components(info, job.beside.components);
  // Pillow's settings: accurate integers, smooth upsampling.
  info.out_color_space = header.inks ? JCS_CMYK : colours(job.stride);
  info.dct_method = JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  jpeg_start_decompress(&info);
  if (jpeg_has_multiple_scans(&info)) check_complete(session);

  if (job.crop_width < header.width) {
    JDIMENSION left = static_cast<JDIMENSION>(job.crop);
    JDIMENSION width = static_cast<JDIMENSION>(job.crop_width);
    jpeg_crop_scanline(&info, &left, &width);
    if (left != static_cast<JDIMENSION>(job.crop) || width != static_cast<JDIMENSION>(job.crop_width)) {
      defer(session, "columns cannot be cropped");
    }
  }
  if (job.top > 0) {
    const JDIMENSION skipped = jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(job.top));
    if (skipped != static_cast<JDIMENSION>(job.top)) defer(session, "rows cannot be skipped");
  }
  if (header.inks) {
    read_inks(session, job);
  } else {
    read_rows(session, job);
  }
  // Behind the last row nothing but the end may follow, which is looked at when the last row is.
  if (job.top + job.height == header.height) jpeg_finish_decompress(&info);
}

// The function that is jumped into. All that changes lies in the session, which is its caller's.
void guarded(Session& session, const Job& job) {
  if (setjmp(session.escape) == 0) decompress(session, job);
  jpeg_destroy_decompress(&session.info);
}

}  // namespace

Verdict run(const Job& job) {
  Session session{};
  session.info.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = on_error;
  session.errors.emit_message = on_message;
  session.errors.output_message = ignore_message;
  session.info.client_data = &session;
  guarded(session, job);
  return session.verdict;
}

}  // namespace fastaug::codec::jpeg
