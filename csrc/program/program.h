// A program: a short list of plain-data ops with every random parameter already drawn. It is what Python writes, what
// the executors read, what pickles and what a GPU gets. See docs/notes/program-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/image.h"

namespace fastaug {

enum class OpId : uint16_t {
#define FASTAUG_OP(name, kind) name,
#include "program/ops.def"
#undef FASTAUG_OP
};

enum class OpKind : uint8_t { kGeometry, kPointwise, kReduction, kStore, kFilter };

// Pillow's Resampling numbers.
enum class Filter : uint16_t { kLanczos = 1, kBilinear = 2, kBicubic = 3, kBox = 4, kHamming = 5 };
enum class Interpolation : uint16_t { kNearest = 0, kBilinear = 2, kBicubic = 3 };
enum class PadMode : uint16_t { kEdge = 0, kReflect = 1, kSymmetric = 2 };
// How an output index becomes a source index: Pillow accumulates a float64 position; torch multiplies a float32 scale
// ("nearest"), or does so at pixel centres ("nearest-exact").
enum class NearestRule : uint16_t { kPillow = 0, kTorch = 1, kTorchExact = 2 };

constexpr uint16_t kFilterMask = 0xff;
constexpr uint16_t kWidthFirst = 0x100;
constexpr uint16_t kHasAlpha = 1;
// BLUR: both kernels are the same.
constexpr uint16_t kSquare = 1;
// BLUR: the arithmetic that torch has for small images of one channel (blur_is_fused in pixel/blur.h).
constexpr uint16_t kUnfused = 2;
constexpr int kBlurWeights = 16;
// The arithmetic that torchvision has for uint8 tensors, where AugMix needs it: float32, and other roundings.
constexpr uint16_t kTorch = 0x400;
// AFFINE under kTorch: fill shows where the image ends; and torch's matrix product fuses, as it does on some
// processors.
constexpr uint16_t kFilled = 0x800;
constexpr uint16_t kFused = 0x1000;

// One op. 96 bytes, little-endian, packed in Python by struct format "<HH4B6i8d".
struct Op {
  OpId id;
  uint16_t flags;
  uint8_t fill[kMaxChannels];
  int32_t i[6];
  double f[8];

  bool operator==(const Op&) const = default;
};
static_assert(sizeof(Op) == 96 && offsetof(Op, i) == 8 && offsetof(Op, f) == 32);

constexpr int kMaxOps = 64;
constexpr int kOpCount = 0
#define FASTAUG_OP(name, kind) +1
#include "program/ops.def"
#undef FASTAUG_OP
    ;

OpKind kind_of(OpId id);
const char* name_of(OpId id);

// Size and channel count at one point of a program.
struct Shape {
  int height = 0;
  int width = 0;
  int channels = 0;

  bool operator==(const Shape&) const = default;
};

inline Region whole(Shape shape) { return {0, 0, shape.height, shape.width}; }

using Program = std::span<const Op>;

inline bool is_flip(OpId id) { return id == OpId::HFLIP || id == OpId::VFLIP; }

inline bool is_warp(OpId id) { return id == OpId::AFFINE || id == OpId::PERSPECTIVE; }

inline bool has_torch_flavour(OpId id) {
  return id == OpId::AFFINE || id == OpId::CONTRAST || id == OpId::SATURATION || id == OpId::SHARPNESS ||
         id == OpId::AUTOCONTRAST;
}

// Ops that look each sample up in a table of their own, one per channel where they are reductions.
inline bool is_table(OpId id) {
  return id == OpId::INVERT || id == OpId::POSTERIZE || id == OpId::SOLARIZE || id == OpId::GAMMA ||
         id == OpId::AUTOCONTRAST || id == OpId::EQUALIZE;
}

// Ops that Kernels::pointwise_float and pointwise_store do. Those that jump from one sample to the next, SOLARIZE and
// POSTERIZE, would jump elsewhere before rounding, and what a table does costs no less in float32.
inline bool is_float_op(const Op& op) {
  switch (op.id) {
    case OpId::BRIGHTNESS:
    case OpId::CONTRAST:
    case OpId::SATURATION:
    case OpId::HUE:
    case OpId::LUMA:
    case OpId::REPLICATE:
      return (op.flags & kTorch) == 0;
    default:
      return false;
  }
}

// Why an op needs its whole input in memory before it can do a part of its output; kRowOrder is no op's own: it asks
// for rows in an order in which a filter before it does not give them.
enum class WholeInput : uint8_t { kNo, kAnyOrder, kTurn, kMean, kExtremes, kHistogram, kRowOrder };
WholeInput whole_input_of(OpId id);

// A WINDOW that shows only pixels of its image.
inline bool is_window_inside(const Op& op, Shape in) {
  return op.id == OpId::WINDOW && op.i[0] >= 0 && op.i[1] >= 0 && op.i[0] + op.i[2] <= in.height &&
         op.i[1] + op.i[3] <= in.width;
}

// The shape after `op` on an image of shape `in`. Throws Error when the operands make no sense for it.
Shape shape_after(const Op& op, Shape in);

// Checks every op against the shape that reaches it; returns the final shape. Throws Error.
Shape validate(Program program, Shape in);

// One line per op: "RESIZE 224x224 bilinear".
std::string to_string(Program program);

}  // namespace fastaug
