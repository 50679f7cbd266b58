#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "draft/draft.h"

namespace fastaug {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 29;

bool is_side(int64_t side) { return 0 < side && side <= kMaxSide; }

bool is_place(int64_t place) { return std::abs(place) <= kMaxSide; }

Op window(int64_t top, int64_t left, int64_t height, int64_t width) {
  Op op = plain(OpId::WINDOW);
  const int64_t box[] = {top, left, height, width};
  std::ranges::transform(box, op.i, [](int64_t number) { return static_cast<int32_t>(number); });
  return op;
}

// Python's round(number / 2.0).
int64_t half(int64_t number) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(number) / 2.0)); }

}  // namespace

PlaneSize Size::of(PlaneSize image) const {
  if (height != 0) return {height, width};
  const bool upright = image.width <= image.height;
  const int64_t shorter = upright ? image.width : image.height, longer = upright ? image.height : image.width;
  // As Python divides and truncates.
  const auto part = [](int64_t factor, int64_t of, int64_t by) {
    return static_cast<int64_t>(static_cast<double>(factor * of) / static_cast<double>(by));
  };
  int64_t new_short = width, new_long = part(width, longer, shorter);
  if (most != 0 && new_long > most) {
    new_short = part(most, new_short, new_long);
    new_long = most;
  }
  return upright ? PlaneSize{new_long, new_short} : PlaneSize{new_short, new_long};
}

Reason Draft::drafted(const moves::Flip& how) {
  if (!takes_moves()) return decline(Reason::kSamples);
  append_named(plain(how.vertical ? OpId::VFLIP : OpId::HFLIP));
  return Reason::kNone;
}

Reason Draft::transpose() {
  if (!native || erases_ > 0) return decline(Reason::kSamples);
  append(plain(OpId::ROT90, 1));
  append(OpId::VFLIP);
  std::swap(shape.height, shape.width);
  return Reason::kNone;
}

Reason Draft::rot90(int turns) {
  if (turns == 0 && !source.v2) return Reason::kNone;
  if (!native || erases_ > 0) return decline(Reason::kSamples);
  if (turns == 0) {
    // The copy has its axes in their order.
    if (pixel_ops() == 0 && !channel_last && !source.contiguous) return decline(Reason::kShape);
    copied = true;
    return Reason::kNone;
  }
  append_named(plain(OpId::ROT90, static_cast<uint16_t>(turns)));
  if (turns != 2) {
    std::swap(shape.height, shape.width);
    channel_last = false;
  }
  return Reason::kNone;
}

void Draft::append_filled(const Op& op, const Colour& colour, bool mixes) {
  std::vector<Op> painted(colour.groups(), op);
  for (size_t group = 0; group < painted.size(); ++group) colour.paint(painted[group], group);
  // The fill is not premultiplied: Pillow paints it into the premultiplied image.
  const bool premultiplies = mixes && has_alpha(mode);
  if (premultiplies) append(OpId::PREMULTIPLY);
  append(painted);
  if (premultiplies) append(OpId::UNPREMULTIPLY);
}

Reason Draft::drafted(const moves::Crop& how) {
  const auto [top, left, height, width] = how;
  if (!is_place(top) || !is_place(left) || !is_place(height) || !is_place(width)) return decline(Reason::kNumber);
  const bool plain_planes = native && !channel_last && !flat && top >= 0 && left >= 0;
  if (source.v2 && is_tensor() && !plain_planes) return crop_tensor(top, left, height, width);
  return crop_any(top, left, height, width);
}

Reason Draft::crop_tensor(int64_t top, int64_t left, int64_t height, int64_t width) {
  const int64_t bottom = top + height, right = left + width;
  if (top >= 0 && left >= 0 && bottom <= shape.height && right <= shape.width) {
    bool part = channel_last && (gaps == pixel_ops() || width != shape.width);
    // A row of its own has no gaps, but where its pixels have.
    if (part && height == 1) {
      part = pixel_ops() == 0 && source.container == Container::kTensor && source.wide_pixels;
    }
    if (crop_any(top, left, height, width) != Reason::kNone) return declined_;
    if (channel_last) gaps = part ? pixel_ops() : -1;
    return Reason::kNone;
  }
  // torchvision counts ends that lie before the image from its end.
  if (flat || bottom < 0 || right < 0) return decline(Reason::kShape);
  if (top >= shape.height || left >= shape.width || bottom == 0 || right == 0) channel_last = false;
  const bool batched = is_batched(), alone = pixel_ops() == 0;
  if (crop_any(top, left, height, width) != Reason::kNone) return declined_;
  // torch's padding gives another memory format to the tensor than to torchvision's batch of it.
  if (batched && alone && first == First::kOp) first = First::kNone;
  return Reason::kNone;
}

