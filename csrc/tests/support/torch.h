// A torch that rounds as the core does, for tests of drafts.
#pragma once

#include <cmath>

#include "draft/draft.h"

namespace fastaug {

class AsCore final : public Torch {
 public:
  double exp(float power) const override { return std::exp(power); }
  std::optional<Op> blur(int, int, double, Shape) const override { return std::nullopt; }
  void perspective(PlaneSize, const int64_t (&)[4][2], double (&)[8]) const override {}
  bool follows(Rounding) const override { return true; }
  bool is_single() const override { return true; }
};

}  // namespace fastaug
