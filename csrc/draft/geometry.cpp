#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "draft/draft.h"

namespace fastaug {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 29;
// Along longer sides float32 does not tell samples apart.
constexpr int64_t kLongest = int64_t{1} << 24;

bool is_side(int64_t side) { return 0 < side && side <= kMaxSide; }

bool is_place(int64_t place) { return std::abs(place) <= kMaxSide; }

Op with_fill(OpId id, const Fill::Bytes& fill) {
  Op op = plain(id);
  std::ranges::copy(fill, op.fill);
  return op;
}

// What `numbers` are told of a warp from output to input.
template <int count>
Op warp(OpId id, PlaneSize size, int filter, const double (&numbers)[count], const Fill::Bytes& fill) {
  Op op = with_fill(id, fill);
  op.flags = static_cast<uint16_t>(filter);
  op.i[0] = static_cast<int32_t>(size.height);
  op.i[1] = static_cast<int32_t>(size.width);
  std::ranges::copy(numbers, op.f);
  return op;
}

bool is_sampler(int filter) { return filter == 0 || filter == 2 || filter == 3; }

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

Reason Draft::flip(OpId id) {
  if (!takes_moves()) return decline(Reason::kSamples);
  append_named(plain(id));
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

void Draft::append_window(int64_t top, int64_t left, int64_t height, int64_t width, const Fill::Bytes& fill,
                          bool named) {
  Op op = with_fill(OpId::WINDOW, fill);
  const int64_t box[] = {top, left, height, width};
  std::ranges::transform(box, op.i, [](int64_t number) { return static_cast<int32_t>(number); });
  if (named) name();
  append(op);
}

Reason Draft::crop(int64_t top, int64_t left, int64_t height, int64_t width) {
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
  bool named = false;
  if (inside && is_tensor()) {
    if (views == pixel_ops()) {
      // Each is a view of the one before.
      const Box before = first == First::kCrop ? view : Box{};
      view = {before.top + top, before.left + left, height, width};
      first = First::kCrop;
      ++views;
    }
  } else {
    named = true;
    padded_by_torch();
  }
  append_window(top, left, height, width, {}, named);
  reshape(height, width);
  return Reason::kNone;
}

Reason Draft::center_crop(int64_t height, int64_t width) {
  if (height > shape.height || width > shape.width) {
    const auto rows = static_cast<int>(std::clamp<int64_t>(height - shape.height, 0, kMaxSide));
    const auto columns = static_cast<int>(std::clamp<int64_t>(width - shape.width, 0, kMaxSide));
    static constexpr Fill kBlack{Fill::Bytes{}, Fill::Bytes{}, true};
    const Sides sides{columns / 2, rows / 2, (columns + 1) / 2, (rows + 1) / 2};
    if (pad(sides, kBlack, std::nullopt) != Reason::kNone) return declined_;
    channel_last = false;
    if (height == shape.height && width == shape.width) return Reason::kNone;
  }
  return crop(half(shape.height - height), half(shape.width - width), height, width);
}

bool Draft::torch_pads(Sides sides, PadMode by) const {
  if (by == PadMode::kEdge) return true;
  const int slack = by == PadMode::kReflect ? 1 : 0;
  return std::min({sides.left, sides.top, sides.right, sides.bottom}) >= 0 &&
         std::max(sides.left, sides.right) <= shape.width - slack &&
         std::max(sides.top, sides.bottom) <= shape.height - slack;
}

Reason Draft::pad(Sides sides, const Fill& fill, Padding by) {
  if (!native) return decline(Reason::kSamples);
  const auto [left, top, right, bottom] = sides;
  const PlaneSize size{int64_t{shape.height} + top + bottom, int64_t{shape.width} + left + right};
  const auto far = [](int side) { return !is_place(side); };
  if (!is_side(size.height) || !is_side(size.width) || far(left) || far(top) || far(right) || far(bottom)) {
    return decline(Reason::kNumber);
  }
  if (!by) {
    return pad_constant(sides, fill, size);
  }
  if (is_tensor() && (!fill.pads_tensors || !torch_pads(sides, *by))) return decline(Reason::kNumber);
  const auto cut = [](int side) { return std::min(side, 0); };
  if (std::min({left, top, right, bottom}) < 0) {
    const int64_t height = shape.height + cut(top) + cut(bottom), width = shape.width + cut(left) + cut(right);
    if (height <= 0 || width <= 0) return decline(Reason::kNumber);
    append_window(-cut(top), -cut(left), height, width, {}, false);
  }
  Op op = plain(OpId::PAD, static_cast<uint16_t>(*by));
  const int added[] = {left, top, right, bottom};
  std::ranges::transform(added, op.i, [](int side) { return std::max(side, 0); });
  append(op);
  if (*by == PadMode::kSymmetric) {
    channel_last = false;
  } else {
    padded_by_torch();
  }
  reshape(size.height, size.width);
  return Reason::kNone;
}

Reason Draft::pad_constant(Sides sides, const Fill& fill, PlaneSize size) {
  const auto& colour = fill.of(channels());
  if (!colour || (is_tensor() && !fill.pads_tensors)) return decline(Reason::kNumber);
  const auto left_of = [](int side, int before, int after) { return side + std::min(before, 0) + std::min(after, 0); };
  if (source.v2 && is_tensor() &&
      (left_of(shape.height, sides.top, sides.bottom) < 0 || left_of(shape.width, sides.left, sides.right) < 0)) {
    return decline(Reason::kNumber);
  }
  append_window(-sides.top, -sides.left, size.height, size.width, *colour, true);
  // Where nothing is added, torch copies what is left.
  if (std::max({sides.left, sides.top, sides.right, sides.bottom}) > 0) padded_by_torch();
  reshape(size.height, size.width);
  return Reason::kNone;
}

Reason Draft::resize(const Size& size, const Resample& by) {
  const int filter = by.filter;
  const auto [height, width] = size.of({shape.height, shape.width});
  // v2 looks at these first.
  if (source.v2 && (is_tensor() ? filter == 1 && !by.antialias : by.warns)) return decline(Reason::kNumber);
  if (height == shape.height && width == shape.width) return Reason::kNone;
  if (!native || !is_side(height) || !is_side(width)) return decline(Reason::kNumber);
  if (is_tensor()) {
    if (filter != 0 && !(by.antialias && (filter == 2 || filter == 3))) return decline(Reason::kNumber);
    if (by_torch() && filter != 0) {
      // torch gives all rows of a single column the values of the first one, mostly; not where v2 asks it to.
      const bool single = !source.v2 && width == 1 && height != shape.height;
      if (single || std::max<int64_t>({height, width, shape.height, shape.width}) > kLongest)
        return decline(Reason::kNumber);
    }
  } else if (by.warns) {
    return decline(Reason::kNumber);
  }
  Op op = plain(OpId::RESIZE, static_cast<uint16_t>(filter));
  op.i[0] = static_cast<int32_t>(height);
  op.i[1] = static_cast<int32_t>(width);
  if (filter == 0) {
    const auto rule = !is_tensor() ? NearestRule::kPillow : by.exact ? NearestRule::kTorchExact : NearestRule::kTorch;
    if (rule == NearestRule::kPillow) name();
    op.id = OpId::NEAREST;
    op.flags = static_cast<uint16_t>(rule);
  } else if (!by_torch()) {
    op.flags |= by.flags;
  } else if (source.v2) {
    op.flags |= kShortWeights | kWidthFirst;
  } else {
    op.id = OpId::TORCH_RESIZE;
  }
  if (!source.v2 || !by_torch()) {
    padded_by_torch();
  } else if (gaps == pixel_ops()) {
    channel_last = false;
  }
  append(op);
  reshape(height, width);
  return Reason::kNone;
}

bool Draft::warps(int filter, const Fill& fill) const {
  // What torch samples is Python's to prepare.
  return native && !is_tensor() && is_sampler(filter) && fill.of(channels()).has_value();
}

Reason Draft::rotate(double angle, int filter, bool expand, std::optional<Vec2> center, const Fill& fill) {
  if (!native || is_tensor() || !fill.of(channels())) return decline(Reason::kNumber);
  // The shortcuts of Image.rotate (Pillow, Image.py), whatever the interpolation.
  angle = python_modulo(angle, 360.0);
  if (!center) {
    if (angle == 0) {
      copied = true;
      return Reason::kNone;
    }
    if (angle == 180 || ((angle == 90 || angle == 270) && (expand || shape.width == shape.height))) {
      append_named(plain(OpId::ROT90, static_cast<uint16_t>(angle / 90)));
      if (angle != 180) reshape(shape.width, shape.height);
      return Reason::kNone;
    }
  }
  if (!warps(filter, fill)) return decline(Reason::kNumber);
  const auto rotated = rotation({shape.height, shape.width}, angle, expand, center);
  if (!rotated || !is_side(rotated->size.height) || !is_side(rotated->size.width)) return decline(Reason::kNumber);
  append(warp(OpId::AFFINE, rotated->size, filter, rotated->map.numbers, *fill.of(channels())));
  reshape(rotated->size.height, rotated->size.width);
  return Reason::kNone;
}

Reason Draft::affine(double angle, Vec2 translate, double scale, Vec2 shear, int filter, std::optional<Vec2> center,
                     const Fill& fill) {
  if (!(scale > 0) || !warps(filter, fill)) return decline(Reason::kNumber);
  const Vec2 middle{shape.width * 0.5, shape.height * 0.5};
  const AffineMatrix map = inverse_affine(center.value_or(middle), angle, translate, scale, shear);
  if (!map.finite()) return decline(Reason::kNumber);
  const Fill::Bytes& colour = *fill.of(channels());
  if (!map.is_shift()) {
    append(warp(OpId::AFFINE, {shape.height, shape.width}, filter, map.numbers, colour));
    return Reason::kNone;
  }
  // Every position is the centre of a pixel, exactly, so both neighbours that Pillow mixes have the weights 1 and 0,
  // and truncation takes nothing away: each mode copies pixels.
  if (!(std::abs(map.numbers[5]) <= kMaxSide && std::abs(map.numbers[2]) <= kMaxSide)) return decline(Reason::kNumber);
  const auto top = static_cast<int64_t>(map.numbers[5]), left = static_cast<int64_t>(map.numbers[2]);
  if (top == 0 && left == 0) {
    copied = true;
    return Reason::kNone;
  }
  append_window(top, left, shape.height, shape.width, colour, true);
  return Reason::kNone;
}

Reason Draft::perspective(const double (&coefficients)[8], int filter, const Fill& fill) {
  const bool finite = std::ranges::all_of(coefficients, [](double number) { return std::isfinite(number); });
  if (!finite || !warps(filter, fill)) return decline(Reason::kNumber);
  append(warp(OpId::PERSPECTIVE, {shape.height, shape.width}, filter, coefficients, *fill.of(channels())));
  return Reason::kNone;
}

}  // namespace fastaug
