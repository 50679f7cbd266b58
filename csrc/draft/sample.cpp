#include "draft/sample.h"

#include <cmath>
#include <type_traits>

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
  Mover(PlacesT& all, bool clamping, Canvas after)
      : all_(all),
        clamping_(clamping),
        after_(after),
        middle_{static_cast<double>(all.canvas().width) * 0.5, static_cast<double>(all.canvas().height) * 0.5} {}

  template <class HowT>
  Reason operator()(const HowT& how) {
    if (refuses(how)) return Reason::kNumber;
    if constexpr (std::is_same_v<decltype(move(how)), bool>) {
      if (!move(how)) return Reason::kLibrary;
    } else {
      move(how);
    }
    return all_.canvas() == after_ ? Reason::kNone : Reason::kShape;
  }

 private:
  // Errors; and maps where there are no numbers, which leave the canvas as it is.
  bool refuses(const auto&) const { return false; }
  bool refuses(const moves::Pad& how) const { return how.by.has_value(); }
  bool refuses(const moves::Rotate&) const { return all_.count() == 0; }
  bool refuses(const moves::Affine&) const { return all_.count() == 0; }
  bool refuses(const moves::Perspective& how) const { return all_.count() == 0 || !inverse(*how.coefficients); }

  void move(const moves::Flip& how) { how.vertical ? all_.vflip() : all_.hflip(); }
  void move(const moves::Crop& how) { all_.crop(how.top, how.left, after_, clamping_); }
  void move(const moves::CenterCrop& how) {
    const auto [height, width] = all_.canvas();
    all_.crop(half(height - how.height), half(width - how.width), after_, clamping_);
  }
  void move(const moves::Pad& how) {
    all_.pad(how.sides.left, how.sides.top, how.sides.right, how.sides.bottom, clamping_);
  }
  void move(const moves::Resize&) { all_.resize(after_); }
  bool move(const moves::Rotate& how) {
    const auto [forth, back] = v2_affine(how.center.value_or(middle_), -how.angle, {}, 1.0, {});
    const AffineMap here = std::to_array(back.numbers);
    return all_.affine(std::to_array(forth.numbers), how.expand ? &here : nullptr, clamping_);
  }
  bool move(const moves::Affine& how) {
    const BothWays map = v2_affine(how.center.value_or(middle_), how.angle, how.translate, how.scale, how.shear);
    return all_.affine(std::to_array(map.forth.numbers), nullptr, clamping_);
  }
  bool move(const moves::Perspective& how) { return all_.perspective(*inverse(*how.coefficients), clamping_); }

  PlacesT& all_;
  bool clamping_;
  Canvas after_;
  Vec2 middle_;
};

}  // namespace

// Bools are 0 and 1, rounded or truncated first.
Fill MaskDraft::fill_of(const Fill& given, bool rounds) const {
  Fill fill = given.kinds.empty() ? given : given.kinds.back();
  if (!source.bools) return fill;
  for (double& value : fill.values) value = std::abs(value) <= (rounds ? 0.5 : 0.0) ? 0.0 : 1.0;
  fill.is_integer = !fill.values.empty() && !fill.is_sequence;
  return fill;
}

template <class HowT>
Reason MaskDraft::follow(HowT how, Canvas after) {
  constexpr bool kPads = std::is_same_v<HowT, moves::Pad>, kResizes = std::is_same_v<HowT, moves::Resize>;
  if (!dtype.empty()) return Reason::kSamples;
  if constexpr (requires { how.by.exact; }) how.by = {0, kResizes && how.by.exact && !how.by.cropped, false};
  Fill fill;
  if constexpr (requires { how.fill; }) {
    fill = fill_of(*how.fill, !kPads);
    if (kPads && fill.is_sequence) return Reason::kNumber;  // an error
    how.fill = &fill;
  }
  const Reason reason = move(how);
  return reason != Reason::kNone || Canvas{shape.height, shape.width} == after ? reason : Reason::kShape;
}

void SampleDraft::cast_masks(const std::string& dtype) {
  for (Following& one : following_) {
    auto* const mask = std::get_if<std::unique_ptr<MaskDraft>>(&one.leaf);
    if (mask == nullptr) continue;
    if (!(*mask)->dtype.empty()) decline(Reason::kSamples);
    if (dtype == ((*mask)->source.bools ? "bool" : "uint8")) continue;
    (*mask)->dtype = dtype;
    one.touched = true;
  }
}

Reason SampleDraft::follow(const Move& move, PlaneSize before) {
  const Canvas after{shape.height, shape.width};
  const bool stays = std::holds_alternative<moves::Resize>(move) && after == Canvas{before.height, before.width};
  for (Following& one : following_) {
    one.touched = true;
    if (stays) continue;
    one.moved = true;
    const auto follows = [&](auto& leaf, const auto& how) {
      if constexpr (requires { *leaf; }) {
        return leaf->follow(how, after);
      } else {
        return Mover(leaf, one.clamping, after)(how);
      }
    };
    const Reason reason = std::visit(follows, one.leaf, move);
    if (reason != Reason::kNone) return reason;
  }
  return Reason::kNone;
}

}  // namespace fastaug
