// Random programs over every op of the registry, on small images: the input of the tests that compare executors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "program/program.h"

namespace fastaug::test {

// `Bits` is a generator as those of <random>.
template <class Bits>
class BasicRandomProgram {
 public:
  // Images and what ops make of them have sides up to `most`, but for paddings.
  explicit BasicRandomProgram(Bits bits, int most = 70) : most_(most), rng_(bits) {}

  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  bool chance(double p) { return real(0, 1) < p; }

  // Operands that fit `in`; false when the op does not take such an image.
  bool fill_in(Op& op, Shape in) {
    // Gray, and black above all, are as likely as any colour, so that two ops may have the same.
    const int gray = chance(0.5) ? 0 : integer(0, 255);
    const bool colourful = chance(0.5);
    for (uint8_t& value : op.fill) value = static_cast<uint8_t>(colourful ? integer(0, 255) : gray);
    const bool alpha = in.channels == 2 || in.channels == 4;
    switch (op.id) {
      case OpId::WINDOW:
        op.i[2] = side();
        op.i[3] = side();
        op.i[0] = integer(-op.i[2], in.height);
        op.i[1] = integer(-op.i[3], in.width);
        if (chance(0.6) && op.i[2] <= in.height && op.i[3] <= in.width) {
          op.i[0] = integer(0, in.height - op.i[2]);
          op.i[1] = integer(0, in.width - op.i[3]);
        }
        return true;
      case OpId::PAD:
        op.flags = static_cast<uint16_t>(integer(0, 2));
        for (int k = 0; k < 4; ++k) op.i[k] = chance(0.3) ? 0 : integer(0, 20);
        return in.height < most_ && in.width < most_;
      case OpId::RESIZE:
        op.flags = static_cast<uint16_t>(integer(1, 5) | (chance(0.3) ? kWidthFirst : 0));
        op.i[0] = chance(0.2) ? in.height : side();
        op.i[1] = chance(0.2) ? in.width : side();
        return true;
      case OpId::NEAREST:
        op.flags = static_cast<uint16_t>(integer(0, 2));
        op.i[0] = side();
        op.i[1] = side();
        return true;
      case OpId::ROT90:
        op.flags = static_cast<uint16_t>(integer(1, 3));
        return true;
      case OpId::AFFINE:
      case OpId::TORCH_AFFINE: {
        static constexpr uint16_t kModes[] = {0, 2, 3};
        const bool torch = op.id == OpId::TORCH_AFFINE;
        op.flags = kModes[integer(0, torch ? 1 : 2)];
        if (torch && chance(0.5)) op.flags |= kFilled;
        op.i[0] = side();
        op.i[1] = side();
        const double angle = chance(0.2) ? 0.0 : real(-3.2, 3.2);
        const double scale = chance(0.3) ? 1.0 : real(0.3, 2.5);
        const double matrix[] = {std::cos(angle) * scale,  std::sin(angle) * scale, real(-20, in.width),
                                 -std::sin(angle) * scale, std::cos(angle) * scale, real(-20, in.height)};
        std::copy_n(matrix, 6, op.f);
        if (chance(0.2)) op.f[2] = op.f[5] = 0.0;
        if (chance(0.2)) {  // by whole pixels
          const double moved[] = {1.0, 0.0, std::rint(op.f[2]), 0.0, 1.0, std::rint(op.f[5])};
          std::copy_n(moved, 6, op.f);
        }
        return true;
      }
      case OpId::PERSPECTIVE: {
        static constexpr uint16_t kModes[] = {0, 2, 3};
        op.flags = kModes[integer(0, 2)];
        op.i[0] = side();
        op.i[1] = side();
        const double tilt = chance(0.3) ? 0.0 : real(0, 2);
        const double coefficients[] = {real(0.3, 2),
                                       real(-0.8, 0.8),
                                       real(-in.width, in.width),
                                       real(-0.8, 0.8),
                                       real(0.3, 2),
                                       real(-in.height, in.height),
                                       real(-tilt, tilt) / op.i[1],
                                       real(-tilt, tilt) / op.i[0]};
        std::copy_n(coefficients, 8, op.f);
        return true;
      }
      case OpId::BLUR:
        return fill_in_blur(op, in);
      case OpId::BRIGHTNESS:
      case OpId::CONTRAST:
      case OpId::SHARPNESS:
      case OpId::TORCH_CONTRAST:
      case OpId::TORCH_SHARPNESS:
        op.f[0] = factor();
        op.flags = alpha ? kHasAlpha : 0;
        return true;
      case OpId::SATURATION:
      case OpId::TORCH_SATURATION:
        op.f[0] = factor();
        return in.channels >= 3;
      case OpId::POSTERIZE:
        op.i[0] = integer(1, 8);
        return true;
      case OpId::SOLARIZE:
        op.f[0] = chance(0.2) ? integer(-1, 1) * 256.0 : chance(0.5) ? integer(1, 3) * 64.0 : real(0, 256);
        return true;
      case OpId::GAMMA:
        op.f[0] = chance(0.3) ? integer(0, 1) : real(0, 4);
        op.f[1] = chance(0.3) ? integer(-1, 1) : real(0, 2);
        return true;
      case OpId::INVERT:
      case OpId::AUTOCONTRAST:
      case OpId::TORCH_AUTOCONTRAST:
      case OpId::EQUALIZE:
        return true;
      case OpId::HUE:
        op.i[0] = integer(0, 255);
        op.f[0] = op.i[0] / 255.0;
        return in.channels >= 3;
      case OpId::LUMA:
        return in.channels >= 3;
      case OpId::REPLICATE:
        op.i[0] = integer(1, 4);
        return in.channels == 1;
      case OpId::PREMULTIPLY:
      case OpId::UNPREMULTIPLY:
        return alpha;
      case OpId::HFLIP:
      case OpId::VFLIP:
        return true;
      case OpId::TO_FLOAT:
      case OpId::NORMALIZE:
      case OpId::ERASE:
        return false;  // appended by store()
    }
    return false;
  }

