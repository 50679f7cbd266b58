// Encoded images: what their first bytes say, and their pixels. The only headers of codec libraries are in this folder.
//
// Bytes are hostile. Nothing here trusts a length or a dimension before it is checked, and nothing is allocated for
// more than the bytes announce and could hold. Malformed bytes are no exception but an Outcome: what is not decoded
// here exactly as Pillow decodes it is left to Pillow, whose answer, an error too, is then the answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "base/image.h"

namespace fastaug::codec {

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

enum class Format : uint8_t {
  kOther,
#define FASTAUG_FORMAT(format, room) format,
#include "codec/formats.def"
#undef FASTAUG_FORMAT
};

// "JPEG", "PNG", "NPY", "WEBP"; "image" for kOther.
const char* name_of(Format format);

// By the first bytes alone.
Format sniff(Bytes bytes);

// What the samples of a file are.
enum class Palette : uint8_t {
  kNone,    // colours
  kOpaque,  // indices of a palette
  kAlpha,   // those of one whose entries may be transparent
};

// The header of an encoded image. Only what `native` promises is certain.
struct Header {
  Format format = Format::kOther;
  bool native = false;      // decode() takes it on; all other fields are then valid
  bool sequential = false;  // rows behind a region need not be looked at; false for progressive files
  int height = 0;
  int width = 0;
  int channels = 0;  // of the file, 1 to 4: gray, gray and alpha, RGB, RGBA; 1 of indices
  int bits = 8;      // of a sample of the file: 1, 2, 4, 8 or 16
  Palette palette = Palette::kNone;
  bool inks = false;    // RGB of a JPEG of four components, which Pillow opens as CMYK
  bool luma = false;    // that of a JPEG of three components alone: luma_of()
  bool stored = false;  // stored_of()
  int orientation = 1;  // Exif, 1 to 8
};

// Never fails: what it cannot make sense of is not native. Looks at no pixel.
Header read_header(Bytes bytes);

// The header by which a JPEG of three components is decoded to its luma, in one channel: what libjpeg makes of it where
// it is asked for gray, and not what Image.convert("L") makes of RGB. A JPEG of one component stays as it is; nothing
// else is native.
Header luma_of(Header header);

// The header by which samples that Pillow keeps in the modes P and 1 are decoded as the file has them, in one channel:
// indices of a palette, and 0 and 1 of gray of one bit. Nothing else is native.
Header stored_of(Header header);

// The mode in which Pillow opens the file. decode() makes it if it is L, LA, RGB or RGBA, and RGB of CMYK.
const char* mode_of(const Header& header);

enum class Outcome : uint8_t {
  kDone,
  kDeferred,  // sound or not, it is not decoded here: Pillow's to say
  kRefused,   // costs more than any honest image of its size: no decoder should try
};

struct Verdict {
  static constexpr size_t kNowhere = ~size_t{0};

  Outcome outcome = Outcome::kDone;
  const char* reason = "";   // of constant storage, as "corrupt deflate data"
  size_t offset = kNowhere;  // into the bytes, where known

  bool done() const { return outcome == Outcome::kDone; }
};

// True if decode() makes `channels` of a file.
inline bool converts(const Header& header, int channels) {
  if (header.stored) return channels == 1;
  // Pillow warns where it drops the alpha of a palette, or remembers which colour was transparent.
  if (header.palette == Palette::kAlpha && channels % 2 == 1) return false;
  return channels >= (header.channels <= 2 ? 1 : 3) && channels <= (header.luma ? 2 : kMaxChannels);
}

// kDone if a decoder, Pillow included, should try these bytes; else kRefused. For what is not native or was deferred.
Verdict afford(Bytes bytes);

// Where the image that begins here ends: behind its last byte, which may be beyond these bytes where the header says
// it. kNoEnd where these bytes do not tell, as too few of a file, and of formats that are not known here.
size_t image_end(Bytes bytes);
constexpr size_t kNoEnd = ~size_t{0};

// The colours of a JPEG's three components.
enum class Components : uint8_t {
  kAsMarked,  // by the stream's own markers, or as libjpeg guesses where it has none
  kRgb,
  kYcbcr,
};

class ScanIndex;

// Facts about a JPEG beside its stream. Empty for every other image.
struct Beside {
  // Tables that TIFF and whole-slide files hold once for all of their streams.
  Bytes tables;  // of a stream that has none (itself one: SOI, DQT, DHT, EOI); may be empty
  Components components = Components::kAsMarked;
  // An index of these bytes, to begin with and to extend; may be null.
  ScanIndex* index = nullptr;
};

// Pixels in memory of the arena. The view stands for the whole image, of which only `region` is there.
struct Decoded {
  Verdict verdict;
  View view;
  Region region;  // holds what was asked for, and maybe more columns or rows
};

// The result that decode() should make of an image.
struct Wanted {
  Region region;  // inside the image
  int channels = 0;
  // The image's pixels across and down to one of the result. Only 1 is decoded today; any other is deferred.
  int scale = 1;
};

// The pixels of a region as Image.convert() makes them of the file's mode: `channels` as converts() allows. Pixels lie
// interleaved, so that pixel_stride is 1 for one channel, and 3 or 4 for three. `header` is that of the same bytes, and
// native. Throws std::bad_alloc only.
Decoded decode(Bytes bytes, const Header& header, const Wanted& wanted, Arena& arena, const Beside& beside = {});

// The whole image straight into memory: uint8, interleaved, pixel_stride as many bytes as channels, or 4 for three (the
// fourth then becomes 255). Discard pixels that were written before a verdict other than kDone.
Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena& arena, const Beside& beside = {});

// A region of a PNG of 16 bits: `channels` is the file's; samples are uint16 in the machine's order, and the view's
// strides are in bytes, as ever.
Decoded decode_16(Bytes bytes, const Header& header, Region wanted, Arena& arena);

// Rows and columns that decode() has to make for `wanted`, for plans: the whole width of a PNG, blocks of a JPEG, all
// of what is not decoded here.
Region decoded_region(const Header& header, Region wanted);

// Bytes from one pixel to the next as decode() lays them, for plans: 3 or 4 for three channels, else as many as
// channels.
int pixel_stride(const Header& header, int channels);

// True if decode() has a use for an index of such a file.
bool takes_index(const Header& header);

// Who is asked first for a sequential JPEG: "own", with libjpeg for what that decoder leaves, or "libjpeg".
// FASTAUG_JPEG names one; without it, whichever is faster on this machine.
const char* jpeg_decoder();

// Who decodes WebP files: "libwebp" and its version, or "Pillow" in a build without libwebp.
const char* webp_decoder();

// Makes forks wait until no thread is inside a library that takes locks: a child would wait for them for ever. To be
// called once.
void survive_forks();

}  // namespace fastaug::codec
