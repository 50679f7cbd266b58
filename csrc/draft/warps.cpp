#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "draft/draft.h"

namespace fastaug {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 29;
// Pillow's colours are 32-bit ints.
constexpr double kInk = 0x1p31;

bool is_side(int64_t side) { return 0 < side && side <= kMaxSide; }

size_t padded(int channels) { return static_cast<size_t>((channels + kMaxChannels - 1) / kMaxChannels) * kMaxChannels; }

// A warp from output to input.
Op warp(OpId id, PlaneSize size, std::span<const double> numbers) {
  Op op = plain(id);
  op.i[0] = static_cast<int32_t>(size.height);
  op.i[1] = static_cast<int32_t>(size.width);
  std::ranges::copy(numbers, op.f);
  return op;
}

bool are_finite(const Op& op) {
  return std::ranges::all_of(op.f, [](double number) { return std::isfinite(number); });
}

// The filters of torch's grid_sample.
bool samples_grid(const Resample& by) { return (by.filter == 0 && !by.exact) || by.filter == 2; }

Vec2 from_middle(std::optional<Vec2> center, PlaneSize image) {
  if (!center) return {};
  return {center->x - static_cast<double>(image.width) * 0.5, center->y - static_cast<double>(image.height) * 0.5};
}

}  // namespace

void Colour::paint(Op& op, size_t group) const {
  if (numbers.empty()) {
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(group * kMaxChannels), kMaxChannels, op.fill);
    return;
  }
  op.flags |= kFloatFill;
  for (size_t c = 0; c < kMaxChannels; ++c) op.i[2 + c] = std::bit_cast<int32_t>(numbers[group * kMaxChannels + c]);
}

std::optional<Colour> Fill::bytes(int channels) const {
  if (!is_readable || (is_sequence && !fits(channels))) return std::nullopt;
  Colour colour{std::vector<uint8_t>(padded(channels)), {}};
  const auto byte = [](double value) { return static_cast<uint8_t>(std::clamp(std::trunc(value), 0.0, 255.0)); };
  const auto is_ink = [](double value) { return -kInk < value && value < kInk; };
  if (!std::ranges::all_of(values, is_ink)) return std::nullopt;
  if (values.size() == 1) {
    std::fill_n(colour.bytes.begin(), channels, byte(values[0]));
  } else {
    std::ranges::transform(values, colour.bytes.begin(), byte);
  }
  return colour;
}

std::optional<Colour> Fill::samples(int channels) const {
  const auto is_sample = [](double value) { return 0.0 <= value && value <= 255.0; };
  if (!is_plain || !is_readable || !fits(channels) || !std::ranges::all_of(values, is_sample)) return std::nullopt;
  if (std::ranges::all_of(values, [](double value) { return std::trunc(value) == value; })) return bytes(channels);
  Colour colour{{}, std::vector<float>(padded(channels))};
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    colour.numbers[c] = static_cast<float>(values[values.size() == 1 ? 0 : c]);
  }
  return colour;
}

bool Draft::warps_as_pillow(const Resample& by, const Torch& torch) const {
  // For tensors only the core has Pillow's rules.
  const bool done = is_tensor() ? samples_grid(by) : torch.follows(Rounding::kWarps);
  return done && (by.filter == 0 || by.filter == 2 || by.filter == 3);
}

Reason Draft::warp_as_pillow(Op op, const Resample& by, const std::optional<Colour>& colour, const Torch& torch) {
  const bool is_taken = are_finite(op) && is_side(op.i[0]) && is_side(op.i[1]);
  if (!colour || !is_taken || !warps_as_pillow(by, torch)) return decline(Reason::kNumber);
  op.flags = static_cast<uint16_t>(by.filter);
  append_filled(op, *colour, by.filter != 0);
  reshape(op.i[0], op.i[1]);
  channel_last = false;
  return Reason::kNone;
}

Reason Draft::warp_as_torch(Op op, const Resample& by, const Fill& fill, const Torch& torch) {
  if (!samples_grid(by) || !are_finite(op) || !is_side(op.i[0]) || !is_side(op.i[1])) return decline(Reason::kNumber);
  if (!torch.follows(Rounding::kTensorWarps)) return decline(Reason::kLibrary);
  op.flags = static_cast<uint16_t>(by.filter | (torch.fuses_products() ? kFused : 0));
  if (!fill.is_none()) op.flags |= source.v2 ? kFilled | kV2Fill : kFilled;
  const auto colour = fill.is_none() ? fill.bytes(channels()) : fill.samples(channels());
  if (!colour) return decline(Reason::kNumber);
  append_filled(op, *colour);
  reshape(op.i[0], op.i[1]);
  channel_last = false;
  return Reason::kNone;
}

Reason Draft::drafted(const moves::Rotate& how) {
  const auto& [given, by, expand, center, fill, torch] = how;
  double angle = given;
  if (!native) return decline(Reason::kSamples);
  if (!is_sampled()) return decline(Reason::kShape);
  if (!std::isfinite(angle)) return decline(Reason::kNumber);
  if (!by_torch()) return rotate_as_pillow(angle, by, expand, center, own(*fill), *torch);
  const PlaneSize image{shape.height, shape.width};
  if (source.v2) {
    angle = python_modulo(angle, 360.0);
    const bool upright = angle == 0 || angle == 180;
    const bool turns = upright || ((angle == 90 || angle == 270) && (expand || image.height == image.width));
    if (!center && turns) return rot90(static_cast<int>(angle / 90));
  }
  // Rotations of tensors are counter-clockwise, affine maps clockwise.
  const auto inverse = source.v2 ? v2_inverse_affine : inverse_affine;
  const AffineMatrix map = inverse(from_middle(center, image), -angle, {}, 1.0, {});
  if (!map.finite()) return decline(Reason::kNumber);
  const PlaneSize size = expand ? size_around(map, source.v2, *torch) : image;
  if (!is_side(size.height) || !is_side(size.width)) return decline(Reason::kNumber);
  return warp_as_torch(warp(OpId::TORCH_AFFINE, size, map.numbers), by, own(*fill), *torch);
}

