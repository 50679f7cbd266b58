// WebP Container Specification, RFC 9649.
#include "codec/webp_file.h"

#include "codec/exif.h"

namespace fastaug::codec::webp {
namespace {

constexpr size_t kRiffHeader = 12;  // "RIFF", the size of what follows, "WEBP"
constexpr size_t kRiffSizeAt = 4;
constexpr size_t kChunkHeader = 8;

constexpr uint32_t chunk_type(const char (&name)[5]) {
  uint32_t type = 0;
  for (int k = 3; k >= 0; --k) type = type << 8 | static_cast<uint8_t>(name[k]);
  return type;
}

uint32_t little_endian(const uint8_t* p, int bytes) {
  uint32_t value = 0;
  for (int k = bytes - 1; k >= 0; --k) value = value << 8 | p[k];
  return value;
}

struct Chunk {
  uint32_t type = 0;
  Bytes data;
  Bytes all;  // with its header and the byte that makes its size even
};

class Chunks {
 public:
  // `file` begins with a header, and is as long as that says.
  explicit Chunks(Bytes file) : file_(file), next_(kRiffHeader) {}

  bool next(Chunk* chunk) {
    const size_t left = file_.size - next_;
    if (left < kChunkHeader) return false;
    const uint8_t* at = file_.data + next_;
    const uint64_t size = little_endian(at + 4, 4);
    const uint64_t padded = size + size % 2;
    if (padded > left - kChunkHeader) return false;
    chunk->type = little_endian(at, 4);
    chunk->data = {at + kChunkHeader, static_cast<size_t>(size)};
    chunk->all = {at, kChunkHeader + static_cast<size_t>(padded)};
    next_ += chunk->all.size;
    return true;
  }

  bool at_end() const { return next_ == file_.size; }

 private:
  Bytes file_;
  size_t next_;
};

// RFC 6386, 9.1: a key frame that is shown. The size of its first partition is libwebp's to check.
bool parse_lossy(Bytes data, Layout* layout) {
  if (data.size < 10) return false;
  const uint32_t bits = little_endian(data.data, 3);
  const bool key = (bits & 1) == 0;
  const uint32_t profile = bits >> 1 & 7;
  const bool shown = (bits >> 4 & 1) != 0;
  if (!key || profile > 3 || !shown || little_endian(data.data + 3, 3) != 0x2a019d) return false;
  constexpr uint32_t kMask = 0x3fff;
  layout->width = static_cast<int>(little_endian(data.data + 6, 2) & kMask);
  layout->height = static_cast<int>(little_endian(data.data + 8, 2) & kMask);
  // The modes of a macroblock alone take more than three bits (11.2). Lossless pixels may take none.
  const uint64_t blocks =
      uint64_t{static_cast<uint32_t>(layout->width) + 15} / 16 * ((static_cast<uint32_t>(layout->height) + 15) / 16);
  return blocks > 0 && blocks * 3 / 8 <= data.size;
}

// RFC 9649, 3.4.
bool parse_lossless(Bytes data, Layout* layout) {
  if (data.size < 5 || data.data[0] != 0x2f) return false;
  const uint32_t bits = little_endian(data.data + 1, 4);
  constexpr uint32_t kMask = 0x3fff;
  layout->width = static_cast<int>(bits & kMask) + 1;
  layout->height = static_cast<int>(bits >> 14 & kMask) + 1;
  layout->alpha = (bits >> 28 & 1) != 0;
  layout->lossless = true;
  return bits >> 29 == 0;
}

// The image's own chunks, of which `chunk` is the first.
bool read_image(Chunk chunk, Chunks* chunks, Layout* layout) {
  layout->image = chunk.all;
  if (chunk.type == chunk_type("VP8L")) return parse_lossless(chunk.data, layout);
  layout->alpha = chunk.type == chunk_type("ALPH");
  if (layout->alpha) {
    if (chunk.data.size == 0) return false;
    constexpr int kHorizontal = 1;
    layout->alpha_from_above = (chunk.data.data[0] >> 2 & 3) == kHorizontal;
    if (!chunks->next(&chunk)) return false;
    layout->image.size += chunk.all.size;
  }
  return chunk.type == chunk_type("VP8 ") && parse_lossy(chunk.data, layout);
}

bool is_image(uint32_t type) {
  return type == chunk_type("ALPH") || type == chunk_type("VP8 ") || type == chunk_type("VP8L");
}

// A file that begins with VP8X.
class Extended {
 public:
  explicit Extended(Bytes header) : header_(header) {}

