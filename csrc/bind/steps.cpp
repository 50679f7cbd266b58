#include "bind/steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/status.h"
#include "bind/arguments.h"
#include "bind/numbers.h"
#include "bind/random.h"
#include "bind/stream.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

template <class T>
std::optional<T> maybe(const py::object& value, T (*read)(const py::object&)) {
  if (value.is_none()) return std::nullopt;
  return read(value);
}

// Reads the arguments of a transform, one after the other.
class Told {
 public:
  explicit Told(const py::tuple& of) : of_(of) {}

  py::object next() { return of_[at_++]; }

  template <class T>
  T as() {
    return next().cast<T>();
  }

  template <class T>
  std::optional<T> maybe(T (*read)(const py::object&)) {
    return bind::maybe(next(), read);
  }

 private:
  const py::tuple& of_;
  size_t at_ = 1;
};

[[noreturn]] void refuse() { fail(ErrorCode::kValue, "no numbers that are drawn from, or drafted, here"); }

Range range_of(const py::object& value) {
  const auto pair = value.cast<py::tuple>();
  const auto range = as_range(pair[0], pair[1]);
  if (!range) refuse();
  return {range->first, range->second};
}

Range areas_of(const py::object& value) {
  const Range range = range_of(value);
  if (range.low < 0) refuse();
  return range;
}

Range logarithms_of(const py::object& value) {
  const Range range = range_of(value);
  if (range.low < -Random::kMaxLogRatio || range.high > Random::kMaxLogRatio) refuse();
  return range;
}

Vec2 point_of(const py::object& value) {
  const auto pair = value.cast<std::pair<double, double>>();
  if (!std::isfinite(pair.first) || !std::isfinite(pair.second)) refuse();
  return {pair.first, pair.second};
}

Fill fill_of(const py::object& value) {
  if (py::isinstance<py::dict>(value)) {
    Fill fill;
    for (const auto& [kind, one] : value.cast<py::dict>()) fill.kinds.push_back(fill_of(one.cast<py::object>()));
    return fill;
  }
  Fill fill = as_fill(value.ptr());
  if (!fill.is_plain) refuse();
  return fill;
}

Sides sides_of(const py::object& value) {
  const auto parts = value.cast<py::tuple>();
  return {parts[0].cast<int>(), parts[1].cast<int>(), parts[2].cast<int>(), parts[3].cast<int>()};
}

// A side that no product of two overflows.
int64_t side_of(const py::handle& value) {
  const auto side = value.cast<int64_t>();
  if (side < 0 || side > int64_t{1} << 29) refuse();
  return side;
}

Size size_of(const py::object& value) {
  const auto parts = value.cast<py::tuple>();
  return {side_of(parts[0]), side_of(parts[1]), side_of(parts[2])};
}

Resample resample_of(const py::object& value) {
  const auto parts = value.cast<py::tuple>();
  return {parts[0].cast<int>(), parts[1].cast<bool>(), parts[2].cast<bool>(), parts[3].cast<bool>()};
}

// Of sides, whose products float32 has.
std::pair<double, double> scales_of(const py::object& value) {
  const Vec2 ends = point_of(value);
  if (std::max(std::abs(ends.x), std::abs(ends.y)) > Random::kMaxScale) refuse();
  return {ends.x, ends.y};
}

Op op_of(const py::object& value) {
  const std::string text = value.cast<py::bytes>();
  if (text.size() != sizeof(Op)) refuse();
  Op op;
  std::memcpy(&op, text.data(), sizeof(op));
  return op;
}

Padding padding_of(const py::object& value) {
  Padding mode;
  if (!read_padding_mode(value.ptr(), mode)) refuse();
  return mode;
}

ClampingMode clamping_of(const py::object& value) {
  const auto name = value.cast<std::string>();
  if (name == "none") return ClampingMode::kNone;
  if (name != "soft" && name != "hard") refuse();
  return name == "hard" ? ClampingMode::kHard : ClampingMode::kSoft;
}

double chance_of(const py::object& value) { return value.cast<double>(); }

