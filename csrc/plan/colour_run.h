// Which ops on samples and pixels one pass does best.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "plan/rewrite.h"

namespace fastaug {

// True when the cheap ops of a run are done one by one, rather than as a table.
bool goes_one_by_one(const Step* ops, int count, const ColourCosts& costs);

// The ops from ops[0] on, which is pointwise or a reduction, that one pass does best: by tables, or one after the
// other. Some of the first `count`; `samples`: how many samples go through.
struct ColourRun {
  int count;
  bool tables;
};
ColourRun colour_run(const Step* ops, int count, int64_t samples, uint32_t rewrites, const ColourCosts& costs);

// True if Kernels::recolour does a run of pointwise ops well, on an image that lies like `source`.
bool recolours_straight(const Step* ops, int count, const View& source, uint32_t rewrites, const ColourCosts& costs);

// True if Kernels::gray or gray_pixels does it.
bool grays_straight(const Step* ops, int count, const View& source, const Target& target);

}  // namespace fastaug
