#include "draft/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

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

// The fill of masks.
const Fill& of_masks(const Fill& fill) { return fill.kinds.empty() ? fill : fill.kinds.back(); }

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

std::optional<Fill> MaskDraft::fill_of(const Fill& given, bool rounds) {
  Fill fill = of_masks(given);
  if (is_wide()) return wide_fill(fill);
  if (source.mask != MaskType::kBool) return fill;
  // Bools are 0 and 1, rounded or truncated first.
  for (double& value : fill.values) value = std::abs(value) <= (rounds ? 0.5 : 0.0) ? 0.0 : 1.0;
  fill.is_integer = !fill.values.empty() && !fill.is_sequence;
  return fill;
}

// The bytes of a sample, as colours of channels.
std::optional<Fill> MaskDraft::wide_fill(const Fill& fill) {
  if (fill.is_none()) return fill;
  if (!fill.is_readable || !fill.is_plain || fill.values.size() != 1) return std::nullopt;
  const double value = fill.values[0];
  std::array<uint8_t, sizeof(int64_t)> bytes{};
  if (source.mask == MaskType::kFloat32) {
    if (!(std::abs(value) <= std::numeric_limits<float>::max())) return std::nullopt;
    const auto sample = static_cast<float>(value);
    std::memcpy(bytes.data(), &sample, sizeof sample);
  } else {
    const auto most = static_cast<double>(source.mask == MaskType::kInt16 ? 0x7fff : kMostOfFloat32);
    if (std::trunc(value) != value || std::abs(value) > most) return std::nullopt;
    const auto sample = static_cast<int64_t>(value);
    if (sample < 0 || sample > 255) fill_bytes_ = sizeof(int32_t);
    std::memcpy(bytes.data(), &sample, sizeof sample);
  }
  Fill all;
  all.is_sequence = true;
  all.values.assign(bytes.begin(), bytes.begin() + samples().bytes);
  return all;
}

bool MaskDraft::rounds_from(int op) const {
  if (!is_wide() || source.mask == MaskType::kFloat32) return false;
  return std::ranges::any_of(program().subspan(static_cast<size_t>(op)), [](const Op& one) {
    return one.id == OpId::NEAREST || one.id == OpId::TORCH_AFFINE || one.id == OpId::TORCH_PERSPECTIVE ||
           (one.id == OpId::PAD && one.flags != static_cast<uint16_t>(PadMode::kSymmetric));
  });
}

template <class HowT>
Reason MaskDraft::follow(HowT how, Canvas after) {
  constexpr bool kPads = std::is_same_v<HowT, moves::Pad>, kResizes = std::is_same_v<HowT, moves::Resize>;
  if (!dtype.empty()) return Reason::kSamples;
  if constexpr (requires { how.by.exact; }) how.by = {0, kResizes && how.by.exact && !how.by.cropped, false};
  Fill fill;
  if constexpr (requires { how.fill; }) {
    if (kPads && of_masks(*how.fill).is_sequence) return Reason::kNumber;  // an error
    bool shows = true;
    if constexpr (kPads) shows = !how.by;
    if (shows) {
      const auto own = fill_of(*how.fill, !kPads);
      if (!own) return Reason::kNumber;
      fill = *own;
    }
    how.fill = &fill;
  }
  const int before = pixel_ops();
  const Reason reason = move(how);
  rounded_ = rounded_ || rounds_from(before);
  return reason != Reason::kNone || Canvas{shape.height, shape.width} == after ? reason : Reason::kShape;
}

template <class PlacesT>
Following* SampleDraft::only() {
  Following* found = nullptr;
  for (Following& one : following_) {
    if (std::holds_alternative<PlacesT>(one.leaf) && std::exchange(found, &one) != nullptr) return nullptr;
  }
  return found;
}

Boxes* SampleDraft::boxes() {
  Following* const found = only<Boxes>();
  return found == nullptr ? nullptr : std::get_if<Boxes>(&found->leaf);
}

void SampleDraft::convert_boxes(BoxFormat format) {
  for (Following& one : following_) {
    Boxes* const boxes = std::get_if<Boxes>(&one.leaf);
    if (boxes == nullptr) continue;
    one.touched = true;
    if (boxes->format() == format) continue;
    boxes->convert(format);
    one.moved = true;
  }
}

void SampleDraft::clamp_boxes(std::optional<ClampingMode> by) {
  for (Following& one : following_) {
    Boxes* const boxes = std::get_if<Boxes>(&one.leaf);
    if (boxes == nullptr) continue;
    if (by.value_or(one.clamping) != ClampingMode::kNone) boxes->clamp();
    one.touched = one.moved = true;
  }
}

void SampleDraft::set_clamping_mode(ClampingMode clamping) {
  for (Following& one : following_) {
    if (!std::holds_alternative<Boxes>(one.leaf)) continue;
    one.clamping = clamping;
    one.touched = one.moved = true;
  }
}

void SampleDraft::clamp_points() {
  for (Following& one : following_) {
    Points* const points = std::get_if<Points>(&one.leaf);
    if (points == nullptr) continue;
    points->clamp();
    one.touched = one.moved = true;
  }
}

template <class PlacesT>
void SampleDraft::sanitize(bool with_labels, const auto& valid) {
  Following* const found = only<PlacesT>();
  if (sanitized_ || found == nullptr || !found->listed) {
    decline(Reason::kNumber);
    return;
  }
  auto& places = std::get<PlacesT>(found->leaf);
  // Other labels are errors.
  if (with_labels && labels != places.count()) {
    decline(Reason::kNumber);
    return;
  }
  sanitized_ = {std::vector<uint8_t>(static_cast<size_t>(places.count())), std::is_same_v<PlacesT, Boxes>, with_labels};
  auto* const kept = reinterpret_cast<bool*>(sanitized_->kept.data());
  valid(places, kept);
  found->touched = found->moved = true;
}

void SampleDraft::sanitize_boxes(const Limit& size, const Limit& area, bool with_labels) {
  const Boxes* const all = boxes();
  // Of a plane alone, torchvision removes rows of pixels.
  const auto loses_rows = [&](const Following& other) {
    const auto* const mask = std::get_if<std::unique_ptr<MaskDraft>>(&other.leaf);
    return mask != nullptr && !other.listed && all != nullptr && (*mask)->height() == all->count();
  };
  if (std::ranges::any_of(following_, loses_rows)) {
    decline(Reason::kNumber);
    return;
  }
  sanitize<Boxes>(with_labels, [&](Boxes& boxes, bool* kept) {
    boxes.valid(size, area, kept);
    boxes.keep(kept);
  });
}

void SampleDraft::sanitize_points(bool with_labels) {
  sanitize<Points>(with_labels, [](Points& points, bool* kept) {
    points.valid(1, points.count(), kept);
    points.keep(kept, 1);
  });
}

void SampleDraft::cast_masks(const std::string& dtype) {
  for (Following& one : following_) {
    auto* const mask = std::get_if<std::unique_ptr<MaskDraft>>(&one.leaf);
    if (mask == nullptr) continue;
    if (!(*mask)->dtype.empty()) decline(Reason::kSamples);
    if (dtype == (*mask)->samples().name) continue;
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
        return Mover(leaf, one.clamping != ClampingMode::kNone, after)(how);
      }
    };
    const Reason reason = std::visit(follows, one.leaf, move);
    if (reason != Reason::kNone) return reason;
  }
  return Reason::kNone;
}

}  // namespace fastaug
