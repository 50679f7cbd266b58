// What of one axis of an op's input a part of its output reads, from the op alone: without the tables of a whole axis
// that csrc/plan/regions.h makes, so that a device can ask it for each tile.
#pragma once

#include <cstdint>

#include "pixel/index.h"
#include "pixel/lane.h"
#include "pixel/tap.h"
#include "pixel/torch_tap.h"
#include "program/op.h"

namespace fastaug {

// [begin, end) of an axis.
struct Extent {
  int begin;
  int end;
};

// An extent without what lies outside an axis of `size` samples; empty where nothing lies in it.
FASTAUG_FN Extent clipped_extent(int begin, int end, int size) {
  const int from = begin < 0 ? 0 : begin < size ? begin : size;
  const int to = end < size ? end : size;
  return {from, to < from ? from : to};
}

// The samples that outputs [begin, begin + count) of an axis need when each needs `half` neighbours on both sides.
// Positions past an end are reflected onto samples that are needed anyway.
FASTAUG_FN Extent neighbourhood(int begin, int count, int half, int size) {
  return clipped_extent(begin - half, begin + count + half, size);
}

// The number of samples that a filter needs on each side of one.
FASTAUG_FN int reach_of(const Op& op, bool rows) {
  switch (op.id) {
    case OpId::SHARPNESS:
    case OpId::TORCH_SHARPNESS:
    case OpId::V2_SHARPNESS:
      return 1;
    case OpId::BLUR:
      return op.i[rows ? 1 : 0] / 2;
    case OpId::BOX_BLUR: {
      const auto radius = static_cast<float>(op.f[rows ? 1 : 0]);
      const int whole = static_cast<int>(radius);
      return op.i[0] * (static_cast<float>(whole) < radius ? whole + 1 : whole);
    }
    default:  // pixels alone, but for geometry, and filters that are not named
#ifndef __CUDA_ARCH__
      if (kind_of(op.id) == OpKind::kGeometry || kind_of(op.id) == OpKind::kFilter) fail_on("reach_of", op.id);
#endif
      return 0;
  }
}

// a / b, rounded down, for b > 0.
FASTAUG_FN int floor_divided(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Outputs of an axis of `size` samples that was padded by `before` in front. Reflections turn around at every multiple
// of `leg`: at its even ones the first sample is reached, at its odd ones the last.
FASTAUG_FN Extent pad_extent(PadMode mode, Extent out, int before, int size) {
  const int first = pad_position(mode, out.begin, before, size);
  const int last = pad_position(mode, out.end - 1, before, size);
  const int low = first < last ? first : last;
  const int high = first < last ? last : first;
  if (mode == PadMode::kEdge || size == 1) return {low, high + 1};
  const int leg = mode == PadMode::kReflect ? size - 1 : size;
  const int from = floor_divided(out.begin - before, leg);
  const int to = floor_divided(out.end - 1 - before, leg);
  if (from == to) return {low, high + 1};
  if (to > from + 1) return {0, size};
  return to % 2 == 0 ? Extent{0, high + 1} : Extent{low, size};
}

// How far Pillow's accumulated position may be from the exact one at output k, in whole samples, and one more. Each
// addition rounds by half a unit in the last place of a sum that is at most k + 1 times the scale.
FASTAUG_FN int nearest_slack(double scale, int k) {
  const double outputs = static_cast<double>(k) + 1.0;
  return 1 + static_cast<int>(outputs * outputs * scale * 0x1p-52);
}

FASTAUG_FN Extent nearest_extent(NearestRule rule, Extent out, int in, int out_size) {
  if (rule != NearestRule::kPillow) {
    return {nearest_position(rule, out.begin, in, out_size), nearest_position(rule, out.end - 1, in, out_size) + 1};
  }
  const double scale = nearest_scale(in, out_size);
  const int slack = nearest_slack(scale, out.end);
  const int first = nearest_clamped((static_cast<double>(out.begin) + 0.5) * scale, in);
  const int last = nearest_clamped((static_cast<double>(out.end) - 0.5) * scale, in);
  return clipped_extent(first - slack, last + 1 + slack, in);
}

FASTAUG_FN Extent resize_extent(TapAxis axis, Extent out) {
  if (axis.in == axis.out) return out;
  const TapRange last = tap_window(axis, out.end - 1);
  return clipped_extent(tap_window(axis, out.begin).first, last.first + last.count, axis.in);
}

FASTAUG_FN Extent torch_resize_extent(TapAxis axis, Extent out) {
  const TapRange last = torch_window(axis, out.end - 1);
  return {torch_window(axis, out.begin).first, last.first + last.count};
}

// The samples of its input that outputs `out` of an axis of `op` may read: perhaps a few more than they do, never less.
// `rows`: the axis that a column of pixels runs along, else the one of a row. It has `in` samples, and out_size after
// the op. Empty for an empty `out`, and where a WINDOW shows nothing of its image. A warp or a rotation by quarter
// turns may read anything.
FASTAUG_FN Extent source_extent(const Op& op, bool rows, Extent out, int in, int out_size) {
  if (out.begin >= out.end) return {0, 0};
  switch (op.id) {
    case OpId::WINDOW: {
      const int offset = op.i[rows ? 0 : 1];
      return clipped_extent(out.begin + offset, out.end + offset, in);
    }
    case OpId::PAD:
      return pad_extent(static_cast<PadMode>(op.flags), out, op.i[rows ? 1 : 0], in);
    case OpId::NEAREST:
      return nearest_extent(static_cast<NearestRule>(op.flags), out, in, out_size);
    case OpId::HFLIP:
    case OpId::VFLIP:
      return rows == (op.id == OpId::VFLIP) ? Extent{in - out.end, in - out.begin} : out;
    case OpId::RESIZE:
      return resize_extent({op.flags & kFilterMask, in, out_size}, out);
    case OpId::TORCH_RESIZE:
      return torch_resize_extent({op.flags, in, out_size}, out);
    case OpId::ROT90:
    case OpId::AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      return {0, in};
    default:  // not geometry, or reach_of fails
      return neighbourhood(out.begin, out.end - out.begin, reach_of(op, rows), in);
  }
}

// At least the size of source_extent for any `length` outputs in a row.
FASTAUG_FN int extent_bound(const Op& op, bool rows, int length, int in, int out_size) {
  // Numbers too large for int end up at `in`, which is never exceeded.
  double most = length;
  switch (op.id) {
    case OpId::WINDOW:
    case OpId::PAD:
    case OpId::HFLIP:
    case OpId::VFLIP:
      break;
    case OpId::NEAREST: {
      const double scale = nearest_scale(in, out_size);
      most = (most - 1.0) * scale + 2.001;
      if (static_cast<NearestRule>(op.flags) == NearestRule::kPillow) {
        most += 2.0 * nearest_slack(scale, out_size);
      } else {
        // Six roundings to float32 on either side.
        most += static_cast<double>(in) * 0x1p-20;
      }
      break;
    }
    case OpId::RESIZE:
      if (in != out_size) {
        const TapScale by = tap_scale({op.flags & kFilterMask, in, out_size});
        most = (most - 1.0) * by.scale + 2.0 * by.support + 1.001;
      }
      break;
    case OpId::TORCH_RESIZE:
      if (in != out_size) {
        const TorchScale by = torch_scale({op.flags, in, out_size});
        // Positions are float32, and rounded a few times.
        most = (most - 1.0) * by.scale + 2.0 * by.support + 1.001 + static_cast<double>(in) * 0x1p-20;
      }
      break;
    case OpId::ROT90:
    case OpId::AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      return in;
    default:  // not geometry, or reach_of fails
      most += 2.0 * reach_of(op, rows);
  }
  return most < in ? static_cast<int>(most) : in;
}

}  // namespace fastaug
