#include "draft/recipe.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fastaug {
namespace {

constexpr double kLongestSide = 1 << 29;

// Python's round(number).
int64_t rounded(double number) { return static_cast<int64_t>(std::nearbyint(number)); }

// Python's math.degrees(math.atan(slope)).
double angle_of(double slope) { return std::atan(slope) * (180.0 / std::numbers::pi); }

// int(torch.linspace(0, limit, bins)[which]); nothing where it depends on whether torch fuses a product and a sum.
std::optional<int64_t> whole_part(double limit, int64_t bins, int64_t which) {
  const auto end = static_cast<float>(limit);
  const float step = end / static_cast<float>(bins - 1);
  if (which < bins / 2) return static_cast<int64_t>(step * static_cast<float>(which));
  const auto steps_back = static_cast<float>(bins - 1 - which);
  const auto apart = static_cast<int64_t>(end - step * steps_back);
  const auto fused = static_cast<int64_t>(std::fma(-step, steps_back, end));
  return apart == fused ? std::optional(apart) : std::nullopt;
}

// True of containers, which may do none of their transforms.
struct Contains {
  bool operator()(const auto& step) const {
    return requires { step.steps; };
  }
};

// True of transforms of boxes and points alone.
struct Spares {
  bool operator()(const steps::ConvertBoundingBoxFormat&) const { return true; }
  bool operator()(const steps::ClampBoundingBoxes&) const { return true; }
  bool operator()(const steps::SetClampingMode&) const { return true; }
  bool operator()(const steps::ClampKeyPoints&) const { return true; }
  bool operator()(const steps::SanitizeBoundingBoxes&) const { return true; }
  bool operator()(const steps::SanitizeKeyPoints&) const { return true; }
  bool operator()(const auto&) const { return false; }
};

class Drafter {
 public:
  Drafter(SampleDraft& draft, Random& random, UniformForm form, const Torch& torch)
      : draft_(draft), random_(random), form_(form), torch_(torch) {}

  void all(const Steps& steps) {
    for (const steps::Step& step : steps) {
      one(step);
      if (draft_.declined()) return;
    }
  }

  // An encoded image has been opened as it is to be; one of Pillow's may have to be turned or converted.
  void operator()(const steps::Decode& step) {
    if (draft_.nested) return decline();  // an error
    if (draft_.source.container == Container::kEncoded) return;
    const bool stays = draft_.is_pil() && !step.exif && (step.mode == Mode::kNone || step.mode == draft_.mode);
    if (!stays || (draft_.source.v2 && draft_.pixel_ops() > 0)) decline();
  }
  void operator()(const steps::ToTensor&) { draft_.to_float(torch_); }
  void operator()(const steps::PilToTensor&) { draft_.to_uint8_tensor(); }
  void operator()(const steps::ToImage&) {
    if (draft_.source.video && !draft_.tagged) return decline();
    draft_.to_image();
  }
  void operator()(const steps::ToPureTensor&) { draft_.to_pure_tensor(); }
  void operator()(const steps::ToPilImage&) {
    if (draft_.source.video) return decline();
    draft_.to_pil(std::nullopt);
  }
  void operator()(const steps::ConvertImageDtype& step) {
    if (step.of_places && draft_.is_followed()) return decline();
    if (draft_.source.v2) {
      draft_.to_dtype(step.to_floats);
    } else {
      draft_.convert_dtype(step.to_floats);
    }
  }
  void operator()(const steps::ToDtype& step) {
    if (!(draft_.is_video() ? step.video : draft_.tagged ? step.tagged : step.plain)) return decline();
    if (!step.masks.empty()) draft_.cast_masks(step.masks);
    if (!draft_.declined()) (*this)(static_cast<const steps::ConvertImageDtype&>(step));
  }
  void operator()(const steps::Normalize& step) {
    const auto channels = static_cast<size_t>(draft_.channels());
    const auto op = channels <= step.ops.size() ? step.ops[channels - 1] : std::nullopt;
    if (!op) return decline();
    draft_.normalize({*op}, step.inplace);
  }
  void operator()(const steps::Resize& step) { draft_.resize(step.size, step.by, torch_); }
  void operator()(const steps::CenterCrop& step) { draft_.center_crop(step.height, step.width); }
  void operator()(const steps::Pad& step) { draft_.pad(step.sides, step.fill, step.mode); }

  void operator()(const steps::Flip& step) {
    if (step.vertical) {
      draft_.vflip();
    } else {
      draft_.hflip();
    }
  }

