#include "draft/sample.h"

#include <algorithm>
#include <cmath>

namespace fastaug {
namespace {

// Of a map from output to input. Nothing where there is none.
std::optional<ProjectiveMap> inverse(const Coefficients& map) {
  const auto [a, b, c, d, e, f, g, h] = map;
  const double determinant = a * e - b * d;
  if (determinant == 0) return std::nullopt;
  ProjectiveMap numbers{e - f * h, -b + c * h,     b * f - c * e,  -d + f * g,
                        a - c * g, -a * f + c * d, -e * g + d * h, -a * h + b * g};
  for (double& number : numbers) number /= determinant;
  return numbers;
}

// Python's round(number / 2.0).
int64_t half(int64_t number) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(number) / 2.0)); }

}  // namespace

template <class Move>
Reason SampleDraft::follow(Reason reason, const Move& move) {
  if (reason != Reason::kNone) return reason;
  for (MovingPlaces& one : places) {
    std::visit([&](auto& all) { move(all, one.clamping); }, one.numbers);
    one.touched = one.moved = true;
  }
  return reason;
}

bool SampleDraft::has_empty() const {
  return std::ranges::any_of(places, [](const MovingPlaces& one) {
    return std::visit([](const auto& all) { return all.count() == 0; }, one.numbers);
  });
}

Reason SampleDraft::hflip() {
  return follow(Draft::hflip(), [](auto& all, bool) { all.hflip(); });
}

Reason SampleDraft::vflip() {
  return follow(Draft::vflip(), [](auto& all, bool) { all.vflip(); });
}

Reason SampleDraft::crop(int64_t top, int64_t left, int64_t height, int64_t width) {
  const Canvas size{height, width};
  return follow(Draft::crop(top, left, height, width),
                [=](auto& all, bool clamping) { all.crop(top, left, size, clamping); });
}

Reason SampleDraft::center_crop(int64_t height, int64_t width) {
  const int64_t top = half(shape.height - height), left = half(shape.width - width);
  const Canvas size{height, width};
  return follow(Draft::center_crop(height, width),
                [=](auto& all, bool clamping) { all.crop(top, left, size, clamping); });
}

Reason SampleDraft::pad(const Sides& sides, const Fill& fill, Padding by) {
  if (by && !places.empty()) return decline(Reason::kNumber);  // an error
  return follow(Draft::pad(sides, fill, by),
                [=](auto& all, bool clamping) { all.pad(sides.left, sides.top, sides.right, sides.bottom, clamping); });
}

Reason SampleDraft::resize(const Size& size, const Resample& by, const Torch& torch) {
  const Canvas before{shape.height, shape.width};
  const Reason reason = Draft::resize(size, by, torch);
  const Canvas after{shape.height, shape.width};
  if (before != after) return follow(reason, [=](auto& all, bool) { all.resize(after); });
  for (MovingPlaces& one : places) one.touched = true;
  return reason;
}

Reason SampleDraft::rotate(double angle, const Resample& by, bool expand, std::optional<Vec2> center, const Fill& fill,
                           const Torch& torch) {
  if (has_empty()) return decline(Reason::kShape);
  const auto [forth, back] = v2_affine(center.value_or(middle()), -angle, {}, 1.0, {});
  const AffineMap there = std::to_array(forth.numbers), here = std::to_array(back.numbers);
  return follow(Draft::rotate(angle, by, expand, center, fill, torch), [&](auto& all, bool clamping) {
    all.affine(there, expand ? &here : nullptr, clamping);
    if (all.canvas() != Canvas{shape.height, shape.width}) decline(Reason::kShape);
  });
}

Reason SampleDraft::affine(double angle, Vec2 translate, double scale, Vec2 shear, const Resample& by,
                           std::optional<Vec2> center, const Fill& fill, const Torch& torch) {
  if (has_empty()) return decline(Reason::kShape);
  const AffineMap there =
      std::to_array(v2_affine(center.value_or(middle()), angle, translate, scale, shear).forth.numbers);
  return follow(Draft::affine(angle, translate, scale, shear, by, center, fill, torch),
                [&](auto& all, bool clamping) { all.affine(there, nullptr, clamping); });
}

Reason SampleDraft::perspective(const Coefficients& coefficients, const Resample& by, const Fill& fill,
                                const Torch& torch) {
  const auto map = inverse(coefficients);
  if (!places.empty() && (!map || has_empty())) return decline(Reason::kNumber);  // an error
  return follow(Draft::perspective(coefficients, by, fill, torch),
                [&](auto& all, bool clamping) { all.perspective(*map, clamping); });
}

Reason SampleDraft::erase(int top, int left, int height, int width, const double* values, int count) {
  if (!places.empty()) return decline(Reason::kNumber);  // a warning
  return Draft::erase(top, left, height, width, values, count);
}

}  // namespace fastaug
