// WebP files.
#include <algorithm>
#include <vector>

#include "codec/codec.h"
#include "fuzz/chunks.h"
#include "fuzz/codec_checks.h"
#include "fuzz/fuzz.h"

using namespace fastaug;

namespace {

constexpr size_t kHeader = 12;

using fuzz::Chunk;
using fuzz::Data;

uint32_t read_32(const uint8_t* p) { return uint32_t{p[3]} << 24 | uint32_t{p[2]} << 16 | uint32_t{p[1]} << 8 | p[0]; }

void append_32(size_t value, Data* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<uint8_t>(value >> shift));
}

std::vector<Chunk> chunks_of(const uint8_t* data, size_t size) {
  std::vector<Chunk> chunks;
  for (size_t at = kHeader; at + 8 <= size;) {
    const size_t length = std::min<size_t>(read_32(data + at + 4), size - at - 8);
    Chunk chunk;
    std::copy_n(data + at, 4, chunk.type);
    chunk.data.assign(data + at + 8, data + at + 8 + length);
    chunks.push_back(std::move(chunk));
    at += 8 + length + length % 2;
  }
  return chunks;
}

Data file_of(const std::vector<Chunk>& chunks) {
  Data body;
  for (const Chunk& chunk : chunks) {
    body.insert(body.end(), chunk.type, chunk.type + 4);
    append_32(chunk.data.size(), &body);
    body.insert(body.end(), chunk.data.begin(), chunk.data.end());
    if (chunk.data.size() % 2 == 1) body.push_back(0);
  }
  Data file = {'R', 'I', 'F', 'F'};
  append_32(body.size() + 4, &file);
  for (const char letter : {'W', 'E', 'B', 'P'}) file.push_back(static_cast<uint8_t>(letter));
  file.insert(file.end(), body.begin(), body.end());
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::check_file({data, size}, codec::Format::kWebp);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  return fuzz::mutate_chunks(data, size, most, seed, chunks_of, file_of,
                             [](std::vector<Chunk>* chunks, const fuzz::Below& below) {
                               fuzz::mutate(&(*chunks)[below(chunks->size())].data);
                             });
}
