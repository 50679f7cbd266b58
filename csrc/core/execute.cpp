#include "core/execute.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/blur.h"
#include "core/collect.h"
#include "core/moves.h"
#include "core/reduction.h"
#include "core/stages.h"
#include "core/status.h"
#include "core/store.h"

namespace fastaug {
namespace {

// Ops that map every output row and column to one input row and column.
bool is_index_op(OpId id) { return id == OpId::PAD || id == OpId::NEAREST || is_flip(id); }

// Pillow 13 filters the height first when that leaves fewer pixels for the second pass (Resample.c, ImagingResample).
bool height_first(const Op& op, Shape in) {
  if (op.flags & kWidthFirst) return false;
  const int64_t dh = int64_t{in.height} - op.i[0];
  const int64_t dw = int64_t{in.width} - op.i[1];
  return dh > 0 && dh > 2 * dw;
}

// What an op that moves pixels looks up.
struct Tables {
  std::vector<int32_t> rows;  // index ops
  std::vector<int32_t> columns;
  std::shared_ptr<const AxisTable> vertical;  // RESIZE
  std::shared_ptr<const AxisTable> horizontal;
};

struct Extent {
  int first;
  int last;
};

std::vector<int32_t> axis_index(const Op& op, int in_size, int out_size, bool rows) {
  switch (op.id) {
    case OpId::PAD:
      return pad_index(static_cast<PadMode>(op.flags), in_size, op.i[rows ? 1 : 0], op.i[rows ? 3 : 2]);
    case OpId::NEAREST:
      return nearest_index(static_cast<NearestRule>(op.flags), in_size, out_size);
    default: {
      std::vector<int32_t> index(static_cast<size_t>(out_size));
      const bool reversed = rows == (op.id == OpId::VFLIP);
      for (int k = 0; k < out_size; ++k) index[static_cast<size_t>(k)] = reversed ? out_size - 1 - k : k;
      return index;
    }
  }
}

Extent index_extent(const std::vector<int32_t>& index, int begin, int size) {
  const auto [low, high] = std::minmax_element(index.begin() + begin, index.begin() + begin + size);
  return {*low, *high + 1};
}

class Runner {
 public:
  // `target` may be null: then nothing is computed and `log` tells what would be.
  Runner(Context& context, OpList ops, Shape shape, const Target* target, std::string* log)
      : context_(context), ops_(std::move(ops)), target_(target), log_(log) {
    while (!ops_.empty() && kind_of(ops_.back().id) == OpKind::kStore) {
      const Op& op = ops_.back();
      float32_ = true;
      if (op.id == OpId::NORMALIZE) {
        store_.normalize.normalize = true;
        for (int c = 0; c < kMaxChannels; ++c) {
          store_.normalize.mean[c] = static_cast<float>(op.f[c]);
          store_.normalize.std[c] = static_cast<float>(op.f[4 + c]);
        }
      }
      ops_.pop_back();
    }
    while (!ops_.empty() && is_flip(ops_.back().id)) {
      bool& flip = ops_.back().id == OpId::HFLIP ? store_.hflip : store_.vflip;
      flip = !flip;
      ops_.pop_back();
    }
    shapes_.push_back(shape);
    for (const Op& op : ops_) shapes_.push_back(shape_after(op, shapes_.back()));
    means_.assign(ops_.size(), 0.0f);
    reduced_.assign(ops_.size(), nullptr);
    tables_.resize(ops_.size());
    regions_.resize(ops_.size() + 1);
  }

