// A block makes a tile of what a part of an image shows, in phases with a barrier between them: what the block shares
// is prepared; pixels are read, or warped; each step makes pixels of those before it, which lie in shared memory as
// bytes, channel beside channel; colours follow each; the last ones are stored. A body is a function of (part, tile,
// thread): a device runs it for all threads at once, the emulation for one after the other.
//
// Spec names the features that can occur; only these are compiled. Each layer of the class has a file in cuda/tile.
#pragma once

#include "cuda/tile/step.h"

namespace fastaug::cuda {

template <class Spec>
class Tile : protected TileStep<Spec> {
  using Base = TileStep<Spec>;

 public:
  using Base::Base;

  FASTAUG_FN int phases() const { return 1 + stages() + (takes_statistics() ? 1 : 0); }

  FASTAUG_FN void run(int phase, int thread, int threads) {
    if (phase == 0) return prepare(thread, threads);
    if (phase <= stages()) return make(phase - 1, thread, threads);
    give(thread, threads);
  }

 private:
  using Base::p_, Base::give, Base::has_flag, Base::histogram, Base::is, Base::make, Base::own, Base::stages,
      Base::takes_statistics, Base::work_out;

  FASTAUG_FN void prepare(int thread, int threads) {
    if (thread < p_.colours) work_out(thread);
    if (!takes_statistics()) return;
    if (thread == 0) own().sum = 0;
    if (thread < kMaxChannels) {
      own().low[thread] = 255;
      own().high[thread] = 0;
    }
    if (has_flag(kHasHistogram) && is(kHistogram)) {
      for (int k = thread; k < kMaxChannels * 256; k += threads) histogram()[k] = 0;
    }
  }
};

// The last of `count` entries that begins at or before this block.
FASTAUG_FN const Entry& entry_of(const Entry* entries, int count, int64_t block) {
  int low = 0;
  for (int high = count; high - low > 1;) {
    const int middle = (low + high) / 2;
    if (entries[middle].first_block <= block) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return entries[low];
}

}  // namespace fastaug::cuda
