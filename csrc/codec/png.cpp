// PNG: libdeflate inflates the rows, and kernels undo their filters.
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "codec/convert.h"
#include "codec/png_chunks.h"
#include "codec/table.h"
#include "kernels/kernels.h"

namespace fastaug::codec::png {
namespace {

// Rows that are converted while they are warm.
constexpr int kStrip = 16;

// Bytes of rows below a region that are inflated with it: to stop before them would gain nothing, and behind them the
// checksum of all is compared.
constexpr size_t kFewBytes = 16384;

constexpr Verdict deferred(const char* reason, size_t offset = Verdict::kNowhere) {
  return {Outcome::kDeferred, reason, offset};
}

// The compressed bytes one after the other, or the first `most` of them.
Bytes gather(Bytes file, const Layout& layout, size_t most, Arena& arena) {
  if (layout.count == 1) return {layout.first.data.data, std::min(most, layout.first.data.size)};
  most = std::min(most, layout.size);
  uint8_t* all = arena.bytes(most);
  size_t done = 0;
  for (size_t at = layout.first.at; done < most;) {
    const size_t size = big_endian_32(file.data + at - 8);
    const size_t part = std::min(size, most - done);
    std::memcpy(all + done, file.data + at, part);
    done += part;
    at += size + 12;
  }
  return {all, most};
}

// Filtered rows, as they were compressed.
class Inflater {
 public:
  Inflater(Bytes file, const Header& header, const Layout& layout, Arena& arena)
      : file_(file), layout_(layout), arena_(arena), row_(row_size(header) + 1), all_(filtered_size(header)) {
    inflater_.reset(libdeflate_alloc_decompressor());
    if (inflater_ == nullptr) throw std::bad_alloc();
  }

  // The first *count rows, or all, and *count is then of all; behind them kRowPad bytes may be read. nullptr when they
  // cannot be had.
  uint8_t* rows(int* count) {
    const size_t wanted = row_ * static_cast<size_t>(*count);
    // Without an end of the file, only the checksum proves that all pixels are there.
    if (layout_.ended && all_ - wanted > kFewBytes) {
      for (size_t slack : {kSlack, kSlack + kMostStored}) {
        if (wanted + slack >= all_) break;
        uint8_t* rows = make_room(wanted + slack);
        const libdeflate_result result = first(wanted, slack, rows);
        if (result == LIBDEFLATE_SUCCESS) return rows;
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE) break;
      }
    }
    *count = static_cast<int>(all_ / row_);
    return all();
  }

 private:
  // libdeflate stops where its output does not fit: a match of at most 258 bytes, or the rest of a stored block. What
  // it has written of more than asked for shows that it came so far: a mark, which lies further behind than it ever
  // writes ahead of its place (FASTLOOP_MAX_BYTES_WRITTEN), is gone.
  static constexpr size_t kAhead = 512;
  static constexpr size_t kMark = 16;
  static constexpr size_t kSlack = kAhead + kMark + 258;
  static constexpr size_t kMostStored = 65535;

  // LIBDEFLATE_INSUFFICIENT_SPACE: with more slack it may be had.
  libdeflate_result first(size_t wanted, size_t slack, uint8_t* rows) {
    uint8_t* mark = rows + wanted + kAhead;
    std::memset(mark, kPattern, kMark);
    // Compressed bytes that stand for less than themselves are rare.
    const Bytes packed = gather(file_, layout_, wanted + slack + wanted / 64 + kMostStored, arena_);
    size_t used = 0;
    const auto result =
        libdeflate_zlib_decompress_ex(inflater_.get(), packed.data, packed.size, rows, wanted + slack, &used, nullptr);
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) return LIBDEFLATE_BAD_DATA;  // it was to go on
    const bool gone = std::any_of(mark, mark + kMark, [](uint8_t v) { return v != kPattern; });
    return gone ? LIBDEFLATE_SUCCESS : LIBDEFLATE_INSUFFICIENT_SPACE;
  }

  uint8_t* all() {
    uint8_t* rows = make_room(all_);
    const Bytes packed = gather(file_, layout_, layout_.size, arena_);
    size_t used = 0;
    // No more and no less, and the right Adler-32.
    const auto result =
        libdeflate_zlib_decompress_ex(inflater_.get(), packed.data, packed.size, rows, all_, &used, nullptr);
    return result == LIBDEFLATE_SUCCESS ? rows : nullptr;
  }

