#include "plan/rewrite.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pixel/statistics.h"
#include "pixel/table.h"
#include "plan/window_algebra.h"

namespace fastaug {
namespace {

bool is_flip(const Op& op) { return has(op.id, Trait::kFlip); }

bool is_turn(const Op& op) { return has(op.id, Trait::kTurn); }

auto at(OpList& ops, size_t k) { return ops.begin() + static_cast<ptrdiff_t>(k); }

// True when `fits` holds for an op and the next one. Most programs give most rewrites nothing to do; to see that takes
// no shapes.
template <class Fits>
bool any_pair(const OpList& ops, const Fits& fits) {
  return std::adjacent_find(ops.begin(), ops.end(), fits) != ops.end();
}

static_assert(registry::for_every_op([](OpId id) {
                return registry::follows(has(id, Trait::kInverts), id == OpId::INVERT || id == OpId::SOLARIZE);
              }),
              "an op that inverts has no threshold");

// The first sample that an op of kInverts inverts.
int threshold_of(const Op& op) { return op.id == OpId::INVERT ? 0 : solarize_threshold(op.f[0]); }

bool is_no_op(const Op& op, Shape in) {
  if (!has(op.id, Trait::kCanVanish)) return false;
  if (info_of(op.id).operands.form == Operands::kFactor) return op.f[0] == 1.0;
  switch (op.id) {
    case OpId::WINDOW:
      return op.i[0] == 0 && op.i[1] == 0 && op.i[2] == in.height && op.i[3] == in.width;
    case OpId::PAD:
      return op.i[0] == 0 && op.i[1] == 0 && op.i[2] == 0 && op.i[3] == 0;
    case OpId::RESIZE:
    case OpId::TORCH_RESIZE:
    case OpId::NEAREST:
      return op.i[0] == in.height && op.i[1] == in.width;
    case OpId::POSTERIZE:
      return op.i[0] == 8;
    case OpId::SOLARIZE:
      return threshold_of(op) == 256;
    case OpId::GAMMA:
    case OpId::TORCH_GAMMA:
      return op.f[0] == 1.0 && op.f[1] == 1.0;
    case OpId::REPLICATE:
      return op.i[0] == 1;
    case OpId::V2_PERMUTE:
      for (int c = 0; c < in.channels; ++c) {
        if (op.i[c] != c) return false;
      }
      return true;
    case OpId::TORCH_HUE:
    case OpId::V2_HUE:
      return in.channels == 3 && static_cast<float>(op.f[0]) == 0.0f;  // gives every colour back
    default:
      fail_on("is_no_op", op.id);
  }
}

void lower_half_turns(OpList& ops) {
  for (size_t k = 0; k < ops.size(); ++k) {
    if (ops[k].id != OpId::ROT90 || ops[k].flags != 2) continue;
    Step flip{};
    flip.origin = ops[k].origin;
    flip.id = OpId::VFLIP;
    ops[k] = flip;
    flip.id = OpId::HFLIP;
    ops.insert(at(ops, k), flip);
  }
}

// Puts `flip` behind `next`; changes neither if that is not the same. `in` enters the flip.
bool sink_flip(Step& flip, Step& next, Shape in) {
  const bool horizontal = flip.id == OpId::HFLIP;
  switch (next.id) {
    case OpId::WINDOW:
      if (!mirror_window(flip.id, next, in)) return false;
      break;
    case OpId::PAD:
      std::swap(next.i[horizontal ? 0 : 1], next.i[horizontal ? 2 : 3]);
      break;
    case OpId::RESIZE:
    case OpId::TORCH_RESIZE:
    case OpId::NEAREST:
      // Along the other axis alone. Positions along this one are not symmetric to the last bit.
      if (horizontal ? next.i[1] != in.width : next.i[0] != in.height) return false;
      break;
    case OpId::ROT90:
      flip.id = horizontal ? OpId::VFLIP : OpId::HFLIP;
      break;
    case OpId::SHARPNESS:
    case OpId::TORCH_SHARPNESS:
    case OpId::V2_SHARPNESS:
    case OpId::BOX_BLUR:
      break;
    case OpId::HFLIP:
      if (horizontal) return false;
      break;
    case OpId::TORCH_CONTRAST:
    case OpId::V2_CONTRAST:
      // Beyond, the last bits of the mean depend on the order of pixels.
      if (int64_t{in.height} * in.width > kExactTorchPixels) return false;
      break;
    default:
      if (kind_of(next.id) != OpKind::kPointwise && kind_of(next.id) != OpKind::kReduction) return false;
  }
  std::swap(flip, next);
  return true;
}

// True when `op` treats a channel the same whatever the number of channels, if all of them are equal.
bool takes_one_channel(const Op& op, int copies) {
  if (!has(op.id, Trait::kChannelwise)) return false;
  if (has(op.id, Trait::kAlphaFlag) && (op.flags & kHasAlpha) != 0) return false;
  // torchvision's gray of three equal samples is not always that sample.
  if (takes_torch_mean(op.id)) return copies < 3;
  if (!has(op.id, Trait::kFills)) return true;
  if (samples_grid(op.id)) {
    for (int c = 1; c < copies; ++c) {
      if (fill_of(op, c) != fill_of(op, 0)) return false;
    }
    return true;
  }
  return std::all_of(op.fill, op.fill + copies, [&](uint8_t v) { return v == op.fill[0]; });
}

bool makes_gray(const Op& op) { return info_of(op.id).channels == Channels::kToGray; }

// True when `op` leaves `copies` equal channels as they are.
bool keeps_gray(const Op& op, int copies) {
  return has(op.id, Trait::kKeepsGray) && (copies == 3 || info_of(op.id).channels != Channels::kOpaque);
}

// Makes one op, or none, of two; returns how many ops are left of them.
int merge_colours_of(Step& first, const Step& second) {
  if (has(first.id, Trait::kInverts) && has(second.id, Trait::kInverts)) {
    const int threshold = threshold_of(first);
    if (threshold != threshold_of(second)) return 2;
    if (threshold == 0) return 0;
    // Twice inverted are samples v with v >= t and 255 - v >= t.
    if (threshold < 128) first.f[0] = 256 - threshold;
  } else if (first.id == OpId::POSTERIZE && second.id == OpId::POSTERIZE) {
    first.i[0] = std::min(first.i[0], second.i[0]);
  } else if (first.id == OpId::REPLICATE && second.id == OpId::LUMA) {
    // 19595 v + 38470 v + 7471 v + 32768 is 65536 v + 32768.
    return 0;
  } else if (first.id != OpId::REPLICATE || !keeps_gray(second, first.i[0])) {
    return 2;
  }
  first.origin |= second.origin;
  return 1;
}

}  // namespace

std::span<const NamedRewrite> named_rewrites() {
  static constexpr NamedRewrite kNames[] = {
      {"drop_no_ops", kDropNoOps},          {"merge_windows", kMergeWindows}, {"sink_flips", kSinkFlips},
      {"move_pixels", kMovePixels},         {"merge_turns", kMergeTurns},     {"hoist_windows", kHoistWindows},
      {"compose_tables", kComposeTables},   {"preimage", kPreimage},          {"straighten_warps", kStraightenWarps},
      {"merge_colours", kMergeColours},     {"sink_replicas", kSinkReplicas}, {"shrink_pointwise", kShrinkPointwise},
      {"recolour_pixels", kRecolourPixels}, {"compose_taps", kComposeTaps},   {"round_warps", kRoundWarps},
      {"float_colour", kFloatColour},
  };
  return kNames;
}

int drop_no_ops(OpList& ops, Shape in) {
  int changed = 0;
  for (size_t k = 0; k < ops.size();) {
    if (is_no_op(ops[k], in)) {
      ops.erase(at(ops, k));
      ++changed;
    } else if (k + 1 < ops.size() && is_flip(ops[k]) && ops[k].id == ops[k + 1].id) {
      ops.erase(at(ops, k), at(ops, k + 2));
      ++changed;
    } else {
      in = shape_after(ops[k++], in);
    }
  }
  return changed;
}

//   [ first window [ second ] ]   becomes one window.
int merge_windows(OpList& ops, Shape in) {
  const auto fits = [](const Op& a, const Op& b) { return a.id == OpId::WINDOW && b.id == OpId::WINDOW; };
  if (!any_pair(ops, fits)) return 0;
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size();) {
    if (fits(ops[k], ops[k + 1]) && merge_window(ops[k], ops[k + 1], in)) {
      ops.erase(at(ops, k + 1));
      ++changed;
    } else {
      in = shape_after(ops[k++], in);
    }
  }
  return changed;
}

