// What rounded warps are held against: Pillow's interpolations in float64, neither truncated nor rounded.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "pixel/warp.h"
#include "tests/support/guard.h"

namespace fastaug::test {

// Weights of the taps around a fraction: two linear ones, or Pillow's four cubic ones.
inline void tap_weights(int taps, double t, double* weight) {
  if (taps == 2) {
    weight[0] = 1.0 - t;
    weight[1] = t;
    return;
  }
  weight[0] = -t * (1.0 - t) * (1.0 - t);
  weight[1] = 1.0 - 2.0 * t * t + t * t * t;
  weight[2] = t + t * t - t * t * t;
  weight[3] = -t * t * (1.0 - t);
}

// A sample of the source at a position inside it, borders repeated.
inline double sampled(const View& view, Position at, int taps, int channel) {
  const double x = at.x - 0.5;
  const double y = at.y - 0.5;
  double across[4];
  double down[4];
  tap_weights(taps, x - std::floor(x), across);
  tap_weights(taps, y - std::floor(y), down);
  const int first_x = static_cast<int>(std::floor(x)) - (taps / 2 - 1);
  const int first_y = static_cast<int>(std::floor(y)) - (taps / 2 - 1);
  double sum = 0.0;
  for (int i = 0; i < taps; ++i) {
    for (int j = 0; j < taps; ++j) {
      const int row = std::clamp(first_y + i, 0, view.height - 1);
      const int column = std::clamp(first_x + j, 0, view.width - 1);
      sum += down[i] * across[j] * *view.at(row, column, channel);
    }
  }
  return std::clamp(sum, 0.0, 255.0);
}

// How far the row that `kernel` makes is from the exact values, at most; 1000 where it is not fill, but should be.
// at(x): the position of column x.
template <class Kernel, class At>
double worst_of_rounded(const WarpRow& row, Kernel kernel, int taps, const At& at) {
  const View& view = row.source;
  GuardedRows got(view.channels, row.width);
  kernel(row, got.get());
  if (!got.intact()) return 2000.0;
  double worst = 0.0;
  for (int x = 0; x < row.width; ++x) {
    const Position p = at(row.x + x);
    if (warp_lost(WarpSource{view.data, 0, 0, view.height, view.width}, p.x, p.y)) continue;
    const bool inside = p.x >= 0.0 && p.x < view.width && p.y >= 0.0 && p.y < view.height;
    for (int c = 0; c < view.channels; ++c) {
      if (inside) worst = std::max(worst, std::fabs(got[c][x] - sampled(view, p, taps, c)));
      if (!inside && got[c][x] != row.fill[c]) worst = 1000.0;
    }
  }
  return worst;
}

// True when two kernels make the same row, also of a part of it.
template <class Kernel>
bool same_rounded(WarpRow row, Kernel one, Kernel other) {
  const auto same = [&] {
    GuardedRows a(row.source.channels, row.width);
    GuardedRows b(row.source.channels, row.width);
    one(row, a.get());
    other(row, b.get());
    bool all = true;
    for (int c = 0; c < row.source.channels; ++c) all &= std::equal(a[c], a[c] + row.width, b[c]);
    return all;
  };
  if (!same()) return false;
  row.x = row.width / 3;
  row.width -= row.x;
  return same();
}

}  // namespace fastaug::test
