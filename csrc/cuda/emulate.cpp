#include "cuda/emulate.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "cuda/prepare.h"
#include "cuda/tile.h"

namespace fastaug::cuda {
namespace {

constexpr int kDirt = 0xa5;

class Sequence {
 public:
  Sequence(int64_t count, int order)
      : all_(static_cast<size_t>(count)), order_(order), random_(static_cast<unsigned>(order)) {
    std::iota(all_.begin(), all_.end(), int64_t{0});
    if (order_ == kBackwards) std::reverse(all_.begin(), all_.end());
  }

  const std::vector<int64_t>& next() {
    if (order_ > kBackwards) std::shuffle(all_.begin(), all_.end(), random_);
    return all_;
  }

 private:
  std::vector<int64_t> all_;
  int order_;
  std::minstd_rand random_;
};

constexpr std::align_val_t kAlign{256};

struct Free {
  void operator()(uint8_t* p) const { ::operator delete(p, kAlign); }
};
using Block = std::unique_ptr<uint8_t, Free>;

// Has the exact size, so that AddressSanitizer reports accesses outside.
Block dirty(size_t bytes) {
  Block block(static_cast<uint8_t*>(::operator new(bytes, kAlign)));
  std::memset(block.get(), kDirt, bytes);
  return block;
}

}  // namespace

void emulate(const Launch& launch, const uint8_t* blob, uint8_t* scratch, int order) {
  Sequence blocks(launch.blocks, order);
  Sequence threads(kThreads, order);
  for (const int64_t block : blocks.next()) {
    if (launch.kernel < 0) {
      const Preparation task(blob, scratch, reinterpret_cast<const Task*>(blob + launch.offset)[block]);
      for (const int64_t thread : threads.next()) task.run(static_cast<int>(thread), kThreads);
      continue;
    }
    const Entry& entry = entry_of(reinterpret_cast<const Entry*>(blob + launch.offset), launch.count, block);
    const Part& part = *reinterpret_cast<const Part*>(blob + entry.part);
    const auto shared = std::make_unique<uint64_t[]>((part.shared + 7) / 8);
    std::memset(shared.get(), kDirt, part.shared);
    Tile<Anything> tile(blob, scratch, part, static_cast<int>(block - entry.first_block),
                        reinterpret_cast<uint8_t*>(shared.get()));
    for (int phase = 0; phase < tile.phases(); ++phase) {
      for (const int64_t thread : threads.next()) tile.run(phase, static_cast<int>(thread), kThreads);
    }
  }
}

void emulate(const Bag& bag, int order) {
  const Block blob = dirty(bag.blob().size());
  std::copy(bag.blob().begin(), bag.blob().end(), blob.get());
  const Block scratch = dirty(static_cast<size_t>(bag.scratch_bytes()));
  for (const Launch& launch : bag.launches()) emulate(launch, blob.get(), scratch.get(), order);
}

}  // namespace fastaug::cuda
