#include "plan/warp_region.h"

#include <algorithm>
#include <cmath>

namespace fastaug {
namespace {

// Terms of positions are smaller, so that float32 and 16.16 round them by less than half a pixel; for others any pixel
// may be read.
constexpr double kKnown = 0x1p20;

}  // namespace

Region warp_region(const Op& op, Shape in, Region out) {
  const double* m = op.f;
  const bool perspective = is_perspective(op.id);
  const bool torch = op.id == OpId::TORCH_AFFINE;
  // Of TORCH_PERSPECTIVE's, which are between images of the output's size.
  const bool stretched = op.id == OpId::TORCH_PERSPECTIVE;
  const double stretch_x = stretched ? static_cast<double>(in.width) / op.i[1] : 1.0;
  const double stretch_y = stretched ? static_cast<double>(in.height) / op.i[0] : 1.0;
  // torch's matrices are between centres, and give the index of a pixel.
  const double move_x = torch ? 0.5 * op.i[1] : 0.0;
  const double move_y = torch ? 0.5 * op.i[0] : 0.0;
  const double shift_x = torch ? 0.5 * in.width : 0.0;
  const double shift_y = torch ? 0.5 * in.height : 0.0;
  double low_x = HUGE_VAL, high_x = -HUGE_VAL, low_y = HUGE_VAL, high_y = -HUGE_VAL;
  double most_sum = 0.0, most_terms = 0.0, least_below = HUGE_VAL;
  int positive = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const double x = out.x + 0.5 + ((corner & 1) != 0 ? out.width - 1 : 0) - move_x;
    const double y = out.y + 0.5 + ((corner & 2) != 0 ? out.height - 1 : 0) - move_y;
    const double below = perspective ? m[6] * x + m[7] * y + 1.0 : 1.0;
    const double terms = perspective ? std::abs(m[6] * x) + std::abs(m[7] * y) + 1.0 : 1.0;
    const double at_x = (m[0] * x + m[1] * y + m[2]) / below * stretch_x;
    const double at_y = (m[3] * x + m[4] * y + m[5]) / below * stretch_y;
    // Also what is not a number. Terms that cancel must not leave a position to their rounding.
    const double sum_x = (std::abs(m[0] * x) + std::abs(m[1] * y) + std::abs(m[2])) * stretch_x;
    const double sum_y = (std::abs(m[3] * x) + std::abs(m[4] * y) + std::abs(m[5])) * stretch_y;
    const bool known = std::abs(below) > 1e-6 * terms && std::max(sum_x, sum_y) < kKnown * std::abs(below);
    if (!known) return whole(in);
    most_sum = std::max({most_sum, sum_x, sum_y});
    most_terms = std::max(most_terms, terms);
    least_below = std::min(least_below, std::abs(below));
    positive += below > 0.0 ? 1 : 0;
    low_x = std::min(low_x, at_x + shift_x);
    high_x = std::max(high_x, at_x + shift_x);
    low_y = std::min(low_y, at_y + shift_y);
    high_y = std::max(high_y, at_y + shift_y);
  }
  if (positive != 0 && positive != 4) return whole(in);
  // In float32 the denominator is rounded too.
  if (stretched && !(most_sum * most_terms < kKnown * least_below * least_below)) return whole(in);
  // Two and a half pixels for the taps of a cubic; half of one for the roundings of 16.16, of each column and row.
  const double margin = 3.0 + 0x1p-16 * (static_cast<double>(op.i[0]) + op.i[1]);
  const int x0 = static_cast<int>(std::clamp(std::floor(low_x - margin), 0.0, in.width - 1.0));
  const int x1 = static_cast<int>(std::clamp(std::ceil(high_x + margin), x0 + 1.0, 1.0 * in.width));
  const int y0 = static_cast<int>(std::clamp(std::floor(low_y - margin), 0.0, in.height - 1.0));
  const int y1 = static_cast<int>(std::clamp(std::ceil(high_y + margin), y0 + 1.0, 1.0 * in.height));
  return {y0, x0, y1 - y0, x1 - x0};
}

}  // namespace fastaug
