#include "execute/blit.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "pixel/index.h"

namespace fastaug {
namespace {

// Where the pixels of one output axis come from. A negative entry -1 - k is the fill of op k; of two, the later op's
// fill is what shows, because it was drawn over the earlier one's.
using Index = std::vector<int32_t>;

// Both axes of the output, in source coordinates.
struct Map {
  Index down;               // one entry per output row
  Index across;             // one per output column
  bool transposed = false;  // `down` counts source columns and `across` source rows
};

void select(Index& axis, const Index& chosen) {
  Index result(chosen.size());
  for (size_t k = 0; k < chosen.size(); ++k) result[k] = axis[static_cast<size_t>(chosen[k])];
  axis = std::move(result);
}

void window(Index& axis, int begin, int size, int32_t fill) {
  const int length = static_cast<int>(axis.size());
  Index result(static_cast<size_t>(size), fill);
  const int first = std::clamp(-begin, 0, size);
  const int last = std::clamp(length - begin, first, size);
  std::copy_n(axis.begin() + begin + first, last - first, result.begin() + first);
  axis = std::move(result);
}

// By 90 or 270 degrees.
void turn(Map& map, int turns) {
  const auto rows = static_cast<int>(map.down.size());
  const auto columns = static_cast<int>(map.across.size());
  Map turned{Index(map.across.size()), Index(map.down.size()), !map.transposed};
  for (int y = 0; y < columns; ++y) {
    turned.down[static_cast<size_t>(y)] = map.across[static_cast<size_t>(before_turn(turns, y, 0, rows, columns).x)];
  }
  for (int x = 0; x < rows; ++x) {
    turned.across[static_cast<size_t>(x)] = map.down[static_cast<size_t>(before_turn(turns, 0, x, rows, columns).y)];
  }
  map = std::move(turned);
}

Map compose(const OpList& ops, int height, int width) {
  Map map;
  map.down.resize(static_cast<size_t>(height));
  map.across.resize(static_cast<size_t>(width));
  std::iota(map.down.begin(), map.down.end(), 0);
  std::iota(map.across.begin(), map.across.end(), 0);
  for (size_t k = 0; k < ops.size(); ++k) {
    const Op& op = ops[k];
    const auto rows = static_cast<int>(map.down.size());
    const auto columns = static_cast<int>(map.across.size());
    switch (op.id) {
      case OpId::WINDOW: {
        const auto fill = static_cast<int32_t>(-1 - static_cast<int32_t>(k));
        window(map.down, op.i[0], op.i[2], fill);
        window(map.across, op.i[1], op.i[3], fill);
        break;
      }
      case OpId::PAD:
        select(map.down, pad_index(static_cast<PadMode>(op.flags), rows, op.i[1], op.i[3]));
        select(map.across, pad_index(static_cast<PadMode>(op.flags), columns, op.i[0], op.i[2]));
        break;
      case OpId::NEAREST:
        select(map.down, nearest_index(static_cast<NearestRule>(op.flags), rows, op.i[0]));
        select(map.across, nearest_index(static_cast<NearestRule>(op.flags), columns, op.i[1]));
        break;
      case OpId::VFLIP:
        std::reverse(map.down.begin(), map.down.end());
        break;
      case OpId::HFLIP:
        std::reverse(map.across.begin(), map.across.end());
        break;
      case OpId::ROT90:
        turn(map, op.flags);
        break;
      default:
        fail_on("blit", op.id);
    }
  }
  return map;
}

template <int kBytes>
struct Pixel {
  uint8_t byte[kBytes];
};

// Moves pixels of kBytes; `fills` has the colour of each op.
template <int kBytes>
class Mover {
 public:
  using P = Pixel<kBytes>;

  Mover(const Map& map, const std::vector<P>& fills, const uint8_t* source, ptrdiff_t source_stride, uint8_t* target,
        ptrdiff_t target_stride, const Kernels& kernels)
      : map_(map),
        fills_(fills),
        source_(source),
        source_stride_(source_stride),
        target_(target),
        target_stride_(target_stride),
        kernels_(kernels) {}

  void run() {
    if (map_.transposed) return transposed();
    const Index& across = map_.across;
    const auto width = across.size();
    // Columns [begin_, end_) show the source, step_ apart, or at any distance when step_ is 0.
    begin_ =
        static_cast<size_t>(std::find_if(across.begin(), across.end(), [](int x) { return x >= 0; }) - across.begin());
    end_ = begin_;
    while (end_ < width && across[end_] >= 0) ++end_;
    const bool runs =
        std::all_of(across.begin() + static_cast<ptrdiff_t>(end_), across.end(), [](int x) { return x < 0; });
    if (!runs) end_ = begin_;  // fill between what shows: every pixel is asked
    step_ = end_ - begin_ > 1 ? across[begin_ + 1] - across[begin_] : 1;
    for (size_t x = begin_; x + 1 < end_; ++x) {
      if (across[x + 1] - across[x] != step_) step_ = 0;
    }
    for (size_t y = 0; y < map_.down.size(); ++y) {
      auto* out = pixels(target_ + static_cast<ptrdiff_t>(y) * target_stride_);
      if (y > 0 && map_.down[y] == map_.down[y - 1]) {
        std::memcpy(out, target_ + (static_cast<ptrdiff_t>(y) - 1) * target_stride_, width * kBytes);
      } else {
        row(map_.down[y], out);
      }
    }
  }

 private:
  static P* pixels(uint8_t* p) { return reinterpret_cast<P*>(p); }
  static const P* pixels(const uint8_t* p) { return reinterpret_cast<const P*>(p); }

