// The rules of pixel/index.h for whole axes.
#pragma once

#include <cstdint>
#include <vector>

#include "program/op.h"

namespace fastaug {

std::vector<int32_t> nearest_index(NearestRule rule, int in_size, int out_size);
std::vector<int32_t> pad_index(PadMode mode, int in_size, int before, int after);

}  // namespace fastaug