  void run(View view) {
    size_t begin = 0;
    while (true) {
      // Windows at the start of a part only move the view.
      while (begin < ops_.size() && is_window_inside(ops_[begin], shapes_[begin])) {
        const Op& op = ops_[begin];
        if (dry()) note("window %dx%d of the image in place", op.i[2], op.i[3]);
        view.data = dry() ? nullptr : view.at(op.i[0], op.i[1], 0);
        view.height = op.i[2];
        view.width = op.i[3];
        ++begin;
      }
      const size_t end = part_end(begin, view);
      Stage* chain = build(begin, end, view);
      if (end == ops_.size()) {
        note("store %dx%dx%d%s%s%s%s", shapes_[end].height, shapes_[end].width, shapes_[end].channels,
             float32_ ? " float32" : "", store_.normalize.normalize ? ", normalised" : "",
             store_.hflip ? ", flipped left to right" : "", store_.vflip ? ", flipped top to bottom" : "");
        if (!dry()) store_rows(context_, chain, *target_, store_);
        return;
      }
      const bool copy = begin != end;
      switch (ops_[end].id) {
        case OpId::AFFINE:
        case OpId::PERSPECTIVE:
          view = collect(chain, shapes_[end].channels > 1 ? Layout::kInterleaved : Layout::kPlanar, nullptr);
          break;
        case OpId::ROT90:
          note("turn %dx%dx%d by %d degrees", shapes_[end].height, shapes_[end].width, shapes_[end].channels,
               90 * ops_[end].flags);
          view = collect_turned(context_, chain, ops_[end].flags == 1, dry());
          begin = end + 1;
          continue;
        case OpId::CONTRAST:
        case OpId::AUTOCONTRAST:
        case OpId::EQUALIZE: {
          Reduction reduction(ops_[end], shapes_[end], context_.kernels);
          if (copy) {
            view = collect(chain, Layout::kPlanar, &reduction);
          } else {
            reduce(chain, &reduction);
          }
          if (ops_[end].id == OpId::CONTRAST) {
            means_[end] = reduction.mean();
          } else {
            ChannelTables* tables = context_.arena.make<ChannelTables>();
            reduction.tables(tables);
            reduced_[end] = tables;
          }
          reduced_until_ = end;
          break;
        }
        default:
          view = collect(chain, Layout::kPlanar, nullptr);
      }
      begin = end;
    }
  }

 private:
  bool dry() const { return target_ == nullptr; }

  template <class... Args>
  void note(const char* format, Args... args) {
    if (log_ == nullptr) return;
    char line[256];
    std::snprintf(line, sizeof line, format, args...);
    *log_ += line;
    *log_ += '\n';
  }

  const Tables& index(size_t k) {
    Tables& tables = tables_[k];
    if (tables.rows.empty()) {
      tables.rows = axis_index(ops_[k], shapes_[k].height, shapes_[k + 1].height, true);
      tables.columns = axis_index(ops_[k], shapes_[k].width, shapes_[k + 1].width, false);
    }
    return tables;
  }

  // The first op at or after `begin` that needs its whole input in memory before it can start.
  size_t part_end(size_t begin, const View& view) {
    bool in_order = false;
    for (size_t k = begin; k < ops_.size(); ++k) {
      const Op& op = ops_[k];
      if (is_warp(op.id) && (k > begin || !walkable(view))) return k;
      if (op.id == OpId::ROT90) return k;
      if (kind_of(op.id) == OpKind::kReduction && k != reduced_until_) return k;
      if (is_index_op(op.id) && in_order) {
        const std::vector<int32_t>& rows = index(k).rows;
        if (!std::is_sorted(rows.begin(), rows.end())) return k;
      }
      if (kind_of(op.id) == OpKind::kFilter) in_order = true;
      if (op.id == OpId::RESIZE && op.i[0] != shapes_[k].height) in_order = true;
    }
    return ops_.size();
  }

