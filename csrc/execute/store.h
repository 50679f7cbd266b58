// The end of a chain: rows of planes into the caller's memory.
#pragma once

#include "base/image.h"
#include "execute/stages/stages.h"
#include "plan/plan.h"

namespace fastaug {

// Ops with a float form that are done on the way into a float target; `means` has one entry per op.
struct FusedOps {
  const Op* ops = nullptr;
  const float* means = nullptr;
  int count = 0;
};

// Pulls every row of `input`, whose region is the whole result, in order.
void store_rows(Context& context, Stage* input, const Target& target, const StorePlan& plan,
                const FusedOps& fused = {});

// Makes a float result of a float32 image: its pixels, moved by `map`, normalised and erased.
void store_floats(Context& context, const View& source, const BlitMap& map, const Target& target,
                  const StorePlan& plan);

}  // namespace fastaug
