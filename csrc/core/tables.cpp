#include "core/tables.h"

#include <algorithm>
#include <array>
#include <vector>

namespace fastaug {
namespace {

struct Entry {
  std::array<int, 6> key;
  const Kernels* kernels;
  std::shared_ptr<const AxisTable> table;
};

constexpr size_t kEntries = 32;
// Larger tables are built for the call and dropped after it.
constexpr size_t kMaxBytes = size_t{1} << 20;

}  // namespace

std::shared_ptr<const AxisTable> axis_table(const Kernels& kernels, bool row, Filter filter, int in_size, int out_size,
                                            int begin, int out) {
  thread_local std::vector<Entry> cache;  // most recently used last
  const std::array<int, 6> key = {static_cast<int>(filter), in_size, out_size, begin, out, row ? 1 : 0};
  for (size_t k = cache.size(); k-- > 0;) {
    if (cache[k].key == key && cache[k].kernels == &kernels) {
      std::rotate(cache.begin() + static_cast<ptrdiff_t>(k), cache.begin() + static_cast<ptrdiff_t>(k) + 1,
                  cache.end());
      return cache.back().table;
    }
  }
  auto table = std::make_shared<AxisTable>();
  table->taps = make_taps(filter, in_size, out_size, begin, out);
  Taps& taps = table->taps;
  table->source_begin = taps.first[0];
  for (int k = 0; k < taps.out; ++k) {
    table->source_begin = std::min(table->source_begin, taps.first[k]);
    table->source_end = std::max(table->source_end, taps.first[k] + taps.count[k]);
  }
  for (int32_t& first : taps.first) first -= table->source_begin;
  if (row) kernels.build_row_table(taps, &table->row);
  if (taps.weight.size() * sizeof(int32_t) + table->row.data.size() <= kMaxBytes) {
    if (cache.size() == kEntries) cache.erase(cache.begin());
    cache.push_back({key, &kernels, table});
  }
  return table;
}

}  // namespace fastaug
