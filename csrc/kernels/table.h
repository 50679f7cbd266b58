// How the kernel table is put together: one function per family of kernels fills that family's members for one
// instruction set. Private to csrc/kernels.
#pragma once

#include "kernels/kernels.h"

namespace fastaug {

// Worst first. kAvx512 is AVX-512 F, BW, CD, DQ and VL; kAvx512Vbmi has VBMI, VBMI2, VNNI, BITALG and VPOPCNTDQ too.
enum class Isa { kScalar, kSse4, kAvx2, kAvx512, kAvx512Vbmi, kNeon };

// Each is called only for an instruction set that both the build and the machine have, and sets every member of its
// family.

// build_row_table, resample_row, resample_column
void set_resample(Isa isa, Kernels* table);
// torch_resize_rows, widen, torch_resize_column
void set_torch_resize(Isa isa, Kernels* table);
// deinterleave, interleave, take, reverse, mix
void set_convert(Isa isa, Kernels* table);
// reverse_pixels, turn_square
void set_move(Isa isa, Kernels* table);
// prepare_store, store_float, move_floats, narrow, interleave_float, deinterleave_float
void set_store(Isa isa, Kernels* table);
// unfilter
void set_unfilter(Isa isa, Kernels* table);
// jpeg_blocks, jpeg_skip, jpeg_band, jpeg_inverse, jpeg_upsample, jpeg_colours, quick_jpeg
void set_jpeg(Isa isa, Kernels* table);
// affine_nearest, affine_linear, affine_cubic, affine_nearest_pixels
void set_affine(Isa isa, Kernels* table);
// perspective_nearest, perspective_linear, perspective_cubic
void set_perspective(Isa isa, Kernels* table);
// grid_nearest, grid_linear, map_grid
void set_grid(Isa isa, Kernels* table);
// pointwise, luma_sum, gray_sums, v2_gray_sums
void set_pointwise(Isa isa, Kernels* table);
// pointwise_float, pointwise_store
void set_float(Isa isa, Kernels* table);
// lookup, solarize, posterize, extremes, histogram, sharpen, torch_sharpen, v2_sharpen
void set_adjust(Isa isa, Kernels* table);
// recolour, gray, gray_pixels, costs
void set_recolour(Isa isa, Kernels* table);
// blur_rows, blur_samples, blur_float_rows
void set_blur(Isa isa, Kernels* table);
// box_blur_across, box_blur_down
void set_box_blur(Isa isa, Kernels* table);
// tissue_row, laplacian_row
void set_tissue(Isa isa, Kernels* table);

namespace scalar {

// Plain C++.
void fill_resample(Kernels* table);
void fill_torch_resize(Kernels* table);
void fill_convert(Kernels* table);
void fill_move(Kernels* table);
void fill_store(Kernels* table);
void fill_unfilter(Kernels* table);
void fill_jpeg(Kernels* table);
void fill_affine(Kernels* table);
void fill_perspective(Kernels* table);
void fill_grid(Kernels* table);
void fill_pointwise(Kernels* table);
void fill_float(Kernels* table);
void fill_adjust(Kernels* table);
void fill_recolour(Kernels* table);
void fill_blur(Kernels* table);
void fill_box_blur(Kernels* table);
void fill_tissue(Kernels* table);

}  // namespace scalar

}  // namespace fastaug
