// Programs that only move pixels: crops, padding, flips, quarter turns, nearest resizes. They need no planes; whole
// pixels go straight from the source to the target.
#pragma once

#include "base/image.h"
#include "kernels/kernels.h"
#include "plan/blit_map.h"

namespace fastaug {

// Moves the pixels of an image for which is_blit() holds; `map` is that of `ops`, whose fills it shows.
void blit(const BlitMap& map, const OpList& ops, const View& source, const Target& target, const Kernels& kernels);

// One nearest AFFINE between images of four-byte pixels moves those whole, too; the source is in reach of `kernels`.
void blit_warped(const Op& op, const View& source, const Target& target, const Kernels& kernels);

}  // namespace fastaug