  const P& fill(int32_t row, int32_t column) const { return fills_[static_cast<size_t>(-1 - std::min(row, column))]; }

  // A plain assignment would go byte by byte: nothing is known about alignment.
  static void copy(const P* in, P* out) { std::memcpy(out, in, kBytes); }

  void row(int32_t from, P* out) const {
    const Index& across = map_.across;
    if (from < 0) return filled(from, 0, across.size(), nullptr, out);
    const P* in = pixels(source_ + from * source_stride_);
    filled(0, 0, begin_, in, out);
    if (begin_ < end_) span(in, out);
    filled(0, end_, across.size(), in, out);
  }

  // Columns [begin, end) of a row, each fill or pixel. `from` is the fill of the row, 0 for none.
  void filled(int32_t from, size_t begin, size_t end, const P* in, P* out) const {
    const Index& across = map_.across;
    for (size_t x = begin; x < end; ++x) {
      const bool shown = from == 0 && across[x] >= 0;
      copy(shown ? in + across[x] : &fill(from, across[x]), out + x);
    }
  }

  void span(const P* in, P* out) const {
    const int32_t* across = map_.across.data();
    const int32_t first = across[begin_];
    const size_t size = end_ - begin_;
    if (step_ == 1) {
      std::memcpy(out + begin_, in + first, size * kBytes);
    } else if (kBytes == 1 && step_ == -1) {
      kernels_.reverse(in[first - static_cast<int32_t>(size) + 1].byte, static_cast<int>(size), out[begin_].byte);
    } else if (kBytes == 4 && step_ == -1) {
      mirror(in + first, size, out + begin_);
    } else {
      for (size_t x = begin_; x < end_; ++x) copy(in + across[x], out + x);
    }
  }

  // Two 4-byte pixels change places in one rotation of 64 bits.
  static void mirror(const P* last, size_t size, P* out) {
    size_t x = 0;
    for (; x + 2 <= size; x += 2) {
      uint64_t pair = 0;
      std::memcpy(&pair, last - static_cast<ptrdiff_t>(x) - 1, sizeof pair);
      pair = pair << 32 | pair >> 32;
      std::memcpy(static_cast<void*>(out + x), &pair, sizeof pair);
    }
    if (x < size) copy(last - static_cast<ptrdiff_t>(x), out + x);
  }

  // Square tiles, so that the source lines of a tile stay in the first cache while its columns are read.
  void transposed() const {
    constexpr size_t kTile = 16;
    const Index& down = map_.down;
    const Index& across = map_.across;
    for (size_t top = 0; top < down.size(); top += kTile) {
      const size_t bottom = std::min(top + kTile, down.size());
      for (size_t left = 0; left < across.size(); left += kTile) {
        const size_t right = std::min(left + kTile, across.size());
        bool shown = true;
        const uint8_t* rows[kTile];
        for (size_t x = left; x < right; ++x) {
          shown = shown && across[x] >= 0;
          rows[x - left] = source_ + std::max(across[x], 0) * source_stride_;
        }
        for (size_t y = top; y < bottom; ++y) {
          P* out = pixels(target_ + static_cast<ptrdiff_t>(y) * target_stride_) + left;
          const int32_t column = down[y];
          for (size_t x = 0; x < right - left; ++x) {
            if (shown && column >= 0) {
              copy(pixels(rows[x]) + column, out + x);
            } else {
              const int32_t row = across[left + x];
              copy(row >= 0 && column >= 0 ? pixels(rows[x]) + column : &fill(row, column), out + x);
            }
          }
        }
      }
    }
  }

  const Map& map_;
  const std::vector<P>& fills_;
  const uint8_t* source_;
  ptrdiff_t source_stride_;
  uint8_t* target_;
  ptrdiff_t target_stride_;
  const Kernels& kernels_;
  size_t begin_ = 0;
  size_t end_ = 0;
  int step_ = 0;
};

template <int kBytes>
void move(const Map& map, const OpList& ops, const std::array<int, kMaxChannels>& fill_channel, const View& source,
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

bool only_moves(const OpList& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const Op& op) { return has(op.id, Trait::kMove); });
}

bool execute_moves(const OpList& ops, const View& source, const Target& target, const Kernels& kernels) {
  if (target.dtype != DType::kUint8 || source.pixel_stride != target.pixel_stride) return false;
  if (!only_moves(ops)) return false;
  const auto bytes = static_cast<int>(source.pixel_stride);
  const bool planes = bytes == 1 && source.channels == target.channels;
  const bool pillow_la = bytes == 4 && source.channels == 2 && source.channel_stride == 3 && target.channels == 4;
  const bool packed = source.channels == target.channels && source.channel_stride == 1 && target.channel_stride == 1 &&
                      bytes >= 2 && bytes <= kMaxChannels &&
                      (bytes == source.channels || (target.fill_gaps && bytes > source.channels));
  if (!planes && !pillow_la && !packed) return false;
  const Map map = compose(ops, source.height, source.width);
  if (planes) {
    for (int c = 0; c < source.channels; ++c) move<1>(map, ops, {0, 1, 2, 3}, source, c, target, kernels);
    return true;
  }
  std::array<int, kMaxChannels> fill_channel = {0, 0, 0, 1};
  for (int c = 0; !pillow_la && c < kMaxChannels; ++c)
    fill_channel[static_cast<size_t>(c)] = c < source.channels ? c : -1;
  if (bytes == 2) move<2>(map, ops, fill_channel, source, 0, target, kernels);
  if (bytes == 3) move<3>(map, ops, fill_channel, source, 0, target, kernels);
  if (bytes == 4) move<4>(map, ops, fill_channel, source, 0, target, kernels);
  return true;
}

}  // namespace fastaug
