// How the kernel table is put together: one function per family of kernels fills that family's members for one
// instruction set. Private to csrc/kernels.
#pragma once

#include "kernels/kernels.h"

namespace fastaug {

// Worst first. kAvx512 is AVX-512 F, BW, CD, DQ and VL; kAvx512Vbmi has VBMI, VBMI2, VNNI, BITALG and VPOPCNTDQ too.
enum class Isa { kScalar, kSse4, kAvx2, kAvx512, kAvx512Vbmi, kNeon };

// The families, and the members of Kernels that each sets.
#define FASTAUG_FAMILIES(X)                                                                                      \
  X(resample)     /* build_row_table, resample_row, resample_column */                                           \
  X(torch_resize) /* torch_resize_rows, widen, torch_resize_column */                                            \
  X(convert)      /* deinterleave, interleave, take, reverse, mix */                                             \
  X(move)         /* reverse_pixels, turn_square */                                                              \
  X(store)        /* prepare_store, store_float, move_floats, narrow, interleave_float, deinterleave_float */    \
  X(unfilter)     /* unfilter */                                                                                 \
  X(jpeg)         /* jpeg_blocks, jpeg_skip, jpeg_band, jpeg_inverse, jpeg_upsample, jpeg_colours, quick_jpeg */ \
  X(affine)       /* affine_nearest, affine_linear, affine_cubic, affine_nearest_pixels */                       \
  X(perspective)  /* perspective_nearest, perspective_linear, perspective_cubic */                               \
  X(grid)         /* grid_nearest, grid_linear, map_grid */                                                      \
  X(pointwise)    /* pointwise, luma_sum, gray_sums, v2_gray_sums */                                             \
  X(float)        /* pointwise_float, pointwise_store */                                                         \
  X(adjust)       /* lookup, solarize, posterize, extremes, histogram, sharpen, torch_sharpen, v2_sharpen */     \
  X(recolour)     /* recolour, gray, gray_pixels, costs */                                                       \
  X(blur)         /* blur_rows, blur_samples, blur_float_rows */                                                 \
  X(box_blur)     /* box_blur_across, box_blur_down */                                                           \
  X(tissue)       /* tissue_row, laplacian_row */

// set_family sets every member for an instruction set that both the build and the machine have; scalar::fill_family
// takes plain C++.
#define FASTAUG_DECLARE(family)               \
  void set_##family(Isa isa, Kernels* table); \
  namespace scalar {                          \
  void fill_##family(Kernels* table);         \
  }
FASTAUG_FAMILIES(FASTAUG_DECLARE)
#undef FASTAUG_DECLARE

}  // namespace fastaug
