#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "recipe/sketch.h"

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

void Sketch::hflip() {
  if (!takes_moves()) return decline();
  name(First::kOther);
  append(OpId::HFLIP);
}

void Sketch::vflip() {
  if (!takes_moves()) return decline();
  name(First::kOther);
  append(OpId::VFLIP);
}

void Sketch::append_window(int64_t top, int64_t left, int64_t height, int64_t width, const Fill::Bytes& fill) {
  Op op = with_fill(OpId::WINDOW, fill);
  const int64_t box[] = {top, left, height, width};
  std::ranges::transform(box, op.i, [](int64_t number) { return static_cast<int32_t>(number); });
  append(op);
}

void Sketch::crop(int64_t top, int64_t left, int64_t height, int64_t width) {
  const bool inside = top >= 0 && left >= 0 && top + height <= shape_.height && left + width <= shape_.width;
  if (!takes_moves()) return decline();
  // A row of its own has no gaps.
  const bool gaps = height != 1 && (gaps_ == pixel_ops() || width != shape_.width);
  crop_in(top, left, height, width, inside);
  if (v2_ && channel_last_) gaps_ = gaps ? pixel_ops() : -1;
}

void Sketch::crop_in(int64_t top, int64_t left, int64_t height, int64_t width, bool inside) {
  if (inside && height == shape_.height && width == shape_.width) {
    if (!is_tensor()) {
      copied_ = true;
    } else if (pixel_ops() == 0 && first_ == First::kNone) {
      first_ = First::kCrop;
    }
    return;
  }
  // Zero stays zero in TO_FLOAT, but not in NORMALIZE.
  const bool zeros = stored_ <= 1;
  if (!(zeros || inside) || !is_side(height) || !is_side(width) || !is_place(top) || !is_place(left)) return decline();
  if (inside && is_tensor()) {
    if (views_ == pixel_ops()) {
      first_ = First::kCrop;
      ++views_;
    }
  } else {
    name(First::kOther);
    channel_last_ = false;
  }
  append_window(top, left, height, width, {});
  reshape(height, width);
}

void Sketch::center_crop(int64_t height, int64_t width) {
  if (height > shape_.height || width > shape_.width) {
    const auto rows = static_cast<int>(std::clamp<int64_t>(height - shape_.height, 0, kMaxSide));
    const auto columns = static_cast<int>(std::clamp<int64_t>(width - shape_.width, 0, kMaxSide));
    static constexpr Fill kBlack{Fill::Bytes{}, Fill::Bytes{}, true};
    pad({columns / 2, rows / 2, (columns + 1) / 2, (rows + 1) / 2}, kBlack, std::nullopt);
    channel_last_ = false;
    if (declined_ || (height == shape_.height && width == shape_.width)) return;
  }
  crop(half(shape_.height - height), half(shape_.width - width), height, width);
}

bool Sketch::torch_pads(Sides sides, PadMode mode) const {
  if (mode == PadMode::kEdge) return true;
  const int slack = mode == PadMode::kReflect ? 1 : 0;
  return std::min({sides.left, sides.top, sides.right, sides.bottom}) >= 0 &&
         std::max(sides.left, sides.right) <= shape_.width - slack &&
         std::max(sides.top, sides.bottom) <= shape_.height - slack;
}

void Sketch::pad(Sides sides, const Fill& fill, Padding mode) {
  if (!native()) return decline();
  const auto [left, top, right, bottom] = sides;
  const PlaneSize size{int64_t{shape_.height} + top + bottom, int64_t{shape_.width} + left + right};
  const auto far = [](int side) { return !is_place(side); };
  if (!is_side(size.height) || !is_side(size.width) || far(left) || far(top) || far(right) || far(bottom)) {
    return decline();
  }
  if (!mode) {
    pad_constant(sides, fill, size);
    return;
  }
  if (is_tensor() && (!fill.pads_tensors || !torch_pads(sides, *mode))) return decline();
  const auto cut = [](int side) { return std::min(side, 0); };
  if (std::min({left, top, right, bottom}) < 0) {
    const int64_t height = shape_.height + cut(top) + cut(bottom), width = shape_.width + cut(left) + cut(right);
    if (height <= 0 || width <= 0) return decline();
    append_window(-cut(top), -cut(left), height, width, {});
  }
  Op op = plain(OpId::PAD, static_cast<uint16_t>(*mode));
  const int added[] = {left, top, right, bottom};
  std::ranges::transform(added, op.i, [](int side) { return std::max(side, 0); });
  append(op);
  if (*mode == PadMode::kSymmetric) {
    channel_last_ = false;
  } else {
    padded_by_torch();
  }
  reshape(size.height, size.width);
}

void Sketch::pad_constant(Sides sides, const Fill& fill, PlaneSize size) {
  const auto& colour = fill.of(channels());
  if (!colour || (is_tensor() && !fill.pads_tensors)) return decline();
  const auto left_of = [](int side, int first, int last) { return side + std::min(first, 0) + std::min(last, 0); };
  if (v2_ && is_tensor() &&
      (left_of(shape_.height, sides.top, sides.bottom) < 0 || left_of(shape_.width, sides.left, sides.right) < 0)) {
    return decline();
  }
  name(First::kOther);
  append_window(-sides.top, -sides.left, size.height, size.width, *colour);
  // Where nothing is added, torch copies what is left.
  if (std::max({sides.left, sides.top, sides.right, sides.bottom}) > 0) padded_by_torch();
  reshape(size.height, size.width);
}

