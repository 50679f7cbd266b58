// The part of an op's input that a part of its output needs, and the tables by which geometry finds it.
#pragma once

#include <memory>
#include <vector>

#include "base/image.h"
#include "plan/rewrite.h"
#include "plan/tap_cache.h"

namespace fastaug {

class Regions {
 public:
  // `ops` without those of the store. With kComposeTaps, runs of separable ops become one RESIZE each, whose taps
  // source_region() composes. Without tables, regions are what the ops alone tell, which may be a little more.
  Regions(const Kernels& kernels, OpList ops, Shape in, uint32_t rewrites, bool tables = true);

  const OpList& ops() const { return ops_; }
  // The shape that enters op k; shape(ops().size()) is the result's.
  Shape shape(size_t k) const { return shapes_[k]; }

  // Region of the input of op k that `out` of its output needs. Never empty. Keeps the tables of RESIZE for it.
  Region source_region(size_t k, Region out);

  // Input row and column of every output row and column of an op of kAxisIndex.
  const std::vector<int32_t>& rows(size_t k);
  const std::vector<int32_t>& columns(size_t k);

  // RESIZE: null for an axis that stays as it is. For the region of the last source_region().
  const std::shared_ptr<const AxisTable>& vertical(size_t k) const { return tables_[k].vertical; }
  const std::shared_ptr<const AxisTable>& horizontal(size_t k) const { return tables_[k].horizontal; }
  bool height_first(size_t k) const;
  // TORCH_RESIZE: for the region of the last source_region().
  const std::shared_ptr<const FloatAxisTable>& down(size_t k) const { return tables_[k].down; }
  const std::shared_ptr<const FloatAxisTable>& across(size_t k) const { return tables_[k].across; }
  // Gives away what only the last owner needs: the tables of an index op, and at last ops and shapes.
  std::vector<int32_t> take_rows(size_t k) { return std::move(tables_[k].rows); }
  std::vector<int32_t> take_columns(size_t k) { return std::move(tables_[k].columns); }
  void release(OpList* ops, std::vector<Shape>* shapes) {
    *ops = std::move(ops_);
    *shapes = std::move(shapes_);
  }
  // How many ops a RESIZE stands for, when its taps are composed; else 0.
  size_t composed(size_t k) const { return composed_[k].size(); }

 private:
  struct Tables {
    std::vector<int32_t> rows;  // kAxisIndex
    std::vector<int32_t> columns;
    std::shared_ptr<const AxisTable> vertical;  // RESIZE
    std::shared_ptr<const AxisTable> horizontal;
    std::shared_ptr<const FloatAxisTable> down;  // TORCH_RESIZE
    std::shared_ptr<const FloatAxisTable> across;
  };

  void compose(Shape in);
  Region resized(size_t k, Region out);
  Region torch_resized(size_t k, Region out);
  Region without_tables(size_t k, Region out) const;
  std::shared_ptr<const AxisTable> axis(size_t k, bool row, int begin, int out) const;

  const Kernels& kernels_;
  uint32_t rewrites_;
  bool with_tables_;
  OpList ops_;
  std::vector<OpList> composed_;  // what a composed RESIZE stands for
  std::vector<Shape> shapes_;
  std::vector<Tables> tables_;
};

}  // namespace fastaug
