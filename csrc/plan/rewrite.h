// Rewrites of a program. Each is one function with a bit in Rewrites, so that it can be switched off and tested alone;
// optimise() applies those that change the list of ops until none finds anything more. All but the last three keep
// every bit of the result. docs/notes/design/rewrites.md has a paragraph on each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace fastaug {

// An op, and the ops of the program as it was written that it stands for: bit k is op k.
struct Step : Op {
  uint64_t origin = 0;

  bool operator==(const Step&) const = default;
};

using OpList = std::vector<Step>;

enum Rewrites : uint32_t {
  kDropNoOps = 1 << 0,         // identity windows, resizes and blends; pairs of equal flips
  kMergeWindows = 1 << 1,      // a window of a window becomes one
  kSinkFlips = 1 << 2,         // flips move behind windows, paddings, turns and pointwise ops, at last into the store
  kMovePixels = 1 << 3,        // a program of moves alone goes without planes (moves.h)
  kMergeTurns = 1 << 4,        // quarter turns and flips become at most one turn and two flips
  kHoistWindows = 1 << 5,      // a window inside moves before what computes each pixel for itself, and before turns
  kComposeTables = 1 << 6,     // several tables become one, where that is cheaper
  kPreimage = 1 << 7,          // before a warp, only what it will read is computed
  kStraightenWarps = 1 << 8,   // a warp that moves by whole pixels becomes a window
  kMergeColours = 1 << 9,      // ops on samples that undo or contain their neighbours become one or none
  kSinkReplicas = 1 << 10,     // one channel is copied to several as late as possible
  kShrinkPointwise = 1 << 11,  // pointwise ops go to the smaller side of NEAREST, LUMA before turns
  kRecolourPixels = 1 << 12,   // ops on samples at the end go straight from the source to a target that lies alike
  kExactRewrites = (1 << 13) - 1,

  kComposeTaps = 1 << 16,  // a chain of resizes, crops, paddings and flips is filtered once, with composed taps
  kRoundWarps = 1 << 17,   // warps in float32, rounded to nearest where Pillow truncates
  kFloatColour = 1 << 18,  // colour unrounded from op to op, and into the store; hue as in real HSV
  kFastRewrites = kExactRewrites | kComposeTaps | kRoundWarps | kFloatColour,
};

// True if these are fast mode's, which has a contract: one of them alone has none. A device composes no taps.
constexpr bool is_fast(uint32_t rewrites) {
  constexpr uint32_t kBoth = kRoundWarps | kFloatColour;
  return (rewrites & kBoth) == kBoth;
}

// Each returns how many places it changed. `in` is the shape that enters the program.
int drop_no_ops(OpList& ops, Shape in);
int merge_windows(OpList& ops, Shape in);
int sink_flips(OpList& ops, Shape in);
int merge_turns(OpList& ops, Shape in);
int hoist_windows(OpList& ops, Shape in);
int straighten_warps(OpList& ops, Shape in);
int merge_colours(OpList& ops, Shape in);
int sink_replicas(OpList& ops, Shape in);
int shrink_pointwise(OpList& ops, Shape in);

struct NamedRewrite {
  const char* name;  // "drop_no_ops"
  uint32_t bit;
};
std::span<const NamedRewrite> named_rewrites();

// First ROT90 by 180 degrees becomes two flips, always: the executor knows only quarter turns.
OpList optimise(Program program, Shape in, uint32_t rewrites = kExactRewrites);

}  // namespace fastaug