  void operator()(const steps::RandomCrop& step) {
    if (step.padding) draft_.pad(*step.padding, step.fill, step.mode);
    if (step.pads_if_needed) {
      const int columns = step.width - draft_.width();
      if (columns > 0) draft_.pad({columns, 0, columns, 0}, step.fill, step.mode);
      const int rows = step.height - draft_.height();
      if (rows > 0) draft_.pad({0, rows, 0, rows}, step.fill, step.mode);
    }
    const int spare_rows = draft_.height() - step.height, spare_columns = draft_.width() - step.width;
    if (draft_.declined() || spare_rows < 0 || spare_columns < 0) return decline();
    int64_t top = 0, left = 0;
    if (spare_rows > 0 || spare_columns > 0) {
      top = from(0, spare_rows + 1);
      left = from(0, spare_columns + 1);
    }
    draft_.crop(top, left, step.height, step.width);
  }

  // As that of v2: padded at once, and drawn for along axes that have room only.
  void operator()(const steps::RandomCropByAxis& step) {
    Sides sides = step.padding.value_or(Sides{});
    int spare_rows = draft_.height() + sides.top + sides.bottom - step.height;
    int spare_columns = draft_.width() + sides.left + sides.right - step.width;
    const auto widen = [&](int& before, int& after, int& spare) {
      if (!step.pads_if_needed || spare >= 0) return;
      before -= spare;
      after -= spare;
      spare = -spare;
    };
    widen(sides.top, sides.bottom, spare_rows);
    widen(sides.left, sides.right, spare_columns);
    if (spare_rows < 0 || spare_columns < 0) return decline();
    const int64_t top = spare_rows > 0 ? from(0, spare_rows + 1) : 0;
    const int64_t left = spare_columns > 0 ? from(0, spare_columns + 1) : 0;
    if (sides != Sides{}) draft_.pad(sides, step.fill, step.mode);
    if (draft_.declined()) return;
    if (spare_rows > 0 || spare_columns > 0) draft_.crop(top, left, step.height, step.width);
  }

  void operator()(const steps::ZoomOut& step) {
    if (!are_sides_of_float32()) return decline();
    const auto border = random_.zoom_out(draft_.height(), draft_.width(), step.low, step.high);
    if (!std::ranges::all_of(border, [](int64_t side) { return std::abs(side) <= int64_t{1} << 29; })) return decline();
    int sides[4];
    std::ranges::transform(border, sides, [](int64_t side) { return static_cast<int>(side); });
    draft_.pad({sides[0], sides[1], sides[2], sides[3]}, step.fill, std::nullopt);
  }

  // Without boxes it is an error.
  void operator()(const steps::RandomIouCrop& step) {
    Boxes* const boxes = draft_.boxes();
    if (boxes == nullptr || draft_.many || draft_.is_video() || !are_sides_of_float32()) return decline();
    IouCropLimits limits = step.limits;
    limits.height = draft_.height();
    limits.width = draft_.width();
    const IouCrop crop = draw_iou_crop(random_, *boxes, limits, [this] { torch_.check_signals(); });
    if (crop.outcome == IouCrop::Outcome::kNone) return;
    if (crop.outcome == IouCrop::Outcome::kDivisionByZero) return decline();
    draft_.crop(crop.top, crop.left, crop.height, crop.width);
    if (!draft_.declined()) boxes->clear_but(reinterpret_cast<const bool*>(crop.within.data()));
  }

  void operator()(const steps::ConvertBoundingBoxFormat& step) { draft_.convert_boxes(step.format); }
  void operator()(const steps::ClampBoundingBoxes& step) { draft_.clamp_boxes(step.mode); }
  void operator()(const steps::SetClampingMode& step) { draft_.set_clamping_mode(step.mode); }
  void operator()(const steps::ClampKeyPoints&) { draft_.clamp_points(); }
  // Without boxes, or points, it is an error.
  void operator()(const steps::SanitizeBoundingBoxes& step) {
    draft_.sanitize_boxes(step.size, step.area, step.has_labels);
  }
  void operator()(const steps::SanitizeKeyPoints& step) { draft_.sanitize_points(step.has_labels); }

