// The chunks of a PNG.
#pragma once

#include "codec/codec.h"

namespace fastaug::codec::png {

constexpr size_t kSignatureSize = 8;

constexpr uint32_t chunk_type(const char (&name)[5]) {
  uint32_t type = 0;
  for (int k = 0; k < 4; ++k) type = type << 8 | static_cast<uint8_t>(name[k]);
  return type;
}

constexpr uint32_t kIhdr = chunk_type("IHDR");
constexpr uint32_t kPlte = chunk_type("PLTE");
constexpr uint32_t kTrns = chunk_type("tRNS");
constexpr uint32_t kIdat = chunk_type("IDAT");
constexpr uint32_t kIend = chunk_type("IEND");

inline uint32_t big_endian_32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

struct Chunk {
  uint32_t type = 0;
  Bytes data;
  size_t at = 0;  // of its data in the file

  // Its type and data are what the checksum behind them says.
  bool sound() const;
};

// From chunk to chunk. One that is not wholly there ends the walk; of IEND its data and checksum may be missing.
class Chunks {
 public:
  // `file` begins with the signature.
  explicit Chunks(Bytes file) : file_(file), next_(kSignatureSize) {}

  bool next(Chunk* chunk);
  // Nothing is left, not even a part of a chunk.
  bool at_end() const { return next_ == file_.size; }

 private:
  Bytes file_;
  size_t next_;
};

// codec.h's, of a PNG.
Header read_header(Bytes bytes);

// IHDR's data, of 13 bytes. False when it announces what is not decoded here.
bool parse_ihdr(Bytes data, Header* header);

// Bits of a pixel.
inline int pixel_bits(const Header& header) { return header.channels * header.bits; }

// Sizes of a file of this header: rows, each with the type of its filter. Zero when they are not to be handled.
size_t row_size(const Header& header);
size_t filtered_size(const Header& header);

// Where the compressed rows are.
struct Layout {
  Chunk first;         // the first IDAT
  size_t count = 0;    // of IDATs, which follow one another
  size_t size = 0;     // of their data
  bool ended = false;  // there is an IEND
  // Of a file of indices.
  Bytes colours;  // 3 bytes each, of 256 at most
  Bytes alphas;   // of the first colours; their data are null where there are none
};

// False unless the chunks are those of a file of this header, whole, and could hold its pixels.
bool find_layout(Bytes file, const Header& header, Layout* layout);

}  // namespace fastaug::codec::png
