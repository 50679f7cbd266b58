#include "pixel/blur_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fastaug {
namespace {

// The whole kernel from its first half and its centre.
std::vector<float> mirrored(const float* half, int size) {
  std::vector<float> all(static_cast<size_t>(size));
  for (int k = 0; k < size; ++k) all[static_cast<size_t>(k)] = half[std::min(k, size - 1 - k)];
  return all;
}

// A bound of the distance between computed partial sums, none of which is negative, and the exact ones. Rounding a sum
// to nearest moves it by at most half a unit in its last place, and by no more than the term that was added, for the
// sum before it is a float too.
class Chain {
 public:
  void add(double term) {
    if (term == 0.0) return;
    sum_ += term;
    const double most = sum_ + error_;
    const double half_unit = std::ldexp(1.0, std::max(std::ilogb(most) - 24, -150));
    error_ += std::min(half_unit, term);
  }
  double sum() const { return sum_; }
  double error() const { return error_; }

 private:
  double sum_ = 0.0;
  double error_ = 0.0;
};

// Weights at an end of the kernel that are worth skipping in two passes: all together less than this part of 1.
constexpr double kNegligible = 0x1p-22;

int negligible(const std::vector<float>& weights) {
  double sum = 0.0;
  const size_t half = weights.size() / 2;
  for (size_t k = 0; k < half; ++k) {
    sum += std::max(weights[k], weights[weights.size() - 1 - k]);
    if (sum >= kNegligible) return static_cast<int>(k);
  }
  return static_cast<int>(half);
}

}  // namespace

BlurWeights::BlurWeights(std::span<const float> down, std::span<const float> across, bool fused)
    : down_(down.begin(), down.end()), across_(across.begin(), across.end()), fused_(fused) {
  finish();
}

BlurWeights::BlurWeights(const Op& op) : fused_((op.flags & kUnfused) == 0) {
  float taps[2 * sizeof(op.f) / sizeof(*op.f)];
  std::memcpy(taps, op.f, sizeof(op.f));
  across_ = mirrored(taps, op.i[0]);
  down_ = mirrored((op.flags & kSquare) != 0 ? taps : taps + op.i[0] / 2 + 1, op.i[1]);
  finish();
}

// The most that the chain and the two passes differ by, on samples of 0 to 255. Both are compared with the exact value
// of the sum of down[i] * across[j] * sample; w is 255 times a weight.
//   chain: its weights are products rounded to float32, each off by half a unit or, below the normal numbers, by
//   2^-150;
//          then Chain's bound over its terms, in their order.
//   passes: the terms that are skipped; Chain's bound over the terms of the first pass, which the second one scales by
//          the sum of its weights; Chain's bound over the terms of the second; and where multiply-adds are not fused,
//          what rounding the terms does.
// Chain's bound grows with its terms, and the terms of any samples are at most those of samples of 255. With a negative
// weight none of this holds, and there is no bound.
void BlurWeights::finish() {
  matrix_.clear();
  matrix_.reserve(down_.size() * across_.size());
  for (float d : down_)
    for (float a : across_) matrix_.push_back(d * a);

  const auto negative = [](float weight) { return weight < 0.0f; };
  if (std::any_of(down_.begin(), down_.end(), negative) || std::any_of(across_.begin(), across_.end(), negative)) {
    error_ = std::numeric_limits<float>::infinity();
    return;
  }

  constexpr double kMost = 255.0;
  skip_rows_ = negligible(down_);
  skip_columns_ = negligible(across_);
  Chain chain;
  double rounded = 0.0;
  const auto round = [&](double term) {
    rounded += term * 0x1p-24 + 0x1p-142;
    return term;
  };
  for (float w : matrix_) chain.add(round(round(kMost * w)));
  double exact = 0.0;
  for (float d : down_)
    for (float a : across_) exact += kMost * d * a;
  Chain first;
  Chain second;
  double scale = 0.0;
  for (size_t i = static_cast<size_t>(skip_rows_); i + skip_rows_ < down_.size(); ++i)
    first.add(round(kMost * down_[i]));
  const double column = first.sum() + first.error() + rounded;
  for (size_t j = static_cast<size_t>(skip_columns_); j + skip_columns_ < across_.size(); ++j) {
    second.add(round(column * across_[j]));
    scale += across_[j];
  }
  const double skipped = std::max(exact - first.sum() * scale, 0.0);
  // The bound itself is computed in double, a little too small at worst.
  const double bound = (chain.error() + rounded + skipped + first.error() * scale + second.error()) * 1.001 + 1e-9;
  error_ = std::nextafter(static_cast<float>(bound), std::numeric_limits<float>::infinity());
}

BlurKernel BlurWeights::kernel() const {
  return {static_cast<int>(down_.size()),
          static_cast<int>(across_.size()),
          matrix_.data(),
          down_.data(),
          across_.data(),
          skip_rows_,
          skip_columns_,
          error_,
          fused_};
}

}  // namespace fastaug