  void operator()(const steps::RandomResizedCrop& step) {
    const int64_t height = draft_.height(), width = draft_.width();
    // (width, height) of the box.
    int64_t sides[2];
    int64_t top = 0, left = 0;
    if (drawn(step.scale, step.log_ratio, {width, height}, false, sides)) {
      top = from(0, height - sides[1] + 1);
      left = from(0, width - sides[0] + 1);
    } else {
      const double proportions = static_cast<double>(width) / static_cast<double>(height);
      sides[0] = width;
      sides[1] = height;
      if (proportions < step.least) {
        sides[1] = rounded(static_cast<double>(width) / step.least);
      } else if (proportions > step.most) {
        sides[0] = rounded(static_cast<double>(height) * step.most);
      }
      // Python's // rounds down.
      top = (height - sides[1]) >> 1;
      left = (width - sides[0]) >> 1;
    }
    draft_.crop(top, left, sides[1], sides[0]);
    if (!draft_.declined()) draft_.resize(step.size, step.by, torch_);
  }

  // As torch multiplies float32.
  void operator()(const steps::ScaleJitter& step) {
    const float scale = random_.scaled(step.factors.x, step.factors.y);
    const auto fitting = static_cast<float>(std::min(step.target.y / draft_.height(), step.target.x / draft_.width()));
    const float factor = fitting * scale;
    resize(static_cast<float>(draft_.height()) * factor, static_cast<float>(draft_.width()) * factor, step.by);
  }

  void operator()(const steps::RandomResize& step) {
    const int64_t size = from(step.sizes[0], step.sizes[1] - step.sizes[0]);
    if (!draft_.declined()) draft_.resize({0, size, 0}, step.by, torch_);
  }

  void operator()(const steps::RandomShortestSize& step) {
    const double height = draft_.height(), width = draft_.width();
    const auto size = static_cast<double>(step.sizes[static_cast<size_t>(from(0, std::ssize(step.sizes)))]);
    const double factor = std::min(size / std::min(height, width), step.most / std::max(height, width));
    resize(height * factor, width * factor, step.by);
  }

  void operator()(const steps::RandomRotation& step) {
    draft_.rotate(from(step.degrees), step.by, step.expand, step.center, step.fill, torch_);
  }

  void operator()(const steps::RandomAffine& step) {
    const double angle = from(step.degrees);
    Vec2 shift;
    if (step.translate) {
      shift.x = shifted(step.translate->x * draft_.width());
      shift.y = shifted(step.translate->y * draft_.height());
    }
    const double scale = step.scale ? from(*step.scale) : 1.0f;
    Vec2 shear;
    if (step.shear_x) shear.x = from(*step.shear_x);
    if (step.shear_y) shear.y = from(*step.shear_y);
    draft_.affine(angle, shift, scale, shear, step.by, step.center, step.fill, torch_);
  }

  void operator()(const steps::Perspective& step) {
    const int64_t height = draft_.height(), width = draft_.width();
    const auto slack_x = static_cast<int64_t>(step.distortion_scale * static_cast<double>(width / 2));
    const auto slack_y = static_cast<int64_t>(step.distortion_scale * static_cast<double>(height / 2));
    // One after the other.
    Corners ends;
    ends[0][0] = from(0, slack_x + 1);
    ends[0][1] = from(0, slack_y + 1);
    ends[1][0] = from(width - slack_x - 1, slack_x + 1);
    ends[1][1] = from(0, slack_y + 1);
    ends[2][0] = from(width - slack_x - 1, slack_x + 1);
    ends[2][1] = from(height - slack_y - 1, slack_y + 1);
    ends[3][0] = from(0, slack_x + 1);
    ends[3][1] = from(height - slack_y - 1, slack_y + 1);
    const Corners starts{{{0, 0}, {width - 1, 0}, {width - 1, height - 1}, {0, height - 1}}};
    if (!draft_.declined()) draft_.perspective(torch_.perspective(starts, ends), step.by, step.fill, torch_);
  }

  void operator()(const steps::ColorJitter& step) {
    int64_t order[4];
    random_.randperm(order, 4);
    const std::optional<Range>* const ranges[] = {&step.brightness, &step.contrast, &step.saturation, &step.hue};
    double factors[4] = {};
    for (int k = 0; k < 4; ++k) {
      if (*ranges[k]) factors[k] = from(**ranges[k]);
    }
    for (const int64_t which : order) {
      if (*ranges[which]) jitter(which, factors[which]);
    }
  }