  bool read(Chunks* chunks, Layout* layout) {
    if (header_.size != 10 || (flags() & ~kKnown) != 0 || (flags() & kAnimation) != 0) return false;
    bool found = false;
    for (Chunk chunk; chunks->next(&chunk);) {
      if (is_image(chunk.type)) {
        if (found || !read_image(chunk, chunks, layout)) return false;
        found = true;
      } else if (!add(chunk)) {
        return false;
      }
    }
    layout->orientation = orientation();
    const auto side = [&](int at) { return static_cast<int>(little_endian(header_.data + at, 3)) + 1; };
    return found && side(4) == layout->width && side(7) == layout->height && layout->alpha == ((flags() & kAlpha) != 0);
  }

 private:
  enum Flag : uint32_t { kAnimation = 2, kXmp = 4, kExif = 8, kAlpha = 16, kProfile = 32 };
  static constexpr uint32_t kKnown = kAnimation | kXmp | kExif | kAlpha | kProfile;

  uint32_t flags() const { return little_endian(header_.data, 4); }

  // The first of each kind counts, and only where its flag says that it is there.
  bool add(const Chunk& chunk) {
    switch (chunk.type) {
      case chunk_type("VP8X"):
      case chunk_type("ANIM"):
      case chunk_type("ANMF"):
        return false;
      case chunk_type("EXIF"):
        if ((flags() & kExif) == 0 || has_exif_) return true;
        has_exif_ = true;
        exif_ = exif_orientation(chunk.data);
        return exif_ != kUnclearOrientation;
      case chunk_type("XMP "):
        if ((flags() & kXmp) == 0 || has_xmp_) return true;
        has_xmp_ = true;
        xmp_ = xmp_orientation(chunk.data);
        return true;
      default:
        return true;
    }
  }

  int orientation() const {
    if (exif_ != kNoOrientation) return exif_;
    return xmp_ != kNoOrientation ? xmp_ : 1;
  }

  Bytes header_;
  bool has_exif_ = false;
  bool has_xmp_ = false;
  int exif_ = kNoOrientation;
  int xmp_ = kNoOrientation;
};

}  // namespace

size_t image_end(Bytes file) {
  if (file.size < kRiffHeader) return kNoEnd;
  const uint64_t size = little_endian(file.data + kRiffSizeAt, 4);
  return static_cast<size_t>(kChunkHeader + size + size % 2);
}

Layout find_layout(Bytes file) {
  Layout layout;
  if (sniff(file) != Format::kWebp) return layout;
  const uint64_t size = little_endian(file.data + kRiffSizeAt, 4);
  if (size < kRiffHeader - kChunkHeader || size > file.size - kChunkHeader) return layout;
  Chunks chunks({file.data, kChunkHeader + static_cast<size_t>(size)});
  Chunk chunk;
  if (!chunks.next(&chunk)) return layout;
  // Alpha of the lossy kind takes the extended header.
  if (chunk.type == chunk_type("VP8X")) {
    if (!Extended(chunk.data).read(&chunks, &layout)) return layout;
  } else if (chunk.type == chunk_type("ALPH") || !read_image(chunk, &chunks, &layout)) {
    return layout;
  }
  layout.sound = chunks.at_end();
  return layout;
}

}  // namespace fastaug::codec::webp
