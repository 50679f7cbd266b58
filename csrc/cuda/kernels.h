// The entry points that a compiler at run time makes kernels of.
#pragma once

#include "cuda/prepare.h"
#include "cuda/tile.h"

namespace fastaug::cuda {

__device__ __forceinline__ void run_task(const uint8_t* __restrict__ blob, uint8_t* scratch, uint32_t tasks) {
  Preparation(blob, scratch, reinterpret_cast<const Task*>(blob + tasks)[blockIdx.x]).run(threadIdx.x, blockDim.x);
}

// A launch over the parts of `entries`, of which there are `count`.
template <class Spec>
__device__ __forceinline__ void run_tile(const uint8_t* __restrict__ blob, uint8_t* scratch, uint32_t entries,
                                         int32_t count) {
  extern __shared__ __align__(16) uint8_t shared[];
  const Entry& entry = entry_of(reinterpret_cast<const Entry*>(blob + entries), count, blockIdx.x);
  const Part& part = *reinterpret_cast<const Part*>(blob + entry.part);
  Tile<Spec> tile(blob, scratch, part, static_cast<int>(blockIdx.x - entry.first_block), shared);
  const int phases = tile.phases();
  for (int phase = 0; phase < phases; ++phase) {
    if (phase != 0) __syncthreads();
    tile.run(phase, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
  }
}

}  // namespace fastaug::cuda
