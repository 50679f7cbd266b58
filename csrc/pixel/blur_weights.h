// The weights of a blur's kernel, made on the host.
#pragma once

#include <span>
#include <vector>

#include "pixel/blur.h"
#include "program/op.h"

namespace fastaug {

// The weights of a kernel, which own what a BlurKernel points at.
class BlurWeights {
 public:
  // Any two kernels of odd size.
  BlurWeights(std::span<const float> down, std::span<const float> across, bool fused = true);
  // The operands of BLUR.
  explicit BlurWeights(const Op& op);

  BlurKernel kernel() const;

 private:
  void finish();

  std::vector<float> down_;
  std::vector<float> across_;
  std::vector<float> matrix_;
  bool fused_;
  int skip_rows_ = 0;
  int skip_columns_ = 0;
  float error_ = 0.0f;
};

}  // namespace fastaug
