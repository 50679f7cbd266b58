#include "fuzz/codec_checks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "fuzz/fuzz.h"
#include "fuzz/memory.h"

namespace fastaug::fuzz {
namespace {

using codec::Beside;
using codec::Bytes;
using codec::Components;
using codec::Decoded;
using codec::Header;
using codec::Outcome;
using codec::Verdict;

// Larger images are decoded in part only, so that one input does not take a second.
constexpr int64_t kMostPixels = int64_t{1} << 20;

// Bytes held for one pixel at most: coefficients, samples and a result of every channel, of blocks that reach over the
// edges; and pixels that one byte of a file can stand for: a bit for each 8x8 block, eight in deflate's 1032 bytes.
constexpr size_t kBytesPerPixel = 48;
constexpr size_t kPixelsPerByte = 8 * 1032;
constexpr size_t kBytesPerFile = size_t{4} << 20;
constexpr size_t kTablesPerPixel = 1024;

size_t memory_bound(Bytes file, const Header& header) {
  const size_t blocks_high = (static_cast<size_t>(header.height) + 31) / 32;
  const size_t blocks_wide = (static_cast<size_t>(header.width) + 31) / 32;
  const size_t pixels = blocks_high * blocks_wide * 1024;
  // Lossless pixels may take no bits, and a set of libwebp's tables of codes stands for sixteen pixels or more.
  if (header.format == codec::Format::kWebp) return kBytesPerFile + (kBytesPerPixel + kTablesPerPixel) * pixels;
  // A row is the least that is decoded.
  const size_t fillable = file.size * kPixelsPerByte + blocks_wide * 1024;
  return kBytesPerFile + kBytesPerPixel * std::min(pixels, fillable);
}

bool inside(Region part, Region of) {
  return part.y >= of.y && part.x >= of.x && part.height >= 0 && part.width >= 0 &&
         part.y + part.height <= of.y + of.height && part.x + part.width <= of.x + of.width;
}

void check_verdict(const Verdict& verdict, Bytes file, Bytes tables) {
  require(verdict.reason != nullptr, "a verdict has a reason");
  require(verdict.done() || *verdict.reason != '\0', "a verdict other than done says why");
  require(verdict.offset == Verdict::kNowhere || verdict.offset <= std::max(file.size, tables.size),
          "an offset lies in the file");
}

void check_decoded(const Decoded& decoded, const Header& header, Region wanted, int channels, int sample) {
  const Region all = {0, 0, header.height, header.width};
  require(inside(wanted, decoded.region) && inside(decoded.region, all), "the region holds what was wanted");
  const View& view = decoded.view;
  require(view.height == header.height && view.width == header.width && view.channels == channels,
          "the view stands for the whole image");
  require(view.channel_stride == sample, "samples lie interleaved");
  require(view.pixel_stride == sample * channels || (channels == 3 && view.pixel_stride == 4 && sample == 1),
          "pixels lie one after the other");
}

// Every byte is read, which AddressSanitizer watches.
bool same_pixels(const View& a, const View& b, Region region, int sample) {
  bool same = true;
  for (int y = region.y; y < region.y + region.height; ++y) {
    for (int x = region.x; x < region.x + region.width; ++x) {
      for (int c = 0; c < a.channels; ++c) same &= std::memcmp(a.at(y, x, c), b.at(y, x, c), size_t(sample)) == 0;
    }
  }
  return same;
}

class Checks {
 public:
  Checks(Bytes file, const Header& header, Bytes tables)
      : file_(file), header_(header), beside_{tables, Components::kAsMarked}, bits_(file.data, file.size) {
    // Choices follow the end of a file, which mutations leave alone more often than its beginning.
    const size_t skipped = file.size / 2;
    bits_ = Bits(file.data + skipped, file.size - skipped);
  }

  void run() {
    if (header_.format == codec::Format::kJpeg) beside_.components = static_cast<Components>(integer(0, 2));
    const Header stored = codec::stored_of(header_);
    if (stored.native && integer(0, 1) == 1) header_ = stored;
    deep_ = header_.bits == 16 && integer(0, 1) == 1;
    const bool large = int64_t{header_.height} * header_.width > kMostPixels;
    const Region wanted = random_region(large ? 64 : 1 << 30);
    const Region made = codec::decoded_region(header_, wanted);
    require(inside(wanted, made), "decoded_region holds what was wanted");
    require(inside(made, {0, 0, header_.height, header_.width}), "decoded_region lies in the image");
    if (large) {
      Arena arena;
      decode(wanted, arena);
      return;
    }
    Arena whole_arena;
    const Region all = {0, 0, header_.height, header_.width};
    const Decoded whole = decode(all, whole_arena);
    Arena arena;
    const Decoded part = decode(wanted, arena);
    if (whole.verdict.done()) {
      const bool announced = deep_ || whole.view.pixel_stride == codec::pixel_stride(header_, channels_);
      require(announced, "pixels lie as announced");
      require(part.verdict.done(), "what decodes whole decodes in part");
      require(same_pixels(whole.view, part.view, wanted, sample()), "a region has the pixels of the whole");
    }
    if (!deep_) decode_into(whole);
  }

