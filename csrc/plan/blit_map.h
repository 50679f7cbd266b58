// Programs that only move whole pixels, as two tables: the source row of every output row and the source column of
// every output column.
#pragma once

#include <cstdint>
#include <vector>

#include "base/image.h"
#include "plan/rewrite.h"

namespace fastaug {

// Where the pixels of one output axis come from. A negative entry -1 - k is the fill of op k; of two, the later op's
// fill is what shows, because it was drawn over the earlier one's.
using BlitIndex = std::vector<int32_t>;

// Both axes of the output, in source coordinates.
struct BlitMap {
  BlitIndex down;           // one entry per output row
  BlitIndex across;         // one per output column
  bool transposed = false;  // `down` counts source columns and `across` source rows

  bool operator==(const BlitMap&) const = default;
};

// True if all ops are moves.
bool only_moves(const OpList& ops);

// The map of a program of moves.
BlitMap blit_map(const OpList& ops, Shape in);

// True if whole pixels can be moved from one image to the other: planes, or 2 to 4 interleaved bytes on both sides.
bool is_blit(const View& source, const Target& target);

}  // namespace fastaug