PlaneSize Draft::size_around(const AffineMatrix& map, bool v2, const Torch& torch) const {
  const PlaneSize image{shape.height, shape.width};
  const auto sure = sure_size_around(map, image);
  return sure ? *sure : torch.size_around(map, image, v2);
}

Reason Draft::rotate_as_pillow(double angle, const Resample& by, bool expand, std::optional<Vec2> center,
                               const Fill& fill, const Torch& torch) {
  const auto colour = fill.bytes(channels());
  if (!colour || (is_tensor() && !samples_grid(by))) return decline(Reason::kNumber);
  const PlaneSize image{shape.height, shape.width};
  std::optional<PlaneSize> size;
  if (expand && is_tensor()) {
    const AffineMatrix map = inverse_affine(from_middle(center, image), -angle, {}, 1.0, {});
    if (!map.finite()) return decline(Reason::kNumber);
    size = size_around(map, false, torch);
  }
  // The shortcuts of Image.rotate (Pillow, Image.py), whatever the interpolation.
  angle = python_modulo(angle, 360.0);
  if (!center) {
    if (angle == 0) {
      copied = true;
      channel_last = false;
      return Reason::kNone;
    }
    const bool swapped = expand && (!size || (size->height == image.width && size->width == image.height));
    if (angle == 180 || ((angle == 90 || angle == 270) && (swapped || image.width == image.height))) {
      if (!is_tensor()) name();
      append(plain(OpId::ROT90, static_cast<uint16_t>(angle / 90)));
      if (angle != 180) reshape(image.width, image.height);
      channel_last = false;
      return Reason::kNone;
    }
  }
  const auto rotated = rotation(image, angle, expand, center, size);
  if (!rotated || !is_side(rotated->size.height) || !is_side(rotated->size.width)) return decline(Reason::kNumber);
  return warp_as_pillow(warp(OpId::AFFINE, rotated->size, rotated->map.numbers), by, colour, torch);
}

Reason Draft::drafted(const moves::Affine& how) {
  const auto& [angle, translate, scale, shear, by, center, painted, library] = how;
  const Fill& fill = own(*painted);
  const Torch& torch = *library;
  if (!native) return decline(Reason::kSamples);
  if (!is_sampled()) return decline(Reason::kShape);
  if (!(scale > 0)) return decline(Reason::kNumber);
  const PlaneSize image{shape.height, shape.width};
  const auto inverse = source.v2 ? v2_inverse_affine : inverse_affine;
  if (by_torch()) {
    const AffineMatrix map = inverse(from_middle(center, image), angle, translate, scale, shear);
    return warp_as_torch(warp(OpId::TORCH_AFFINE, image, map.numbers), by, fill, torch);
  }
  const Vec2 middle{shape.width * 0.5, shape.height * 0.5};
  const AffineMatrix map = inverse(center.value_or(middle), angle, translate, scale, shear);
  const Op warped = warp(OpId::AFFINE, image, map.numbers);
  const auto colour = fill.bytes(channels());
  if (!map.finite() || !map.is_shift()) return warp_as_pillow(warped, by, colour, torch);
  // Every position is the centre of a pixel, exactly, so both neighbours that Pillow mixes have the weights 1 and 0,
  // and truncation takes nothing away: each mode copies pixels.
  if (!colour || !warps_as_pillow(by, torch)) return decline(Reason::kNumber);
  const double down = map.numbers[5], across = map.numbers[2];
  const bool mixes = by.filter != 0 && has_alpha(mode);
  if (down == 0 && across == 0 && !mixes) {
    copied = true;
    channel_last = false;
    return Reason::kNone;
  }
  if (!(std::abs(down) <= kMaxSide && std::abs(across) <= kMaxSide)) return warp_as_pillow(warped, by, colour, torch);
  Op op = plain(OpId::WINDOW);
  op.i[0] = static_cast<int32_t>(down);
  op.i[1] = static_cast<int32_t>(across);
  op.i[2] = shape.height;
  op.i[3] = shape.width;
  if (!mixes && !channel_last && colour->groups() == 1) name();
  append_filled(op, *colour, mixes);
  channel_last = false;
  return Reason::kNone;
}

Reason Draft::drafted(const moves::Perspective& how) {
  if (!native) return decline(Reason::kSamples);
  if (!is_sampled()) return decline(Reason::kShape);
  const PlaneSize image{shape.height, shape.width};
  const Op warped = warp(by_torch() ? OpId::TORCH_PERSPECTIVE : OpId::PERSPECTIVE, image, *how.coefficients);
  const Fill& fill = own(*how.fill);
  return by_torch() ? warp_as_torch(warped, how.by, fill, *how.torch)
                    : warp_as_pillow(warped, how.by, fill.bytes(channels()), *how.torch);
}

Reason Draft::gaussian_blur(const Kernel& kernel, const Torch& torch) {
  if (!native || source.traced) return decline(Reason::kSamples);
  if (!is_sampled()) return decline(Reason::kShape);
  // A mirrored border is narrower than the image.
  if (kernel.width / 2 >= shape.width || kernel.height / 2 >= shape.height) return decline(Reason::kNumber);
  const auto op = torch.blur(kernel, shape, images, source.v2);
  if (!op) return decline(Reason::kLibrary);
  append(*op);
  if (leading == 0) channel_last = false;
  info = Info::kNone;
  return Reason::kNone;
}

}  // namespace fastaug
