// A torch that rounds as the core does, for tests of drafts.
#pragma once

#include <cmath>

#include "draft/draft.h"

namespace fastaug {

class AsCore final : public Torch {
 public:
  double exp(float power) const override { return std::exp(power); }
  std::optional<Op> blur(const Kernel&, Shape, int64_t, bool) const override { return std::nullopt; }
  void perspective(PlaneSize, const int64_t (&)[4][2], double (&)[8]) const override {}
  PlaneSize size_around(const AffineMatrix&, PlaneSize image, bool) const override { return image; }
  bool follows(Rounding) const override { return true; }
  bool fuses_products() const override { return false; }
  bool width_first() const override { return false; }
  bool is_single() const override { return true; }
};

}  // namespace fastaug
