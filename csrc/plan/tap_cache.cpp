#include "plan/tap_cache.h"

#include <array>

namespace fastaug {
namespace {

// A table of taps whose first samples become relative to source_begin.
template <class Table, class AnyTaps>
std::shared_ptr<Table> axis_table_of(AnyTaps taps) {
  auto table = std::make_shared<Table>();
  table->taps = std::move(taps);
  AnyTaps& own = table->taps;
  table->source_begin = own.first[0];
  for (int k = 0; k < own.out; ++k) {
    table->source_begin = std::min(table->source_begin, own.first[k]);
    table->source_end = std::max(table->source_end, own.first[k] + own.count[k]);
  }
  for (int32_t& first : own.first) first -= table->source_begin;
  return table;
}

}  // namespace

std::shared_ptr<const AxisTable> make_axis_table(const Kernels& kernels, bool row, Taps taps) {
  auto table = axis_table_of<AxisTable>(std::move(taps));
  if (row) {
    kernels.build_row_table(table->taps, &table->row);
    kernels.build_pixel_table(table->taps, table->row, &table->pixels);
  }
  return table;
}

std::shared_ptr<const AxisTable> axis_table(const Kernels& kernels, bool row, Filter filter, int in_size, int out_size,
                                            int begin, int out) {
  thread_local TableCache<std::array<int, 6>> cache;
  const std::array<int, 6> key = {static_cast<int>(filter), in_size, out_size, begin, out, row ? 1 : 0};
  return cache.get(kernels, key,
                   [&] { return make_axis_table(kernels, row, make_taps(filter, in_size, out_size, begin, out)); });
}

std::shared_ptr<const FloatAxisTable> float_axis_table(const Kernels& kernels, Filter filter, int in_size, int out_size,
                                                       int begin, int out) {
  thread_local TableCache<std::array<int, 5>, FloatAxisTable> cache;
  const std::array<int, 5> key = {static_cast<int>(filter), in_size, out_size, begin, out};
  return cache.get(kernels, key, [&] {
    return axis_table_of<FloatAxisTable>(make_torch_taps(filter, in_size, out_size, begin, out));
  });
}

}  // namespace fastaug
