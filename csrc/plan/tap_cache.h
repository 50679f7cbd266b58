// Filter tables that outlive a run. A loader resizes to the same sizes over and over, and building the taps of one axis
// costs as much as filtering a few dozen rows with them.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "program/program.h"

namespace fastaug {

struct AxisTable {
  Taps taps;
  int source_begin = 0;  // first source sample that any tap reads; taps.first is relative to it
  int source_end = 0;
  // Built when asked for a row table: for planes, and for pixels where these are faster, else without outputs.
  RowTable row;
  RowTable pixels;

  size_t bytes() const { return taps.weight.size() * sizeof(int32_t) + row.data.size() + pixels.data.size(); }

  bool operator==(const AxisTable&) const = default;
};

// The table of taps whose first samples are still relative to the axis.
std::shared_ptr<const AxisTable> make_axis_table(const Kernels& kernels, bool row, Taps taps);

// One axis of a TORCH_RESIZE.
struct FloatAxisTable {
  FloatTaps taps;  // as AxisTable::taps
  int source_begin = 0;
  int source_end = 0;

  size_t bytes() const { return taps.weight.size() * sizeof(float); }

  bool operator==(const FloatAxisTable&) const = default;
};

// The last tables that were asked for. One per thread.
template <class Key, class Table = AxisTable>
class TableCache {
 public:
  // The table of this key, made by make() if it is not there.
  template <class Make>
  std::shared_ptr<const Table> get(const Kernels& kernels, const Key& key, const Make& make) {
    for (size_t k = entries_.size(); k-- > 0;) {
      if (entries_[k].key == key && entries_[k].kernels == &kernels) {
        const auto found = entries_.begin() + static_cast<ptrdiff_t>(k);
        std::rotate(found, found + 1, entries_.end());
        return entries_.back().table;
      }
    }
    std::shared_ptr<const Table> table = make();
    if (table->bytes() <= kMaxBytes) {
      if (entries_.size() == kEntries) entries_.erase(entries_.begin());
      entries_.push_back({key, &kernels, table});
    }
    return table;
  }

 private:
  struct Entry {
    Key key;
    const Kernels* kernels;
    std::shared_ptr<const Table> table;
  };
  static constexpr size_t kEntries = 32;
  // Larger tables are built for the call and dropped after it.
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  std::vector<Entry> entries_;  // most recently used last
};

// Taps for outputs [begin, begin + out) of an axis, from this thread's cache.
std::shared_ptr<const AxisTable> axis_table(const Kernels& kernels, bool row, Filter filter, int in_size, int out_size,
                                            int begin, int out);

// The same for TORCH_RESIZE.
std::shared_ptr<const FloatAxisTable> float_axis_table(const Kernels& kernels, Filter filter, int in_size, int out_size,
                                                       int begin, int out);

}  // namespace fastaug
