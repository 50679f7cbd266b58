#include "execute/blit.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fastaug {
namespace {

template <int kBytes>
struct Pixel {
  uint8_t byte[kBytes];
};

// Moves pixels of kBytes; `fills` has the colour of each op.
template <int kBytes>
class Mover {
 public:
  using P = Pixel<kBytes>;

  Mover(const BlitMap& map, const std::vector<P>& fills, const uint8_t* source, ptrdiff_t source_stride,
        uint8_t* target, ptrdiff_t target_stride, const Kernels& kernels)
      : map_(map),
        fills_(fills),
        source_(source),
        source_stride_(source_stride),
        target_(target),
        target_stride_(target_stride),
        kernels_(kernels) {}

  void run() {
    if (map_.transposed) return transposed();
    const BlitIndex& across = map_.across;
    const auto width = across.size();
    // Columns [begin_, end_) show the source.
    begin_ =
        static_cast<size_t>(std::find_if(across.begin(), across.end(), [](int x) { return x >= 0; }) - across.begin());
    end_ = begin_;
    while (end_ < width && across[end_] >= 0) ++end_;
    const bool runs =
        std::all_of(across.begin() + static_cast<ptrdiff_t>(end_), across.end(), [](int x) { return x < 0; });
    if (!runs) end_ = begin_;  // fill between what shows: every pixel is asked
    find_spans();
    const bool skips = skips_rows();
    for (size_t y = 0; y < map_.down.size(); ++y) {
      if (skips && y + kAhead < map_.down.size()) fetch(map_.down[y + kAhead]);
      P* to = out(y);
      if (y > 0 && map_.down[y] == map_.down[y - 1]) {
        std::memcpy(to, target_ + (static_cast<ptrdiff_t>(y) - 1) * target_stride_, width * kBytes);
      } else {
        row(map_.down[y], to);
      }
    }
  }

 private:
  // Columns [begin, end), whose pixels lie `step` apart in the source, or anywhere when step is 0.
  struct Span {
    size_t begin;
    size_t end;
    int step;
  };
  // Spans are worth their calls from so many pixels on, on average.
  static constexpr size_t kShort = 8;
  // Rows that are under way from memory while one is written.
  static constexpr size_t kAhead = 4;
  static constexpr ptrdiff_t kLine = 64;

  // True if rows of the source are left out, where processors, which foresee only what follows, would wait for each.
  bool skips_rows() const {
    const BlitIndex& down = map_.down;
    size_t skipped = 0;
    for (size_t y = 1; y < down.size(); ++y) skipped += std::abs(down[y] - down[y - 1]) > 1 ? 1 : 0;
    return 4 * skipped > down.size();
  }

  void fetch(int32_t row) const {
    if (row < 0 || begin_ == end_) return;
    const auto [low, high] = std::minmax(map_.across[begin_], map_.across[end_ - 1]);
    const uint8_t* in = source_ + row * source_stride_;
    const uint8_t* end = in + ptrdiff_t{high} * kBytes + kBytes - 1;
    // Some processors drop a prefetch whose page is not in the TLB; a load brings the page in.
    const uint8_t* p = in + ptrdiff_t{low} * kBytes;
    static_cast<void>(*static_cast<const volatile uint8_t*>(p));
    for (p += kLine; p <= end; p += kLine) __builtin_prefetch(p, 0, 3);
  }

  static P* pixels(uint8_t* p) { return reinterpret_cast<P*>(p); }
  static const P* pixels(const uint8_t* p) { return reinterpret_cast<const P*>(p); }

  const P& fill(int32_t row, int32_t column) const { return fills_[static_cast<size_t>(-1 - std::min(row, column))]; }

  // A plain assignment would go byte by byte: nothing is known about alignment.
  static void copy(const P* in, P* out) { std::memcpy(out, in, kBytes); }

  void row(int32_t from, P* out) const {
    const BlitIndex& across = map_.across;
    if (from < 0) return filled(from, 0, across.size(), nullptr, out);
    const P* in = pixels(source_ + from * source_stride_);
    filled(0, 0, begin_, in, out);
    for (const Span& span : spans_) show(span, in, out);
    filled(0, end_, across.size(), in, out);
  }

  // Columns [begin, end) of a row, each fill or pixel. `from` is the fill of the row, 0 for none.
  void filled(int32_t from, size_t begin, size_t end, const P* in, P* out) const {
    const BlitIndex& across = map_.across;
    for (size_t x = begin; x < end; ++x) {
      const bool shown = from == 0 && across[x] >= 0;
      copy(shown ? in + across[x] : &fill(from, across[x]), out + x);
    }
  }

  // Cuts columns [begin_, end_) into spans of neighbours, in this or the other direction. Where that gives short ones,
  // as in a resize, there is one span, whose pixels are asked for one by one.
  void find_spans() {
    const BlitIndex& across = map_.across;
    for (size_t x = begin_; x < end_;) {
      Span span{x, x + 1, 1};
      if (x + 1 < end_ && std::abs(across[x + 1] - across[x]) == 1) {
        span.step = across[x + 1] - across[x];
        while (span.end < end_ && across[span.end] - across[span.end - 1] == span.step) ++span.end;
      }
      spans_.push_back(span);
      x = span.end;
      if (spans_.size() * kShort > end_ - begin_ && spans_.size() > 1) {
        spans_.assign(1, {begin_, end_, 0});
        return;
      }
    }
  }

