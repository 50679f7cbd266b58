// WebP: libwebp decodes still images, lossy and lossless. Without it, every file is left to Pillow.
#include <algorithm>

#include "codec/convert.h"
#include "codec/table.h"
#include "codec/webp_file.h"

#ifdef FASTAUG_WEBP
#include <webp/decode.h>

#include <atomic>
#include <climits>
#include <mutex>
#include <new>
#include <string>

#if !defined(_WIN32)
#include <pthread.h>
#endif
#endif

namespace fastaug::codec::webp {
namespace {

Verdict deferred(const char* reason) { return {Outcome::kDeferred, reason, Verdict::kNowhere}; }

#ifdef FASTAUG_WEBP
constexpr bool kDecodes = true;

// libwebp chooses its kernels under locks, at each use anew. A child that is forked while another thread holds one
// would wait for it for ever, so a fork waits until no thread is inside libwebp.
class Inside {
 public:
  Inside() {
    const std::lock_guard lock(gate_);
    ++threads_;
  }
  ~Inside() {
    --threads_;
    threads_.notify_all();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static void wait_at_forks() {
#if !defined(_WIN32)
    pthread_atfork(
        [] {
          gate_.lock();
          for (int left = threads_; left != 0; left = threads_) threads_.wait(left);
        },
        [] { gate_.unlock(); },
        // Threads that waited at the gate do not exist in the child.
        [] { new (&gate_) std::mutex; });
#endif
  }

 private:
  static std::mutex gate_;
  static std::atomic<int> threads_;
};

constinit std::mutex Inside::gate_;
constinit std::atomic<int> Inside::threads_ = 0;

// Where pixels go: `part` of the image, from its upper left corner on.
struct Place {
  Region part;
  int channels;
  uint8_t* data;
  ptrdiff_t row_stride;
  int pixel_stride;  // 3 or 4
};

Verdict verdict_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OK:
      return {};
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return deferred("WebP data end too early");
    case VP8_STATUS_OUT_OF_MEMORY:  // which libwebp also says of alpha whose header is corrupt
    default:
      return deferred("corrupt WebP data");
  }
}

constexpr const char* kAnother = "another image than its header said";

// `header` is what the caller knows; the bytes may lie in memory that somebody writes to.
bool is_of(const Layout& layout, const Header& header) {
  return layout.sound && layout.height == header.height && layout.width == header.width &&
         layout.alpha == (header.channels == 4);
}

Verdict run(const Layout& layout, const Place& place) {
  const Region& part = place.part;
  if (place.row_stride > INT_MAX) return deferred("rows too far apart");
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return deferred("another libwebp than its headers");
  config.options.use_cropping = part.height < layout.height || part.width < layout.width;
  config.options.crop_left = part.x;
  config.options.crop_top = part.y;
  config.options.crop_width = part.width;
  config.options.crop_height = part.height;
  config.output.colorspace = place.pixel_stride == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  WebPRGBABuffer& rows = config.output.u.RGBA;
  rows.rgba = place.data;
  rows.stride = static_cast<int>(place.row_stride);
  rows.size = static_cast<size_t>(place.row_stride) * static_cast<size_t>(part.height - 1) +
              static_cast<size_t>(part.width) * static_cast<size_t>(place.pixel_stride);
  {
    const Inside inside;
    const Verdict verdict = verdict_of(WebPDecode(layout.image.data, layout.image.size, &config));
    if (!verdict.done()) return verdict;
  }
  // Alpha that is not wanted, and what a lossless stream has in its place without meaning it.
  const bool opaque = place.channels == 3 || !layout.alpha;
  if (place.pixel_stride == 4 && opaque && (layout.alpha || layout.lossless)) {
    for (int y = 0; y < part.height; ++y) {
      uint8_t* row = place.data + place.row_stride * y;
      for (int x = 0; x < part.width; ++x) row[ptrdiff_t{4} * x + 3] = 255;
    }
  }
  return {};
}

// What is decoded so that the pixels of `wanted` are those of the whole: chroma is upsampled smoothly, from the samples
// of two neighbours, and libwebp begins a region of such files at even rows and columns. Alpha whose filter is
// horizontal it undoes from the first row of the region on, as if nothing were above that (up to 1.5 at least).
Region widened(const Layout& layout, Region wanted, int channels) {
  const bool from_top = channels == 4 && layout.alpha_from_above;
  const int top = from_top ? 0 : std::max(wanted.y - 1, 0) & ~1;
  const int left = std::max(wanted.x - 1, 0) & ~1;
  const int bottom = std::min(wanted.y + wanted.height + 1, layout.height);
  const int right = std::min(wanted.x + wanted.width + 1, layout.width);
  return {top, left, bottom - top, right - left};
}

Decoded decode(Bytes bytes, const Header& header, const Wanted& wants, Arena& arena, const Beside&) {
  const int channels = wants.channels;
  if (!converts(header, channels)) return {kNoConversion, {}, {}};
  const Layout layout = find_layout(bytes);
  if (!is_of(layout, header)) return {deferred(kAnother), {}, {}};
  const Region part = widened(layout, wants.region, channels);
  const ptrdiff_t stride = ptrdiff_t{part.width} * channels;
  uint8_t* rows = arena.bytes(static_cast<size_t>(stride) * static_cast<size_t>(part.height));
  const Verdict verdict = run(layout, {part, channels, rows, stride, channels});
  if (!verdict.done()) return {verdict, {}, {}};
  return {verdict, view_of(header, rows, part, channels, stride, channels, 1), part};
}

Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena&, const Beside&) {
  if (!converts(header, target.channels)) return kNoConversion;
  const Layout layout = find_layout(bytes);
  if (!is_of(layout, header)) return deferred(kAnother);
  return run(layout, {{0, 0, layout.height, layout.width},
                      target.channels,
                      static_cast<uint8_t*>(target.data),
                      target.row_stride,
                      static_cast<int>(target.pixel_stride)});
}
#else
constexpr bool kDecodes = false;
constexpr const char* kAbsent = "libwebp is not part of this build";

