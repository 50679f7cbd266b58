// Tiles of an image that lie in a file as JPEG streams of their own, as TIFF has them: of a region those are read and
// decoded that it covers, and where the image ends it is black. Strips are tiles as wide as the image.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/pixel_source.h"
#include "codec/codec.h"

namespace fastaug::codec {

// Where the tiles of an image are: from left to right, and from the top down.
struct Tiles {
  std::shared_ptr<const File> file;
  int height = 0;
  int width = 0;
  int tile_height = 0;
  int tile_width = 0;
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> sizes;
  std::vector<uint8_t> tables;
  Components components = Components::kAsMarked;

  // Throws Error where the numbers cannot be those of an image, or do not fit each other.
  void check() const;

  int64_t columns() const { return (int64_t{width} + tile_width - 1) / tile_width; }
  int64_t rows() const { return (int64_t{height} + tile_height - 1) / tile_height; }

  // The bytes of a tile, in memory of the arena. Nothing is allocated for more than the file had when it was opened, or
  // than a stream of so many pixels could be.
  Verdict read(size_t tile, Arena& arena, Bytes* bytes) const;
};

class TiledSource final : public PixelSource {
 public:
  // A region of the image, which may begin and end outside of it.
  TiledSource(std::shared_ptr<const Tiles> tiles, int64_t y, int64_t x, int height, int width, int channels);

  // make() and make_all() throw NotDecoded, whose offset is that of the tile in the file.
  View layout() const override;
  View make(Region wanted, Arena& arena, int scale = 1) override;
  void make_all(const Target& target, Arena& arena) override;
  Region made(Region wanted) const override;
  int64_t bytes() const override;
  const char* name() const override { return "JPEG tiles"; }

 private:
  // The image's size, in pixels and in tiles.
  struct Span {
    int64_t from;
    int64_t to;
    int64_t first;
    int64_t last;  // the one behind the last

    bool empty() const { return from >= to; }
  };
  static Span span(int64_t from, int64_t count, int side, int tile);

  void fill(Region wanted, uint8_t* rows, ptrdiff_t row_stride, int pixel_stride) const;

  const std::shared_ptr<const Tiles> tiles_;
  const int64_t y_;
  const int64_t x_;
  const int height_;
  const int width_;
  const int channels_;
};

}  // namespace fastaug::codec