void Sketch::padded_by_torch() {
  // v2 pads a batch of one, of which torch keeps the channels of a single pixel together.
  if (!v2_ || shape_.height > 1 || shape_.width > 1) channel_last_ = false;
}

void Sketch::resize(const Size& size, const Resample& by) {
  const int filter = by.filter;
  const auto [height, width] = size.of({shape_.height, shape_.width});
  // v2 looks at these first.
  if (v2_ && (is_tensor() ? filter == 1 && !by.antialias : by.warns)) return decline();
  if (height == shape_.height && width == shape_.width) return;
  if (!native() || !is_side(height) || !is_side(width)) return decline();
  if (is_tensor()) {
    if (filter != 0 && !(by.antialias && (filter == 2 || filter == 3))) return decline();
    if (by_torch() && filter != 0) {
      // torch gives all rows of a single column the values of the first one, mostly; not where v2 asks it to.
      const bool single = !v2_ && width == 1 && height != shape_.height;
      if (single || std::max<int64_t>({height, width, shape_.height, shape_.width}) > kLongest) return decline();
    }
  } else if (by.warns) {
    return decline();
  }
  Op op = plain(OpId::RESIZE, static_cast<uint16_t>(filter));
  op.i[0] = static_cast<int32_t>(height);
  op.i[1] = static_cast<int32_t>(width);
  if (filter == 0) {
    const auto rule = !is_tensor() ? NearestRule::kPillow : by.exact ? NearestRule::kTorchExact : NearestRule::kTorch;
    if (rule == NearestRule::kPillow) name(First::kOther);
    op.id = OpId::NEAREST;
    op.flags = static_cast<uint16_t>(rule);
  } else if (!by_torch()) {
    op.flags |= by.flags;
  } else if (v2_) {
    op.flags |= kShortWeights | kWidthFirst;
  } else {
    op.id = OpId::TORCH_RESIZE;
  }
  if (!v2_ || !by_torch()) {
    padded_by_torch();
  } else if (gaps_ == pixel_ops()) {
    channel_last_ = false;
  }
  append(op);
  reshape(height, width);
}

bool Sketch::warps(int filter, const Fill& fill) const {
  // What torch samples is Python's to prepare.
  return native() && !is_tensor() && is_sampler(filter) && fill.of(channels()).has_value();
}

void Sketch::rotate(double angle, int filter, bool expand, std::optional<Vec2> center, const Fill& fill) {
  if (!native() || is_tensor() || !fill.of(channels())) return decline();
  // The shortcuts of Image.rotate (Pillow, Image.py), whatever the interpolation.
  angle = python_modulo(angle, 360.0);
  if (!center) {
    if (angle == 0) {
      copied_ = true;
      return;
    }
    if (angle == 180 || ((angle == 90 || angle == 270) && (expand || shape_.width == shape_.height))) {
      name(First::kOther);
      append(plain(OpId::ROT90, static_cast<uint16_t>(angle / 90)));
      if (angle != 180) reshape(shape_.width, shape_.height);
      return;
    }
  }
  if (!warps(filter, fill)) return decline();
  const auto rotated = rotation({shape_.height, shape_.width}, angle, expand, center);
  if (!rotated || !is_side(rotated->size.height) || !is_side(rotated->size.width)) return decline();
  append(warp(OpId::AFFINE, rotated->size, filter, rotated->map.numbers, *fill.of(channels())));
  reshape(rotated->size.height, rotated->size.width);
}

void Sketch::affine(double angle, Vec2 translate, double scale, Vec2 shear, int filter, std::optional<Vec2> center,
                    const Fill& fill) {
  if (!(scale > 0) || !warps(filter, fill)) return decline();
  const Vec2 middle{shape_.width * 0.5, shape_.height * 0.5};
  const AffineMatrix map = inverse_affine(center.value_or(middle), angle, translate, scale, shear);
  if (!map.finite()) return decline();
  const Fill::Bytes& colour = *fill.of(channels());
  if (!map.is_shift()) {
    append(warp(OpId::AFFINE, {shape_.height, shape_.width}, filter, map.numbers, colour));
    return;
  }
  // Every position is the centre of a pixel, exactly, so both neighbours that Pillow mixes have the weights 1 and 0,
  // and truncation takes nothing away: each mode copies pixels.
  if (!(std::abs(map.numbers[5]) <= kMaxSide && std::abs(map.numbers[2]) <= kMaxSide)) return decline();
  const auto top = static_cast<int64_t>(map.numbers[5]), left = static_cast<int64_t>(map.numbers[2]);
  if (top == 0 && left == 0) {
    copied_ = true;
    return;
  }
  name(First::kOther);
  append_window(top, left, shape_.height, shape_.width, colour);
}

void Sketch::perspective(const double (&coefficients)[8], int filter, const Fill& fill) {
  const bool finite = std::ranges::all_of(coefficients, [](double number) { return std::isfinite(number); });
  if (!finite || !warps(filter, fill)) return decline();
  append(warp(OpId::PERSPECTIVE, {shape_.height, shape_.width}, filter, coefficients, *fill.of(channels())));
}

}  // namespace fastaug