  uint8_t* make_room(size_t size) { return arena_.bytes(size + kRowPad); }

  static constexpr uint8_t kPattern = 0xa5;

  struct Free {
    void operator()(libdeflate_decompressor* inflater) const { libdeflate_free_decompressor(inflater); }
  };
  std::unique_ptr<libdeflate_decompressor, Free> inflater_;
  Bytes file_;
  const Layout& layout_;
  Arena& arena_;
  size_t row_;
  size_t all_;
};

constexpr const char* kBadData = "corrupt or truncated pixels";
constexpr uint8_t kLastFilter = 4;  // Paeth's (PNG, 9.2)
constexpr const char* kBadFilter = "a filter that does not exist";
constexpr const char* kBadLayout = "not the chunks of a file that is decoded natively";

// Filtered rows in memory, of which those from `first` on are enough to know those that are wanted.
struct Rows {
  Verdict verdict;
  Layout layout;
  uint8_t* filtered = nullptr;  // row 0
  int first = 0;
  int end = 0;
};

Rows read_rows(Bytes bytes, const Header& header, Region wanted, Arena& arena) {
  Rows rows;
  Layout& layout = rows.layout;
  if (!find_layout(bytes, header, &layout)) {
    rows.verdict = deferred(kBadLayout);
    return rows;
  }
  rows.end = wanted.y + wanted.height;
  int inflated = rows.end;
  rows.filtered = Inflater(bytes, header, layout, arena).rows(&inflated);
  if (rows.filtered == nullptr) {
    rows.verdict = deferred(kBadData, layout.first.at);
    return rows;
  }
  const size_t stride = row_size(header) + 1;
  // Pillow looks at every row, wanted or not.
  for (int y = 0; y < inflated; ++y) {
    if (rows.filtered[stride * static_cast<size_t>(y)] > kLastFilter) {
      rows.verdict = deferred(kBadFilter, layout.first.at);
      return rows;
    }
  }
  // A row that is not filtered, or by its own samples only, needs none before it.
  rows.first = wanted.y;
  while (rows.first > 0 && rows.filtered[stride * static_cast<size_t>(rows.first)] > 1) --rows.first;
  return rows;
}

FilteredRows part_of(const Rows& rows, const Header& header, int y, int count) {
  const size_t size = row_size(header);
  const size_t stride = size + 1;
  uint8_t* filtered = rows.filtered + stride * static_cast<size_t>(y);
  const uint8_t* above = y == rows.first ? nullptr : filtered + 1 - stride;
  return {filtered, above,        static_cast<ptrdiff_t>(size),  std::max(1, pixel_bits(header) / 8),
          count,    filtered + 1, static_cast<ptrdiff_t>(stride)};
}

// In place.
bool unfilter(const Rows& rows, const Header& header, int y, int count) {
  return kernels().unfilter(part_of(rows, header, y, count));
}

// What Pillow has in the palette: black behind the file's colours, and all opaque but for its alphas. Null without one.
const Colours* colours_of(const Header& header, const Layout& layout, Arena& arena) {
  if (header.palette == Palette::kNone) return nullptr;
  auto& colours = *arena.make<Colours>();
  for (size_t k = 0; k < colours.size(); ++k) {
    colours[k] = {0, 0, 0, 255};
    if (3 * k < layout.colours.size) std::memcpy(colours[k].data(), layout.colours.data + 3 * k, 3);
    if (k < layout.alphas.size) colours[k][3] = layout.alphas.data[k];
  }
  return &colours;
}