Decoded decode(Bytes, const Header&, const Wanted&, Arena&, const Beside&) { return {deferred(kAbsent), {}, {}}; }
Verdict decode_into(Bytes, const Header&, const Target&, Arena&, const Beside&) { return deferred(kAbsent); }
#endif

Header read_header(Bytes bytes) {
  Header header;
  header.format = Format::kWebp;
  const Layout layout = find_layout(bytes);
  if (!kDecodes || !layout.sound) return header;
  header.native = true;
  header.sequential = true;
  header.height = layout.height;
  header.width = layout.width;
  header.channels = layout.alpha ? 4 : 3;
  header.orientation = layout.orientation;
  return header;
}

// Every pixel is predicted from others above it and beside it.
Region decoded_region(const Header& header, Region wanted) {
  return {0, 0, std::min(wanted.y + wanted.height + 1, header.height), header.width};
}

int pixel_stride(const Header&, int channels) { return channels; }

}  // namespace

constinit const Codec kCodec = {
    .format = Format::kWebp,
    .name = "WEBP",
    .magic = "RIFF????WEBP",
    .read_header = read_header,
    .afford = nullptr,
    .image_end = image_end,
    .decoded_region = decoded_region,
    .pixel_stride = pixel_stride,
    .decode = decode,
    .decode_into = decode_into,
    .decode_16 = nullptr,
};

}  // namespace fastaug::codec::webp

namespace fastaug::codec {

const char* webp_decoder() {
#ifdef FASTAUG_WEBP
  static const std::string name = [] {
    const int version = WebPGetDecoderVersion();
    return "libwebp " + std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 255) + "." +
           std::to_string(version & 255);
  }();
  return name.c_str();
#else
  return "Pillow";
#endif
}

void survive_forks() {
#ifdef FASTAUG_WEBP
  webp::Inside::wait_at_forks();
#endif
}

}  // namespace fastaug::codec
