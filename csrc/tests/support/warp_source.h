// Images for the tests of warps, in guarded memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/image.h"
#include "tests/support/guard.h"

namespace fastaug::test {

struct Layout {
  int channels;
  int pixel_stride;
};
inline constexpr Layout kLayouts[] = {{1, 1}, {1, 3}, {2, 3}, {3, 3}, {1, 4}, {2, 4}, {3, 4}, {4, 4}};

enum class Content { kNoise, kFlat, kTwoLevels, kHalfFlat };
inline constexpr Content kContents[] = {Content::kNoise, Content::kFlat, Content::kTwoLevels, Content::kHalfFlat};

// An image in memory that ends with its last sample (or starts with its first, upside down), next to forbidden pages.
class Source {
 public:
  Source(Layout layout, int height, int width, int padding, bool upside_down, Content content, Random& random)
      : buffer_(size_of(layout, height, width, padding), upside_down ? Side::kFront : Side::kBack) {
    random.fill(buffer_.data(), buffer_.size());
    for (size_t k = 0; k < buffer_.size(); ++k) {
      uint8_t& v = buffer_.data()[k];
      if (content == Content::kFlat) v = static_cast<uint8_t>(40 + k % static_cast<size_t>(layout.pixel_stride));
      if (content == Content::kTwoLevels) v = v < 128 ? 0 : 255;
      if (content == Content::kHalfFlat && k > buffer_.size() / 2) v = 255;
    }
    const ptrdiff_t stride = static_cast<ptrdiff_t>(width) * layout.pixel_stride + padding;
    view_ = {buffer_.data(), height, width, layout.channels, stride, layout.pixel_stride, 1};
    if (upside_down) {
      view_.data += (height - 1) * stride;
      view_.row_stride = -stride;
    }
  }
  const View& view() const { return view_; }

 private:
  static size_t size_of(Layout layout, int height, int width, int padding) {
    const int stride = width * layout.pixel_stride + padding;
    return static_cast<size_t>((height - 1) * stride + (width - 1) * layout.pixel_stride + layout.channels);
  }

  Guarded buffer_;
  View view_;
};

}  // namespace fastaug::test