 private:
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(bits_); }
  int sample() const { return deep_ ? 2 : 1; }

  Region random_region(int most) {
    Region region;
    region.height = integer(1, std::min(header_.height, most));
    region.width = integer(1, std::min(header_.width, most));
    region.y = integer(0, header_.height - region.height);
    region.x = integer(0, header_.width - region.width);
    std::vector<int> allowed;
    for (int channels = 1; channels <= kMaxChannels; ++channels) {
      if (deep_ ? channels == header_.channels : codec::converts(header_, channels)) allowed.push_back(channels);
    }
    require(!allowed.empty(), "a native file decodes to something");
    channels_ = allowed[static_cast<size_t>(integer(0, static_cast<int>(allowed.size()) - 1))];
    return region;
  }

  Decoded decode(Region wanted, Arena& arena) {
    const PeakMemory memory;
    const Decoded decoded = deep_ ? codec::decode_16(file_, header_, wanted, arena)
                                  : codec::decode(file_, header_, {wanted, channels_}, arena, beside_);
    require(memory.bytes() <= memory_bound(file_, header_), "memory is bounded by what the file announces and holds");
    check_verdict(decoded.verdict, file_, beside_.tables);
    if (decoded.verdict.done()) check_decoded(decoded, header_, wanted, channels_, sample());
    return decoded;
  }

  void decode_into(const Decoded& whole) {
    constexpr uint8_t kUntouched = 0xa5;
    constexpr ptrdiff_t kMargin = 96;
    const int stored = channels_ == 3 && integer(0, 1) == 1 ? 4 : channels_;
    const ptrdiff_t used = ptrdiff_t{stored} * header_.width;
    const ptrdiff_t row = used + (integer(0, 1) == 1 ? integer(1, 70) : 0);
    // The last row is not followed by a gap: memory ends with the image.
    const size_t size = static_cast<size_t>(kMargin + row * (header_.height - 1) + used);
    std::vector<uint8_t> memory(size, kUntouched);
    memory.shrink_to_fit();
    uint8_t* data = memory.data() + kMargin;
    const Target target = {
        data, DType::kUint8, header_.height, header_.width, channels_, row, stored, 1, stored == 4 && channels_ == 3};
    Arena arena;
    const PeakMemory peak;
    const Verdict verdict = codec::decode_into(file_, header_, target, arena, beside_);
    require(peak.bytes() <= memory_bound(file_, header_), "memory is bounded by what the file announces and holds");
    check_verdict(verdict, file_, beside_.tables);
    require(verdict.done() == whole.verdict.done(), "decode and decode_into agree");
    bool untouched = std::all_of(memory.data(), data, [](uint8_t v) { return v == kUntouched; });
    for (int y = 0; y + 1 < header_.height; ++y) {
      untouched &= std::all_of(data + y * row + used, data + (y + 1) * row, [](uint8_t v) { return v == kUntouched; });
    }
    require(untouched, "nothing is written beside the image");
    if (!verdict.done()) return;
    const View view = {data, header_.height, header_.width, channels_, row, stored, 1};
    require(same_pixels(whole.view, view, {0, 0, header_.height, header_.width}, 1), "decode_into has decode's pixels");
    if (stored == channels_) return;
    bool opaque = true;
    for (int y = 0; y < header_.height; ++y) {
      for (int x = 0; x < header_.width; ++x) opaque &= data[y * row + 4 * x + 3] == 255;
    }
    require(opaque, "the fourth byte of a pixel becomes 255");
  }

  Bytes file_;
  Header header_;
  Beside beside_;
  Bits bits_;
  bool deep_ = false;  // by decode_16
  int channels_ = 0;
};

}  // namespace

void check_header(const Header& header) {
  if (!header.native) return;
  require(header.format != codec::Format::kOther, "a native format has a name");
  require(header.height > 0 && header.width > 0, "an image has pixels");
  require(header.channels >= 1 && header.channels <= 4, "an image has 1 to 4 channels");
  require(std::has_single_bit(unsigned(header.bits)) && header.bits <= 16, "samples have 1, 2, 4, 8 or 16 bits");
  require(header.bits >= 8 || header.channels == 1, "several samples have 8 bits or 16");
  require(header.palette == codec::Palette::kNone || (header.channels == 1 && header.bits <= 8),
          "an index has 8 bits at most");
  require(header.orientation >= 1 && header.orientation <= 8, "Exif knows eight orientations");
}

void check_file(Bytes file, codec::Format format, Bytes tables) {
  const Header header = codec::read_header(file);
  check_header(header);
  if (!header.native || header.format != format) return;
  Checks(file, header, tables).run();
}

}  // namespace fastaug::fuzz
