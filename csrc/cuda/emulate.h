// An emulated device: the same bodies, block by block, phase by phase, thread by thread, on memory of the host.
#pragma once

#include <cstdint>

#include "cuda/bag.h"

namespace fastaug::cuda {

// The order in which blocks, and the threads of a block, run.
enum Order : int { kForwards = 0, kBackwards = 1 };  // from 2 on: shuffled, by this number

// Runs one launch. Shared memory has the exact size of each block's, and is dirty. `scratch` is aligned as on a device.
void emulate(const Launch& launch, const uint8_t* blob, uint8_t* scratch, int order);

// Runs all of a bag, with its own memory for blob and scratch, also dirty.
void emulate(const Bag& bag, int order);

}  // namespace fastaug::cuda