// By the names of policies, in the order of Effect.
steps::Effect effect_of(const std::string& name) {
  static constexpr std::array<std::string_view, 15> kNames{
      "Identity", "ShearX",    "ShearY",    "TranslateX", "TranslateY",   "Rotate",   "Brightness", "Color",
      "Contrast", "Sharpness", "Posterize", "Solarize",   "AutoContrast", "Equalize", "Invert"};
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) fail(ErrorCode::kValue, "no op is called " + name);
  return static_cast<steps::Effect>(found - kNames.begin());
}

steps::PolicyOp policy_op_of(const py::handle& value) {
  const auto parts = value.cast<py::tuple>();
  steps::PolicyOp op{effect_of(parts[0].cast<std::string>()), parts[1].cast<bool>(), {}};
  for (const py::handle& magnitude : parts[2]) op.magnitudes.push_back(magnitude.cast<double>());
  op.bins = parts[3].cast<int64_t>();
  op.p = parts[4].cast<float>();
  if (op.bins != 0 && (op.bins < 2 || op.magnitudes.size() != 1)) refuse();
  return op;
}

// Where torch has its usual numbers: in others, magnitudes and weights are other ones.
template <class T>
std::vector<T> several_of(Told& told, T (*read)(const py::handle&)) {
  std::vector<T> all;
  for (const py::handle& value : told.as<py::tuple>()) all.push_back(read(value));
  if (all.empty() || !Stream::plain()) refuse();
  return all;
}

int length_of(const py::object& value) { return static_cast<int>(side_of(value)); }

steps::RandomCrop random_crop_of(Told& told) {
  const int height = length_of(told.next());
  const int width = length_of(told.next());
  const auto padding = told.maybe(sides_of);
  const bool pads = told.as<bool>();
  const Fill fill = fill_of(told.next());
  return {height, width, padding, pads, fill, padding_of(told.next())};
}

using Read = steps::Step (*)(Told&);

