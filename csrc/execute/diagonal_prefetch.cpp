#include "execute/diagonal_prefetch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fastaug {
namespace {

constexpr ptrdiff_t kLine = 64;
// Smaller images are in the first cache after a few rows.
constexpr ptrdiff_t kWorthwhile = ptrdiff_t{1} << 15;

}  // namespace

DiagonalPrefetch::DiagonalPrefetch(const View& view, const double* matrix, Region region, Region read, bool perspective)
    : view_(view), region_(region), read_(read) {
  std::copy_n(matrix, 6, m_);
  m_[6] = perspective ? matrix[6] : 0.0;
  m_[7] = perspective ? matrix[7] : 0.0;
  on_ = std::abs(view.row_stride) * read.height > kWorthwhile;
  // Straight lines stay straight, and blocks convex, where the denominator keeps its sign.
  const double x = region.x;
  const double y = region.y;
  for (const double right : {x, x + region.width}) {
    for (const double bottom : {y, y + region.height + kBlock}) on_ &= m_[6] * right + m_[7] * bottom + 1.0 > 1e-3;
  }
  if (on_) columns_.resize(static_cast<size_t>(read.height));
}

DiagonalPrefetch::Point DiagonalPrefetch::at(double x, double y) const {
  const double scale = 1.0 / (m_[6] * x + m_[7] * y + 1.0);
  return {static_cast<float>((m_[0] * x + m_[1] * y + m_[2]) * scale),
          static_cast<float>((m_[3] * x + m_[4] * y + m_[5]) * scale)};
}

// Takes the source rows that the line from a to b crosses as far as it.
void DiagonalPrefetch::along(Point a, Point b) {
  if (a.y > b.y) std::swap(a, b);
  const float slope = b.y - a.y > 1e-3f ? (b.x - a.x) / (b.y - a.y) : 0.0f;
  const float left = std::min(a.x, b.x);
  const float right = std::max(a.x, b.x);
  const int from = static_cast<int>(std::clamp(a.y - 1.0f, static_cast<float>(first_), static_cast<float>(last_)));
  const int to = static_cast<int>(std::clamp(b.y + 1.0f, static_cast<float>(first_), static_cast<float>(last_)));
  float x = a.x + (static_cast<float>(from) + 0.5f - a.y) * slope;
  const float half = std::fabs(slope) * 0.5f + 1.0f;
  Columns* columns = columns_.data() - read_.y;
  for (int row = from; row <= to; ++row, x += slope) {
    const float low = slope == 0.0f ? left : std::clamp(x - half, left - 1.0f, right);
    const float high = slope == 0.0f ? right : std::clamp(x + half, left, right + 1.0f);
    columns[row].begin = std::min(columns[row].begin, low);
    columns[row].end = std::max(columns[row].end, high);
  }
}

// The preimage of rows [y, y + kBlock) is a quadrangle; for each source row that it crosses, its columns.
void DiagonalPrefetch::block(int y) {
  if (y >= region_.y + region_.height) return;
  const double left = region_.x;
  const double right = left + region_.width;
  const Point corner[] = {at(left, y), at(right, y), at(right, y + kBlock), at(left, y + kBlock)};
  float low = corner[0].y;
  float high = corner[0].y;
  for (const Point& p : corner) {
    low = std::min(low, p.y);
    high = std::max(high, p.y);
  }
  const auto top = static_cast<float>(read_.y);
  const auto bottom = static_cast<float>(read_.y + read_.height - 1);
  if (!(low - 1.0f < bottom && high + 1.0f > top)) return;
  first_ = static_cast<int>(std::clamp(low - 1.0f, top, bottom));
  last_ = static_cast<int>(std::clamp(high + 1.0f, top, bottom));
  std::fill(columns_.begin() + (first_ - read_.y), columns_.begin() + (last_ - read_.y) + 1, Columns{1e9f, -1e9f});
  for (int k = 0; k < 4; ++k) along(corner[k], corner[(k + 1) % 4]);
  const bool downwards = corner[1].y > corner[0].y;
  const auto begin = static_cast<float>(read_.x);
  const auto end = static_cast<float>(read_.x + read_.width - 1);
  for (int row = first_; row <= last_; ++row) {
    const Columns columns = columns_[static_cast<size_t>(row - read_.y)];
    if (!(columns.begin <= end && columns.end >= begin)) continue;
    const uint8_t* p = view_.at(row, static_cast<int>(std::max(columns.begin, begin)), 0);
    const uint8_t* stop = view_.at(row, static_cast<int>(std::min(columns.end, end)), 0);
    // Some processors drop a prefetch whose page is not in the TLB; a load of one byte, at the end that is new to this
    // block, brings the page in first.
    static_cast<void>(*static_cast<const volatile uint8_t*>(downwards ? stop : p));
    // Into the second-level cache: a block's lines are many for the first, which holds the rows of the stages, too.
    for (; p <= stop; p += kLine) __builtin_prefetch(p, 0, 2);
  }
}

}  // namespace fastaug
