#include "execute/recolour.h"

#include <algorithm>
#include <cstring>

#include "pixel/table.h"

namespace fastaug {
namespace {

// Where one op has a kernel that is quicker than a table.
void find_switch(const Op& op, PixelTables* tables) {
  tables->switches = true;
  if (op.id == OpId::POSTERIZE) {
    tables->mask = posterize_mask(op.i[0]);
  } else if (op.id == OpId::SOLARIZE || op.id == OpId::INVERT) {
    tables->threshold = op.id == OpId::INVERT ? 0 : solarize_threshold(op.f[0]);
  } else {
    fail_on("find_switch", op.id);
  }
}

// Of channels [first, first + count), which follow one another in pixels of `stride` bytes.
PixelTables tables_of(const RunTables& run, int first, int count, int stride) {
  PixelTables tables;
  tables.stride = stride;
  tables.count = 0;
  std::fill_n(tables.which, kMaxChannels, PixelTables::kFull);
  for (int c = 0; c < count; ++c) {
    const uint8_t* table = run.table[first + c];
    int k = 0;
    while (k < tables.count && std::memcmp(tables.table[k], table, 256) != 0) ++k;
    tables.which[c] = run.changed[first + c] ? k : PixelTables::kKept;
    if (run.changed[first + c] && k == tables.count) std::memcpy(tables.table[tables.count++], table, 256);
  }
  return tables;
}

}  // namespace

void recolour(Context& context, const View& source, const Step* ops, const ChannelTables* const* reduced,
              const float* means, int count, bool vflip, const Target& target) {
  const RunTables& run = *run_tables(context, ops, reduced, means, count, source.channels);
  const int stride = static_cast<int>(source.pixel_stride);
  const int parts = stride == 1 ? source.channels : 1;  // planes
  for (int c = 0; c < parts; ++c) {
    PixelTables tables = tables_of(run, c, source.channels / parts, stride);
    if (count == 1 && has(ops[0].id, Trait::kCheap)) find_switch(ops[0], &tables);
    const ptrdiff_t bytes = source.pixel_stride * source.width;
    ptrdiff_t to_next = target.row_stride;
    uint8_t* to = static_cast<uint8_t*>(target.data) + c * target.channel_stride;
    if (vflip) {
      to += (target.height - 1) * to_next;
      to_next = -to_next;
    }
    // Rows that follow one another are one.
    const bool joined = source.row_stride == bytes && to_next == bytes;
    const int rows = joined ? 1 : source.height;
    const ptrdiff_t pixels = joined ? ptrdiff_t{source.height} * source.width : source.width;
    for (int y = 0; y < rows; ++y, to += to_next) {
      const uint8_t* from = source.at(y, 0, c);
      if (tables.count == 0) {
        std::memcpy(to, from, static_cast<size_t>(pixels));
      } else {
        context.kernels.recolour(tables, from, pixels, to);
      }
    }
  }
}

}  // namespace fastaug
