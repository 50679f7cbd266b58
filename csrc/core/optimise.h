// Rewrites of a program that keep every bit of its result. Each is one function with a bit in Rewrites, so that it can
// be switched off and tested alone; optimise() applies them until none finds anything more.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program.h"

namespace fastaug {

using OpList = std::vector<Op>;

enum Rewrites : uint32_t {
  kDropNoOps = 1,     // identity windows, resizes and blends; pairs of equal flips
  kMergeWindows = 2,  // a window of a window becomes one
  kSinkFlips = 4,     // flips move behind windows and pointwise ops, at last into the store
  kMovePixels = 8,    // a program of moves alone goes without planes (moves.h)
  kAllRewrites = 15,
};

// Each returns how many places it changed. `in` is the shape that enters the program.
int drop_no_ops(OpList& ops, Shape in);
int merge_windows(OpList& ops, Shape in);
int sink_flips(OpList& ops, Shape in);

// First ROT90 by 180 degrees becomes two flips, always: the executor knows only quarter turns.
OpList optimise(Program program, Shape in, uint32_t rewrites = kAllRewrites);

}  // namespace fastaug
