// Mutations of files that are made of chunks, whose sizes and checksums stay true: with random ones, little behind the
// first chunk would ever be reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "fuzz/fuzz.h"

namespace fastaug::fuzz {

using Data = std::vector<uint8_t>;

struct Chunk {
  uint8_t type[4];
  Data data;
};

inline void mutate(Data* data) {
  const size_t size = data->size();
  data->resize(size + 64);
  data->resize(LLVMFuzzerMutate(data->data(), size, size + 64));
}

// A number below `count`.
using Below = std::function<size_t(size_t count)>;

// LLVMFuzzerCustomMutator() for a format. chunks_of(data, size) and file_of(chunks) are inverse; inside(chunks, below)
// changes what one chunk or several hold.
template <class ChunksOf, class FileOf, class Inside>
size_t mutate_chunks(uint8_t* data, size_t size, size_t most, unsigned int seed, const ChunksOf& chunks_of,
                     const FileOf& file_of, const Inside& inside) {
  std::mt19937 random(seed);
  const Below below = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  const size_t kind = below(8);
  std::vector<Chunk> chunks;
  if (kind > 0) chunks = chunks_of(data, size);
  if (chunks.empty()) return LLVMFuzzerMutate(data, size, most);
  const size_t k = below(chunks.size());
  const size_t other = below(chunks.size());
  switch (kind) {
    case 1:
      std::swap(chunks[k], chunks[other]);
      break;
    case 2:
      chunks.insert(chunks.begin() + static_cast<ptrdiff_t>(other), Chunk(chunks[k]));
      break;
    case 3:
      chunks.erase(chunks.begin() + static_cast<ptrdiff_t>(k));
      break;
    default:
      inside(&chunks, below);
  }
  const Data file = file_of(chunks);
  const size_t length = std::min(file.size(), most);
  std::copy_n(file.data(), length, data);
  return length;
}

}  // namespace fastaug::fuzz
