// PNG files.
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "codec/codec.h"
#include "fuzz/chunks.h"
#include "fuzz/codec_checks.h"
#include "fuzz/fuzz.h"

using namespace fastaug;

namespace {

constexpr size_t kSignature = 8;
constexpr size_t kMostRaw = size_t{1} << 18;

using fuzz::Chunk;
using fuzz::Data;

uint32_t read_32(const uint8_t* p) { return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3]; }

void append_32(uint32_t value, Data* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<uint8_t>(value >> shift));
}

std::vector<Chunk> chunks_of(const uint8_t* data, size_t size) {
  std::vector<Chunk> chunks;
  for (size_t at = kSignature; at + 12 <= size;) {
    const size_t length = std::min<size_t>(read_32(data + at), size - at - 12);
    Chunk chunk;
    std::copy_n(data + at + 4, 4, chunk.type);
    chunk.data.assign(data + at + 8, data + at + 8 + length);
    chunks.push_back(std::move(chunk));
    at += length + 12;
  }
  return chunks;
}

Data file_of(const std::vector<Chunk>& chunks, const uint8_t* signature) {
  Data file(signature, signature + kSignature);
  for (const Chunk& chunk : chunks) {
    append_32(static_cast<uint32_t>(chunk.data.size()), &file);
    const size_t begin = file.size();
    file.insert(file.end(), chunk.type, chunk.type + 4);
    file.insert(file.end(), chunk.data.begin(), chunk.data.end());
    append_32(libdeflate_crc32(0, file.data() + begin, file.size() - begin), &file);
  }
  return file;
}

bool is_idat(const Chunk& chunk) { return std::memcmp(chunk.type, "IDAT", 4) == 0; }

// Changes the filtered rows: filter types, samples, how many there are. False when they cannot be inflated.
bool mutate_rows(std::vector<Chunk>* chunks, size_t pieces) {
  Data packed;
  for (const Chunk& chunk : *chunks) {
    if (is_idat(chunk)) packed.insert(packed.end(), chunk.data.begin(), chunk.data.end());
  }
  Data rows(kMostRaw);
  size_t count = 0;
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (libdeflate_zlib_decompress(inflater.get(), packed.data(), packed.size(), rows.data(), rows.size(), &count) !=
      LIBDEFLATE_SUCCESS) {
    return false;
  }
  rows.resize(count);
  fuzz::mutate(&rows);
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> deflater(
      libdeflate_alloc_compressor(static_cast<int>(pieces % 7)), libdeflate_free_compressor);
  packed.resize(libdeflate_zlib_compress_bound(deflater.get(), rows.size()));
  packed.resize(libdeflate_zlib_compress(deflater.get(), rows.data(), rows.size(), packed.data(), packed.size()));
  const auto first = std::find_if(chunks->begin(), chunks->end(), is_idat);
  const auto place = first - chunks->begin();
  std::erase_if(*chunks, is_idat);
  const size_t length = packed.size() / pieces + 1;
  std::vector<Chunk> parts;
  for (size_t at = 0; at < packed.size(); at += length) {
    Chunk part = {{'I', 'D', 'A', 'T'}, {}};
    const auto begin = packed.begin() + static_cast<ptrdiff_t>(at);
    part.data.assign(begin, begin + static_cast<ptrdiff_t>(std::min(length, packed.size() - at)));
    parts.push_back(std::move(part));
  }
  chunks->insert(chunks->begin() + place, parts.begin(), parts.end());
  return true;
}

// The last row takes all rows before it, so that it is made where all are, and only there.
void check_last_row(codec::Bytes file) {
  const codec::Header header = codec::read_header(file);
  if (!header.native || int64_t{header.height} * header.width > 1 << 20) return;
  const auto makes = [&](Region region) {
    Arena arena;
    return codec::decode(file, header, {region, kMaxChannels}, arena).verdict.done();
  };
  fuzz::require(makes({header.height - 1, 0, 1, header.width}) == makes({0, 0, header.height, header.width}),
                "a row is made of sound rows above it only");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::check_file({data, size}, codec::Format::kPng);
  check_last_row({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  if (size <= kSignature) return LLVMFuzzerMutate(data, size, most);
  const auto inside = [](std::vector<Chunk>* chunks, const fuzz::Below& below) {
    const size_t kind = below(4);
    if (kind < 2 && mutate_rows(chunks, 1 + below(4))) return;
    fuzz::mutate(&(*chunks)[kind == 3 ? 0 : below(chunks->size())].data);
  };
  const auto written = [&](const std::vector<Chunk>& chunks) { return file_of(chunks, data); };
  return fuzz::mutate_chunks(data, size, most, seed, chunks_of, written, inside);
}
