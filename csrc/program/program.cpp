#include "program/program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/status.h"

namespace fastaug {
namespace {

// One side of an image. Twice it still fits int32, so window arithmetic cannot overflow.
constexpr int kMaxSide = 1 << 29;
// Samples of one channel; offsets into a plane fit int32.
constexpr int64_t kMaxArea = (int64_t{1} << 31) - 1;

const char* filter_name(int filter) {
  static const char* const kNames[] = {"nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"};
  static const char* const kShortNames[] = {"lanczos16", "bilinear16", "bicubic16"};
  const int number = has_short_weights(filter) ? filter - static_cast<int>(Filter::kShortLanczos) : -1;
  if (number >= 0 && number <= 2) return kShortNames[number];
  return filter >= 0 && filter <= 5 ? kNames[filter] : "?";
}

[[noreturn]] void bad(const Op& op, const std::string& what) {
  fail(ErrorCode::kValue, std::string(name_of(op.id)) + ": " + what);
}

Shape sized(const Op& op, int64_t height, int64_t width, int channels) {
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide || height * width > kMaxArea) {
    bad(op, "the size must be positive and hold fewer than 2^31 pixels, got (" + std::to_string(height) + ", " +
                std::to_string(width) + ")");
  }
  return {static_cast<int>(height), static_cast<int>(width), channels};
}

void need_channels(const Op& op, Shape in, std::initializer_list<int> accepted) {
  std::string names;
  for (int channels : accepted) {
    if (in.channels == channels) return;
    names += (names.empty() ? "" : " or ") + std::to_string(channels);
  }
  bad(op, "needs an image with " + names + " channels, got " + std::to_string(in.channels));
}

void need_finite(const Op& op, int count) {
  for (int k = 0; k < count; ++k) {
    if (!std::isfinite(op.f[k])) bad(op, "operand " + std::to_string(k) + " is not finite");
  }
}

// A blend's. What it makes of samples stays finite in float32, so that all instruction sets clip it alike.
void need_factor(const Op& op) {
  if (!(std::fabs(op.f[0]) <= 1e30)) bad(op, "the factor must be within 1e30 of zero, got " + std::to_string(op.f[0]));
}

void need_interpolation(const Op& op, bool cubic) {
  const int mode = op.flags & kFilterMask;
  if (mode != 0 && mode != 2 && !(mode == 3 && cubic)) bad(op, "unknown interpolation " + std::to_string(op.flags));
}

// Results between samples and a fill are bytes.
void need_fill(const Op& op, int channels) {
  for (int c = 0; c < channels; ++c) {
    const float v = fill_of(op, c);
    if (!(v >= 0.0f && v <= 255.0f)) bad(op, "the fill must be from 0 to 255, got " + std::to_string(v));
  }
}

void need_permutation(const Op& op, int channels) {
  int found = 0;
  for (int c = 0; c < channels; ++c) {
    if (op.i[c] >= 0 && op.i[c] < channels) found |= 1 << op.i[c];
  }
  if (found == (1 << channels) - 1) return;
  std::string order;
  for (int c = 0; c < channels; ++c) order.append(" ").append(std::to_string(op.i[c]));
  bad(op, "each of " + std::to_string(channels) + " channels must occur once, got" + order);
}

void need_stains(const Op& op) {
  for (int k = 0; k < 6; ++k) {
    if (!(std::fabs(op.f[k]) <= kMostStain)) {
      bad(op, "alpha and beta must be within 1e6 of zero, got " + std::to_string(op.f[k]));
    }
  }
}

void need_stain_map(const Op& op) {
  for (int k = 0; k < 12; ++k) {
    const double number = stain_number(op, k);
    if (!(std::fabs(number) <= kMostStain)) {
      bad(op, "numbers of the map must be within 1e6 of zero, got " + std::to_string(number));
    }
  }
}

void need_blur(const Op& op, Shape in) {
  const int side[] = {in.width, in.height};
  int weights = 0;
  for (int axis = 0; axis < 2; ++axis) {
    const int size = op.i[axis];
    if (size < 1 || size % 2 == 0) bad(op, "the kernel's sides must be odd and positive, got " + std::to_string(size));
    if (size / 2 >= side[axis]) {
      bad(op, "half the kernel must be smaller than the image, got a kernel of " + std::to_string(size) + " for " +
                  std::to_string(side[axis]));
    }
    if (axis == 0 || !(op.flags & kSquare)) weights += size / 2 + 1;
  }
  if ((op.flags & kSquare) && op.i[0] != op.i[1]) bad(op, "a square kernel must have equal sides");
  if (weights > kBlurWeights) bad(op, "the halves of the kernel have more than 16 weights");
  float packed[kBlurWeights];
  std::memcpy(packed, op.f, sizeof packed);
  for (int k = 0; k < weights; ++k) {
    if (!std::isfinite(packed[k])) bad(op, "weight " + std::to_string(k) + " is not finite");
  }
}

void need_box_blur(const Op& op) {
  if (op.i[0] < 1 || op.i[0] > kMaxBoxPasses) {
    bad(op, "the passes must be 1.." + std::to_string(kMaxBoxPasses) + ", got " + std::to_string(op.i[0]));
  }
  for (int axis = 0; axis < 2; ++axis) {
    if (op.f[axis] >= 0 && op.f[axis] <= kMaxBoxRadius) continue;
    bad(op, "the radii must be 0 to " + std::to_string(kMaxBoxRadius) + ", got " + std::to_string(op.f[axis]));
  }
}

void need_jpeg(const Op& op, Shape in) {
  if (op.i[0] < 1 || op.i[0] > 100) bad(op, "quality must be 1..100, got " + std::to_string(op.i[0]));
  const int side = std::max(in.height, in.width);
  if (side > kMaxJpegSide) bad(op, "rows and columns must be at most 65500, got " + std::to_string(side));
}

void need_operands(const Op& op) {
  const Operands& operands = info_of(op.id).operands;
  switch (operands.form) {
    case Operands::kPlain:
    case Operands::kOwn:
      return;
    case Operands::kFactor:
      return need_factor(op);
    case Operands::kNumber:
      return need_finite(op, 1);
    case Operands::kInteger:
      if (op.i[0] < operands.low || op.i[0] > operands.high) {
        bad(op, std::string(operands.name) + " must be " + std::to_string(operands.low) + ".." +
                    std::to_string(operands.high) + ", got " + std::to_string(op.i[0]));
      }
      return;
  }
}

void need_channels(const Op& op, Shape in) {
  switch (info_of(op.id).channels) {
    case Channels::kAny:
      if (has(op.id, Trait::kAlphaFlag) && (op.flags & kHasAlpha) != 0) need_channels(op, in, {2, 4});
      return;
    case Channels::kColour:
    case Channels::kOpaque:
    case Channels::kToGray:
      return need_channels(op, in, {3, 4});
    case Channels::kFromGray:
      return need_channels(op, in, {1});
    case Channels::kAlpha:
      return need_channels(op, in, {2, 4});
    case Channels::kGrayOrRgb:
      return need_channels(op, in, {1, 3});
    case Channels::kPermuted:
      return;
  }
}

// Of ops that check their operands themselves.
Shape own_shape(const Op& op, Shape in) {
  switch (op.id) {
    case OpId::WINDOW:
      if (std::abs(int64_t{op.i[0]}) > kMaxSide || std::abs(int64_t{op.i[1]}) > kMaxSide)
        bad(op, "offset out of range");
      return sized(op, op.i[2], op.i[3], in.channels);
    case OpId::PAD:
      if (op.flags > static_cast<uint16_t>(PadMode::kSymmetric)) bad(op, "unknown mode " + std::to_string(op.flags));
      for (int k = 0; k < 4; ++k) {
        if (op.i[k] < 0 || op.i[k] > kMaxSide) bad(op, "padding must not be negative, got " + std::to_string(op.i[k]));
      }
      return sized(op, int64_t{in.height} + op.i[1] + op.i[3], int64_t{in.width} + op.i[0] + op.i[2], in.channels);
    case OpId::RESIZE:
      if (filter_name(op.flags & kFilterMask)[0] == '?' || (op.flags & kFilterMask) == 0)
        bad(op, "unknown filter " + std::to_string(op.flags));
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::TORCH_RESIZE:
      if (op.flags != static_cast<uint16_t>(Filter::kBilinear) && op.flags != static_cast<uint16_t>(Filter::kBicubic))
        bad(op, "the filter must be bilinear (2) or bicubic (3), got " + std::to_string(op.flags));
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::NEAREST:
      if (op.flags > static_cast<uint16_t>(NearestRule::kTorchExact))
        bad(op, "unknown rule " + std::to_string(op.flags));
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::ROT90:
      if (op.flags < 1 || op.flags > 3) bad(op, "turns must be 1, 2 or 3, got " + std::to_string(op.flags));
      return op.flags == 2 ? in : Shape{in.width, in.height, in.channels};
    case OpId::AFFINE:
    case OpId::TORCH_AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_PERSPECTIVE:
      need_interpolation(op, !samples_grid(op.id));
      need_finite(op, is_perspective(op.id) ? 8 : 6);
      if (samples_grid(op.id)) need_fill(op, in.channels);
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::GAMMA:
      need_finite(op, 2);
      if (op.f[0] < 0) bad(op, "the exponent must not be negative, got " + std::to_string(op.f[0]));
      return in;
    case OpId::BLUR:
      need_blur(op, in);
      return in;
    case OpId::BOX_BLUR:
      need_box_blur(op);
      return in;
    case OpId::JPEG:
      need_jpeg(op, in);
      return in;
    case OpId::TORCH_GAMMA:
      if (!(op.f[0] >= 0 && op.f[0] <= 1e30)) bad(op, "the exponent must be 0 to 1e30, got " + std::to_string(op.f[0]));
      if (!(std::fabs(op.f[1]) <= 1e30))
        bad(op, "the gain must be within 1e30 of zero, got " + std::to_string(op.f[1]));
      return in;
    case OpId::TORCH_HUE:
    case OpId::V2_HUE:
      if (!(std::fabs(op.f[0]) <= 0.5)) bad(op, "the factor must be -0.5 to 0.5, got " + std::to_string(op.f[0]));
      return in;
    case OpId::V2_PERMUTE:
      need_permutation(op, in.channels);
      return in;
    case OpId::HED:
      need_stains(op);
      return in;
    case OpId::STAINS:
      need_stain_map(op);
      return in;
    case OpId::NORMALIZE:
      need_finite(op, 4);
      for (int c = 0; c < in.channels; ++c) {
        if (static_cast<float>(op.f[4 + c]) == 0.0f) {
          bad(op, "std of channel " + std::to_string(c) + " is zero, which would divide by zero");
        }
      }
      return in;
    case OpId::ERASE:
      need_finite(op, 4);
      if (op.i[0] < 0 || op.i[1] < 0 || op.i[2] < 0 || op.i[3] < 0 || op.i[2] > in.height - op.i[0] ||
          op.i[3] > in.width - op.i[1]) {
        bad(op, "the box must lie inside the image");
      }
      return in;
    default:
      fail_on("shape_after", op.id);
  }
}

// Of ops on floats: a fill of bytes says what it is in floats only where it is zero.
void need_floats(const Op& op) {
  if (op.id == OpId::NORMALIZE || op.id == OpId::ERASE) return;
  if (!moves_floats(op.id)) bad(op, "is not done to float32");
  for (const uint8_t value : op.fill) {
    if (has(op.id, Trait::kFills) && value != 0)
      bad(op, "the fill of float32 must be zero, got " + std::to_string(value));
  }
}

const char* pad_name(const Op& op) {
  static const char* const kModes[] = {"edge", "reflect", "symmetric"};
  return kModes[op.flags % 3];
}

const char* rule_name(const Op& op) {
  static const char* const kRules[] = {"pillow", "torch", "torch-exact"};
  return kRules[op.flags % 3];
}

// add(format, values...), as printf, takes what an op's own operands are.
template <class Add>
void own_text(const Op& op, const Add& add) {
  switch (op.id) {
    case OpId::WINDOW:
    case OpId::ERASE:
      return add(" top=%d left=%d %dx%d", op.i[0], op.i[1], op.i[2], op.i[3]);
    case OpId::PAD:
      return add(" left=%d top=%d right=%d bottom=%d %s", op.i[0], op.i[1], op.i[2], op.i[3], pad_name(op));
    case OpId::RESIZE:
    case OpId::TORCH_RESIZE:
      return add(" %dx%d %s", op.i[0], op.i[1], filter_name(op.flags & kFilterMask));
    case OpId::NEAREST:
      return add(" %dx%d %s", op.i[0], op.i[1], rule_name(op));
    case OpId::ROT90:
      return add(" %d", 90 * op.flags);
    case OpId::AFFINE:
    case OpId::TORCH_AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_PERSPECTIVE:
      add(" %dx%d %s [%.6g %.6g %.6g; %.6g %.6g %.6g", op.i[0], op.i[1], filter_name(op.flags & kFilterMask), op.f[0],
          op.f[1], op.f[2], op.f[3], op.f[4], op.f[5]);
      if (is_perspective(op.id)) add("; %.6g %.6g", op.f[6], op.f[7]);
      return add("]");
    case OpId::GAMMA:
    case OpId::TORCH_GAMMA:
      return add(" %.6g gain=%.6g", op.f[0], op.f[1]);
    case OpId::TORCH_HUE:
    case OpId::V2_HUE:
      return add(" %.6g", op.f[0]);
    case OpId::V2_PERMUTE:
      return add(" %d %d %d %d", op.i[0], op.i[1], op.i[2], op.i[3]);
    case OpId::HED:
      add(" alpha=[%.6g %.6g %.6g] beta=[%.6g %.6g %.6g]", op.f[0], op.f[1], op.f[2], op.f[3], op.f[4], op.f[5]);
      return add("%s", (op.flags & kUnclipped) != 0 ? " unclipped" : "");
    case OpId::STAINS:
      for (int k = 0; k < 12; ++k) {
        add("%s%.6g", k == 0 ? " mix=[" : k == 9 ? "] shift=[" : k % 3 == 0 ? "; " : " ", stain_number(op, k));
      }
      add("]%s", (op.flags & kRoundsStains) != 0 ? " rounded" : "");
      return add("%s", (op.flags & kKeepsBackground) != 0 ? " tissue" : "");
    case OpId::BLUR:
      return add(" %dx%d", op.i[1], op.i[0]);
    case OpId::BOX_BLUR:
      return add(" %.6g %.6g passes=%d", op.f[0], op.f[1], op.i[0]);
    case OpId::JPEG:
      return add(" quality=%d", op.i[0]);
    case OpId::NORMALIZE:
      return add(" mean=[%.6g %.6g %.6g] std=[%.6g %.6g %.6g]", op.f[0], op.f[1], op.f[2], op.f[4], op.f[5], op.f[6]);
    default:
      fail_on("to_string", op.id);
  }
}

template <class Add>
void operand_text(const Op& op, const Add& add) {
  switch (info_of(op.id).operands.form) {
    case Operands::kPlain:
      return;
    case Operands::kFactor:
    case Operands::kNumber:
      return add(" %.6g", op.f[0]);
    case Operands::kInteger:
      return add(" %d", op.i[0]);
    case Operands::kOwn:
      return own_text(op, add);
  }
}

bool is_known(OpId id) { return static_cast<int>(id) < kOpCount; }

}  // namespace