  void operator()(const steps::PhotometricDistort& step) {
    std::optional<double> factors[4];
    for (size_t k = 0; k < step.factors.size(); ++k) {
      if (random_.rand() < step.p) factors[k] = from(step.factors[k]);
    }
    static constexpr int kContrastFirst[] = {0, 1, 2, 3}, kContrastLast[] = {0, 2, 3, 1};
    const auto& order = random_.rand() < 0.5 ? kContrastFirst : kContrastLast;
    for (const int which : order) {
      if (factors[which] && !draft_.declined()) jitter(which, *factors[which]);
    }
    if (random_.rand() < step.p) (*this)(steps::PermuteChannels{});
  }

  void operator()(const steps::PermuteChannels&) {
    const int channels = draft_.channels();
    if (channels > kMaxChannels) return decline();
    int64_t drawn[kMaxChannels] = {};
    random_.randperm(drawn, channels);
    int order[kMaxChannels];
    std::ranges::transform(drawn, order, [](int64_t channel) { return static_cast<int>(channel); });
    draft_.permute_channels(order, channels);
  }

  // v2 leaves videos as they are: beside them, images may then have fewer channels, which is an error.
  void operator()(const steps::Grayscale& step) {
    if (!draft_.is_video()) {
      draft_.grayscale(step.channels.value_or(draft_.channels()));
    } else if (draft_.many) {
      decline();
    }
  }
  void operator()(const steps::Recolour& step) { draft_.recolour(step.op); }
  void operator()(const steps::Adjustment& step) { adjust(step.effect, {step.number, step.is_float}); }

  void operator()(const steps::GaussianBlur& step) {
    const double sigma = from(step.sigma);
    draft_.gaussian_blur({step.kernel_width, step.kernel_height, {sigma, sigma}}, torch_);
  }

  void operator()(const steps::Jpeg& step) { draft_.jpeg(from(step.least, step.most + 1 - step.least), torch_); }

  void operator()(const steps::Erasing& step) {
    const auto count = static_cast<int>(step.values.size());
    if (!draft_.gives_floats() || (count != 1 && count != draft_.channels())) {
      return decline();
    }
    const int64_t height = draft_.height(), width = draft_.width();
    int64_t sides[2];
    if (!drawn(step.scale, step.log_ratio, {height, width}, true, sides)) return;
    const auto top = static_cast<int>(from(0, height - sides[0] + 1));
    const auto left = static_cast<int>(from(0, width - sides[1] + 1));
    if (sides[0] == 0 || sides[1] == 0) {
      if (draft_.source.v2) decline();  // and torch writes nothing
      return;
    }
    draft_.erase(top, left, static_cast<int>(sides[0]), static_cast<int>(sides[1]), step.values.data(), count);
  }

  void operator()(const steps::Group& step) {
    if (step.p) {
      const double draw = random_.rand();
      if (step.or_equal ? *step.p < draw : !(draw < *step.p)) return;
    }
    all(step.steps);
  }

  void operator()(const steps::Shuffled& step) {
    std::vector<int64_t> order(step.steps.size());
    random_.randperm(order.data(), static_cast<int>(order.size()));
    all(step.steps, order);
  }
  void operator()(const steps::ShuffledByPython& step) { all(step.steps, torch_.shuffled(std::ssize(step.steps))); }

  void operator()(const steps::Chosen& step) {
    const int64_t which = random_.choice(step.weights.data(), static_cast<int64_t>(step.weights.size()));
    one(step.steps[static_cast<size_t>(which)]);
  }
  void operator()(const steps::ChosenByPython& step) {
    one(step.steps[static_cast<size_t>(torch_.chosen(std::ssize(step.steps), step.weights))]);
  }

  void operator()(const steps::RandomOps& step) {
    if (draft_.is_followed() || draft_.many) return decline();  // an error
    for (int64_t k = 0; k < step.count && !draft_.declined(); ++k) {
      const steps::PolicyOp& op = one_of(step.ops);
      const double magnitude = op.magnitudes.size() > 1 ? one_of(op.magnitudes) : strength(op);
      const bool negative = op.is_signed && (draft_.source.v2 ? is_low_half() : from(0, 2) != 0);
      apply(step, op, negative ? -magnitude : magnitude);
    }
  }

