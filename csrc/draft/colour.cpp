// The ops of colour.
#include <algorithm>
#include <cmath>

#include "draft/draft.h"
#include "pixel/table.h"

namespace fastaug {
namespace {

// Beyond it, what a blend makes of samples may not be finite in float32.
constexpr double kMostFactor = 1e30;
// Beyond it, a gamma curve may overflow: an error, which is Python's or Pillow's to raise.
constexpr double kLarge = 1e6;

Op with_factor(OpId id, double factor, uint16_t flags = 0) {
  Op op = plain(id, flags);
  op.f[0] = factor;
  return op;
}

}  // namespace

int Draft::colours(const Torch* torch) const {
  if (!native) return 0;
  if (is_pil()) {
    return mode == Mode::kRgb || mode == Mode::kRgba ? 3 : mode == Mode::kL || mode == Mode::kLa ? 1 : 0;
  }
  // torch computes in its default dtype.
  if (tensor_by_v2() && (flat || (torch != nullptr && !torch->is_single()))) return 0;
  return channels() == 1 || channels() == 3 ? channels() : 0;
}

bool Draft::blends(const Torch& torch) const {
  return by_torch() ? torch.follows(Rounding::kColours) : is_tensor() || torch.follows(Rounding::kBlends);
}

Reason Draft::adjust(OpId id, Number factor, const Torch* torch) {
  if (colours(torch) == 0) return decline(Reason::kSamples);
  if (!(std::abs(factor.value) <= kMostFactor) || (factor.value < 0 && !is_pil())) return decline(Reason::kNumber);
  if (factor.value == 1) {
    copied = true;
    return Reason::kNone;
  }
  // A product with one number is one rounding everywhere.
  if (id != OpId::BRIGHTNESS && !blends(*torch)) return decline(Reason::kLibrary);
  const bool keeps_alpha = is_pil() && id != OpId::SATURATION && has_alpha(mode);
  append(with_factor(id, factor.value, keeps_alpha ? kHasAlpha : uint16_t{0}));
  return Reason::kNone;
}

Reason Draft::adjust_brightness(Number factor, const Torch& torch) {
  // torch multiplies bytes by an int as bytes, which wrap around, and says what other numbers are.
  if (tensor_by_v2() && !factor.is_float) return decline(Reason::kNumber);
  const Reason reason = adjust(OpId::BRIGHTNESS, factor, &torch);
  if (reason == Reason::kNone) info = Info::kNone;
  return reason;
}

Reason Draft::adjust_contrast(Number factor, const Torch& torch) {
  if (flat && is_tensor()) return decline(Reason::kShape);
  const Reason reason = adjust(one_of(OpId::CONTRAST, OpId::TORCH_CONTRAST, OpId::V2_CONTRAST), factor, &torch);
  if (reason == Reason::kNone) info = Info::kNone;
  return reason;
}

Reason Draft::adjust_saturation(Number factor, const Torch& torch) {
  if (is_transparent()) return decline(Reason::kMode);
  if (colours(&torch) != 1) {
    return adjust(one_of(OpId::SATURATION, OpId::TORCH_SATURATION, OpId::V2_SATURATION), factor, &torch);
  }
  // Gray is its own gray: Pillow blends an image with itself, torchvision's tensors come back as they are.
  if (!(std::abs(factor.value) <= kMostFactor) || (factor.value < 0 && !is_pil())) return decline(Reason::kNumber);
  copied = copied || !is_tensor();
  return Reason::kNone;
}

Reason Draft::adjust_hue(Number factor, int turn, const Torch& torch) {
  if (!(-0.5 <= factor.value && factor.value <= 0.5)) return decline(Reason::kNumber);
  const int channels = colours(&torch);
  if (channels == 0) return decline(Reason::kSamples);
  if (is_pil() && mode == Mode::kLa) return decline(Reason::kMode);
  if (channels == 1) return Reason::kNone;
  Op op = with_factor(one_of(OpId::HUE, OpId::TORCH_HUE, OpId::V2_HUE), factor.value);
  if (!by_torch()) {
    op.i[0] = turn;
    info = Info::kNone;
  }
  append(op);
  if (source.v2) channel_last = false;
  return Reason::kNone;
}

Reason Draft::adjust_sharpness(Number factor, const Torch& torch) {
  // torch smooths one batch of planes: neither a plane alone nor, in v1, a batch of batches.
  if (is_tensor() && (flat || (!source.v2 && leading > 1))) return decline(Reason::kShape);
  const bool small = is_tensor() && (shape.width <= 2 || shape.height <= 2);
  // torchvision hands out the tensor itself.
  if (small && colours(&torch) > 0 && 0 <= factor.value && factor.value <= kMostFactor) return Reason::kNone;
  return adjust(one_of(OpId::SHARPNESS, OpId::TORCH_SHARPNESS, OpId::V2_SHARPNESS), factor, &torch);
}

Reason Draft::adjust_gamma(Number gamma, Number gain) {
  if (!native) return decline(Reason::kSamples);
  if (is_pil()) {
    // L passes through RGB unharmed: the weights of luma add up to 1.
    if ((mode != Mode::kL && mode != Mode::kRgb) || is_transparent()) return decline(Reason::kMode);
  } else if (!tensor_by_v2() && colours(nullptr) == 0) {
    return decline(Reason::kChannels);
  }
  // Other types round in their own way.
  const bool taken = 0 <= gamma.value && gamma.value < kLarge && std::abs(gain.value) < kLarge;
  if (!gamma.is_plain || !gain.is_plain || !taken) return decline(Reason::kNumber);
  if (by_torch()) {
    const bool certain =
        source.v2 ? v2_gamma_is_certain(gamma.value, gain.value) : torch_gamma_is_certain(gamma.value, gain.value);
    if (!certain) return decline(Reason::kLibrary);
  }
  Op op = with_factor(by_torch() ? OpId::TORCH_GAMMA : OpId::GAMMA, gamma.value);
  op.f[1] = gain.value;
  append(op);
  return Reason::kNone;
}

Reason Draft::grayscale(int64_t count) {
  if (!native) return decline(Reason::kSamples);
  if (count != 1 && count != 3) return decline(Reason::kNumber);
  const bool by_v2 = tensor_by_v2();
  if (is_pil()) {
    const bool taken = mode == Mode::kL || mode == Mode::kRgb || mode == Mode::kRgba;
    if (!taken || is_transparent()) return decline(Reason::kMode);
    mode = count == 1 ? Mode::kL : Mode::kRgb;
  } else if ((flat && is_tensor()) || (channels() != 1 && channels() != 3)) {
    return decline(Reason::kChannels);
  } else if (is_tensor() && !by_v2 && channels() == 1) {
    // A clone is of the class of its original, even where other results are not.
    if (count == 1 && source.subclass) return decline(Reason::kShape);
    count = 1;  // torchvision expands to the shape of its input
  }
  if (channels() > 1) append(by_v2 ? OpId::V2_LUMA : by_torch() ? OpId::TORCH_LUMA : OpId::LUMA);
  if (count == 3) {
    Op op = plain(OpId::REPLICATE);
    op.i[0] = 3;
    append(op);
    if (!by_v2) {
      info = Info::kNone;
      flat = false;
    }
  }
  copied = true;
  channel_last = false;
  shape.channels = static_cast<int>(count);
  return Reason::kNone;
}

Reason Draft::to_rgb() {
  if (!native) return decline(Reason::kSamples);
  if (!is_pil()) {
    if (flat || channels() == 2) return decline(Reason::kChannels);
    return channels() == 1 ? grayscale(3) : Reason::kNone;
  }
  if ((mode != Mode::kL && mode != Mode::kRgb) || is_transparent()) return decline(Reason::kMode);
  copied = true;
  if (mode == Mode::kL) {
    Op op = plain(OpId::REPLICATE);
    op.i[0] = 3;
    append(op);
    mode = Mode::kRgb;
    shape.channels = 3;
  }
  return Reason::kNone;
}

Reason Draft::recolour(const Op& op) {
  if (!native) return decline(Reason::kSamples);
  if (channels() != 3) return decline(Reason::kChannels);
  if (is_pil() && mode != Mode::kRgb) return decline(Reason::kMode);
  append(op);
  info = Info::kNone;
  return Reason::kNone;
}

Reason Draft::permute_channels(const int (&order)[kMaxChannels], int count) {
  if (!native) return decline(Reason::kSamples);
  if (flat || channels() > kMaxChannels || channels() != count) return decline(Reason::kChannels);
  Op op = plain(OpId::V2_PERMUTE);
  bool seen[kMaxChannels] = {};
  for (int c = 0; c < kMaxChannels; ++c) {
    const int from = c < count ? order[c] : c;
    if (from < 0 || from >= kMaxChannels || seen[from]) return decline(Reason::kNumber);
    seen[from] = true;
    op.i[c] = from;
  }
  append(op);
  channel_last = false;
  if (is_pil()) {
    static constexpr Mode kModes[] = {Mode::kL, Mode::kLa, Mode::kRgb, Mode::kRgba};
    mode = kModes[count - 1];
    info = Info::kNone;
  }
  return Reason::kNone;
}

Reason Draft::no_table() const {
  if (!native) return Reason::kSamples;
  if (is_pil()) return mode == Mode::kL || mode == Mode::kRgb ? Reason::kNone : Reason::kMode;
  if (tensor_by_v2()) return Reason::kNone;
  if (is_tensor() && flat) return Reason::kShape;
  return colours(nullptr) == 0 ? Reason::kChannels : Reason::kNone;
}

Reason Draft::invert() {
  if (const Reason reason = no_table(); reason != Reason::kNone) return decline(reason);
  append_named(plain(OpId::INVERT));
  return Reason::kNone;
}

Reason Draft::posterize(int64_t bits) {
  if (tensor_by_v2() && native && bits == 8) return Reason::kNone;
  if (const Reason reason = no_table(); reason != Reason::kNone) return decline(reason);
  if (bits < 1 || bits > 8) return decline(Reason::kNumber);
  Op op = plain(OpId::POSTERIZE);
  op.i[0] = static_cast<int32_t>(bits);
  append_named(op);
  return Reason::kNone;
}

Reason Draft::solarize(Number threshold, const Torch& torch) {
  if (const Reason reason = no_table(); reason != Reason::kNone) return decline(reason);
  double limit = threshold.value;
  if (!threshold.is_plain || (is_tensor() && limit > 255)) return decline(Reason::kNumber);
  if (by_torch()) {
    // A negative int wraps around there, and nothing is as large as NaN.
    if (!(limit >= 0)) return decline(Reason::kNumber);
    if (threshold.is_float && torch.is_single()) limit = static_cast<float>(limit);
  }
  // No sample lies beyond these bounds, nor does anything compare to NaN, which inverts every sample.
  append(with_factor(OpId::SOLARIZE, std::isnan(limit) ? 0 : std::clamp(limit, 0.0, 256.0)));
  return Reason::kNone;
}

Reason Draft::autocontrast(const Torch& torch) {
  if (const Reason reason = no_table(); reason != Reason::kNone) return decline(reason);
  if (tensor_by_v2() && colours(&torch) == 0) return decline(Reason::kChannels);
  append(one_of(OpId::AUTOCONTRAST, OpId::TORCH_AUTOCONTRAST, OpId::V2_AUTOCONTRAST));
  return Reason::kNone;
}

Reason Draft::equalize() {
  if (const Reason reason = no_table(); reason != Reason::kNone) return decline(reason);
  if (is_tensor() && !source.v2 && leading > 1) return decline(Reason::kShape);
  append(OpId::EQUALIZE);
  channel_last = false;
  return Reason::kNone;
}

Reason Draft::jpeg(int64_t quality, const Torch& torch) {
  if (!native) return decline(Reason::kSamples);
  if (is_pil()) {
    if (mode != Mode::kL && mode != Mode::kRgb) return decline(Reason::kMode);
    if (source.commented && info == Info::kAll) return decline(Reason::kMode);
  } else if ((flat && is_tensor()) || (channels() != 1 && channels() != 3)) {
    return decline(Reason::kChannels);
  }
  if (quality < 1 || quality > 100) return decline(Reason::kNumber);
  if (std::max(shape.height, shape.width) > kMaxJpegSide) return decline(Reason::kShape);
  if (!torch.follows(Rounding::kJpeg)) return decline(Reason::kLibrary);
  Op op = plain(OpId::JPEG);
  op.i[0] = static_cast<int32_t>(quality);
  append(op);
  channel_last = false;
  if (is_pil()) info = Info::kJpeg;
  if (is_tensor()) files += 2 * images;
  return Reason::kNone;
}

}  // namespace fastaug
