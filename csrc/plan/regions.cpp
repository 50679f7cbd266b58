#include "plan/regions.h"

#include <algorithm>

#include "pixel/extent.h"
#include "pixel/index.h"
#include "pixel/index_table.h"
#include "pixel/weigh.h"
#include "plan/neighbourhood.h"
#include "plan/tap_chain.h"
#include "plan/warp_region.h"

namespace fastaug {
namespace {

std::vector<int32_t> axis_index(const Op& op, int in_size, int out_size, bool rows) {
  switch (op.id) {
    case OpId::PAD:
      return pad_index(static_cast<PadMode>(op.flags), in_size, op.i[rows ? 1 : 0], op.i[rows ? 3 : 2]);
    case OpId::NEAREST:
      return nearest_index(static_cast<NearestRule>(op.flags), in_size, out_size);
    case OpId::HFLIP:
    case OpId::VFLIP: {
      std::vector<int32_t> index(static_cast<size_t>(out_size));
      const bool reversed = rows == (op.id == OpId::VFLIP);
      for (int k = 0; k < out_size; ++k) index[static_cast<size_t>(k)] = reversed ? out_size - 1 - k : k;
      return index;
    }
    default:
      fail_on("axis_index", op.id);
  }
}

Extent index_extent(const std::vector<int32_t>& index, int begin, int size) {
  const auto [low, high] = std::minmax_element(index.begin() + begin, index.begin() + begin + size);
  return {*low, *high + 1};
}

}  // namespace

Regions::Regions(const Kernels& kernels, OpList ops, Shape in, uint32_t rewrites, bool tables)
    : kernels_(kernels), rewrites_(rewrites), with_tables_(tables), ops_(std::move(ops)) {
  composed_.resize(ops_.size());
  if (rewrites & kComposeTaps) compose(in);
  shapes_.push_back(in);
  for (const Op& op : ops_) shapes_.push_back(shape_after(op, shapes_.back()));
  tables_.resize(ops_.size());
}

void Regions::compose(Shape in) {
  OpList ops;
  std::vector<OpList> composed;
  for (size_t k = 0; k < ops_.size();) {
    const size_t end = std::max(separable_end(ops_, k, in), k + 1);
    Step step = ops_[k];
    OpList run;
    if (end > k + 1) {
      run.assign(ops_.begin() + static_cast<ptrdiff_t>(k), ops_.begin() + static_cast<ptrdiff_t>(end));
      Shape out = in;
      step = Step{};
      for (const Step& one : run) {
        out = shape_after(one, out);
        step.origin |= one.origin;
      }
      step.id = OpId::RESIZE;
      step.flags = static_cast<uint16_t>(Filter::kBilinear);
      step.i[0] = out.height;
      step.i[1] = out.width;
    }
    in = shape_after(step, in);
    ops.push_back(step);
    composed.push_back(std::move(run));
    k = end;
  }
  ops_ = std::move(ops);
  composed_ = std::move(composed);
}

const std::vector<int32_t>& Regions::rows(size_t k) {
  std::vector<int32_t>& rows = tables_[k].rows;
  if (rows.empty()) rows = axis_index(ops_[k], shapes_[k].height, shapes_[k + 1].height, true);
  return rows;
}

const std::vector<int32_t>& Regions::columns(size_t k) {
  std::vector<int32_t>& columns = tables_[k].columns;
  if (columns.empty()) columns = axis_index(ops_[k], shapes_[k].width, shapes_[k + 1].width, false);
  return columns;
}

bool Regions::height_first(size_t k) const {
  const Op& op = ops_[k];
  const Shape in = shapes_[k];
  if (!composed_[k].empty()) {
    return composed_height_first(*tables_[k].vertical, *tables_[k].horizontal);
  }
  return filters_height_first(op, in);
}

std::shared_ptr<const AxisTable> Regions::axis(size_t k, bool row, int begin, int out) const {
  if (!composed_[k].empty()) return composed_axis_table(kernels_, row, composed_[k], shapes_[k], begin, out);
  const Op& op = ops_[k];
  const int in_size = row ? shapes_[k].width : shapes_[k].height;
  const int out_size = op.i[row ? 1 : 0];
  if (in_size == out_size) return nullptr;
  return axis_table(kernels_, row, static_cast<Filter>(op.flags & kFilterMask), in_size, out_size, begin, out);
}

Region Regions::resized(size_t k, Region out) {
  Tables& tables = tables_[k];
  tables.vertical = axis(k, false, out.y, out.height);
  if (tables.vertical != nullptr) {
    out.y = tables.vertical->source_begin;
    out.height = tables.vertical->source_end - out.y;
  }
  tables.horizontal = axis(k, true, out.x, out.width);
  if (tables.horizontal != nullptr) {
    out.x = tables.horizontal->source_begin;
    out.width = tables.horizontal->source_end - out.x;
  }
  return out;
}

Region Regions::torch_resized(size_t k, Region out) {
  const Op& op = ops_[k];
  const auto filter = static_cast<Filter>(op.flags);
  const Shape in = shapes_[k];
  Tables& tables = tables_[k];
  tables.down = float_axis_table(kernels_, filter, in.height, op.i[0], out.y, out.height);
  tables.across = float_axis_table(kernels_, filter, in.width, op.i[1], out.x, out.width);
  return {tables.down->source_begin, tables.across->source_begin, tables.down->source_end - tables.down->source_begin,
          tables.across->source_end - tables.across->source_begin};
}

Region Regions::without_tables(size_t k, Region out) const {
  const auto side = [&](bool rows, int begin, int count, int in, int size) {
    const Extent extent = source_extent(ops_[k], rows, {begin, begin + count}, in, size);
    if (extent.begin < extent.end) return extent;
    const int any = std::min(extent.begin, in - 1);  // where nothing is shown
    return Extent{any, any + 1};
  };
  const Shape in = shapes_[k];
  const Shape after = shapes_[k + 1];
  const Extent rows = side(true, out.y, out.height, in.height, after.height);
  const Extent columns = side(false, out.x, out.width, in.width, after.width);
  return {rows.begin, columns.begin, rows.end - rows.begin, columns.end - columns.begin};
}

Region Regions::source_region(size_t k, Region out) {
  const Op& op = ops_[k];
  const Shape in = shapes_[k];
  // A reduction, too, once its statistics are there.
  if (kind_of(op.id) == OpKind::kPointwise || kind_of(op.id) == OpKind::kReduction) return out;
  switch (op.id) {
    case OpId::WINDOW: {
      if (!with_tables_) return without_tables(k, out);
      const int y0 = std::clamp(out.y + op.i[0], 0, in.height - 1);
      const int y1 = std::clamp(out.y + out.height + op.i[0], y0 + 1, in.height);
      const int x0 = std::clamp(out.x + op.i[1], 0, in.width - 1);
      const int x1 = std::clamp(out.x + out.width + op.i[1], x0 + 1, in.width);
      return {y0, x0, y1 - y0, x1 - x0};
    }
    case OpId::PAD:
    case OpId::NEAREST:
    case OpId::HFLIP:
    case OpId::VFLIP: {
      if (!with_tables_) return without_tables(k, out);
      const Extent rows_extent = index_extent(rows(k), out.y, out.height);
      const Extent columns_extent = index_extent(columns(k), out.x, out.width);
      return {rows_extent.begin, columns_extent.begin, rows_extent.end - rows_extent.begin,
              columns_extent.end - columns_extent.begin};
    }
    case OpId::RESIZE:
      return with_tables_ ? resized(k, out) : without_tables(k, out);
    case OpId::TORCH_RESIZE:
      return with_tables_ ? torch_resized(k, out) : without_tables(k, out);
    case OpId::AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      return (rewrites_ & kPreimage) ? warp_region(op, in, out) : whole(in);
    case OpId::ROT90:
      return whole(in);
    case OpId::SHARPNESS:
    case OpId::TORCH_SHARPNESS:
    case OpId::V2_SHARPNESS:
    case OpId::BLUR:
    case OpId::BOX_BLUR:
      return with_tables_ ? filter_region(op, in, out) : without_tables(k, out);
    case OpId::JPEG:
      return jpeg_region(in, out);
    default:
      fail_on("source_region", op.id);
  }
}

}  // namespace fastaug
