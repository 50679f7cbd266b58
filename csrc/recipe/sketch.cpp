#include "recipe/sketch.h"

#include <algorithm>
#include <cmath>

namespace fastaug {
namespace {

// Beyond it, what a blend makes of samples may not be finite in float32.
constexpr double kMostFactor = 1e30;

Op with_factor(OpId id, double factor) {
  Op op = plain(id);
  op.f[0] = factor;
  return op;
}

}  // namespace

bool Sketch::is_job() const {
  const int ops = pixel_ops();
  if (container_ == source_) {
    if (gives_floats()) return true;
    if (ops == 0) return false;
    return first_ == First::kNone || ops != (first_ == First::kCrop ? views_ : 1);
  }
  // Pillow may map the memory of a tensor or an array.
  return container_ != Container::kPil || ops != views_;
}

void Sketch::append(const Op& op) {
  const int at = pixel_ops();
  if (at == kMost || count_ == kMaxOps) return decline();
  std::copy_backward(ops_.begin() + at, ops_.begin() + count_, ops_.begin() + count_ + 1);
  ops_[static_cast<size_t>(at)] = op;
  ++count_;
}

void Sketch::append_store(const Op& op) {
  if (count_ == kMaxOps) return decline();
  ops_[static_cast<size_t>(count_++)] = op;
}

void Sketch::adjust(OpId id, double factor) {
  if (!native() || !(std::abs(factor) <= kMostFactor) || (factor < 0 && container_ != Container::kPil)) {
    return decline();
  }
  if (factor == 1) {
    copied_ = true;
  } else {
    append(with_factor(id, factor));
  }
}

void Sketch::adjust_brightness(double factor) { adjust(OpId::BRIGHTNESS, factor); }

void Sketch::adjust_contrast(double factor) {
  adjust(one_of(OpId::CONTRAST, OpId::TORCH_CONTRAST, OpId::V2_CONTRAST), factor);
}

void Sketch::adjust_saturation(double factor) {
  if (channels() > 1) {
    return adjust(one_of(OpId::SATURATION, OpId::TORCH_SATURATION, OpId::V2_SATURATION), factor);
  }
  // Gray is its own gray: Pillow blends an image with itself, torchvision's tensors come back as they are.
  if (!native() || !(std::abs(factor) <= kMostFactor) || (factor < 0 && container_ != Container::kPil)) {
    return decline();
  }
  copied_ = copied_ || !is_tensor();
}

void Sketch::adjust_hue(double factor) {
  if (!native() || !(-0.5 <= factor && factor <= 0.5)) return decline();
  if (channels() == 1) return;
  Op op = with_factor(one_of(OpId::HUE, OpId::TORCH_HUE, OpId::V2_HUE), factor);
  // Pillow's hue has 8 bits and wraps.
  if (!by_torch()) op.i[0] = static_cast<int32_t>(factor * 255) & 255;
  append(op);
  if (v2_) channel_last_ = false;
}

void Sketch::adjust_sharpness(double factor) {
  const bool small = is_tensor() && (shape_.width <= 2 || shape_.height <= 2);
  if (small && native() && 0 <= factor && factor <= kMostFactor) return;  // torchvision hands out the tensor itself
  adjust(one_of(OpId::SHARPNESS, OpId::TORCH_SHARPNESS, OpId::V2_SHARPNESS), factor);
}

void Sketch::grayscale(int channels) {
  if (!native() || (channels != 1 && channels != 3)) return decline();
  const bool by_v2 = v2_ && is_tensor();
  if (is_tensor() && !by_v2 && shape_.channels == 1) channels = 1;  // torchvision expands to the shape of its input
  if (shape_.channels > 1) append(by_v2 ? OpId::V2_LUMA : by_torch() ? OpId::TORCH_LUMA : OpId::LUMA);
  if (channels == 3) {
    Op op = plain(OpId::REPLICATE);
    op.i[0] = 3;
    append(op);
  }
  copied_ = true;
  channel_last_ = false;
  shape_.channels = channels;
}

void Sketch::invert() {
  if (!native()) return decline();
  name(First::kOther);
  append(OpId::INVERT);
}

void Sketch::posterize(int64_t bits) {
  if (!native()) return decline();
  if (v2_ && is_tensor() && bits == 8) return;
  if (bits < 1 || bits > 8) return decline();
  name(First::kOther);
  Op op = plain(OpId::POSTERIZE);
  op.i[0] = static_cast<int32_t>(bits);
  append(op);
}

void Sketch::solarize(double threshold, bool is_float) {
  if (!native() || (is_tensor() && threshold > 255)) return decline();
  if (by_torch()) {
    // A negative int wraps around there, and nothing is as large as NaN.
    if (!(threshold >= 0)) return decline();
    if (is_float) threshold = static_cast<float>(threshold);
  }
  // No sample lies beyond these bounds, nor does anything compare to NaN, which inverts every sample.
  append(with_factor(OpId::SOLARIZE, std::isnan(threshold) ? 0 : std::clamp(threshold, 0.0, 256.0)));
}

void Sketch::autocontrast() {
  if (!native()) return decline();
  append(one_of(OpId::AUTOCONTRAST, OpId::TORCH_AUTOCONTRAST, OpId::V2_AUTOCONTRAST));
}

void Sketch::equalize() {
  if (!native()) return decline();
  append(OpId::EQUALIZE);
  channel_last_ = false;
}

bool Sketch::blurs(int kernel_width, int kernel_height) const {
  // A mirrored border is narrower than the image.
  return native() && kernel_width / 2 < shape_.width && kernel_height / 2 < shape_.height;
}

void Sketch::blur(const Op& op) {
  append(op);
  channel_last_ = false;
}

void Sketch::append_float() {
  append_store(plain(v2_ ? OpId::V2_TO_FLOAT : OpId::TO_FLOAT));
  stored_ = 1;
  channel_last_ = false;
}

void Sketch::to_float() {
  if (is_tensor() || !native()) return decline();
  container_ = Container::kTensor;
  append_float();
}

void Sketch::to_uint8_tensor() {
  if (container_ != Container::kPil) return decline();
  container_ = Container::kTensor;
  channel_last_ = copied_ = true;
}

void Sketch::to_image() {
  if (!is_tensor()) to_uint8_tensor();
  tagged_ = true;
}

void Sketch::to_pil() {
  if (!native() || container_ == Container::kPil) return decline();
  container_ = Container::kPil;
  channel_last_ = false;
}

void Sketch::convert_dtype(bool to_floats) {
  if (!is_tensor()) return decline();
  if (!to_floats) return native() ? void() : decline();
  if (native()) append_float();
}

void Sketch::normalize(const Op& op) {
  if (!is_tensor() || stored_ != 1 || erases_ != 0) return decline();
  append_store(op);
  ++stored_;
}

void Sketch::erase(int top, int left, int height, int width, const double (&values)[kMaxChannels]) {
  if (stored_ == 0) return decline();
  if (height == 0 || width == 0) {
    if (v2_) decline();  // and torch writes nothing
    return;
  }
  Op op = plain(OpId::ERASE);
  const int box[] = {top, left, height, width};
  std::ranges::copy(box, op.i);
  std::ranges::copy(values, op.f);
  append_store(op);
  ++erases_;
}

}  // namespace fastaug
