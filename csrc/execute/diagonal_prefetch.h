// A warp walks through its source on a diagonal, which hardware prefetchers do not follow well. To ask for whole source
// rows instead is slower for many maps: docs/notes/lab/warps.md has the times.
#pragma once

#include <vector>

#include "base/image.h"

namespace fastaug {

// Before each block of output rows this prefetches the source lines that the block after it will read.
class DiagonalPrefetch {
 public:
  // `matrix` as in WarpRow. `region` of the output is what is computed, in order of rows. Memory outside `read`, in
  // the view's coordinates, is left alone.
  DiagonalPrefetch(const View& view, const double* matrix, Region region, Region read, bool perspective);

  void row(int y) {
    const int k = y - region_.y;
    if (!on_ || k % kBlock != 0) return;
    if (k == 0) block(y);
    block(y + kBlock);
  }

 private:
  // Lines at the borders of blocks are asked for twice, which is dear in small blocks. Those that a large block of a
  // nearly level map crosses are many: 8 rows are best for 5 degrees, 16 for 20 and more.
  static constexpr int kBlock = 12;

  struct Point {
    float x;
    float y;
  };
  // Columns of a source row.
  struct Columns {
    float begin;
    float end;
  };

  void block(int y);
  void along(Point a, Point b);
  Point at(double x, double y) const;

  const View view_;
  double m_[8];
  Region region_;
  Region read_;
  bool on_;
  std::vector<Columns> columns_;  // of the rows of `read`
  int first_ = 0;                 // rows that a block crosses
  int last_ = 0;
};

}  // namespace fastaug