//   flip, op  ->  op with its sides exchanged, flip
// The statistics of a reduction do not depend on the order of pixels; SHARPNESS sums integers. HFLIP goes before VFLIP,
// so that pairs meet.
int sink_flips(OpList& ops, Shape in) {
  const auto fits = [](const Op& a, const Op& b) { return is_flip(a) && kind_of(b.id) != OpKind::kStore; };
  if (!any_pair(ops, fits)) return 0;
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size(); ++k) {
    if (is_flip(ops[k]) && sink_flip(ops[k], ops[k + 1], in)) ++changed;
    in = shape_after(ops[k], in);
  }
  return changed;
}

// Every run of quarter turns and flips is a turn by 0 or 90 degrees, then HFLIP or not, then VFLIP or not. Where the
// turn is there, one HFLIP is one VFLIP after the opposite turn, which is cheaper: rows in another order cost nothing.
int merge_turns(OpList& ops, Shape) {
  if (!any_pair(ops, [](const Op& a, const Op& b) { return is_turn(a) && is_turn(b); })) return 0;
  int changed = 0;
  for (size_t begin = 0; begin < ops.size();) {
    size_t end = begin;
    bool turned = false;
    bool across = false;
    bool down = false;
    uint64_t origin = 0;
    for (; end < ops.size() && is_turn(ops[end]); ++end) {
      const Op& op = ops[end];
      origin |= ops[end].origin;
      if (op.id == OpId::ROT90) {
        // A flip is the other flip after a quarter turn. Two turns are both flips, and so is the way from 90 to 270.
        std::swap(across, down);
        const bool half = turned != (op.flags == 3);
        across = across != half;
        down = down != half;
        turned = !turned;
      } else {
        bool& flip = op.id == OpId::HFLIP ? across : down;
        flip = !flip;
      }
    }
    OpList spelled;
    const auto spell = [&](OpId id, uint16_t flags) {
      Step step{};
      step.id = id;
      step.flags = flags;
      step.origin = origin;
      spelled.push_back(step);
    };
    if (turned) {
      spell(OpId::ROT90, across ? 3 : 1);
      if (across != down) spell(OpId::VFLIP, 0);
    } else {
      if (across) spell(OpId::HFLIP, 0);
      if (down) spell(OpId::VFLIP, 0);
    }
    const bool same = std::equal(spelled.begin(), spelled.end(), at(ops, begin), at(ops, end),
                                 [](const Op& a, const Op& b) { return a.id == b.id && a.flags == b.flags; });
    if (!same) {
      ops.erase(at(ops, begin), at(ops, end));
      ops.insert(at(ops, begin), spelled.begin(), spelled.end());
      end = begin + spelled.size();
      ++changed;
    }
    begin = end + 1;
  }
  return changed;
}