  void operator()(const steps::RandomPolicy& step) {
    if (draft_.is_followed() || draft_.many) return decline();  // an error
    const auto& policy = one_of(step.policies);
    const bool v2 = draft_.source.v2;
    // v1 draws for both before the first is done.
    float draws[2] = {};
    int64_t signs[2] = {};
    if (!v2) {
      for (float& draw : draws) draw = random_.rand();
      for (int64_t& sign : signs) sign = from(0, 2);
    }
    for (size_t k = 0; k < policy.size() && !draft_.declined(); ++k) {
      const steps::PolicyOp& op = policy[k];
      if (!((v2 ? random_.rand() : draws[k]) <= op.p)) continue;
      const bool negative = op.is_signed && (v2 ? is_low_half() : signs[k] == 0);
      apply(step, op, negative ? -strength(op) : strength(op));
    }
  }

 private:
  void decline() { draft_.decline(Reason::kNumber); }

  void all(const Steps& steps, const std::vector<int64_t>& order) {
    for (const int64_t which : order) {
      one(steps[static_cast<size_t>(which)]);
      if (draft_.declined()) return;
    }
  }

  void one(const steps::Step& step) {
    if (!draft_.settled()) return decline();
    draft_.reached = draft_.reached || !std::visit(Contains{}, step);
    draft_.spared = draft_.spared && (std::visit(Contains{}, step) || std::visit(Spares{}, step));
    std::visit(*this, step);
    // As many ops as Python drafts before it does them.
    if (draft_.pixel_ops() > kMaxOps / 2) decline();
  }

  template <class T>
  const T& one_of(const std::vector<T>& several) {
    return several[static_cast<size_t>(from(0, static_cast<int64_t>(several.size())))];
  }

  bool are_sides_of_float32() const { return std::max(draft_.height(), draft_.width()) <= kMostOfFloat32; }

  // One of the adjustments of brightness, contrast, saturation and hue.
  void jitter(int64_t which, double factor) {
    switch (which) {
      case 0:
        draft_.adjust_brightness({factor}, torch_);
        break;
      case 1:
        draft_.adjust_contrast({factor}, torch_);
        break;
      case 2:
        draft_.adjust_saturation({factor}, torch_);
        break;
      case 3:
        draft_.adjust_hue({factor}, static_cast<int>(factor * 255) & 255, torch_);
        break;
    }
  }

  bool is_low_half() { return random_.rand() <= 0.5f; }

  static double strength(const steps::PolicyOp& op) { return op.magnitudes.empty() ? 0.0 : op.magnitudes.front(); }

  Reason adjust(steps::Effect effect, Number number) {
    switch (effect) {
      case steps::Effect::kBrightness:
        return draft_.adjust_brightness(number, torch_);
      case steps::Effect::kColor:
        return draft_.adjust_saturation(number, torch_);
      case steps::Effect::kContrast:
        return draft_.adjust_contrast(number, torch_);
      case steps::Effect::kSharpness:
        return draft_.adjust_sharpness(number, torch_);
      case steps::Effect::kPosterize:
        return draft_.posterize(static_cast<int64_t>(number.value));
      case steps::Effect::kSolarize:
        return draft_.solarize(number, torch_);
      case steps::Effect::kAutoContrast:
        return draft_.autocontrast(torch_);
      case steps::Effect::kEqualize:
        return draft_.equalize();
      case steps::Effect::kInvert:
        return draft_.invert();
      default:
        return draft_.decline(Reason::kNumber);
    }
  }

  // An op of a policy, as `how` samples.
  void apply(const auto& how, const steps::PolicyOp& op, double magnitude) {
    const auto map = [&](Vec2 translate, Vec2 shear, std::optional<Vec2> center) {
      draft_.affine(0, translate, 1, shear, how.by, center, how.fill, torch_);
    };
    switch (op.effect) {
      case steps::Effect::kIdentity:
        return;
      case steps::Effect::kShearX:
        map({}, {angle_of(magnitude), 0}, Vec2{});
        break;
      case steps::Effect::kShearY:
        map({}, {0, angle_of(magnitude)}, Vec2{});
        break;
      case steps::Effect::kTranslateX:
        map({shift(op, magnitude, draft_.width()), 0}, {}, std::nullopt);
        break;
      case steps::Effect::kTranslateY:
        map({0, shift(op, magnitude, draft_.height())}, {}, std::nullopt);
        break;
      case steps::Effect::kRotate:
        draft_.rotate(magnitude, how.by, false, std::nullopt, how.fill, torch_);
        break;
      case steps::Effect::kBrightness:
      case steps::Effect::kColor:
      case steps::Effect::kContrast:
      case steps::Effect::kSharpness:
        adjust(op.effect, {1.0 + magnitude});
        break;
      case steps::Effect::kSolarize:
        // v2's are shares of white.
        adjust(op.effect, {draft_.source.v2 ? 255.0 * magnitude : magnitude});
        break;
      default:
        adjust(op.effect, {magnitude});
    }
    // Between ops of policies, v1 does fewer of them at once.
    if (!draft_.source.v2 && draft_.pixel_ops() > kMaxOps / 4) decline();
  }

