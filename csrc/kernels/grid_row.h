// Code that scalar and vector grid kernels share, independent of the instruction set. Private to csrc/kernels.
#pragma once

#include "kernels/warp_row.h"
#include "pixel/grid.h"

namespace fastaug {

// Samples of the span, one by one; and a whole row of a grid. Defined in scalar_grid.cpp.
void grid_nearest_span(const GridRow& row, Span span, uint8_t* const* dst);
void grid_linear_span(const GridRow& row, Span span, uint8_t* const* dst);
void map_grid_row(const MapRow& row, float* grid);

}  // namespace fastaug
