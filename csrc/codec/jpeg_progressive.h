// The decoder of progressive JPEGs: all scans are read, and of their coefficients those of a region are kept.
#pragma once

#include "base/arena.h"
#include "codec/codec.h"
#include "codec/jpeg_rows.h"

namespace fastaug::codec::jpeg {

// Like run_sequential().
bool run_progressive(Bytes bytes, const Beside& beside, const Part& part, Arena& arena);

}  // namespace fastaug::codec::jpeg
