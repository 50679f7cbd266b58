#include "draft/sample.h"

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

// Moves boxes or points by any of the moves of an image.
template <class PlacesT>
class Mover {
 public:
  Mover(PlacesT& all, bool clamping, Canvas after) : all_(all), clamping_(clamping), after_(after) {}

  Reason operator()(const moves::Flip& how) {
    how.vertical ? all_.vflip() : all_.hflip();
    return Reason::kNone;
  }

  Reason operator()(const moves::Crop& how) {
    all_.crop(how.top, how.left, after_, clamping_);
    return Reason::kNone;
  }

  Reason operator()(const moves::CenterCrop& how) {
    const auto [height, width] = all_.canvas();
    return (*this)(moves::Crop{half(height - how.height), half(width - how.width), how.height, how.width});
  }

  Reason operator()(const moves::Pad& how) {
    if (how.by) return Reason::kNumber;  // an error
    const auto [left, top, right, bottom] = how.sides;
    all_.pad(left, top, right, bottom, clamping_);
    return Reason::kNone;
  }

  Reason operator()(const moves::Resize&) {
    all_.resize(after_);
    return Reason::kNone;
  }

  Reason operator()(const moves::Rotate& how) {
    const auto [forth, back] = v2_affine(how.center.value_or(middle()), -how.angle, {}, 1.0, {});
    const AffineMap here = std::to_array(back.numbers);
    return map(forth, how.expand ? &here : nullptr);
  }

  Reason operator()(const moves::Affine& how) {
    const Vec2 center = how.center.value_or(middle());
    return map(v2_affine(center, how.angle, how.translate, how.scale, how.shear).forth, nullptr);
  }

  Reason operator()(const moves::Perspective& how) {
    const auto map = inverse(*how.coefficients);
    if (!map || all_.count() == 0) return Reason::kNumber;  // an error
    all_.perspective(*map, clamping_);
    return Reason::kNone;
  }

 private:
  Reason map(const AffineMatrix& forth, const AffineMap* back) {
    // Without numbers they stay as they are, and their canvas, too.
    if (all_.count() == 0) return Reason::kShape;
    all_.affine(std::to_array(forth.numbers), back, clamping_);
    return all_.canvas() == after_ ? Reason::kNone : Reason::kShape;
  }

  Vec2 middle() const {
    const auto [height, width] = all_.canvas();
    return {static_cast<double>(width) * 0.5, static_cast<double>(height) * 0.5};
  }

  PlacesT& all_;
  bool clamping_;
  Canvas after_;
};

}  // namespace

Reason SampleDraft::follow(const Move& move, PlaneSize before) {
  const Canvas after{shape.height, shape.width};
  const bool stays = std::holds_alternative<moves::Resize>(move) && after == Canvas{before.height, before.width};
  for (MovingPlaces& one : places_) {
    one.touched = true;
    if (stays) continue;
    one.moved = true;
    const Reason reason =
        std::visit([&](auto& all, const auto& how) { return Mover(all, one.clamping, after)(how); }, one.numbers, move);
    if (reason != Reason::kNone) return reason;
  }
  return Reason::kNone;
}

}  // namespace fastaug
