// The end of a chain: rows of planes into the caller's memory.
#pragma once

#include "core/image.h"
#include "core/stages.h"

namespace fastaug {

struct StoreOptions {
  bool hflip = false;
  bool vflip = false;
  FloatStore normalize;  // used by float32 targets
};

// Pulls every row of `input`, whose region is the whole result, in order.
void store_rows(Context& context, Stage* input, const Target& target, const StoreOptions& options);

}  // namespace fastaug