//   op, window inside  ->  the same window of the op's input, op
int hoist_windows(OpList& ops, Shape in) {
  const auto fits = [](const Op& op, const Op& window) {
    return window.id == OpId::WINDOW && (op.id == OpId::PAD || is_turn(op) || kind_of(op.id) == OpKind::kPointwise);
  };
  if (!any_pair(ops, fits)) return 0;
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size(); ++k) {
    Step& op = ops[k];
    Step& window = ops[k + 1];
    const Shape before = in;
    in = shape_after(op, in);
    if (!fits(op, window) || !is_window_inside(window, in)) continue;
    bool swapped = true;
    if (op.id == OpId::PAD) {
      if (!hoist_before_padding(op, window, before, &swapped)) continue;
    } else {
      if (is_flip(op) && !mirror_window(op.id, window, before)) continue;
      if (op.id == OpId::ROT90) turn_window(op, window, before);
      std::swap(op, window);
    }
    in = shape_after(ops[k], before);
    ++changed;
  }
  return changed;
}

// True if torch's float32 positions of one axis, of `in` and `out` samples, are so near to the centres of pixels that
// bilinear weights do not move any sample by half a level. In units of 2^-24 pixels the roundings of theta and of its
// product with a column add up to `out`, that of the shift to itself, those of the sum, of the sum with one and of the
// multiply-add to two and a half times `in`. An error of e on both axes takes 2 e from the weight of a pixel, and as
// much from the mask: with samples and fills within 255, 1020 e is to stay below a half.
bool is_surely_whole(double shift, int in, int out) {
  constexpr double kMostError = 4.6e-4;
  return (out + std::abs(shift) + 2.5 * in + 8.0) * 0x1p-24 < kMostError;
}

