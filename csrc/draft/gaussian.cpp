#include "draft/gaussian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "pixel/fma.h"

namespace fastaug {
namespace {

using Vector = std::array<float, 16>;

// The sum of a row as torch.sum makes it: four vectors at a time, or single numbers where there are too few for one.
float sum_of(std::span<const float> row, int lanes) {
  const int count = static_cast<int>(row.size());
  const int width = count < lanes ? 1 : lanes, vectors = count / width, quads = vectors / 4 * 4;
  std::array<Vector, 4> sums{};
  for (int k = 0; k < vectors; ++k) {
    Vector& sum = sums[static_cast<size_t>(k < quads ? k % 4 : 0)];
    for (int i = 0; i < width; ++i) sum[static_cast<size_t>(i)] += row[static_cast<size_t>(k * width + i)];
  }
  float total = 0.0f;
  for (int k = vectors * width; k < count; ++k) total += row[static_cast<size_t>(k)];
  for (size_t i = 0; i < static_cast<size_t>(width); ++i) total += sums[0][i] + sums[1][i] + sums[2][i] + sums[3][i];
  return total;
}

// The sum of a row as torch.softmax makes it: one vector, whose halves are added until a number is left.
float softmax_sum_of(std::span<const float> row, int lanes) {
  const size_t width = row.size() < static_cast<size_t>(lanes) ? 1 : static_cast<size_t>(lanes);
  Vector sum{};
  for (size_t k = 0; k < row.size(); ++k) sum[k % width] += row[k];
  for (size_t half = width / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sum[i] += sum[half + i];
  }
  return sum[0];
}

float sleef_exp_of(float power) {
  if (power < -104.0f) return 0.0f;
  if (power > 100.0f) return INFINITY;
  const float whole = std::nearbyint(power * 1.442695040888963407f);
  // The rest of a division by the logarithm of 2, in two parts.
  float rest = fused(whole, -0.693145751953125f, power);
  rest = fused(whole, -1.428606765330187045e-06f, rest);
  float sum = 0.000198527617612853646278381f;
  for (const float term : {0.00139304355252534151077271f, 0.00833336077630519866943359f, 0.0416664853692054748535156f,
                           0.166666671633720397949219f, 0.5f}) {
    sum = fused(sum, rest, term);
  }
  return std::ldexp(1.0f + fused(rest * rest, sum, rest), static_cast<int>(whole));
}

}  // namespace

void sleef_exp(std::span<float> powers) { std::ranges::transform(powers, powers.begin(), sleef_exp_of); }

void as_exponents(std::span<float> positions, float sigma, bool v2) {
  for (float& position : positions) {
    const float part = position / sigma;
    position = part * part * (v2 ? -1.0f : -0.5f);
  }
}

void as_weights(std::span<float> exponents, bool v2, WeightForm form) {
  if (!v2) {
    form.exp(exponents);
    const float sum = sum_of(exponents, form.lanes);
    for (float& weight : exponents) weight /= sum;
    return;
  }
  const float most = std::ranges::max(exponents);
  for (float& power : exponents) power -= most;
  form.exp(exponents);
  const float share = 1.0f / softmax_sum_of(exponents, form.lanes);
  for (float& weight : exponents) weight *= share;
}

std::optional<Op> blur_by(std::span<const float> across, std::span<const float> down, bool fuses) {
  const bool square = std::ranges::equal(across, down);
  const size_t columns = across.size() / 2 + 1, rows = square ? 0 : down.size() / 2 + 1;
  if (columns + rows > kBlurWeights) return std::nullopt;
  Op op{};
  op.id = OpId::BLUR;
  op.flags = static_cast<uint16_t>((square ? kSquare : 0) | (fuses ? 0 : kUnfused));
  op.i[0] = static_cast<int32_t>(across.size());
  op.i[1] = static_cast<int32_t>(down.size());
  std::memcpy(op.f, across.data(), columns * sizeof(float));
  std::memcpy(reinterpret_cast<float*>(op.f) + columns, down.data(), rows * sizeof(float));
  return op;
}

}  // namespace fastaug
