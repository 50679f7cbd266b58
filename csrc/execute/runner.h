// The streaming executor's inside: a program's parts, and the chain of stages that each becomes. Private to
// execute.cpp.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "execute/execute.h"
#include "execute/materialise.h"
#include "execute/reduction.h"
#include "execute/stages/blur.h"
#include "execute/stages/stages.h"
#include "execute/store.h"
#include "execute/timing.h"
#include "plan/regions.h"

namespace fastaug {

inline std::string text(const char* format, auto... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

inline std::string lower(OpId id) {
  std::string name = name_of(id);
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  return name;
}

inline int64_t area(Region region) { return int64_t{region.height} * region.width; }

// Bytes that a pixel takes in memory.
inline int64_t pixel_bytes(const View& view) {
  const bool packed = view.pixel_stride > view.channels && view.pixel_stride <= kMaxChannels;
  return packed ? view.pixel_stride : view.channels;
}

inline Pass decode_pass(const PixelSource& source, Region wanted) {
  const View view = source.layout();
  const Region made = source.made(wanted);
  std::string detail = text("%s, ", source.name());
  if (made == Region{0, 0, view.height, view.width}) {
    detail += text("all of %dx%d", view.height, view.width);
  } else {
    detail += text("rows %d to %d, columns %d to %d of %dx%d", made.y, made.y + made.height, made.x,
                   made.x + made.width, view.height, view.width);
  }
  return {
      "decode", detail, 0, 0, {made.height, made.width, view.channels}, source.bytes(), area(made) * pixel_bytes(view),
      0.0};
}

// Ops that stream row by row, between two ops that need a whole image.
struct Part {
  size_t begin;  // windows from here on only move the view
  size_t start;  // the first op that is computed
  size_t end;
  std::vector<Region> regions;  // regions[k - start] of what enters op k is computed, the last of what comes out
  Region source;                // what is needed of what enters op `begin`
};

class Runner {
 public:
  // `target` may be null: then nothing is computed, and `passes` tells what would be.
  Runner(Context& context, OpList ops, Shape in, uint32_t rewrites, const Target* target, std::vector<Pass>* passes)
      : context_(context),
        rewrites_(rewrites),
        target_(target),
        log_(passes),
        needs_(context.kernels, take_store(std::move(ops)), in, rewrites),
        ops_(needs_.ops()) {
    means_.assign(ops_.size(), 0.0f);
    reduced_.assign(ops_.size(), nullptr);
  }

  // `part` is the number of the first one.
  void run(const View& view, int part = 0) {
    split(view);
    number_ = part;
    compute(view);
  }

  void run(PixelSource& source) {
    View view = source.layout();
    const Region wanted = needed(view);
    log_.sink([&] { return decode_pass(source, wanted); },
              [&] {
                if (!dry()) view = source.make(wanted, context_.arena);
              });
    number_ = 1;
    compute(view);
  }

  // What a program needs of its source, for images that lie as `layout` does.
  Region needed(const View& layout) {
    split(layout);
    return parts_[0].source;
  }

 private:
  bool dry() const { return target_ == nullptr; }

  void compute(View view) {
    for (size_t p = 0; p < parts_.size(); ++p, ++number_) {
      const Part& part = parts_[p];
      for (size_t k = part.begin; k < part.start; ++k) {
        const Op& op = ops_[k];
        if (!dry()) view.data = view.at(op.i[0], op.i[1], 0);
        view.height = op.i[2];
        view.width = op.i[3];
        in_place_ |= ops_[k].origin;
      }
      Stage* chain = build(part, view);
      if (p + 1 == parts_.size()) {
        store(chain);
      } else {
        view = barrier(part.end, chain, view, part.start != part.end);
      }
    }
    log_.finish();
  }

  // Ops at the end that only say how the result is written.
  OpList take_store(OpList ops) {
    while (!ops.empty() && kind_of(ops.back().id) == OpKind::kStore) {
      const Step& op = ops.back();
      stored_ = true;
      store_origin_ |= op.origin;
      if (op.id == OpId::NORMALIZE) {
        store_.normalize.normalize = true;
        for (int c = 0; c < kMaxChannels; ++c) {
          store_.normalize.mean[c] = static_cast<float>(op.f[c]);
          store_.normalize.std[c] = static_cast<float>(op.f[4 + c]);
        }
      } else if (op.id == OpId::ERASE) {
        Erase erase{{op.i[0], op.i[1], op.i[2], op.i[3]}};
        for (int c = 0; c < kMaxChannels; ++c) erase.value[c] = static_cast<float>(op.f[c]);
        store_.erases.insert(store_.erases.begin(), erase);
      }
      ops.pop_back();
    }
    while (!ops.empty() && has(ops.back().id, Trait::kFlip)) {
      bool& flip = ops.back().id == OpId::HFLIP ? store_.hflip : store_.vflip;
      flip = !flip;
      store_origin_ |= ops.back().origin;
      ops.pop_back();
    }
    return ops;
  }

  // Fills parts_, and, from the last to the first, which regions each has to compute.
  void split(const View& view) {
    bool can_walk = walkable(view);
    size_t reduced_until = static_cast<size_t>(-1);
    for (size_t begin = 0;;) {
      Part part{begin, begin, 0, {}, {}};
      while (part.start < ops_.size() && is_window_inside(ops_[part.start], needs_.shape(part.start))) ++part.start;
      part.end = part_end(part.start, can_walk, reduced_until);
      parts_.push_back(part);
      if (part.end == ops_.size()) break;
      const OpId id = ops_[part.end].id;
      if (kind_of(id) == OpKind::kReduction) reduced_until = part.end;
      // What is kept between parts lies as a warp wants it, if a warp comes next.
      can_walk = has(id, Trait::kWarp);
      begin = id == OpId::ROT90 ? part.end + 1 : part.end;
    }
    Region out = whole(needs_.shape(ops_.size()));
    for (size_t p = parts_.size(); p-- > 0;) {
      Part& part = parts_[p];
      part.regions.assign(part.end - part.start + 1, out);
      for (size_t k = part.end; k-- > part.start;) {
        part.regions[k - part.start] = needs_.needed(k, part.regions[k - part.start + 1]);
      }
      part.source = part.regions[0];
      for (size_t k = part.start; k-- > part.begin;) part.source = needs_.needed(k, part.source);
      if (p == 0) break;
      const size_t end = parts_[p - 1].end;
      const bool all = kind_of(ops_[end].id) == OpKind::kReduction || ops_[end].id == OpId::ROT90;
      out = all ? whole(needs_.shape(end)) : part.source;
    }
  }

  // The first op at or after `start` that needs its whole input in memory before it can start.
  size_t part_end(size_t start, bool can_walk, size_t reduced_until) {
    bool in_order = false;
    for (size_t k = start; k < ops_.size(); ++k) {
      const Op& op = ops_[k];
      if (has(op.id, Trait::kWarp) && (k > start || !can_walk)) return k;
      if (op.id == OpId::ROT90) return k;
      if (kind_of(op.id) == OpKind::kReduction && k != reduced_until) return k;
      if (has(op.id, Trait::kAxisIndex) && in_order) {
        const std::vector<int32_t>& rows = needs_.rows(k);
        if (!std::is_sorted(rows.begin(), rows.end())) return k;
      }
      if (kind_of(op.id) == OpKind::kFilter) in_order = true;
      if (op.id == OpId::RESIZE && (op.i[0] != needs_.shape(k).height || needs_.composed(k) != 0)) in_order = true;
    }
    return ops_.size();
  }

  // Keeps what comes before op `end`, which needs it in memory, and does what it needs it for.
  View barrier(size_t end, Stage* chain, const View& view, bool computed) {
    const Step& op = ops_[end];
    if (op.id == OpId::ROT90) {
      View turned;
      log_.sink(
          [&] {
            return pass("turn", op.origin, chain->region, chain->channels, text("by %d degrees", 90 * op.flags),
                        area(chain->region) * chain->channels);
          },
          [&] { turned = collect_turned(context_, chain, op.flags == 1, dry()); });
      return turned;
    }
    if (kind_of(op.id) != OpKind::kReduction) {
      const bool pixels = has(op.id, Trait::kWarp) && chain->channels > 1;
      return keep(end, chain, pixels ? Layout::kInterleaved : Layout::kPlanar, nullptr);
    }
    Reduction reduction(op, needs_.shape(end), context_.kernels);
    View kept = view;
    if (computed) {
      kept = keep(end, chain, Layout::kPlanar, &reduction);
    } else {
      log_.sink([&] { return pass("statistics", op.origin, chain->region, chain->channels, "for " + lower(op.id)); },
                [&] { reduce(chain, &reduction); });
    }
    if (whole_input_of(op.id) == WholeInput::kMean) {
      means_[end] = reduction.mean();
    } else {
      ChannelTables* tables = context_.arena.make<ChannelTables>();
      reduction.tables(tables);
      reduced_[end] = tables;
    }
    return kept;
  }

  // The rows of a chain in memory. The view stands for the whole image, of which only the chain's region is there.
  View keep(size_t end, Stage* chain, Layout layout, Reduction* reduction) {
    const Shape shape = needs_.shape(end);
    const Region region = chain->region;
    View view;
    log_.sink(
        [&] {
          std::string detail = "for " + lower(ops_[end].id);
          if (reduction != nullptr) detail += ", with its statistics";
          const int64_t written = area(region) * (layout == Layout::kPlanar ? chain->channels : 4);
          return pass("keep", 0, region, chain->channels, detail, written);
        },
        [&] { view = collect_rows(context_, chain, layout, reduction, dry()); });
    if (!dry()) view.data -= region.y * view.row_stride + region.x * view.pixel_stride;
    view.height = shape.height;
    view.width = shape.width;
    return view;
  }

  void reduce(Stage* chain, Reduction* reduction) {
    if (dry()) return;
    const Planes planes = make_planes(context_.arena, chain->region.width);
    for (int y = 0; y < chain->region.height; ++y) {
      chain->row(y, planes);
      reduction->add(planes.row);
    }
  }

  void store(Stage* chain) {
    log_.sink([&] { return store_pass(chain); },
              [&] {
                if (!dry()) store_rows(context_, chain, *target_, store_);
              });
  }

  Pass store_pass(const Stage* chain) const {
    std::string detail = !stored_ ? "uint8" : dry() ? "float" : name_of(target_->dtype);
    if (store_.normalize.normalize) detail += ", normalised";
    if (store_.hflip) detail += ", flipped left to right";
    if (store_.vflip) detail += ", flipped top to bottom";
    for (int k = 0; k < store_.count; ++k) detail += ", " + lower(store_.ops[k].id);
    if (!store_.erases.empty()) detail += ", erased";
    const int64_t size = dry() ? (stored_ ? 4 : 1) : size_of(target_->dtype);
    return pass("store", store_origin_, chain->region, chain->channels, detail,
                area(chain->region) * chain->channels * size);
  }

  Pass pass(std::string name, uint64_t origin, Region region, int channels, std::string detail = {},
            int64_t written = 0, int64_t read = 0) const {
    return {std::move(name),
            std::move(detail),
            origin,
            number_,
            {region.height, region.width, channels},
            read,
            written,
            0.0};
  }

  Stage* build(const Part& part, const View& view) {
    size_t k = part.start;
    Stage* chain = nullptr;
    const Region read = part.regions[0];
    const int64_t bytes = area(read) * pixel_bytes(view);
    if (k < part.end && has(ops_[k].id, Trait::kWarp)) {
      const Region out = part.regions[1];
      const bool rounded = (rewrites_ & kRoundWarps) != 0;
      const Step& op = ops_[k++];
      chain = warp_stage(context_, view, op, out, read, rounded);
      chain = log_.stage(context_, chain, true, [&] {
        const std::string detail =
            text("of %dx%d, from %dx%d of %dx%d", op.i[0], op.i[1], read.height, read.width, view.height, view.width);
        return pass(lower(op.id), op.origin | in_place_, out, view.channels, detail, 0, bytes);
      });
    } else {
      chain = source_stage(context_, view, read);
      chain = log_.stage(context_, chain, true, [&] {
        return pass("read", in_place_, read, view.channels, text("of %dx%d", view.height, view.width), 0, bytes);
      });
    }
    in_place_ = 0;
    while (k < part.end) k = add(chain, part, k);
    return chain;
  }

  // Puts op k, and those after it that the same stage can do, on top of the chain. Returns the first op that is left.
  size_t add(Stage*& chain, const Part& part, size_t k) {
    const Step& op = ops_[k];
    const Region out = part.regions[k + 1 - part.start];
    if (op.id == OpId::RESIZE) {
      chain = resize(chain, k, out);
      return k + 1;
    }
    if (kind_of(op.id) == OpKind::kPointwise || kind_of(op.id) == OpKind::kReduction) return add_run(chain, part, k);
    if (op.id == OpId::WINDOW) {
      chain = window_stage(context_, chain, op, needs_.shape(k), out);
    } else if (op.id == OpId::SHARPNESS || op.id == OpId::TORCH_SHARPNESS) {
      chain = sharpen_stage(context_, chain, op, needs_.shape(k), out);
    } else if (op.id == OpId::BLUR) {
      chain = blur_stage(context_, chain, op, needs_.shape(k), out);
    } else {
      chain = index_stage(context_, chain, needs_.rows(k), needs_.columns(k), out);
    }
    chain = log_.stage(context_, chain, false, [&] { return pass(lower(op.id), op.origin, out, chain->channels); });
    return k + 1;
  }

  // A run of ops on each pixel for itself.
  size_t add_run(Stage*& chain, const Part& part, size_t k) {
    size_t last = k + 1;
    while (last < part.end && kind_of(ops_[last].id) == OpKind::kPointwise) ++last;
    const int64_t samples = area(chain->region) * chain->channels;
    const auto [count, tables] = pointwise_run(&ops_[k], static_cast<int>(last - k), samples, rewrites_);
    last = k + static_cast<size_t>(count);
    const bool floats = !tables && (rewrites_ & kFloatColour) != 0 && has(ops_[k].id, Trait::kFloatForm);
    uint64_t origin = 0;
    for (size_t j = k; j < last; ++j) origin |= ops_[j].origin;
    if (floats && stored_ && last == ops_.size()) {
      store_.fused = true;
      store_.ops = bare_ops(context_.arena, &ops_[k], count);
      store_.means = &means_[k];
      store_.count = count;
      store_origin_ |= origin;
      return last;
    }
    if (tables) {
      chain = table_stage(context_, chain, &ops_[k], &reduced_[k], count, &means_[k]);
    } else {
      chain = pointwise_stage(context_, chain, &ops_[k], &means_[k], count, needs_.shape(last).channels, floats);
    }
    chain = log_.stage(context_, chain, false, [&] {
      std::string names;
      for (size_t j = k; j < last; ++j) names += (j > k ? ", " : "") + lower(ops_[j].id);
      return pass(tables ? "tables" : "colour", origin, chain->region, chain->channels, names);
    });
    return last;
  }

  Stage* resize(Stage* chain, size_t k, Region out) {
    const Step& op = ops_[k];
    const bool rows_first = needs_.height_first(k);
    for (int number = 0; number < 2; ++number) {
      const bool columns = (number == 0) == rows_first;
      const auto& table = columns ? needs_.vertical(k) : needs_.horizontal(k);
      if (table == nullptr) continue;
      Region middle = chain->region;
      const int from = columns ? middle.height : middle.width;
      if (columns) {
        middle.y = out.y;
        middle.height = out.height;
        chain = resample_column_stage(context_, chain, table, middle);
      } else {
        middle.x = out.x;
        middle.width = out.width;
        chain = resample_row_stage(context_, chain, table, middle);
      }
      const int to = columns ? middle.height : middle.width;
      chain = log_.stage(context_, chain, false, [&] {
        std::string detail = text("%s %d to %d, %d taps", columns ? "height" : "width", from, to, table->taps.stride);
        if (needs_.composed(k) != 0) detail += text(", %d ops in one", static_cast<int>(needs_.composed(k)));
        return pass("filter", op.origin, middle, chain->channels, detail);
      });
    }
    return chain;
  }

  Context& context_;
  const uint32_t rewrites_;
  const Target* target_;
  StoreOptions store_;
  bool stored_ = false;
  uint64_t store_origin_ = 0;
  uint64_t in_place_ = 0;  // windows that only move the view
  int number_ = 0;         // of the part
  PassLog log_;
  Needs needs_;
  const OpList& ops_;
  std::vector<Part> parts_;
  std::vector<float> means_;                   // CONTRAST
  std::vector<const ChannelTables*> reduced_;  // AUTOCONTRAST and EQUALIZE
};

}  // namespace fastaug