// Where a warp that moves its image by whole pixels has its first pixel from; false for others.
bool moves_by_pixels(const Op& op, Shape in, double* top, double* left) {
  if (op.id != OpId::AFFINE && op.id != OpId::TORCH_AFFINE) return false;
  const double* f = op.f;
  if (f[0] != 1.0 || f[1] != 0.0 || f[3] != 0.0 || f[4] != 1.0) return false;
  *left = f[2];
  *top = f[5];
  if (op.id == OpId::TORCH_AFFINE) {
    // A fill of numbers may be near a half itself.
    if ((op.flags & kFloatFill) != 0) return false;
    if (!is_surely_whole(f[2], in.width, op.i[1]) || !is_surely_whole(f[5], in.height, op.i[0])) return false;
    *left += 0.5 * (in.width - op.i[1]);
    *top += 0.5 * (in.height - op.i[0]);
  }
  const double most = std::max(std::abs(*top), std::abs(*left));
  return *left == std::rint(*left) && *top == std::rint(*top) && most <= static_cast<double>(kMaxWindowOffset);
}

// AFFINE that moves an image by whole pixels: in Pillow's arithmetic every position is the centre of a pixel, so that
// bilinear and bicubic give that pixel all the weight. TORCH_AFFINE, where the roundings of its positions do not show.
int straighten_warps(OpList& ops, Shape in) {
  int changed = 0;
  for (Step& op : ops) {
    const Shape out = shape_after(op, in);
    double top, left;
    if (moves_by_pixels(op, in, &top, &left)) {
      Step window{};
      window.id = OpId::WINDOW;
      window.origin = op.origin;
      if (op.id == OpId::AFFINE || (op.flags & kFilled) != 0) std::copy_n(op.fill, kMaxChannels, window.fill);
      window.i[0] = static_cast<int32_t>(top);
      window.i[1] = static_cast<int32_t>(left);
      window.i[2] = out.height;
      window.i[3] = out.width;
      op = window;
      ++changed;
    }
    in = out;
  }
  return changed;
}

// POSTERIZE POSTERIZE, INVERT INVERT, equal SOLARIZEs; and after REPLICATE all that leaves gray as it is.
int merge_colours(OpList& ops, Shape) {
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size();) {
    const int left = merge_colours_of(ops[k], ops[k + 1]);
    ops.erase(at(ops, k + static_cast<size_t>(left)), at(ops, k + 2));
    if (left < 2) ++changed;
    if (left == 2) ++k;
  }
  return changed;
}

