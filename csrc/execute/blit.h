// Programs that only move pixels: crops, padding, flips, quarter turns, nearest resizes. They need no planes; whole
// pixels go straight from the source to the target, through one table of source rows and one of source columns.
#pragma once

#include "base/image.h"
#include "kernels/kernels.h"
#include "plan/rewrite.h"

namespace fastaug {

// Whether all ops are moves.
bool only_moves(const OpList& ops);

// Runs the program and returns true, if all of its ops are moves and source and target keep a pixel in the same way:
// planes, or 2 to 4 interleaved bytes. Else touches nothing and returns false.
bool execute_moves(const OpList& ops, const View& source, const Target& target, const Kernels& kernels);

// A program of one nearest AFFINE between images of four-byte pixels moves those whole, too. Returns false, having done
// nothing, when this is another program or the images lie otherwise.
bool execute_nearest_warp(const OpList& ops, const View& source, const Target& target, const Kernels& kernels);

}  // namespace fastaug
