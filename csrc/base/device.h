// Marks functions that GPUs run too, and tables that they read.
#pragma once

#ifdef __CUDACC__
#define FASTAUG_HOST_DEVICE __host__ __device__
// Tables of numbers at namespace scope.
#define FASTAUG_TABLE __device__ const
#else
#define FASTAUG_HOST_DEVICE
#define FASTAUG_TABLE inline constexpr
#endif