const char* name_of(OpId id) { return is_known(id) ? info_of(id).name : "unknown op"; }

void fail_on(const char* function, OpId id) {
  fail(ErrorCode::kRuntime, std::string(function) + ": op " + name_of(id) + " is none of those that it knows");
}

Shape shape_after(const Op& op, Shape in) {
  if (!is_known(op.id)) bad(op, "id " + std::to_string(static_cast<int>(op.id)));
  need_operands(op);
  need_channels(op, in);
  if (info_of(op.id).operands.form == Operands::kOwn) return own_shape(op, in);
  return {in.height, in.width, channels_after(op, in.channels)};
}

Shape validate(Program program, Shape in, DType source) {
  if (program.size() > static_cast<size_t>(kMaxOps)) {
    fail(ErrorCode::kValue,
         "a program holds at most " + std::to_string(kMaxOps) + " ops, got " + std::to_string(program.size()));
  }
  if (in.height < 1 || in.width < 1 || int64_t{in.height} * in.width > kMaxArea) {
    fail(ErrorCode::kValue, "the image must have at least one pixel and fewer than 2^31, got (" +
                                std::to_string(in.height) + ", " + std::to_string(in.width) + ")");
  }
  if (in.channels < 1 || in.channels > kMaxChannels) {
    fail(ErrorCode::kValue, "the image must have 1 to 4 channels, got " + std::to_string(in.channels));
  }
  for (size_t k = 0; k < program.size(); ++k) {
    const Op& op = program[k];
    const Shape out = shape_after(op, in);
    const bool stored = k > 0 && kind_of(program[k - 1].id) == OpKind::kStore;
    const bool floats = source != DType::kUint8;
    if (floats) need_floats(op);
    if (stored && kind_of(op.id) != OpKind::kStore) bad(program[k - 1], "must end the program");
    if (begins_store(op.id) && stored) bad(op, "must come before other store ops");
    if (op.id == OpId::NORMALIZE && (floats ? stored : !(stored && begins_store(program[k - 1].id)))) {
      bad(op, floats ? "must be the first of the store ops" : "must follow TO_FLOAT");
    }
    if (kind_of(op.id) == OpKind::kStore && !begins_store(op.id) && !stored && !floats) bad(op, "must follow TO_FLOAT");
    in = out;
  }
  return in;
}

std::string to_string(Program program) {
  std::string text;
  char line[256];
  for (const Op& op : program) {
    int used = std::snprintf(line, sizeof line, "%s", name_of(op.id));
    auto add = [&](const char* format, auto... values) {
      const size_t left = sizeof line - static_cast<size_t>(used);
      if constexpr (sizeof...(values) == 0)
        used += std::snprintf(line + used, left, "%s", format);
      else
        used += std::snprintf(line + used, left, format, values...);
    };
    if (is_known(op.id)) operand_text(op, add);
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace fastaug
