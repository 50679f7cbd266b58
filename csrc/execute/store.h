// The end of a chain: rows of planes into the caller's memory.
#pragma once

#include <vector>

#include "base/image.h"
#include "execute/stages/stages.h"

namespace fastaug {

// Pixels of the result, as it lies in the target, that become `value`.
struct Erase {
  Region region;
  float value[kMaxChannels] = {};
};

struct StoreOptions {
  bool hflip = false;
  bool vflip = false;

  // Of float targets alone.
  FloatStore normalize;
  std::vector<Erase> erases;  // one after the other, when all rows are stored

  // Fast mode: a last run of ops of kFloatForm, done on the way into the target, whose channels are those that
  // come out. `means` has one entry per op.
  bool fused = false;
  const Op* ops = nullptr;
  const float* means = nullptr;
  int count = 0;
};

// Pulls every row of `input`, whose region is the whole result, in order.
void store_rows(Context& context, Stage* input, const Target& target, const StoreOptions& options);

}  // namespace fastaug
