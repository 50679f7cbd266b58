// Filter tables that outlive a run. A loader resizes to the same sizes over and over, and building the taps of one axis
// costs as much as filtering a few dozen rows with them.
#pragma once

#include <memory>

#include "core/program.h"
#include "simd/kernels.h"

namespace fastaug {

struct AxisTable {
  Taps taps;
  int source_begin = 0;  // first source sample that any tap reads; taps.first is relative to it
  int source_end = 0;
  RowTable row;  // built when asked for a row table
};

// Taps for outputs [begin, begin + out) of an axis, from this thread's cache.
std::shared_ptr<const AxisTable> axis_table(const Kernels& kernels, bool row, Filter filter, int in_size, int out_size,
                                            int begin, int out);

}  // namespace fastaug
