#include "plan/window_algebra.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace fastaug {
namespace {

// One axis of two windows in a row: how many of the output's rows (or columns) lie inside the frame of the first, show
// the image, and do both.
struct Overlap {
  int64_t framed;
  int64_t shown;
  int64_t both;
};

Overlap overlap(const Op& first, const Op& second, int axis, int side) {
  const int64_t size = second.i[axis + 2];
  const auto clipped = [&](int64_t begin, int64_t length) {
    const int64_t low = std::clamp<int64_t>(begin, 0, size);
    return std::pair(low, std::clamp<int64_t>(begin + length, low, size));
  };
  const auto frame = clipped(-int64_t{second.i[axis]}, first.i[axis + 2]);
  const auto image = clipped(-int64_t{second.i[axis]} - first.i[axis], side);
  const int64_t both = std::min(frame.second, image.second) - std::max(frame.first, image.first);
  return {frame.second - frame.first, image.second - image.first, std::max<int64_t>(both, 0)};
}

// One axis of a padding and a window inside of what it makes: the padding that the window still shows, where it begins
// then, and what it shows of the image.
struct PaddedAxis {
  int before;
  int after;
  int begin;
  int image_begin;
  int image_end;
  bool hoistable;
};

PaddedAxis padded_axis(PadMode mode, int before, int size, int begin, int length) {
  PaddedAxis axis{};
  axis.before = std::max(before - begin, 0);
  axis.after = std::max(begin + length - (before + size), 0);
  axis.begin = std::max(begin - before, 0);
  axis.image_begin = axis.begin;
  axis.image_end = std::min(begin + length - before, size);
  const int left = axis.image_end - axis.image_begin;
  const bool cut = axis.image_begin > 0 || axis.image_end < size;
  // The samples that the padding mirrors must still exist.
  const int reach = mode == PadMode::kEdge ? 0 : std::max(axis.before, axis.after);
  axis.hoistable = left > 0 && (!cut || reach <= (mode == PadMode::kReflect ? left - 1 : left));
  return axis;
}

}  // namespace

// One window shows the image wherever it has pixels, so none of those may lie where the second looks past the frame of
// the first; and it has one colour, so where the colours of both show they must be equal.
bool merge_window(Step& first, const Step& second, Shape in) {
  const int64_t top = int64_t{first.i[0]} + second.i[0];
  const int64_t left = int64_t{first.i[1]} + second.i[1];
  if (std::abs(top) > kMaxWindowOffset || std::abs(left) > kMaxWindowOffset) return false;
  const Overlap down = overlap(first, second, 0, in.height);
  const Overlap across = overlap(first, second, 1, in.width);
  const int64_t shown = down.both * across.both;
  if (down.shown * across.shown != shown) return false;
  const int64_t framed = down.framed * across.framed;
  const bool first_fills = framed > shown;
  const bool second_fills = int64_t{second.i[2]} * second.i[3] > framed;
  if (first_fills && second_fills && !std::equal(first.fill, first.fill + in.channels, second.fill)) return false;
  if (second_fills) std::copy_n(second.fill, kMaxChannels, first.fill);
  first.i[0] = static_cast<int32_t>(top);
  first.i[1] = static_cast<int32_t>(left);
  first.i[2] = second.i[2];
  first.i[3] = second.i[3];
  first.origin |= second.origin;
  return true;
}

bool hoist_before_padding(Step& pad, Step& window, Shape in, bool* swapped) {
  const auto mode = static_cast<PadMode>(pad.flags);
  const PaddedAxis down = padded_axis(mode, pad.i[1], in.height, window.i[0], window.i[2]);
  const PaddedAxis across = padded_axis(mode, pad.i[0], in.width, window.i[1], window.i[3]);
  const int32_t margins[] = {across.before, down.before, across.after, down.after};
  *swapped = down.hoistable && across.hoistable;
  if (!*swapped && std::equal(margins, margins + 4, pad.i)) return false;
  std::copy_n(margins, 4, pad.i);
  window.i[0] = down.begin;
  window.i[1] = across.begin;
  if (*swapped) {
    window.i[2] = down.image_end - down.image_begin;
    window.i[3] = across.image_end - across.image_begin;
    std::swap(pad, window);
  }
  return true;
}

bool mirror_window(OpId flip, Step& window, Shape in) {
  const int axis = flip == OpId::HFLIP ? 1 : 0;
  const int64_t begin = int64_t{axis == 1 ? in.width : in.height} - window.i[axis] - window.i[axis + 2];
  if (std::abs(begin) > kMaxWindowOffset) return false;
  window.i[axis] = static_cast<int32_t>(begin);
  return true;
}

// Counter-clockwise, pixel (y, x) comes from (x, width - 1 - y); clockwise, from (height - 1 - x, y).
void turn_window(const Op& turn, Step& window, Shape in) {
  const int top = window.i[0];
  const int left = window.i[1];
  std::swap(window.i[2], window.i[3]);
  window.i[0] = turn.flags == 1 ? left : in.height - left - window.i[2];
  window.i[1] = turn.flags == 1 ? in.width - top - window.i[3] : top;
}

}  // namespace fastaug