  // By how many pixels a translation moves an image of that side.
  double shift(const steps::PolicyOp& op, double magnitude, int side) {
    const auto whole = static_cast<int64_t>(magnitude);
    if (op.bins == 0) return static_cast<double>(whole);
    constexpr double kShare = 150.0 / 331.0;
    const auto found = whole_part(kShare * side, op.bins, std::abs(whole));
    if (!found) decline();
    return static_cast<double>(magnitude < 0 ? -found.value_or(0) : found.value_or(0));
  }

  double from(Range range) { return random_.uniform(range.low, range.high, form_); }

  // A range that torch draws otherwise, or refuses, is not drawn from here.
  int64_t from(int64_t low, int64_t range) {
    if (range <= 0 || range >= Random::kMaxRange) {
      decline();
      return 0;
    }
    return random_.randint(low, range);
  }

  // To whole sides.
  void resize(double height, double width, const Resample& by) {
    if (!(height >= 1) || !(width >= 1) || std::max(height, width) > kLongestSide) return decline();
    draft_.resize({static_cast<int64_t>(height), static_cast<int64_t>(width)}, by, torch_);
  }

  double shifted(double limit) {
    const auto most = static_cast<float>(limit);
    return static_cast<double>(rounded(from(Range{-most, most})));
  }

  bool drawn(Range scale, Range log_ratio, const std::pair<int64_t, int64_t>& limits, bool strict,
             int64_t (&sides)[2]) {
    const SidesLimits of{static_cast<double>(limits.first * limits.second),
                         {static_cast<double>(limits.first), static_cast<double>(limits.second)},
                         {scale.low, scale.high},
                         {log_ratio.low, log_ratio.high},
                         strict};
    return random_.sides(of, form_, [this](float power) { return torch_.exp(power); }, sides);
  }

  SampleDraft& draft_;
  Random& random_;
  UniformForm form_;
  const Torch& torch_;
};

// By the type of a step.
struct Draws {
  bool operator()(const steps::ZoomOut&) const { return true; }
  bool operator()(const steps::RandomIouCrop&) const { return true; }
  bool operator()(const steps::PhotometricDistort&) const { return true; }
  bool operator()(const steps::PermuteChannels&) const { return true; }
  bool operator()(const steps::Group& step) const { return step.p.has_value() || draws(step.steps); }
  bool operator()(const auto& step) const {
    return requires { step.degrees; } || requires { step.log_ratio; } || requires { step.distortion_scale; } ||
           requires { step.pads_if_needed; } || requires { step.brightness; } || requires { step.sigma; } ||
           requires { step.count; } || requires { step.policies; } || requires { step.steps; } ||
           requires { step.factors; } || requires { step.sizes; } || requires { step.least; };
  }
};

struct TakesLabels {
  bool operator()(const auto& step) const {
    if constexpr (requires { step.has_labels; }) return step.has_labels;
    if constexpr (requires { step.steps; }) return takes_labels(step.steps);
    return false;
  }
};

struct DrawsByPython {
  bool operator()(const steps::ShuffledByPython&) const { return true; }
  bool operator()(const steps::ChosenByPython&) const { return true; }
  bool operator()(const auto& step) const {
    if constexpr (requires { step.steps; }) return draws_by_python(step.steps);
    return false;
  }
};

}  // namespace

bool draws(const Steps& steps) {
  return std::ranges::any_of(steps, [](const steps::Step& step) { return std::visit(Draws{}, step); });
}

bool takes_labels(const Steps& steps) {
  return std::ranges::any_of(steps, [](const steps::Step& step) { return std::visit(TakesLabels{}, step); });
}

bool draws_by_python(const Steps& steps) {
  return std::ranges::any_of(steps, [](const steps::Step& step) { return std::visit(DrawsByPython{}, step); });
}

void draft(const Steps& steps, SampleDraft& draft, Random& random, UniformForm form, const Torch& torch) {
  Drafter(draft, random, form, torch).all(steps);
}

}  // namespace fastaug
