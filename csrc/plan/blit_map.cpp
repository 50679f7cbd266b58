#include "plan/blit_map.h"

#include <algorithm>
#include <numeric>

#include "pixel/index.h"
#include "pixel/index_table.h"

namespace fastaug {
namespace {

using Index = BlitIndex;

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
void turn(BlitMap& map, int turns) {
  const auto rows = static_cast<int>(map.down.size());
  const auto columns = static_cast<int>(map.across.size());
  BlitMap turned{Index(map.across.size()), Index(map.down.size()), !map.transposed};
  for (int y = 0; y < columns; ++y) {
    turned.down[static_cast<size_t>(y)] = map.across[static_cast<size_t>(before_turn(turns, y, 0, rows, columns).x)];
  }
  for (int x = 0; x < rows; ++x) {
    turned.across[static_cast<size_t>(x)] = map.down[static_cast<size_t>(before_turn(turns, 0, x, rows, columns).y)];
  }
  map = std::move(turned);
}

}  // namespace

BlitMap blit_map(const OpList& ops, Shape in) {
  BlitMap map;
  map.down.resize(static_cast<size_t>(in.height));
  map.across.resize(static_cast<size_t>(in.width));
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
        fail_on("blit_map", op.id);
    }
  }
  return map;
}

bool only_moves(const OpList& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const Op& op) { return has(op.id, Trait::kMove); });
}

bool is_blit(const View& source, const Target& target) {
  if (target.dtype != DType::kUint8 || source.pixel_stride != target.pixel_stride) return false;
  const auto bytes = source.pixel_stride;
  const bool planes = bytes == 1 && source.channels == target.channels;
  const bool pillow_la = bytes == 4 && source.channels == 2 && source.channel_stride == 3 && target.channels == 4;
  const bool packed = source.channels == target.channels && source.channel_stride == 1 && target.channel_stride == 1 &&
                      bytes >= 2 && bytes <= kMaxChannels &&
                      (bytes == source.channels || (target.fill_gaps && bytes > source.channels));
  return planes || pillow_la || packed;
}

}  // namespace fastaug