  // Region of the input of op k that `out` of its output needs. Never empty.
  Region needed(size_t k, Region out) {
    const Op& op = ops_[k];
    const Shape in = shapes_[k];
    switch (op.id) {
      case OpId::WINDOW: {
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
        const Extent rows = index_extent(index(k).rows, out.y, out.height);
        const Extent columns = index_extent(index(k).columns, out.x, out.width);
        return {rows.first, columns.first, rows.last - rows.first, columns.last - columns.first};
      }
      case OpId::RESIZE: {
        const auto filter = static_cast<Filter>(op.flags & kFilterMask);
        if (op.i[0] != in.height) {
          auto table = axis_table(context_.kernels, false, filter, in.height, op.i[0], out.y, out.height);
          out.y = table->source_begin;
          out.height = table->source_end - table->source_begin;
          tables_[k].vertical = std::move(table);
        }
        if (op.i[1] != in.width) {
          auto table = axis_table(context_.kernels, true, filter, in.width, op.i[1], out.x, out.width);
          out.x = table->source_begin;
          out.width = table->source_end - table->source_begin;
          tables_[k].horizontal = std::move(table);
        }
        return out;
      }
      case OpId::AFFINE:
      case OpId::PERSPECTIVE:
        return whole(in);
      case OpId::SHARPNESS: {
        const int y0 = std::max(out.y - 1, 0);
        const int x0 = std::max(out.x - 1, 0);
        return {y0, x0, std::min(out.y + out.height + 1, in.height) - y0,
                std::min(out.x + out.width + 1, in.width) - x0};
      }
      case OpId::BLUR:
        return blur_needs(op, in, out);
      default:
        return out;
    }
  }

  Stage* build(size_t begin, size_t end, const View& view) {
    regions_[end] = whole(shapes_[end]);
    for (size_t k = end; k-- > begin;) regions_[k] = needed(k, regions_[k + 1]);
    Stage* chain = nullptr;
    size_t k = begin;
    if (k < end && is_warp(ops_[k].id)) {
      chain = warp_stage(context_, view, ops_[k], regions_[k + 1]);
      note("%s, %dx%d of %dx%d", ops_[k].id == OpId::AFFINE ? "affine" : "perspective", regions_[k + 1].height,
           regions_[k + 1].width, ops_[k].i[0], ops_[k].i[1]);
      ++k;
    } else {
      chain = source_stage(context_, view, regions_[k]);
      note("read %dx%d of %dx%d", regions_[k].height, regions_[k].width, view.height, view.width);
    }
    for (; k < end; ++k) {
      const Op& op = ops_[k];
      const Region out = regions_[k + 1];
      if (op.id == OpId::WINDOW) {
        chain = window_stage(context_, chain, op, shapes_[k], out);
        note("window %dx%d", out.height, out.width);
      } else if (is_index_op(op.id)) {
        chain = index_stage(context_, chain, index(k).rows, index(k).columns, out);
        note("%s %dx%d", name_of(op.id), out.height, out.width);
      } else if (op.id == OpId::RESIZE) {
        chain = resize(chain, op, shapes_[k], tables_[k], out);
      } else if (op.id == OpId::SHARPNESS) {
        chain = sharpen_stage(context_, chain, op, shapes_[k], out);
        note("sharpness %dx%d", out.height, out.width);
      } else if (op.id == OpId::BLUR) {
        chain = blur_stage(context_, chain, op, shapes_[k], out);
        note("blur %dx%d", out.height, out.width);
      } else {
        const bool tables = is_table(op.id);
        size_t last = k + 1;
        while (last < end && kind_of(ops_[last].id) == OpKind::kPointwise && is_table(ops_[last].id) == tables) ++last;
        const int count = static_cast<int>(last - k);
        chain = tables ? table_stage(context_, chain, &ops_[k], &reduced_[k], count)
                       : pointwise_stage(context_, chain, &ops_[k], &means_[k], count, shapes_[last].channels);
        for (size_t j = k; j < last; ++j) note("%s on rows of %d", name_of(ops_[j].id), out.width);
        k = last - 1;
      }
    }
    return chain;
  }

