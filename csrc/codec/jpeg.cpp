// JPEG: which rows and columns of a file are decoded, by whom, and where they go. The decoders of jpeg_sequential.h and
// jpeg_progressive.h are asked first where they are the faster ones; libjpeg, behind jpeg_session.h, makes what they
// leave.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "codec/codec.h"
#include "codec/convert.h"
#include "codec/jpeg_frame.h"
#include "codec/jpeg_progressive.h"
#include "codec/jpeg_sequential.h"
#include "codec/jpeg_session.h"
#include "codec/table.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

constexpr int kBlock = 8;  // samples of a block, across and down

// Columns beyond an edge of a region that smooth upsampling looks at, in pixels: one sample of chroma, which is two
// pixels wide. (Samples four wide are not upsampled smoothly.) A crop is then at least 3 wide, or the whole image:
// below 3, with one sample of chroma, libjpeg gives smooth upsampling up.
constexpr int kMargin = 2;

// What a view of an encoded image assumes of its layout before the file is looked at again: 4:2:0, the usual one.
constexpr int kUsualUnit = 2 * kBlock;

int round_down(int value, int unit) { return value / unit * unit; }
int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

struct Columns {
  int from;
  int count;
};

// The columns that are decoded so that those of `wanted` are exact: libjpeg begins a crop between units of `unit`
// pixels.
Columns crop_for(Region wanted, int image_width, int unit) {
  const int left = round_down(std::max(wanted.x - kMargin, 0), unit);
  const int right = std::min(wanted.x + wanted.width + kMargin, image_width);
  return {left, right - left};
}

// Pixels across of the unit at which libjpeg can crop. A component alone is stored block by block.
int unit_across(const Frame& frame) { return frame.header.channels == 1 ? kBlock : kBlock * frame.most.across; }

// The fewest bits of a block: one for the difference of its DC coefficient, and one for the end of the block, which
// progressive files say once for many.
bool could_hold(const Frame& frame, size_t bytes) {
  const int64_t bits = frame.header.sequential ? 2 : 1;
  return frame.blocks() * bits / 8 <= static_cast<int64_t>(bytes);
}

// Pillow calls a file without EOI truncated; whether it is depends on more than that.
bool has_end(Bytes bytes, size_t from) {
  for (size_t at = bytes.size; at >= from + 2; --at) {
    if (bytes.data[at - 1] == 0xd9 && bytes.data[at - 2] == 0xff) return true;
  }
  return false;
}

Verdict deferred(const char* reason, size_t offset = Verdict::kNowhere) { return {Outcome::kDeferred, reason, offset}; }

// What can be told without decoding. `header` is what the caller knows, `frame` what the bytes say now: they may lie in
// memory that somebody writes to.
Verdict inspect(Bytes bytes, const Header& header, const Frame& frame, int stride, const Beside& beside) {
  const Header& now = frame.header;
  const bool luma = now.channels == 3 && stride < 3;
  if (now.height != header.height || now.width != header.width || now.channels != (header.luma ? 3 : header.channels) ||
      luma != header.luma || now.inks != header.inks) {
    return deferred("another image than its header said");
  }
  if (now.inks && beside.components != Components::kAsMarked) return deferred("colours of four components are given");
  if (!frame.header.sequential && too_dear(count_scans(bytes, frame.pixels_from), frame.blocks())) {
    return {Outcome::kRefused, kTooManyScans, frame.pixels_from};
  }
  if (!has_end(bytes, frame.pixels_from)) return deferred("JPEG data has no end marker", bytes.size);
  if (!could_hold(frame, bytes.size - frame.pixels_from)) return deferred("too few bytes for its size", bytes.size);
  return {};
}

Header read_header(Bytes bytes) {
  const std::optional<Frame> frame = read_frame(bytes);
  // Nobody is to make room for an image that the bytes cannot be.
  if (frame && could_hold(*frame, bytes.size - frame->pixels_from)) return frame->header;
  Header unknown;
  unknown.format = Format::kJpeg;
  return unknown;
}

Verdict afford(Bytes bytes) {
  const Announced announced = read_announced(bytes);
  // Chroma that is smaller, as it mostly is, halves the blocks of three components.
  if (too_dear(announced.scans, announced.blocks / 2)) return {Outcome::kRefused, kTooManyScans, Verdict::kNowhere};
  return {};
}

// FASTAUG_JPEG chooses; what else it says than one of two names is nothing.
bool own_first(bool sequential) {
  static const std::string_view wanted = [] {
    const char* value = std::getenv("FASTAUG_JPEG");
    return value == nullptr ? "" : value;
  }();
  if (wanted == "own" || wanted == "libjpeg") return wanted == "own";
  return sequential ? kernels().quick_jpeg : kernels().quick_progressive_jpeg;
}

