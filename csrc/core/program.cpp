#include "core/program.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/status.h"

namespace fastaug {
namespace {

struct OpInfo {
  const char* name;
  OpKind kind;
};

constexpr OpInfo kOps[] = {
#define FASTAUG_OP(name, kind) {#name, OpKind::kind},
#include "core/ops.def"
#undef FASTAUG_OP
};

// One side of an image. Twice it still fits int32, so window arithmetic cannot overflow.
constexpr int kMaxSide = 1 << 29;
// Samples of one channel; offsets into a plane fit int32.
constexpr int64_t kMaxArea = (int64_t{1} << 31) - 1;

const char* filter_name(int filter) {
  static const char* const kNames[] = {"nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"};
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

}  // namespace

OpKind kind_of(OpId id) { return kOps[static_cast<int>(id)].kind; }

const char* name_of(OpId id) {
  return static_cast<int>(id) < kOpCount ? kOps[static_cast<int>(id)].name : "unknown op";
}

Shape shape_after(const Op& op, Shape in) {
  if (static_cast<int>(op.id) >= kOpCount) bad(op, "id " + std::to_string(static_cast<int>(op.id)));
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
      if ((op.flags & kFilterMask) < 1 || (op.flags & kFilterMask) > 5)
        bad(op, "unknown filter " + std::to_string(op.flags));
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::NEAREST:
      if (op.flags > static_cast<uint16_t>(NearestRule::kTorchExact))
        bad(op, "unknown rule " + std::to_string(op.flags));
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::HFLIP:
    case OpId::VFLIP:
      return in;
    case OpId::ROT90:
      if (op.flags < 1 || op.flags > 3) bad(op, "turns must be 1, 2 or 3, got " + std::to_string(op.flags));
      return op.flags == 2 ? in : Shape{in.width, in.height, in.channels};
    case OpId::AFFINE:
      if (op.flags != 0 && op.flags != 2 && op.flags != 3) bad(op, "unknown interpolation " + std::to_string(op.flags));
      need_finite(op, 6);
      return sized(op, op.i[0], op.i[1], in.channels);
    case OpId::BRIGHTNESS:
    case OpId::CONTRAST:
      need_finite(op, 1);
      if (op.flags & kHasAlpha) need_channels(op, in, {2, 4});
      return in;
    case OpId::SATURATION:
      need_finite(op, 1);
      need_channels(op, in, {3, 4});
      return in;
    case OpId::HUE:
      if (op.i[0] < 0 || op.i[0] > 255) bad(op, "shift must be 0..255, got " + std::to_string(op.i[0]));
      need_channels(op, in, {3, 4});
      return in;
    case OpId::LUMA:
      need_channels(op, in, {3, 4});
      return {in.height, in.width, 1};
    case OpId::REPLICATE:
      need_channels(op, in, {1});
      if (op.i[0] < 1 || op.i[0] > kMaxChannels) bad(op, "channels must be 1..4, got " + std::to_string(op.i[0]));
      return {in.height, in.width, op.i[0]};
    case OpId::PREMULTIPLY:
    case OpId::UNPREMULTIPLY:
      need_channels(op, in, {2, 4});
      return in;
    case OpId::TO_FLOAT:
      return in;
    case OpId::NORMALIZE:
      need_finite(op, 4);
      for (int c = 0; c < in.channels; ++c) {
        if (static_cast<float>(op.f[4 + c]) == 0.0f) {
          bad(op, "std of channel " + std::to_string(c) + " is zero, which would divide by zero");
        }
      }
      return in;
  }
  return in;
}

Shape validate(Program program, Shape in) {
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
    const bool last = k + 1 == program.size();
    if (op.id == OpId::TO_FLOAT && !last && program[k + 1].id != OpId::NORMALIZE) bad(op, "must end the program");
    if (op.id == OpId::NORMALIZE && (!last || k == 0 || program[k - 1].id != OpId::TO_FLOAT)) {
      bad(op, "must follow TO_FLOAT at the end of the program");
    }
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
      used += std::snprintf(line + used, sizeof line - static_cast<size_t>(used), format, values...);
    };
    switch (op.id) {
      case OpId::WINDOW:
        add(" top=%d left=%d %dx%d", op.i[0], op.i[1], op.i[2], op.i[3]);
        break;
      case OpId::PAD: {
        static const char* const kModes[] = {"edge", "reflect", "symmetric"};
        add(" left=%d top=%d right=%d bottom=%d %s", op.i[0], op.i[1], op.i[2], op.i[3], kModes[op.flags % 3]);
        break;
      }
      case OpId::RESIZE:
        add(" %dx%d %s", op.i[0], op.i[1], filter_name(op.flags & kFilterMask));
        break;
      case OpId::NEAREST: {
        static const char* const kRules[] = {"pillow", "torch", "torch-exact"};
        add(" %dx%d %s", op.i[0], op.i[1], kRules[op.flags % 3]);
        break;
      }
      case OpId::ROT90:
        add(" %d", 90 * op.flags);
        break;
      case OpId::AFFINE:
        add(" %dx%d %s [%.6g %.6g %.6g; %.6g %.6g %.6g]", op.i[0], op.i[1], filter_name(op.flags), op.f[0], op.f[1],
            op.f[2], op.f[3], op.f[4], op.f[5]);
        break;
      case OpId::BRIGHTNESS:
      case OpId::CONTRAST:
      case OpId::SATURATION:
        add(" %.6g", op.f[0]);
        break;
      case OpId::HUE:
      case OpId::REPLICATE:
        add(" %d", op.i[0]);
        break;
      case OpId::NORMALIZE:
        add(" mean=[%.6g %.6g %.6g] std=[%.6g %.6g %.6g]", op.f[0], op.f[1], op.f[2], op.f[4], op.f[5], op.f[6]);
        break;
      default:
        break;
    }
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace fastaug
