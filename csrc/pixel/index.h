// Which input sample of an axis an op shows at each place of its output.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace fastaug {

// Index tables for the whole output axis.
std::vector<int32_t> nearest_index(NearestRule rule, int in_size, int out_size);
std::vector<int32_t> pad_index(PadMode mode, int in_size, int before, int after);

}  // namespace fastaug