  Stage* resize(Stage* chain, const Op& op, Shape in, const Tables& tables, Region out) {
    const bool rows_first = height_first(op, in);
    for (int pass = 0; pass < 2; ++pass) {
      if ((pass == 0) == rows_first) {
        if (op.i[0] == in.height) continue;
        const Region middle = {out.y, chain->region.x, out.height, chain->region.width};
        note("filter height %d to %d", chain->region.height, out.height);
        chain = resample_column_stage(context_, chain, tables.vertical, middle);
      } else {
        if (op.i[1] == in.width) continue;
        const Region middle = {chain->region.y, out.x, chain->region.height, out.width};
        note("filter width %d to %d", chain->region.width, out.width);
        chain = resample_row_stage(context_, chain, tables.horizontal, middle);
      }
    }
    return chain;
  }

  View collect(Stage* chain, Layout layout, Reduction* reduction) {
    const Region all = chain->region;
    note("collect %dx%dx%d%s", all.height, all.width, chain->channels, reduction != nullptr ? ", with statistics" : "");
    return collect_rows(context_, chain, layout, reduction, dry());
  }

  void reduce(Stage* chain, Reduction* reduction) {
    note("statistics of %dx%d", chain->region.height, chain->region.width);
    if (dry()) return;
    const Planes planes = make_planes(context_.arena, chain->region.width);
    for (int y = 0; y < chain->region.height; ++y) {
      chain->row(y, planes);
      reduction->add(planes.row);
    }
  }

  Context& context_;
  OpList ops_;
  const Target* target_;
  std::string* log_;
  StoreOptions store_;
  bool float32_ = false;
  std::vector<Shape> shapes_;                       // shapes_[k] enters op k
  std::vector<Region> regions_;                     // regions_[k] of it is needed
  std::vector<float> means_;                        // CONTRAST
  std::vector<const ChannelTables*> reduced_;       // AUTOCONTRAST and EQUALIZE
  size_t reduced_until_ = static_cast<size_t>(-1);  // the reduction whose statistics are known
  std::vector<Tables> tables_;
};

Arena& thread_arena() {
  thread_local Arena arena;
  return arena;
}

struct ArenaReset {
  Arena& arena;
  ~ArenaReset() { arena.reset(); }
};

}  // namespace

void check_target(const Target& target, Shape shape, bool float32) {
  const bool pillow_la = shape.channels == 2 && target.channels == 4 && !float32 && target.channel_stride == 1;
  if (target.height != shape.height || target.width != shape.width ||
      (target.channels != shape.channels && !pillow_la)) {
    fail(ErrorCode::kValue, "the target is " + std::to_string(target.height) + "x" + std::to_string(target.width) +
                                "x" + std::to_string(target.channels) + ", the program's result " +
                                std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
                                std::to_string(shape.channels));
  }
  if (float32 != (target.dtype == DType::kFloat32)) {
    fail(ErrorCode::kType, float32 ? "the program's result is float32, the target uint8"
                                   : "the program's result is uint8, the target float32");
  }
}

void execute(Program program, const View& source, const Target& target, const ExecuteOptions& options) {
  const Shape in{source.height, source.width, source.channels};
  const Shape out = validate(program, in);
  check_target(target, out, !program.empty() && kind_of(program.back().id) == OpKind::kStore);
  Arena& arena = thread_arena();
  ArenaReset reset{arena};
  Context context{options.kernels != nullptr ? *options.kernels : kernels(), arena};
  OpList ops = optimise(program, in, options.rewrites);
  if (options.rewrites & kMovePixels) {
    if (execute_moves(ops, source, target, context.kernels)) return;
    if (execute_nearest_warp(ops, source, target, context.kernels)) return;
  }
  Runner(context, std::move(ops), in, &target, nullptr).run(source);
}

std::string explain(Program program, Shape shape, uint32_t rewrites) {
  validate(program, shape);
  Arena arena;
  Context context{kernels(), arena};
  std::string log;
  const View view{
      nullptr, shape.height, shape.width, shape.channels, ptrdiff_t{shape.width} * shape.channels, shape.channels, 1};
  Runner(context, optimise(program, shape, rewrites), shape, nullptr, &log).run(view);
  return log;
}

}  // namespace fastaug
