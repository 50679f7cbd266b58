#include "codec/tiles.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/status.h"
#include "codec/source.h"

namespace fastaug::codec {
namespace {

// A stream is seldom larger than its pixels. What it says beside them has room as well.
constexpr uint64_t kMostBytesOfPixel = 8;
constexpr uint64_t kMostBeside = uint64_t{1} << 20;

// Memory of a tile, kept from one to the next.
Arena& tile_arena() {
  static thread_local Arena arena;
  return arena;
}

Verdict deferred(const char* reason, uint64_t offset) {
  return {Outcome::kDeferred, reason, static_cast<size_t>(offset)};
}

// Black, and opaque where there is a fourth byte.
void blacken(uint8_t* row, int64_t pixels, int pixel_stride) {
  std::memset(row, 0, static_cast<size_t>(pixels * pixel_stride));
  if (pixel_stride < 4) return;
  for (int64_t x = 0; x < pixels; ++x) row[x * 4 + 3] = 255;
}

// `part` of the pixels of a stream, whose image is as large as its tile, or where that is cut off by the edge of the
// whole image, at least as large as what is left of it.
Verdict decode_tile(Bytes bytes, Region part, Region most, Region least, const Beside& beside, uint8_t* rows,
                    ptrdiff_t row_stride, int pixel_stride, Arena& arena) {
  const Header header = read_header(bytes);
  if (!header.native || header.format != Format::kJpeg) return deferred("not decoded natively", 0);
  if (header.height < least.height || header.height > most.height || header.width < least.width ||
      header.width > most.width) {
    return deferred("another size than that of its tile", 0);
  }
  if (part == Region{0, 0, header.height, header.width}) {
    const Target target = {rows, DType::kUint8, part.height, part.width, 3, row_stride, pixel_stride, 1};
    return decode_into(bytes, header, target, arena, beside);
  }
  const Decoded decoded = decode(bytes, header, {part, pixel_stride}, arena, beside);
  if (!decoded.verdict.done()) return decoded.verdict;
  for (int y = 0; y < part.height; ++y) {
    std::memcpy(rows + y * row_stride, decoded.view.at(part.y + y, part.x, 0),
                static_cast<size_t>(part.width) * static_cast<size_t>(pixel_stride));
  }
  return {};
}

}  // namespace

void Tiles::check() const {
  if (height < 1 || width < 1 || tile_height < 1 || tile_width < 1) {
    fail(ErrorCode::kValue, "an image and its tiles must have pixels");
  }
  const auto wanted = static_cast<uint64_t>(columns()) * static_cast<uint64_t>(rows());
  if (offsets.size() != sizes.size() || offsets.size() < wanted) {
    fail(ErrorCode::kValue, "an image of " + std::to_string(columns()) + " x " + std::to_string(rows()) +
                                " tiles must have as many offsets and sizes, got " + std::to_string(offsets.size()) +
                                " and " + std::to_string(sizes.size()));
  }
}

Verdict Tiles::read(size_t tile, Arena& arena, Bytes* bytes) const {
  const uint64_t offset = offsets[tile];
  const uint64_t size = sizes[tile];
  if (size == 0) return {Outcome::kDeferred, "it is missing", Verdict::kNowhere};
  const uint64_t there = file->size();
  const auto ended = [&] { return deferred("the file ends before it does", offset); };
  if (offset > there || size > there - offset) return ended();
  const auto pixels = static_cast<uint64_t>(tile_height) * static_cast<uint64_t>(tile_width);
  if (size > kMostBeside && (size - kMostBeside) / kMostBytesOfPixel > pixels) {
    return deferred("it has more bytes than its pixels can have", offset);
  }
  uint8_t* const data = arena.bytes(size);
  switch (file->read(offset, size, data)) {
    case File::Result::kRead:
      break;
    case File::Result::kEnded:  // it was cut short since
      return ended();
    case File::Result::kFailed:
      return deferred("it cannot be read", offset);
  }
  *bytes = {data, static_cast<size_t>(size)};
  return {};
}

TiledSource::TiledSource(std::shared_ptr<const Tiles> tiles, int64_t y, int64_t x, int height, int width, int channels)
    : tiles_(std::move(tiles)), y_(y), x_(x), height_(height), width_(width), channels_(channels) {
  if (height < 1 || width < 1) fail(ErrorCode::kValue, "a region must have pixels");
  if (channels != 3 && channels != 4) {
    fail(ErrorCode::kValue, "channels must be 3 or 4, got " + std::to_string(channels));
  }
}

View TiledSource::layout() const {
  return {nullptr, height_, width_, channels_, ptrdiff_t{width_} * channels_, channels_, 1};
}

View TiledSource::make(Region wanted, Arena& arena, int scale) {
  if (scale != 1) throw NotDecoded(deferred("scale: tiles are decoded at their own size only", 0));
  const ptrdiff_t row_stride = ptrdiff_t{wanted.width} * channels_;
  uint8_t* const rows = arena.bytes(static_cast<size_t>(row_stride) * static_cast<size_t>(wanted.height));
  fill(wanted, rows, row_stride, channels_);
  return {rows - wanted.y * row_stride - ptrdiff_t{wanted.x} * channels_,
          height_,
          width_,
          channels_,
          row_stride,
          channels_,
          1};
}

void TiledSource::make_all(const Target& target, Arena&) {
  fill({0, 0, height_, width_}, static_cast<uint8_t*>(target.data), target.row_stride,
       static_cast<int>(target.pixel_stride));
}

TiledSource::Span TiledSource::span(int64_t from, int64_t count, int side, int tile) {
  const int64_t begin = std::max<int64_t>(from, 0);
  const int64_t end = std::min<int64_t>(from + count, side);
  if (begin >= end) return {0, 0, 0, 0};
  return {begin, end, begin / tile, (end + tile - 1) / tile};
}

Region TiledSource::made(Region wanted) const {
  const Span down = span(y_ + wanted.y, wanted.height, tiles_->height, tiles_->tile_height);
  const Span across = span(x_ + wanted.x, wanted.width, tiles_->width, tiles_->tile_width);
  if (down.empty() || across.empty()) return {wanted.y, wanted.x, 0, 0};
  // Plans do not see the pixels of a tile outside of the region.
  const auto clipped = [](int64_t at, int64_t side) { return static_cast<int>(std::clamp<int64_t>(at, 0, side)); };
  const int top = clipped(down.first * tiles_->tile_height - y_, height_);
  const int bottom = clipped(down.last * tiles_->tile_height - y_, height_);
  const int left = clipped(across.first * tiles_->tile_width - x_, width_);
  const int right = clipped(across.last * tiles_->tile_width - x_, width_);
  return {top, left, bottom - top, right - left};
}

int64_t TiledSource::bytes() const {
  const Span down = span(y_, height_, tiles_->height, tiles_->tile_height);
  const Span across = span(x_, width_, tiles_->width, tiles_->tile_width);
  uint64_t sum = 0;
  for (int64_t row = down.first; row < down.last; ++row) {
    for (int64_t column = across.first; column < across.last; ++column) {
      sum += tiles_->sizes[static_cast<size_t>(row * tiles_->columns() + column)];
    }
  }
  return static_cast<int64_t>(sum);
}

void TiledSource::fill(Region wanted, uint8_t* rows, ptrdiff_t row_stride, int pixel_stride) const {
  const Tiles& tiles = *tiles_;
  const int64_t top = y_ + wanted.y;
  const int64_t left = x_ + wanted.x;
  const Span down = span(top, wanted.height, tiles.height, tiles.tile_height);
  const Span across = span(left, wanted.width, tiles.width, tiles.tile_width);
  for (int y = 0; y < wanted.height; ++y) {
    uint8_t* const row = rows + y * row_stride;
    if (across.empty() || top + y < down.from || top + y >= down.to) {
      blacken(row, wanted.width, pixel_stride);
      continue;
    }
    blacken(row, across.from - left, pixel_stride);
    blacken(row + (across.to - left) * pixel_stride, left + wanted.width - across.to, pixel_stride);
  }
  if (down.empty() || across.empty()) return;
  const Beside beside = {{tiles.tables.data(), tiles.tables.size()}, tiles.components};
  Arena& arena = tile_arena();
  for (int64_t row = down.first; row < down.last; ++row) {
    const int64_t tile_top = row * tiles.tile_height;
    const int64_t from_y = std::max(down.from, tile_top);
    const int64_t to_y = std::min(down.to, tile_top + tiles.tile_height);
    for (int64_t column = across.first; column < across.last; ++column) {
      const ArenaReset reset{arena};
      const int64_t tile_left = column * tiles.tile_width;
      const int64_t from_x = std::max(across.from, tile_left);
      const int64_t to_x = std::min(across.to, tile_left + tiles.tile_width);
      const auto index = static_cast<size_t>(row * tiles.columns() + column);
      const Region part = {static_cast<int>(from_y - tile_top), static_cast<int>(from_x - tile_left),
                           static_cast<int>(to_y - from_y), static_cast<int>(to_x - from_x)};
      const Region most = {0, 0, tiles.tile_height, tiles.tile_width};
      const Region least = {0, 0, static_cast<int>(std::min<int64_t>(tiles.tile_height, tiles.height - tile_top)),
                            static_cast<int>(std::min<int64_t>(tiles.tile_width, tiles.width - tile_left))};
      uint8_t* const out = rows + (from_y - top) * row_stride + (from_x - left) * pixel_stride;
      Bytes bytes;
      Verdict verdict = tiles.read(index, arena, &bytes);
      if (verdict.done()) {
        verdict = decode_tile(bytes, part, most, least, beside, out, row_stride, pixel_stride, arena);
        if (verdict.done()) continue;
        const size_t within = verdict.offset == Verdict::kNowhere ? 0 : verdict.offset;
        verdict.offset = static_cast<size_t>(tiles.offsets[index]) + within;
      }
      // A tile that nobody is to decode is found again by who looks for it.
      verdict.outcome = Outcome::kDeferred;
      throw NotDecoded(verdict);
    }
  }
}

}  // namespace fastaug::codec