Reason Draft::crop_any(int64_t top, int64_t left, int64_t height, int64_t width) {
  if (!takes_moves()) return decline(Reason::kSamples);
  const bool inside = top >= 0 && left >= 0 && top + height <= shape.height && left + width <= shape.width;
  if (inside && height == shape.height && width == shape.width) {
    if (!is_tensor()) {
      copied = true;
    } else if (pixel_ops() == 0 && first == First::kNone) {
      first = First::kCrop;
      view = {0, 0, height, width};
    }
    return Reason::kNone;
  }
  // Zero stays zero in TO_FLOAT, but not in NORMALIZE.
  const bool zeros = native || stored_ == (floats ? 0 : 1);
  if (!(zeros || inside) || !is_side(height) || !is_side(width)) return decline(Reason::kNumber);
  if (inside && is_tensor()) {
    if (views == pixel_ops()) {
      // Each is a view of the one before.
      const Box before = first == First::kCrop ? view : Box{};
      view = {before.top + top, before.left + left, height, width};
      first = First::kCrop;
      ++views;
    }
  } else {
    name();
    padded_by_torch();
  }
  append(window(top, left, height, width));
  reshape(height, width);
  return Reason::kNone;
}

Reason Draft::drafted(const moves::CenterCrop& how) {
  const auto [height, width] = how;
  if (!is_side(height) || !is_side(width)) return decline(Reason::kNumber);
  if (height > shape.height || width > shape.width) {
    const auto rows = static_cast<int>(std::max<int64_t>(height - shape.height, 0));
    const auto columns = static_cast<int>(std::max<int64_t>(width - shape.width, 0));
    // v2 does not make a batch of a tensor first.
    const bool kept = channel_last && leading == 1;
    if (pad_any({columns / 2, rows / 2, (columns + 1) / 2, (rows + 1) / 2}, {}, std::nullopt, true) != Reason::kNone) {
      return declined_;
    }
    if (tensor_by_v2()) channel_last = kept;
    if (height == shape.height && width == shape.width) return Reason::kNone;
  }
  return crop(half(shape.height - height), half(shape.width - width), height, width);
}

bool Draft::torch_pads(const Sides& sides, PadMode by) const {
  if ((leading > 1 && !source.v2) || (flat && by == PadMode::kSymmetric)) return false;
  if (by == PadMode::kEdge) return true;
  const int slack = by == PadMode::kReflect ? 1 : 0;
  return sides.least() >= 0 && std::max(sides.left, sides.right) <= shape.width - slack &&
         std::max(sides.top, sides.bottom) <= shape.height - slack;
}

Reason Draft::pad_any(const Sides& sides, const Fill& fill, Padding by, bool plane) {
  if (tensor_by_v2() && flat && !plane) return decline(Reason::kShape);
  // In floats, other fills are not what their bytes are.
  const bool black = fill.is_none() || (fill.is_integer && fill.values[0] == 0);
  if (!native && !(floats && stored_ == 0 && !by && black)) return decline(Reason::kSamples);
  const auto [left, top, right, bottom] = sides;
  const PlaneSize size{int64_t{shape.height} + top + bottom, int64_t{shape.width} + left + right};
  if (!is_side(size.height) || !is_side(size.width) || !is_place(sides.least()) || !is_place(sides.most())) {
    return decline(Reason::kNumber);
  }
  // Some fills are errors, even where they do not show.
  const bool several = fill.is_sequence && !(source.v2 && fill.values.size() == 1);
  if (by && (!fill.is_readable || (is_tensor() && several))) return decline(Reason::kNumber);
  const bool batched = tensor_by_v2() && is_batched();
  if ((by ? pad_by_samples(sides, *by) : pad_by_colour(sides, fill)) != Reason::kNone) return declined_;
  // torch's padding gives another memory format to torchvision's batch of a tensor.
  if (batched) unview();
  reshape(size.height, size.width);
  return Reason::kNone;
}

Reason Draft::pad_by_samples(const Sides& sides, PadMode by) {
  if (is_tensor() && !torch_pads(sides, by)) return decline(Reason::kNumber);
  const auto cut = [](int side) { return std::min(side, 0); };
  if (sides.least() < 0) {
    const int64_t height = shape.height + cut(sides.top) + cut(sides.bottom);
    const int64_t width = shape.width + cut(sides.left) + cut(sides.right);
    if (height <= 0 || width <= 0) return decline(Reason::kNumber);
    append(window(-cut(sides.top), -cut(sides.left), height, width));
  }
  Op op = plain(OpId::PAD, static_cast<uint16_t>(by));
  const int added[] = {sides.left, sides.top, sides.right, sides.bottom};
  std::ranges::transform(added, op.i, [](int side) { return std::max(side, 0); });
  append(op);
  if (by == PadMode::kSymmetric) {
    channel_last = false;
  } else {
    padded_by_torch();
  }
  // NumPy has no modes: Pillow guesses one from the shape, and torchvision lets it.
  if (mode == Mode::kCmyk) mode = Mode::kRgba;
  if (mode == Mode::kYcbcr || mode == Mode::kHsv) mode = Mode::kRgb;
  info = Info::kNone;
  return Reason::kNone;
}

