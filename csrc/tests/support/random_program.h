// Random programs over every op of the registry, on small images: the input of the tests that compare executors.
// Operands are rows of the table that pytest's generator writes (tables.h), so that the two never differ in what they
// try.
#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "base/status.h"
#include "program/program.h"
#include "tests/support/tables.h"

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

  // Operands that fit `in`, of the table; false when none that were looked at do. Half of the windows and more show no
  // pixel outside the image, and many a size stays what it is.
  bool fill_in(Op& op, Shape in) {
    const std::span<const Op> rows = operands_of(op.id);
    const int count = static_cast<int>(rows.size());
    const bool inside = chance(0.6);
    const bool same_height = chance(0.2);
    const bool same_width = chance(0.2);
    const Op* found = nullptr;
    for (int tries = std::min(kTries, 2 * count); tries > 0; --tries) {
      const Op& row = rows[static_cast<size_t>(integer(0, count - 1))];
      const std::optional<Shape> out = shape_made(row, in);
      if (!out) continue;
      found = &row;
      const bool liked = row.id == OpId::WINDOW
                             ? !inside || is_window_inside(row, in)
                             : (!same_height || out->height == in.height) && (!same_width || out->width == in.width);
      if (liked) break;
    }
    if (found == nullptr) return false;
    op = *found;
    return true;
  }

  // `moves`: only ops that move pixels.
  std::vector<Op> operator()(Shape in, int length, bool moves = false) {
    std::vector<Op> ops;
    while (static_cast<int>(ops.size()) < length) {
      Op op{};
      op.id = static_cast<OpId>(integer(0, kOpCount - 1));
      if (moves && !has(op.id, Trait::kMove)) continue;
      if (kind_of(op.id) == OpKind::kStore || !fill_in(op, in)) continue;
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
      if (kind_of(op.id) == OpKind::kStore || !fill_in(op, in)) continue;
      in = shape_after(op, in);
      ops.push_back(op);
    }
    if (chance(0.2)) store(in, &ops);
    return ops;
  }

  // Appends TO_FLOAT, V2_TO_FLOAT or SCALE, perhaps NORMALIZE, perhaps ERASEs.
  void store(Shape in, std::vector<Op>* ops) {
    const auto append = [&](OpId id) {
      Op op{};
      op.id = id;
      if (fill_in(op, in)) ops->push_back(op);
    };
    append(chance(0.4) ? OpId::TO_FLOAT : chance(0.5) ? OpId::V2_TO_FLOAT : OpId::SCALE);
    if (chance(0.6)) append(OpId::NORMALIZE);
    while (chance(0.2)) append(OpId::ERASE);
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

  int side() {
    if (chance(0.1)) return 1;
    const std::span<const int> usual = usual_sides();
    const int side = usual[static_cast<size_t>(integer(0, static_cast<int>(usual.size()) - 1))];
    return chance(0.3) && side <= most_ ? side : integer(1, most_);
  }

 private:
  // Rows that are looked at before an op is given up for an image.
  static constexpr int kTries = 24;
  // What a padding may add to an image of the largest sides.
  static constexpr int kPadded = 40;

  // What an op makes of an image; nothing where it does not fit it, or would make too large a one.
  std::optional<Shape> shape_made(const Op& op, Shape in) const {
    const bool pads = op.id == OpId::PAD;
    if (pads && (in.height >= most_ || in.width >= most_)) return {};
    try {
      const Shape out = shape_after(op, in);
      const bool kept = std::minmax(out.height, out.width) == std::minmax(in.height, in.width);
      const int most = most_ + (pads ? kPadded : 0);
      if (kept || (out.height <= most && out.width <= most)) return out;
    } catch (const Error&) {
      // It was drawn for another image.
    }
    return {};
  }

  int most_;
  Bits rng_;
};

class RandomProgram : public BasicRandomProgram<std::mt19937_64> {
 public:
  explicit RandomProgram(uint64_t seed, int most = 70) : BasicRandomProgram(std::mt19937_64(seed), most) {}
};

}  // namespace fastaug::test
