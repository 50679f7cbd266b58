// An image in memory whose rows lie in several blocks.
#pragma once

#include <cstring>

#include "base/arena.h"
#include "base/pixel_source.h"
#include "base/status.h"

namespace fastaug {

class Scattered final : public PixelSource {
 public:
  // `layout` has no data, and rows as long as its pixels. The table of rows stays the caller's, and must stay.
  Scattered(const View& layout, const uint8_t* const* rows) : layout_(layout), rows_(rows) {}

  View layout() const override { return layout_; }
  const uint8_t* const* rows() const override { return rows_; }

  View make(Region wanted, Arena& arena, int) override {
    View view = layout_;
    const uint8_t* const* const first = rows_ + wanted.y;
    const ptrdiff_t before = wanted.x * view.pixel_stride;
    if (is_one_block(first, wanted.height)) {
      if (wanted.height > 1) view.row_stride = first[1] - first[0];
      view.data = first[0] - wanted.y * view.row_stride;
      return view;
    }
    view.row_stride = wanted.width * view.pixel_stride;
    const auto bytes = static_cast<size_t>(view.row_stride);
    uint8_t* const data = arena.bytes(static_cast<size_t>(wanted.height) * bytes);
    for (int y = 0; y < wanted.height; ++y) {
      std::memcpy(data + static_cast<size_t>(y) * bytes, first[y] + before, bytes);
    }
    view.data = data - (wanted.y * view.row_stride + before);
    return view;
  }

  // Plans read the rows instead.
  void make_all(const Target&, Arena&) override { fail(ErrorCode::kRuntime, "rows of several blocks are not made"); }

  Region made(Region wanted) const override { return wanted; }
  int64_t bytes() const override { return 0; }  // by itself
  const char* name() const override { return "memory"; }

 private:
  static bool is_one_block(const uint8_t* const* rows, int count) {
    for (int y = 2; y < count; ++y) {
      if (rows[y] - rows[y - 1] != rows[1] - rows[0]) return false;
    }
    return true;
  }

  View layout_;
  const uint8_t* const* rows_;
};

}  // namespace fastaug
