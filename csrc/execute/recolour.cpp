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

// Calls kernel(from, pixels, to) for the rows of channels [c, c + `together`); for all of them at once where they
// follow one another.
template <class Kernel>
void for_rows(const View& source, int c, int together, bool vflip, const Target& target, Kernel kernel) {
  ptrdiff_t to_next = target.row_stride;
  uint8_t* to = static_cast<uint8_t*>(target.data) + c * target.channel_stride;
  if (vflip) {
    to += (target.height - 1) * to_next;
    to_next = -to_next;
  }
  const bool joined =
      source.row_stride == source.width * source.pixel_stride && to_next == target.width * target.pixel_stride;
  const int rows = joined ? 1 : source.height;
  const ptrdiff_t pixels = joined ? ptrdiff_t{source.height} * source.width : source.width;
  // The last pixel of an image may have no bytes but its samples.
  const bool cut = together < source.pixel_stride;
  for (int y = 0; y < rows; ++y, to += to_next) {
    const uint8_t* from = source.at(y, 0, c);
    if (!cut || y + 1 < rows) {
      kernel(from, pixels, to);
      continue;
    }
    if (pixels > 1) kernel(from, pixels - 1, to);
    uint8_t last[kMaxChannels] = {};
    std::memcpy(last, from + (pixels - 1) * source.pixel_stride, static_cast<size_t>(together));
    kernel(last, 1, to + (pixels - 1) * target.pixel_stride);
  }
}

}  // namespace

void recolour(Context& context, const View& source, const Step* ops, const ChannelTables* const* reduced,
              const float* means, int count, bool vflip, const Target& target) {
  if (ops[0].id == OpId::LUMA) {
    return for_rows(source, 0, source.channels, vflip, target,
                    count == 1 ? context.kernels.gray : context.kernels.gray_pixels);
  }
  const RunTables& run = *run_tables(context, ops, reduced, means, count, source.channels);
  const int stride = static_cast<int>(source.pixel_stride);
  const int together = stride == 1 ? 1 : source.channels;
  for (int c = 0; c < source.channels; c += together) {
    PixelTables tables = tables_of(run, c, together, stride);
    if (count == 1 && has(ops[0].id, Trait::kCheap)) find_switch(ops[0], &tables);
    for_rows(source, c, together, vflip, target, [&](const uint8_t* from, ptrdiff_t pixels, uint8_t* to) {
      if (tables.count == 0) {
        std::memcpy(to, from, static_cast<size_t>(pixels));
      } else {
        context.kernels.recolour(tables, from, pixels, to);
      }
    });
  }
}

}  // namespace fastaug