Reason Draft::pad_by_colour(const Sides& sides, const Fill& fill) {
  const auto within = [](double limit) { return [=](double value) { return 0 <= value && value < limit; }; };
  if (tensor_by_v2()) {
    const auto left_of = [](int side, int before, int after) {
      return side + std::min(before, 0) + std::min(after, 0);
    };
    if (left_of(shape.height, sides.top, sides.bottom) < 0 || left_of(shape.width, sides.left, sides.right) < 0) {
      return decline(Reason::kNumber);
    }
    // Where nothing is added, the axes keep their order, whichever it is.
    if (sides.most() <= 0 && pixel_ops() == 0 && !channel_last && !source.contiguous) return decline(Reason::kShape);
    // torch refuses some other numbers, and others wrap around.
    if (!fill.is_plain || !std::ranges::all_of(fill.values, within(256))) return decline(Reason::kNumber);
  } else if (is_tensor() && !(fill.is_none() || (fill.is_integer && std::ranges::all_of(fill.values, within(256))))) {
    return decline(Reason::kNumber);
  }
  const auto colour = fill.bytes(channels());
  if (!colour) return decline(Reason::kNumber);
  if (colour->groups() == 1) name();
  append_filled(
      window(-sides.top, -sides.left, shape.height + sides.top + sides.bottom, shape.width + sides.left + sides.right),
      *colour);
  // Where nothing is added, torch copies what is left.
  if (sides.most() > 0) padded_by_torch();
  if (info != Info::kNone) info = info == Info::kJpeg ? Info::kNone : Info::kTransparency;
  return Reason::kNone;
}

Reason Draft::resize(const Size& size, const Resample& by, const Torch& torch) {
  // v2 looks at these first.
  if (source.v2 && (is_tensor() ? by.filter == 1 && !by.antialias : by.warns)) return decline(Reason::kNumber);
  const auto [height, width] = size.of({shape.height, shape.width});
  const bool same = height == shape.height && width == shape.width;
  if (!same && !is_tensor() && by.warns) return decline(Reason::kNumber);
  return resize(height, width, by, torch);
}

Reason Draft::drafted(const moves::Resize& how) {
  const auto [height, width] = how.size;
  const Resample& by = how.by;
  const Torch& torch = *how.torch;
  if (height == shape.height && width == shape.width) return Reason::kNone;
  const bool by_v2 = by_torch() && source.v2;
  if (by_v2 && gaps == pixel_ops() && images == 1) channel_last = false;
  if (!native || !is_side(height) || !is_side(width)) return decline(Reason::kNumber);
  const int filter = by.filter;
  if (is_tensor()) {
    if (!is_sampled()) return decline(Reason::kShape);
    // Without antialiasing torch has other filters.
    const bool smooth = by.antialias && (filter == 2 || filter == 3 || (filter == 1 && by_v2));
    if (filter != 0 && !smooth) return decline(Reason::kNumber);
    if (by_torch() && filter != 0) {
      // torch gives all rows of a single column the values of the first one, mostly; in v2 where there are many
      // channels.
      const bool single = width == 1 && (by_v2 ? channels() > kMaxChannels : height != shape.height);
      // Along longer sides float32 does not tell samples apart.
      if (single || std::max<int64_t>({height, width, shape.height, shape.width}) > kMostOfFloat32) {
        return decline(Reason::kNumber);
      }
      const bool follows = by_v2 ? filter != 2 || torch.follows(Rounding::kBytes)
                                 : torch.follows(filter == 3 ? Rounding::kBicubic : Rounding::kBilinear);
      if (!follows) return decline(Reason::kLibrary);
    }
  }
  Op op = plain(OpId::RESIZE, static_cast<uint16_t>(filter));
  op.i[0] = static_cast<int32_t>(height);
  op.i[1] = static_cast<int32_t>(width);
  if (filter == 0) {
    const auto rule = !is_tensor() ? NearestRule::kPillow : by.exact ? NearestRule::kTorchExact : NearestRule::kTorch;
    if (rule == NearestRule::kPillow) name();
    op.id = OpId::NEAREST;
    op.flags = static_cast<uint16_t>(rule);
    append(op);
  } else if (by_v2) {
    op.flags |= kShortWeights | kWidthFirst;
    append(op);
  } else if (by_torch()) {
    op.id = OpId::TORCH_RESIZE;
    append(op);
  } else {
    if (torch.width_first()) op.flags |= kWidthFirst;
    if (has_alpha(mode)) append(OpId::PREMULTIPLY);
    append(op);
    if (has_alpha(mode)) append(OpId::UNPREMULTIPLY);
  }
  if (!by_v2) padded_by_torch();
  reshape(height, width);
  return Reason::kNone;
}

}  // namespace fastaug
