// Plain C++ twins of the grid kernels, from the bodies in pixel/grid.h.
#include "kernels/grid_row.h"
#include "kernels/table.h"

namespace fastaug {
namespace {

using Body = void (*)(const WarpSource&, float, float, GridFill, uint8_t*);

template <int kChannels, Body body>
void body_span(const GridRow& row, Span span, uint8_t* const* dst) {
  const WarpSource source = warp_source(row.source);
  const GridFill outside = {row.filling, row.fill};
  uint8_t pixel[kChannels];
  for (int x = span.begin; x < span.end; ++x) {
    body(source, row.grid[2 * x], row.grid[2 * x + 1], outside, pixel);
    put_pixel<kChannels>(pixel, dst, x);
  }
}

template <int kChannels>
void nearest_span(const GridRow& row, Span span, uint8_t* const* dst) {
  body_span<kChannels, grid_nearest_pixel<kChannels>>(row, span, dst);
}

template <int kChannels>
void linear_span(const GridRow& row, Span span, uint8_t* const* dst) {
  body_span<kChannels, grid_linear_pixel<kChannels>>(row, span, dst);
}

}  // namespace

void grid_nearest_span(const GridRow& row, Span span, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, nearest_span, row, span, dst)
}

void grid_linear_span(const GridRow& row, Span span, uint8_t* const* dst) {
  FASTAUG_BY_CHANNELS(row.source.channels, linear_span, row, span, dst)
}

void map_grid_row(const MapRow& row, float* grid) {
  for (int k = 0; k < row.width; ++k) {
    const GridPoint at = grid_point(row.map, row.x + k, row.y);
    grid[2 * k] = at.x;
    grid[2 * k + 1] = at.y;
  }
}

namespace scalar {

void fill_grid(Kernels* table) {
  table->grid_nearest = [](const GridRow& row, uint8_t* const* dst) { grid_nearest_span(row, {0, row.width}, dst); };
  table->grid_linear = [](const GridRow& row, uint8_t* const* dst) { grid_linear_span(row, {0, row.width}, dst); };
  table->map_grid = map_grid_row;
}

}  // namespace scalar
}  // namespace fastaug