//   REPLICATE, flips, op  ->  flips, op on one channel, REPLICATE
// Flips alone stay behind it, to reach the store.
int sink_replicas(OpList& ops, Shape) {
  int changed = 0;
  for (size_t k = 0; k + 1 < ops.size(); ++k) {
    if (ops[k].id != OpId::REPLICATE) continue;
    size_t next = k + 1;
    while (next < ops.size() && is_flip(ops[next])) ++next;
    if (next == ops.size() || !takes_one_channel(ops[next], ops[k].i[0])) continue;
    std::rotate(at(ops, k), at(ops, k + 1), at(ops, next + 1));
    k = next - 1;
    ++changed;
  }
  return changed;
}

//   NEAREST that enlarges, pointwise  ->  pointwise, NEAREST        pointwise, NEAREST that shrinks  ->  the reverse
//   ROT90, LUMA  ->  LUMA, ROT90      and the LUMAs of tensors
// REPLICATE is left to sink_replicas.
int shrink_pointwise(OpList& ops, Shape in) {
  const auto fits = [](const Op& a, const Op& b) {
    return a.id == OpId::NEAREST || b.id == OpId::NEAREST || (a.id == OpId::ROT90 && makes_gray(b));
  };
  if (!any_pair(ops, fits)) return 0;
  int changed = 0;
  const auto pixels = [](Shape shape) { return int64_t{shape.height} * shape.width; };
  const auto is_pointwise = [](const Op& op) {
    return kind_of(op.id) == OpKind::kPointwise && op.id != OpId::REPLICATE;
  };
  for (size_t k = 0; k + 1 < ops.size(); ++k) {
    const Shape before = in;
    in = shape_after(ops[k], in);
    const Op& op = ops[k];
    const Op& next = ops[k + 1];
    const bool late = (op.id == OpId::NEAREST && pixels(in) > pixels(before) && is_pointwise(next)) ||
                      (op.id == OpId::ROT90 && makes_gray(next));
    const bool early = next.id == OpId::NEAREST && int64_t{next.i[0]} * next.i[1] < pixels(before) && is_pointwise(op);
    if (!late && !early) continue;
    std::swap(ops[k], ops[k + 1]);
    in = shape_after(ops[k], before);
    ++changed;
  }
  return changed;
}

// This ends, whatever the set of rewrites, because each change makes the list smaller in this order: the number of
// warps; of quarter turns; of ops; the sum of paddings; the number of ops other than flips behind a REPLICATE; the
// number of pairs of ops that stand against the order (window inside, NEAREST that shrinks, pointwise, NEAREST that
// enlarges, any other, REPLICATE, flip), as an exchange of neighbours mends one such pair and gives no op another rank;
// the number of HFLIPs; the number of HFLIPs behind VFLIPs.
OpList optimise(Program program, Shape in, uint32_t rewrites) {
  struct Rewrite {
    uint32_t bit;
    int (*apply)(OpList&, Shape);
  };
  static constexpr Rewrite kAll[] = {
      {kStraightenWarps, straighten_warps},
      {kDropNoOps, drop_no_ops},
      {kMergeWindows, merge_windows},
      {kMergeTurns, merge_turns},
      {kMergeColours, merge_colours},
      {kSinkReplicas, sink_replicas},
      {kSinkFlips, sink_flips},
      {kHoistWindows, hoist_windows},
      {kShrinkPointwise, shrink_pointwise},
  };
  OpList ops;
  ops.reserve(program.size() + 1);
  for (size_t k = 0; k < program.size(); ++k) ops.push_back({program[k], uint64_t{1} << k});
  lower_half_turns(ops);
  if (is_fast(rewrites)) {
    // The same but for its mean, which is one of grays that are not cut off to bytes.
    for (Step& op : ops) op.id = takes_torch_mean(op.id) ? OpId::CONTRAST : op.id;
  }
  for (int changed = 1; changed != 0;) {
    changed = 0;
    for (const Rewrite& rewrite : kAll) {
      if (rewrites & rewrite.bit) changed += rewrite.apply(ops, in);
    }
  }
  return ops;
}

}  // namespace fastaug
