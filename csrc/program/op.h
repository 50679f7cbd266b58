// One op of a program as plain data, and what follows from it alone. Everything here compiles for devices too, also
// where there is no standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/device.h"
#include "base/image.h"
#include "program/traits.h"

namespace fastaug {

// Pillow's Resampling numbers; and, kShortWeights more, the same filters with the weights that torch has for uint8.
enum class Filter : uint16_t {
  kLanczos = 1,
  kBilinear = 2,
  kBicubic = 3,
  kBox = 4,
  kHamming = 5,
  kShortLanczos = 9,
  kShortBilinear = 10,
  kShortBicubic = 11,
};
constexpr int kShortWeights = 8;
FASTAUG_HOST_DEVICE constexpr bool has_short_weights(int filter) { return (filter & kShortWeights) != 0; }
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
// BLUR: the arithmetic that torch has for small images of one channel.
constexpr uint16_t kUnfused = 2;
// HED: stains below zero stay what they are.
constexpr uint16_t kUnclipped = 1;
// STAINS: densities and rounding of AlbumentationsX; pixels without tissue stay as they are; densities are those of
// samples one brighter, torchstain's.
constexpr uint16_t kRoundsStains = 1;
constexpr uint16_t kKeepsBackground = 2;
constexpr uint16_t kNextDensities = 4;
// The largest operands of HED and STAINS, so that nothing overflows in float32.
constexpr double kMostStain = 1e6;
constexpr int kBlurWeights = 16;
// Radii and passes that BOX_BLUR takes at most, so that nothing that is counted in samples overflows.
constexpr int kMaxBoxRadius = 1 << 20;
constexpr int kMaxBoxPasses = 16;
// Rows or columns of an image that JPEG takes at most (JPEG_MAX_DIMENSION of libjpeg), and those of a block.
constexpr int kMaxJpegSide = 65500;
constexpr int kJpegSide = 8;
// TORCH_AFFINE and TORCH_PERSPECTIVE: fill shows where the image ends; and torch's matrix product fuses, as it does on
// some processors.
constexpr uint16_t kFilled = 0x800;
constexpr uint16_t kFused = 0x1000;
// The fill is not bytes but float32 numbers, in the place of i[2..5].
constexpr uint16_t kFloatFill = 0x2000;
// With kFilled: blended with as torchvision.transforms.v2 does, which shows in bilinear samples.
constexpr uint16_t kV2Fill = 0x4000;
// What shows where the image of such a warp ends: zeros, or a fill, blended with in one way or the other.
enum class Filling : uint8_t { kNone, kTorch, kV2 };
// The first is true if a warp samples as torch's grid_sample does, the second if its map has a denominator.
FASTAUG_HOST_DEVICE constexpr bool samples_grid(OpId id) {
  return id == OpId::TORCH_AFFINE || id == OpId::TORCH_PERSPECTIVE;
}
FASTAUG_HOST_DEVICE constexpr bool is_perspective(OpId id) {
  return id == OpId::PERSPECTIVE || id == OpId::TORCH_PERSPECTIVE;
}

// True if a filter blends with the 3x3 mean of pixel/smooth.h.
FASTAUG_HOST_DEVICE constexpr bool sharpens(OpId id) {
  return id == OpId::SHARPNESS || id == OpId::TORCH_SHARPNESS || id == OpId::V2_SHARPNESS;
}

// True if a reduction blends with torch's mean of gray (pixel/statistics.h), whose order of additions matters.
FASTAUG_HOST_DEVICE constexpr bool takes_torch_mean(OpId id) {
  return id == OpId::TORCH_CONTRAST || id == OpId::V2_CONTRAST;
}

// True if an op turns bytes into floats: the first of the store.
FASTAUG_HOST_DEVICE constexpr bool begins_store(OpId id) {
  return id == OpId::TO_FLOAT || id == OpId::V2_TO_FLOAT || id == OpId::SCALE;
}

// True if it multiplies, by `unit_of`, and does not divide by 255.
FASTAUG_HOST_DEVICE constexpr bool multiplies(OpId id) { return id != OpId::TO_FLOAT; }

// One op. 96 bytes, little-endian, packed in Python by struct format "<HH4B6i8d".
struct Op {
  OpId id;
  uint16_t flags;
  uint8_t fill[kMaxChannels];
  int32_t i[6];
  double f[8];

  bool operator==(const Op&) const = default;
};
static_assert(sizeof(Op) == 96);
#ifndef __CUDACC_RTC__  // whose offsetof is no constant
static_assert(offsetof(Op, i) == 8 && offsetof(Op, f) == 32);
#endif

FASTAUG_HOST_DEVICE inline float unit_of(const Op& op) {
  return op.id == OpId::SCALE ? static_cast<float>(op.f[0]) : 1.0f / 255.0f;
}

FASTAUG_HOST_DEVICE constexpr Filling filling_of(const Op& op) {
  if ((op.flags & kFilled) == 0) return Filling::kNone;
  return (op.flags & kV2Fill) != 0 ? Filling::kV2 : Filling::kTorch;
}

// The fill of a warp that samples a grid.
FASTAUG_HOST_DEVICE inline float fill_of(const Op& op, int channel) {
  if ((op.flags & kFloatFill) == 0) return static_cast<float>(op.fill[channel]);
  float number;
  memcpy(&number, &op.i[2 + channel], sizeof(number));
  return number;
}

// Number k of the twelve of STAINS, in the order of its row in ops.def; the last four have the upper 48 bits of a
// double.
FASTAUG_HOST_DEVICE inline double stain_number(const Op& op, int k) {
  if (k < 8) return op.f[k];
  const int half = 3 * (k - 8);
  const uint64_t low = static_cast<uint32_t>(op.i[half / 2]), high = static_cast<uint32_t>(op.i[half / 2 + 1]);
  const uint64_t bits = half % 2 == 0 ? low << 16 | high << 48 : (low >> 16) << 16 | high << 32;
  double number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

constexpr int kMaxOps = 64;

// Throws Error for an op that a function has no case for: "plain_table: op HUE is none of those that it knows".
[[noreturn]] void fail_on(const char* function, OpId id);
// The same in functions that devices have too. There it does nothing: the host has validated the program.
FASTAUG_HOST_DEVICE inline void fail_on_host([[maybe_unused]] const char* function, [[maybe_unused]] OpId id) {
#ifndef __CUDA_ARCH__
  fail_on(function, id);
#endif
}

// Size and channel count at one point of a program.
struct Shape {
  int height = 0;
  int width = 0;
  int channels = 0;

  bool operator==(const Shape&) const = default;
};

// How many channels an op, by that column of its row, makes of `channels`.
FASTAUG_HOST_DEVICE inline int channels_after(Channels rule, const Op& op, int channels) {
  switch (rule) {
    case Channels::kAny:
    case Channels::kColour:
    case Channels::kOpaque:
    case Channels::kAlpha:
    case Channels::kPermuted:
    case Channels::kGrayOrRgb:
      return channels;
    case Channels::kToGray:
      return 1;
    case Channels::kFromGray:
      return op.i[0];
  }
  return channels;
}

inline int channels_after(const Op& op, int channels) { return channels_after(info_of(op.id).channels, op, channels); }

// The channels, from the first on, that an op of kAlphaFlag changes.
FASTAUG_HOST_DEVICE inline int colours_of(const Op& op, int channels) {
  return channels - ((op.flags & kHasAlpha) != 0 ? 1 : 0);
}

}  // namespace fastaug