  // `moves`: only ops that move pixels.
  std::vector<Op> operator()(Shape in, int length, bool moves = false) {
    std::vector<Op> ops;
    while (static_cast<int>(ops.size()) < length) {
      Op op{};
      op.id = static_cast<OpId>(integer(0, kOpCount - 1));
      if (moves && !has(op.id, Trait::kMove)) continue;
      if (!fill_in(op, in)) continue;
      in = shape_after(op, in);
      ops.push_back(op);
    }
    if (!moves && chance(0.4)) store(in, &ops);
    return ops;
  }

  // Mostly of the ops `likely`.
  std::vector<Op> operator()(Shape in, int length, std::span<const OpId> likely) {
    std::vector<Op> ops;
    while (static_cast<int>(ops.size()) < length) {
      Op op{};
      op.id = static_cast<OpId>(integer(0, kOpCount - 1));
      if (chance(0.8)) op.id = likely[static_cast<size_t>(integer(0, static_cast<int>(likely.size()) - 1))];
      if (!fill_in(op, in)) continue;
      in = shape_after(op, in);
      ops.push_back(op);
    }
    if (chance(0.2)) store(in, &ops);
    return ops;
  }

  // Appends TO_FLOAT, perhaps NORMALIZE, perhaps ERASEs.
  void store(Shape in, std::vector<Op>* ops) {
    Op op{};
    op.id = OpId::TO_FLOAT;
    ops->push_back(op);
    if (chance(0.6)) {
      op.id = OpId::NORMALIZE;
      for (int c = 0; c < kMaxChannels; ++c) {
        op.f[c] = real(-1, 1);
        op.f[4 + c] = real(0.05, 2);
      }
      ops->push_back(op);
    }
    while (chance(0.2)) {
      op = {};
      op.id = OpId::ERASE;
      op.i[2] = integer(1, in.height);
      op.i[3] = integer(1, in.width);
      op.i[0] = integer(0, in.height - op.i[2]);
      op.i[1] = integer(0, in.width - op.i[3]);
      for (int c = 0; c < kMaxChannels; ++c) op.f[c] = real(-2, 2);
      ops->push_back(op);
    }
  }

  std::vector<uint8_t> pixels(size_t count) {
    // Flat, noisy or saturated: ties and clipping are where arithmetic goes wrong.
    const int kind = integer(0, 3);
    std::vector<uint8_t> result(count);
    for (uint8_t& value : result) {
      value = static_cast<uint8_t>(kind == 0 ? 128 : kind == 1 ? (chance(0.5) ? 0 : 255) : integer(0, 255));
    }
    return result;
  }

  int side() { return chance(0.1) ? 1 : integer(1, most_); }

 private:
  double factor() {
    static constexpr double kSpecial[] = {0.0, 1.0, 0.5, 2.0, -0.5};
    return chance(0.3) ? kSpecial[integer(0, 4)] : real(0.0, 3.0);
  }

  // A kernel of positive weights whose sum is one; false when its borders do not fit the image.
  bool fill_in_blur(Op& op, Shape in) {
    const int half_width = integer(0, chance(0.7) ? 3 : 15);
    const int half_height = chance(0.5) ? half_width : integer(0, 3);
    const bool square = half_width == half_height && chance(0.8);
    if (half_width >= in.width || half_height >= in.height) return false;
    if (!square && half_width + half_height + 2 > 16) return false;
    op.flags = static_cast<uint16_t>((square ? kSquare : 0) | (chance(0.3) ? kUnfused : 0));
    op.i[0] = 2 * half_width + 1;
    op.i[1] = 2 * half_height + 1;
    float weights[16] = {};
    float* next = weights;
    for (const int half : {half_width, half_height}) {
      float sum = 0;
      for (int k = 0; k <= half; ++k) {
        next[k] = static_cast<float>(real(0, 1));
        sum += k < half ? 2 * next[k] : next[k];
      }
      for (int k = 0; k <= half; ++k) *next++ /= sum;
      if (square) break;
    }
    std::memcpy(op.f, weights, sizeof weights);
    return true;
  }

  int most_;
  Bits rng_;
};

class RandomProgram : public BasicRandomProgram<std::mt19937_64> {
 public:
  explicit RandomProgram(uint64_t seed, int most = 70) : BasicRandomProgram(std::mt19937_64(seed), most) {}
};

}  // namespace fastaug::test
