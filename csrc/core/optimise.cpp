#include "core/optimise.h"

namespace fastaug {
namespace {

bool is_no_op(const Op& op, Shape in) {
  switch (op.id) {
    case OpId::WINDOW:
      return op.i[0] == 0 && op.i[1] == 0 && op.i[2] == in.height && op.i[3] == in.width;
    case OpId::PAD:
      return op.i[0] == 0 && op.i[1] == 0 && op.i[2] == 0 && op.i[3] == 0;
    case OpId::RESIZE:
      return op.i[0] == in.height && op.i[1] == in.width;
    case OpId::NEAREST:
      return op.i[0] == in.height && op.i[1] == in.width;
    case OpId::BRIGHTNESS:
    case OpId::CONTRAST:
    case OpId::SATURATION:
    case OpId::SHARPNESS:
      return static_cast<float>(op.f[0]) == 1.0f;
    case OpId::POSTERIZE:
      return op.i[0] == 8;
    case OpId::REPLICATE:
      return op.i[0] == 1;
    default:
      return false;
  }
}

void lower_half_turns(OpList& ops) {
  for (size_t k = 0; k < ops.size(); ++k) {
    if (ops[k].id != OpId::ROT90 || ops[k].flags != 2) continue;
    Op flip{};
    flip.id = OpId::VFLIP;
    ops[k] = flip;
    flip.id = OpId::HFLIP;
    ops.insert(ops.begin() + static_cast<ptrdiff_t>(k), flip);
  }
}

}  // namespace

int drop_no_ops(OpList& ops, Shape in) {
  int changed = 0;
  for (size_t k = 0; k < ops.size();) {
    if (is_no_op(ops[k], in)) {
      ops.erase(ops.begin() + static_cast<ptrdiff_t>(k));
      ++changed;
    } else if (k + 1 < ops.size() && is_flip(ops[k].id) && ops[k].id == ops[k + 1].id) {
      ops.erase(ops.begin() + static_cast<ptrdiff_t>(k), ops.begin() + static_cast<ptrdiff_t>(k) + 2);
      ++changed;
    } else {
      in = shape_after(ops[k++], in);
    }
  }
  return changed;
}

//   [ first window [ second ] ]   becomes one window, when the second lies inside the frame of the first: whatever it
//   shows, the first had already chosen, fill included.
int merge_windows(OpList& ops, Shape in) {
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size();) {
    Op& first = ops[k];
    const Op& second = ops[k + 1];
    const Shape middle = shape_after(first, in);
    if (first.id == OpId::WINDOW && is_window_inside(second, middle)) {
      first.i[0] += second.i[0];
      first.i[1] += second.i[1];
      first.i[2] = second.i[2];
      first.i[3] = second.i[3];
      ops.erase(ops.begin() + static_cast<ptrdiff_t>(k) + 1);
      ++changed;
    } else {
      in = middle;
      ++k;
    }
  }
  return changed;
}

//   flip, pointwise  ->  pointwise, flip          flip, window  ->  mirrored window, flip
// A contrast's mean does not depend on the order of pixels. HFLIP goes before VFLIP, so that pairs meet and the loop
// ends.
int sink_flips(OpList& ops, Shape in) {
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size(); ++k) {
    Op& flip = ops[k];
    Op& next = ops[k + 1];
    const Shape before = in;
    in = shape_after(flip, in);
    if (!is_flip(flip.id)) continue;
    const OpKind kind = kind_of(next.id);
    const bool flips_meet = flip.id == OpId::VFLIP && next.id == OpId::HFLIP;
    if (next.id == OpId::WINDOW) {
      if (flip.id == OpId::HFLIP) next.i[1] = before.width - next.i[1] - next.i[3];
      if (flip.id == OpId::VFLIP) next.i[0] = before.height - next.i[0] - next.i[2];
    } else if (kind != OpKind::kPointwise && kind != OpKind::kReduction && !flips_meet) {
      continue;
    }
    std::swap(flip, next);
    in = shape_after(ops[k], before);
    ++changed;
  }
  return changed;
}

OpList optimise(Program program, Shape in, uint32_t rewrites) {
  OpList ops(program.begin(), program.end());
  lower_half_turns(ops);
  for (int changed = 1; changed != 0;) {
    changed = 0;
    if (rewrites & kDropNoOps) changed += drop_no_ops(ops, in);
    if (rewrites & kMergeWindows) changed += merge_windows(ops, in);
    if (rewrites & kSinkFlips) changed += sink_flips(ops, in);
  }
  return ops;
}

}  // namespace fastaug
