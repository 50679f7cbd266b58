// Marks functions that GPUs run too.
#pragma once

#ifdef __CUDACC__
#define FASTAUG_HOST_DEVICE __host__ __device__
#else
#define FASTAUG_HOST_DEVICE
#endif
