// A device without one: the same bodies, block by block, phase by phase, thread by thread, on memory of the host.
#pragma once

#include <cstdint>

#include "cuda/bag.h"

namespace fastaug::cuda {

// In which order the blocks, and the threads of a block, run.
enum Order : int { kForwards = 0, kBackwards = 1 };  // from 2 on: shuffled, by this number

// One launch. Shared memory has the very size of each block's, and is dirty. `scratch` is aligned as on a device.
void emulate(const Launch& launch, const uint8_t* blob, uint8_t* scratch, int order);

// All of a bag, with memory of its own for blob and scratch, dirty as well.
void emulate(const Bag& bag, int order);

}  // namespace fastaug::cuda