  void show(const Span& span, const P* in, P* out) const {
    const int32_t* across = map_.across.data();
    const int32_t first = across[span.begin];
    const size_t size = span.end - span.begin;
    if (span.step == 1) {
      std::memcpy(out + span.begin, in + first, size * kBytes);
    } else if (kBytes == 1 && span.step == -1) {
      kernels_.reverse(in[first - static_cast<int32_t>(size) + 1].byte, static_cast<int>(size), out[span.begin].byte);
    } else if (kBytes == 4 && span.step == -1) {
      kernels_.reverse_pixels(in[first - static_cast<int32_t>(size) + 1].byte, static_cast<int>(size),
                              out[span.begin].byte);
    } else {
      for (size_t x = span.begin, end = span.end; x < end; ++x) copy(in + across[x], out + x);
    }
  }

  // Tiles, so that the source lines of a tile stay in the first cache while its columns are read, and all of each line
  // is read while it is there.
  void transposed() const {
    const size_t height = map_.down.size();
    const size_t width = map_.across.size();
    for (size_t left = 0; left < width; left += kTile) {
      const size_t right = std::min(left + kTile, width);
      for (size_t top = 0; top < height; top += kTile) tile({top, std::min(top + kTile, height), left, right});
    }
  }

  static constexpr bool kSquares = kBytes != 2;
  static constexpr size_t kSide = kSquareSide;
  static constexpr size_t kTile = 64;

  struct Rect {
    size_t top;
    size_t bottom;
    size_t left;
    size_t right;
  };

  void tile(const Rect& part) const {
    const auto across = map_.across.begin();
    const bool shown = std::all_of(across + static_cast<ptrdiff_t>(part.left),
                                   across + static_cast<ptrdiff_t>(part.right), [](int row) { return row >= 0; });
    const int step = shown && kSquares ? direction(part.top, part.bottom) : 0;
    // Whole squares from the corner on, and what they leave at the right and at the bottom.
    const size_t bottom = step != 0 ? part.bottom - (part.bottom - part.top) % kSide : part.top;
    const size_t right = part.right - (part.right - part.left) % kSide;
    for (size_t top = part.top; top < bottom; top += kSide) {
      for (size_t left = part.left; left < right; left += kSide) square(top, left, step);
    }
    one_by_one({part.top, bottom, right, part.right}, shown);
    one_by_one({bottom, part.bottom, part.left, part.right}, shown);
  }

  // 1 or -1 where source columns follow one another in that direction, else 0.
  int direction(size_t top, size_t bottom) const {
    const BlitIndex& down = map_.down;
    const int step = bottom - top > 1 ? down[top + 1] - down[top] : 0;
    if (std::abs(step) != 1 || std::min(down[top], down[bottom - 1]) < 0) return 0;
    for (size_t y = top + 1; y < bottom; ++y)
      if (down[y] - down[y - 1] != step) return 0;
    return step;
  }

  void square(size_t top, size_t left, int step) const {
    const uint8_t* rows[kSide];
    for (size_t x = 0; x < kSide; ++x) rows[x] = source_ + map_.across[left + x] * source_stride_;
    const size_t first = step > 0 ? top : top + kSide - 1;  // the output row of the first source column
    kernels_.turn_square(rows, ptrdiff_t{map_.down[first]} * kBytes, kBytes, out(first)[left].byte,
                         step * target_stride_);
  }

  void one_by_one(const Rect& part, bool shown) const {
    for (size_t y = part.top; y < part.bottom; ++y) {
      P* to = out(y);
      const int32_t column = map_.down[y];
      for (size_t x = part.left; x < part.right; ++x) {
        const int32_t row = map_.across[x];
        const bool pixel = (shown || row >= 0) && column >= 0;
        copy(pixel ? pixels(source_ + row * source_stride_) + column : &fill(row, column), to + x);
      }
    }
  }

  P* out(size_t y) const { return pixels(target_ + static_cast<ptrdiff_t>(y) * target_stride_); }

  const BlitMap& map_;
  const std::vector<P>& fills_;
  const uint8_t* source_;
  ptrdiff_t source_stride_;
  uint8_t* target_;
  ptrdiff_t target_stride_;
  const Kernels& kernels_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::vector<Span> spans_;  // of these columns
};

template <int kBytes>
void move(const BlitMap& map, const OpList& ops, const std::array<int, kMaxChannels>& fill_channel, const View& source,
          int c, const Target& target, const Kernels& kernels) {
  std::vector<Pixel<kBytes>> fills(std::max<size_t>(ops.size(), 1));
  for (size_t k = 0; k < ops.size(); ++k) {
    for (int b = 0; b < kBytes; ++b) {
      const int channel = fill_channel[static_cast<size_t>(b + c)];
      fills[k].byte[b] = channel >= 0 ? ops[k].fill[channel] : 255;
    }
  }
  Mover<kBytes>(map, fills, source.at(0, 0, c), source.row_stride,
                static_cast<uint8_t*>(target.data) + c * target.channel_stride, target.row_stride, kernels)
      .run();
}

}  // namespace

void blit(const BlitMap& map, const OpList& ops, const View& source, const Target& target, const Kernels& kernels) {
  const auto bytes = static_cast<int>(source.pixel_stride);
  if (bytes == 1) {
    for (int c = 0; c < source.channels; ++c) move<1>(map, ops, {0, 1, 2, 3}, source, c, target, kernels);
    return;
  }
  std::array<int, kMaxChannels> fill_channel = {0, 0, 0, 1};  // of Pillow's LA
  const bool pillow_la = source.channels != target.channels;
  for (int c = 0; !pillow_la && c < kMaxChannels; ++c)
    fill_channel[static_cast<size_t>(c)] = c < source.channels ? c : -1;
  if (bytes == 2) move<2>(map, ops, fill_channel, source, 0, target, kernels);
  if (bytes == 3) move<3>(map, ops, fill_channel, source, 0, target, kernels);
  if (bytes == 4) move<4>(map, ops, fill_channel, source, 0, target, kernels);
}

}  // namespace fastaug