const std::unordered_map<std::string, Read>& readers() {
  static const std::unordered_map<std::string, Read> all{
      {"Decode",
       [](Told& told) -> steps::Step {
         const py::object mode = told.next();
         return steps::Decode{mode.is_none() ? Mode::kNone : mode_of(mode.cast<std::string>()), told.as<bool>()};
       }},
      {"ToTensor", [](Told&) -> steps::Step { return steps::ToTensor{}; }},
      {"PILToTensor", [](Told&) -> steps::Step { return steps::PilToTensor{}; }},
      {"ToImage", [](Told&) -> steps::Step { return steps::ToImage{}; }},
      {"ToPureTensor", [](Told&) -> steps::Step { return steps::ToPureTensor{}; }},
      {"ToPILImage", [](Told&) -> steps::Step { return steps::ToPilImage{}; }},
      {"ConvertImageDtype",
       [](Told& told) -> steps::Step {
         const bool to_floats = told.as<bool>();
         return steps::ConvertImageDtype{to_floats, told.as<bool>()};
       }},
      {"ToDtype",
       [](Told& told) -> steps::Step {
         const bool to_floats = told.as<bool>(), of_places = told.as<bool>();
         const bool plain = told.as<bool>(), tagged = told.as<bool>(), video = told.as<bool>();
         return steps::ToDtype{{to_floats, of_places}, plain, tagged, video, told.as<std::string>()};
       }},
      {"Normalize",
       [](Told& told) -> steps::Step {
         steps::Normalize step;
         for (auto& op : step.ops) op = told.maybe(op_of);
         step.inplace = told.as<bool>();
         return step;
       }},
      {"Resize",
       [](Told& told) -> steps::Step {
         const Size size = size_of(told.next());
         return steps::Resize{size, resample_of(told.next())};
       }},
      {"CenterCrop",
       [](Told& told) -> steps::Step {
         const int height = length_of(told.next());
         return steps::CenterCrop{height, length_of(told.next())};
       }},
      {"Pad",
       [](Told& told) -> steps::Step {
         const Sides sides = sides_of(told.next());
         const Fill fill = fill_of(told.next());
         return steps::Pad{sides, fill, padding_of(told.next())};
       }},
      {"Flip", [](Told& told) -> steps::Step { return steps::Flip{told.as<bool>()}; }},
      {"RandomCrop", [](Told& told) -> steps::Step { return random_crop_of(told); }},
      {"RandomCropByAxis", [](Told& told) -> steps::Step { return steps::RandomCropByAxis{random_crop_of(told)}; }},
      {"ZoomOut",
       [](Told& told) -> steps::Step {
         const auto [low, high] = scales_of(told.next());
         return steps::ZoomOut{low, high, fill_of(told.next())};
       }},
      {"RandomIoUCrop",
       [](Told& told) -> steps::Step {
         IouCropLimits limits{};
         const auto [least, most] = scales_of(told.next());
         const Vec2 aspect = point_of(told.next());
         for (const py::handle& option : told.next()) limits.options.push_back(option.cast<double>());
         limits.trials = told.as<int64_t>();
         if (limits.options.empty() || std::ssize(limits.options) >= Random::kMaxRange) refuse();
         limits.scale[0] = least;
         limits.scale[1] = most;
         limits.aspect[0] = aspect.x;
         limits.aspect[1] = aspect.y;
         return steps::RandomIouCrop{limits};
       }},
      {"RandomResizedCrop",
       [](Told& told) -> steps::Step {
         const Size size = size_of(told.next());
         Resample by = resample_of(told.next());
         by.cropped = true;
         const Range scale = areas_of(told.next());
         const Range log_ratio = logarithms_of(told.next());
         const auto least = told.as<double>();
         return steps::RandomResizedCrop{size, by, scale, log_ratio, least, told.as<double>()};
       }},
      {"ScaleJitter",
       [](Told& told) -> steps::Step {
         const Vec2 target = point_of(told.next());
         const Vec2 factors = point_of(told.next());
         return steps::ScaleJitter{target, factors, resample_of(told.next())};
       }},
      {"RandomResize",
       [](Told& told) -> steps::Step {
         const int64_t least = side_of(told.next()), end = side_of(told.next());
         return steps::RandomResize{{least, end}, resample_of(told.next())};
       }},
      {"RandomShortestSize",
       [](Told& told) -> steps::Step {
         std::vector<int64_t> sizes;
         for (const py::handle& size : told.next()) sizes.push_back(side_of(size));
         const auto most = told.as<double>();
         return steps::RandomShortestSize{sizes, most, resample_of(told.next())};
       }},
      {"RandomRotation",
       [](Told& told) -> steps::Step {
         const Range degrees = range_of(told.next());
         const Resample by = resample_of(told.next());
         const bool expand = told.as<bool>();
         const auto center = told.maybe(point_of);
         return steps::RandomRotation{degrees, by, expand, center, fill_of(told.next())};
       }},
      {"RandomAffine",
       [](Told& told) -> steps::Step {
         const Range degrees = range_of(told.next());
         const auto translate = told.maybe(point_of);
         const auto scale = told.maybe(range_of);
         const auto shear_x = told.maybe(range_of);
         const auto shear_y = told.maybe(range_of);
         const Resample by = resample_of(told.next());
         const auto center = told.maybe(point_of);
         return steps::RandomAffine{degrees, translate, scale, shear_x, shear_y, by, center, fill_of(told.next())};
       }},
      {"Perspective",
       [](Told& told) -> steps::Step {
         const auto scale = told.as<double>();
         if (!(std::abs(scale) <= 1)) refuse();
         const Resample by = resample_of(told.next());
         return steps::Perspective{scale, by, fill_of(told.next())};
       }},
      {"ColorJitter",
       [](Told& told) -> steps::Step {
         const auto brightness = told.maybe(range_of);
         const auto contrast = told.maybe(range_of);
         const auto saturation = told.maybe(range_of);
         return steps::ColorJitter{brightness, contrast, saturation, told.maybe(range_of)};
       }},
      {"PhotometricDistort",
       [](Told& told) -> steps::Step {
         steps::PhotometricDistort step{};
         for (Range& range : step.factors) range = range_of(told.next());
         step.p = told.as<double>();
         return step;
       }},
      {"ConvertBoundingBoxFormat",
       [](Told& told) -> steps::Step { return steps::ConvertBoundingBoxFormat{as_box_format(told.as<int>())}; }},
      {"ClampBoundingBoxes",
       [](Told& told) -> steps::Step { return steps::ClampBoundingBoxes{told.maybe(clamping_of)}; }},
      {"SetClampingMode", [](Told& told) -> steps::Step { return steps::SetClampingMode{clamping_of(told.next())}; }},
      {"ClampKeyPoints", [](Told&) -> steps::Step { return steps::ClampKeyPoints{}; }},
      {"SanitizeBoundingBoxes",
       [](Told& told) -> steps::Step {
         const Limit size = as_limit(told.next());
         const Limit area = as_limit(told.next());
         return steps::SanitizeBoundingBoxes{size, area, told.as<bool>()};
       }},
      {"SanitizeKeyPoints", [](Told& told) -> steps::Step { return steps::SanitizeKeyPoints{told.as<bool>()}; }},
      {"PermuteChannels", [](Told&) -> steps::Step { return steps::PermuteChannels{}; }},
      {"Grayscale", [](Told& told) -> steps::Step { return steps::Grayscale{told.maybe(length_of)}; }},
      {"Recolour", [](Told& told) -> steps::Step { return steps::Recolour{op_of(told.next())}; }},
      {"Adjustment",
       [](Told& told) -> steps::Step {
         const auto effect = effect_of(told.as<std::string>());
         const auto number = told.as<double>();
         return steps::Adjustment{effect, number, told.as<bool>()};
       }},
      {"GaussianBlur",
       [](Told& told) -> steps::Step {
         const int width = length_of(told.next());
         const int height = length_of(told.next());
         return steps::GaussianBlur{width, height, range_of(told.next())};
       }},
      {"Jpeg",
       [](Told& told) -> steps::Step {
         const auto least = told.as<int64_t>();
         return steps::Jpeg{least, told.as<int64_t>()};
       }},
      {"Erasing",
       [](Told& told) -> steps::Step {
         const Range scale = areas_of(told.next());
         const Range log_ratio = logarithms_of(told.next());
         std::vector<double> values;
         for (const py::handle& value : told.next()) values.push_back(value.cast<double>());
         return steps::Erasing{scale, log_ratio, values};
       }},
      {"RandomOps",
       [](Told& told) -> steps::Step {
         const auto ops = several_of(told, policy_op_of);
         const auto count = told.as<int64_t>();
         const Resample by = resample_of(told.next());
         return steps::RandomOps{ops, count, by, fill_of(told.next())};
       }},
      {"RandomPolicy",
       [](Told& told) -> steps::Step {
         const auto policies = several_of<std::array<steps::PolicyOp, 2>>(told, [](const py::handle& value) {
           const auto pair = value.cast<py::tuple>();
           return std::array{policy_op_of(pair[0]), policy_op_of(pair[1])};
         });
         const Resample by = resample_of(told.next());
         return steps::RandomPolicy{policies, by, fill_of(told.next())};
       }},
      {"Group",
       [](Told& told) -> steps::Step {
         const auto p = told.maybe(chance_of);
         const auto steps = as_steps(told.as<py::tuple>());
         return steps::Group{p, told.as<bool>(), steps};
       }},
      {"Shuffled",
       [](Told& told) -> steps::Step {
         const auto steps = as_steps(told.as<py::tuple>());
         if (steps.size() > static_cast<size_t>(Random::kMaxPermutation)) refuse();
         return steps::Shuffled{steps};
       }},
      {"ShuffledByPython",
       [](Told& told) -> steps::Step { return steps::ShuffledByPython{as_steps(told.as<py::tuple>())}; }},
      {"ChosenByPython",
       [](Told& told) -> steps::Step {
         std::vector<double> weights;
         for (const py::handle& weight : told.next()) weights.push_back(weight.cast<double>());
         return steps::ChosenByPython{weights, as_steps(told.as<py::tuple>())};
       }},
      {"Chosen",
       [](Told& told) -> steps::Step {
         const auto weights = as_weights(told.next());
         const auto steps = as_steps(told.as<py::tuple>());
         if (!weights || weights->size() != steps.size() || !Stream::plain() || !torch_chooses_so()) refuse();
         return steps::Chosen{*weights, steps};
       }},
  };
  return all;
}

}  // namespace

Steps as_steps(const py::tuple& described) {
  Steps all;
  for (const py::handle& one : described) {
    const auto told = one.cast<py::tuple>();
    const auto found = readers().find(told[0].cast<std::string>());
    if (found == readers().end()) fail(ErrorCode::kValue, "no recipe of " + told[0].cast<std::string>());
    Told rest(told);
    try {
      all.push_back(found->second(rest));
    } catch (const py::cast_error&) {
      refuse();  // a number that is too large
    }
  }
  return all;
}

}  // namespace fastaug::bind
