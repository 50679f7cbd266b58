#include "execute/materialise.h"

#include <algorithm>

#include "pixel/index.h"

namespace fastaug {

View materialise(Context& context, Stage* chain, Layout layout, Reduction* reduction) {
  const int height = chain->region.height;
  const int width = chain->region.width;
  const int channels = chain->channels;
  const bool planar = layout == Layout::kPlanar;
  const auto plane = static_cast<ptrdiff_t>((static_cast<size_t>(width) + kRowPad + 63) & ~size_t{63});
  View view{nullptr, height, width, channels, 0, 0, 0};
  view.pixel_stride = planar ? 1 : 4;
  view.channel_stride = planar ? plane : 1;
  view.row_stride = planar ? plane * channels : ptrdiff_t{width} * 4;
  Planes planes = make_planes(context.arena, width);
  uint8_t* data = context.arena.bytes(static_cast<size_t>(view.row_stride) * static_cast<size_t>(height));
  view.data = data;
  for (int y = 0; y < height; ++y, data += view.row_stride) {
    if (planar) {
      for (int c = 0; c < channels; ++c) planes.row[c] = data + c * plane;
    }
    chain->row(chain->region.y + y, planes);
    if (reduction != nullptr) reduction->add(planes.row);
    if (!planar) context.kernels.interleave(planes.row, channels, 4, width, data);
  }
  return view;
}

View materialise_turned(Context& context, Stage* chain, bool counter_clockwise) {
  const int height = chain->region.height;
  const int width = chain->region.width;
  const int channels = chain->channels;
  const auto stride = static_cast<ptrdiff_t>((static_cast<size_t>(height) + 63) & ~size_t{63});
  View view{nullptr, width, height, channels, stride * channels, 1, stride};
  uint8_t* data = context.arena.bytes(static_cast<size_t>(view.row_stride) * static_cast<size_t>(width));
  view.data = data;
  // Rows are turned in bands, so that the columns that come of them are written in runs.
  constexpr int kBand = 32;
  Planes band[kBand];
  for (Planes& planes : band) planes = make_planes(context.arena, width);
  // Row y and column x of the chain become column and row of the view.
  const int back = counter_clockwise ? 3 : 1;
  const auto column_of = [&](int y) { return before_turn(back, y, 0, width, height).x; };
  const auto row_of = [&](int x) { return before_turn(back, 0, x, width, height).y; };
  for (int y = 0; y < height; y += kBand) {
    const int rows = std::min(kBand, height - y);
    const int column = std::min(column_of(y), column_of(y + rows - 1));
    for (int j = 0; j < rows; ++j) chain->row(chain->region.y + y + j, band[column_of(y + j) - column]);
    for (int c = 0; c < channels; ++c) {
      for (int x = 0; x < width; ++x) {
        uint8_t* out = data + row_of(x) * view.row_stride + c * view.channel_stride + column;
        for (int j = 0; j < rows; ++j) out[j] = band[j].row[c][x];
      }
    }
  }
  return view;
}

}  // namespace fastaug