Decoded decode(Bytes bytes, const Header& header, const Wanted& wants, Arena& arena, const Beside&) {
  const Region wanted = wants.region;
  const int channels = wants.channels;
  if (!converts(header, channels)) return {kNoConversion, {}, {}};
  const Rows rows = read_rows(bytes, header, wanted, arena);
  if (!rows.verdict.done()) return {rows.verdict, {}, {}};
  const ptrdiff_t stride = static_cast<ptrdiff_t>(row_size(header)) + 1;
  if (kept(header, channels)) {
    if (!unfilter(rows, header, rows.first, rows.end - rows.first)) return {deferred(kBadFilter), {}, {}};
    const Region region = {rows.first, 0, rows.end - rows.first, header.width};
    const uint8_t* data = rows.filtered + stride * rows.first + 1;
    return {{}, view_of(header, data, region, channels, stride, header.channels, 1), region};
  }
  const ptrdiff_t converted_stride = ptrdiff_t{wanted.width} * channels;
  uint8_t* converted = arena.bytes(static_cast<size_t>(converted_stride * wanted.height) + kRowPad);
  const Colours* colours = colours_of(header, rows.layout, arena);
  const Converter converter(header, colours, channels, channels, wanted.width, arena);
  for (int y = rows.first; y < rows.end; y += kStrip) {
    const int count = std::min(kStrip, rows.end - y);
    if (!unfilter(rows, header, y, count)) return {deferred(kBadFilter), {}, {}};
    for (int k = std::max(y, wanted.y); k < y + count; ++k) {
      converter.row(rows.filtered + stride * k + 1, wanted.x, converted + converted_stride * (k - wanted.y));
    }
  }
  return {{}, view_of(header, converted, wanted, channels, converted_stride, channels, 1), wanted};
}

Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena& arena, const Beside&) {
  if (!converts(header, target.channels)) return kNoConversion;
  const Rows rows = read_rows(bytes, header, {0, 0, header.height, header.width}, arena);
  if (!rows.verdict.done()) return rows.verdict;
  auto* data = static_cast<uint8_t*>(target.data);
  if (kept(header, target.channels) && target.pixel_stride == target.channels && target.channels == header.channels) {
    FilteredRows all = part_of(rows, header, 0, header.height);
    all.rows = data;
    all.row_stride = target.row_stride;
    return kernels().unfilter(all) ? Verdict() : deferred(kBadFilter);
  }
  const ptrdiff_t stride = static_cast<ptrdiff_t>(row_size(header)) + 1;
  const Colours* colours = colours_of(header, rows.layout, arena);
  const Converter converter(header, colours, target.channels, target.pixel_stride, header.width, arena);
  for (int y = 0; y < header.height; y += kStrip) {
    const int count = std::min(kStrip, header.height - y);
    if (!unfilter(rows, header, y, count)) return deferred(kBadFilter);
    for (int k = y; k < y + count; ++k) converter.row(rows.filtered + stride * k + 1, 0, data + target.row_stride * k);
  }
  return {};
}

Decoded decode_16(Bytes bytes, const Header& header, Region wanted, Arena& arena) {
  const Rows rows = read_rows(bytes, header, wanted, arena);
  if (!rows.verdict.done()) return {rows.verdict, {}, {}};
  if (!unfilter(rows, header, rows.first, rows.end - rows.first)) return {deferred(kBadFilter), {}, {}};
  const ptrdiff_t stride = static_cast<ptrdiff_t>(row_size(header)) + 1;
  const ptrdiff_t pixel = ptrdiff_t{2} * header.channels;
  const ptrdiff_t count = ptrdiff_t{wanted.width} * header.channels;
  uint8_t* data = arena.bytes(static_cast<size_t>(2 * count * wanted.height));
  auto* to = reinterpret_cast<uint16_t*>(data);
  for (int y = wanted.y; y < rows.end; ++y) {
    const uint8_t* row = rows.filtered + stride * y + 1 + wanted.x * pixel;
    for (ptrdiff_t k = 0; k < count; ++k) *to++ = static_cast<uint16_t>(row[2 * k] << 8 | row[2 * k + 1]);
  }
  return {{}, view_of(header, data, wanted, header.channels, 2 * count, pixel, 2), wanted};
}

size_t image_end(Bytes bytes) {
  constexpr size_t kCrc = 4;
  Chunks chunks(bytes);
  for (Chunk chunk; chunks.next(&chunk);) {
    if (chunk.type == kIend && bytes.size - chunk.at >= kCrc) return chunk.at + kCrc;
  }
  return kNoEnd;
}

Region decoded_region(const Header& header, Region wanted) {
  return {0, 0, std::min(wanted.y + wanted.height, header.height), header.width};
}

}  // namespace

constinit const Codec kCodec = {
    .format = Format::kPng,
    .name = "PNG",
    .magic = "\x89PNG\r\n\x1a\n",
    .read_header = read_header,
    .afford = nullptr,
    .image_end = image_end,
    .decoded_region = decoded_region,
    .pixel_stride = kept_stride,
    .decode = decode,
    .decode_into = decode_into,
    .decode_16 = decode_16,
};

}  // namespace fastaug::codec::png