// False where libjpeg is to decode the file.
bool run_own(Bytes bytes, const Frame& frame, const Beside& beside, const Part& part, Arena& arena) {
  if (!own_first(frame.header.sequential)) return false;
  return frame.header.sequential ? run_sequential(bytes, beside, part, arena)
                                 : run_progressive(bytes, beside, part, arena);
}

Decoded decode(Bytes bytes, const Header& header, const Wanted& wants, Arena& arena, const Beside& beside) {
  const Region wanted = wants.region;
  const int channels = wants.channels;
  const std::optional<Frame> frame = read_frame(bytes);
  if (!frame) return {deferred("JPEG of a kind not decoded natively"), {}, {}};
  if (const Verdict verdict = inspect(bytes, header, *frame, channels, beside); !verdict.done())
    return {verdict, {}, {}};
  if (own_first(frame->header.sequential)) {
    const ptrdiff_t row_stride = ptrdiff_t{wanted.width} * channels;
    uint8_t* rows = arena.bytes(static_cast<size_t>(row_stride) * static_cast<size_t>(wanted.height));
    if (run_own(bytes, *frame, beside, {wanted, channels, rows, row_stride}, arena)) {
      return {{}, view_of(header, rows, wanted, channels, row_stride, channels, 1), wanted};
    }
  }
  const Columns crop = crop_for(wanted, header.width, unit_across(*frame));
  const ptrdiff_t row_stride = ptrdiff_t{crop.count} * channels;
  uint8_t* rows = arena.bytes(static_cast<size_t>(row_stride) * static_cast<size_t>(wanted.height));
  const Verdict verdict = run({.bytes = bytes,
                               .beside = beside,
                               .frame = &*frame,
                               .stride = channels,
                               .top = wanted.y,
                               .height = wanted.height,
                               .crop = crop.from,
                               .crop_width = crop.count,
                               .rows = rows,
                               .row_stride = row_stride});
  if (!verdict.done()) return {verdict, {}, {}};
  const View view = {rows - wanted.y * row_stride - ptrdiff_t{crop.from} * channels,
                     header.height,
                     header.width,
                     channels,
                     row_stride,
                     channels,
                     1};
  return {verdict, view, wanted};
}

Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena& arena, const Beside& beside) {
  const std::optional<Frame> frame = read_frame(bytes);
  if (!frame) return deferred("JPEG of a kind not decoded natively");
  const int stride = static_cast<int>(target.pixel_stride);
  if (const Verdict verdict = inspect(bytes, header, *frame, stride, beside); !verdict.done()) return verdict;
  auto* data = static_cast<uint8_t*>(target.data);
  const Region all = {0, 0, header.height, header.width};
  if (run_own(bytes, *frame, beside, {all, stride, data, target.row_stride}, arena)) return {};
  return run({.bytes = bytes,
              .beside = beside,
              .frame = &*frame,
              .stride = stride,
              .top = 0,
              .height = header.height,
              .crop = 0,
              .crop_width = header.width,
              .rows = data,
              .row_stride = target.row_stride});
}

Region decoded_region(const Header& header, Region wanted) {
  const int unit = header.channels == 1 && !header.luma ? kBlock : kUsualUnit;
  const Columns crop = crop_for(wanted, header.width, unit);
  const int right = std::min(round_up(crop.from + crop.count, unit), header.width);
  const int top = round_down(wanted.y, unit);
  const int bottom = std::min(round_up(wanted.y + wanted.height, unit), header.height);
  return {top, crop.from, bottom - top, right - crop.from};
}

int pixel_stride(const Header&, int channels) { return channels; }

}  // namespace

constinit const Codec kCodec = {
    .format = Format::kJpeg,
    .name = "JPEG",
    .magic = "\xff\xd8\xff",
    .read_header = read_header,
    .afford = afford,
    .image_end = find_end,
    .decoded_region = decoded_region,
    .pixel_stride = pixel_stride,
    .decode = decode,
    .decode_into = decode_into,
    .decode_16 = nullptr,
};

}  // namespace fastaug::codec::jpeg

namespace fastaug::codec {

bool takes_index(const Header& header) {
  return header.format == Format::kJpeg && header.sequential && !header.inks && jpeg::own_first(true);
}

const char* jpeg_decoder() { return jpeg::own_first(true) ? "own" : "libjpeg"; }

}  // namespace fastaug::codec
