// A torch that rounds as the core does, for tests of drafts.
#pragma once

#include <cmath>

#include "draft/draft.h"

namespace fastaug {

class AsCore final : public Torch {
 public:
  double exp(float power) const override { return std::exp(power); }
  std::optional<Op> blur(const Kernel&, Shape, int64_t, bool) const override { return std::nullopt; }
  Coefficients perspective(const Corners& starts, const Corners& ends) const override {
    return sure_perspective(starts, ends).value_or(Coefficients{});
  }
  PlaneSize size_around(const AffineMatrix&, PlaneSize image, bool) const override { return image; }
  bool follows(Rounding) const override { return true; }
  bool fuses_products() const override { return false; }
  int64_t chosen(int64_t, const std::vector<double>&) const override { return 0; }
  std::vector<int64_t> shuffled(int64_t count) const override { return std::vector<int64_t>(size_t(count)); }
  void check_signals() const override {}
  bool width_first() const override { return false; }
  bool is_single() const override { return true; }
};

}  // namespace fastaug
