// The parts of an image: cut where that pays, and put into the bag with the tasks that prepare them.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/status.h"
#include "cuda/lowering.h"
#include "cuda/tile/base.h"
#include "pixel/taps.h"

namespace fastaug::cuda {
namespace {

constexpr double kCutWork = 40.0;  // to write a pixel and to read it again
// Cuts are considered above this share of the work without neighbours.
constexpr double kMuchWork = 1.7;

}  // namespace

void Lowering::emit() {
  const size_t steps = links_.size() - 1;
  const Tiling whole = work().tiling(1, steps + 1);
  if (whole.height != 0 && (steps < 2 || whole.work < kMuchWork * work().ideal())) return finish(whole);
  if (steps == 0) return finish(whole);
  // The cheapest way to cut before each step.
  struct Way {
    double work = 0.0;
    size_t begin = 0;  // first step of the last part
    Tiling tiles{};
  };
  std::vector<Way> ways(steps + 2);
  for (size_t end = 2; end <= steps + 1; ++end) {
    ways[end].work = HUGE_VAL;
    for (size_t begin = 1; begin < end; ++begin) {
      const Tiling tiles = work().tiling(begin, end);
      const double cut =
          begin == 1 ? 0.0 : ways[begin].work + kCutWork * static_cast<double>(area(links_[begin - 1].region));
      if (tiles.height == 0 || cut + tiles.work >= ways[end].work) continue;
      ways[end] = {cut + tiles.work, begin, tiles};
    }
  }
  if (ways.back().tiles.height == 0) return emit_apart();
  std::vector<std::pair<size_t, Tiling>> parts;  // ends, and how they are tiled; the last one first
  for (size_t end = steps + 1; end > 1; end = ways[end].begin) parts.emplace_back(end, ways[end].tiles);
  const Part all = part_;
  const std::vector<Link> links = std::move(links_);
  const std::vector<Lookups> lookups = std::move(lookups_);
  size_t begin = 1;
  while (!parts.empty()) {
    const auto [end, tiles] = parts.back();
    parts.pop_back();
    take_links(links, lookups, begin, end);
    if (begin > 1) come_from_memory();
    if (parts.empty()) {
      end_as(all);
      finish(tiles);
      return;
    }
    const Step& last = links[end - 1].step;
    const Memory kept = room(links[end - 1].region, {last.out_height, last.out_width, 0}, links[end - 1].after(), 0);
    end_in(kept, links[end - 1].region);
    finish(tiles);
    memory_ = kept;
    part_ = all;
    begin = end;
  }
}

void Lowering::emit_apart() {
  if (links_.size() == 1 || links_[0].colours.empty()) return finish({});
  const Part all = part_;
  std::vector<Link> links = std::move(links_);
  const std::vector<Lookups> lookups = std::move(lookups_);
  const Step& next = links[1].step;
  take_links(links, lookups, 1, 1);
  const Memory kept = room(links[0].region, {next.in_height, next.in_width, 0}, links[0].after(), 0);
  end_in(kept, links[0].region);
  finish(work().tiling(1, 1));
  memory_ = kept;
  part_ = all;
  links[0].colours.clear();
  links_ = std::move(links);
  for (const Lookups& one : lookups) {
    if (one.link != 0) lookups_.push_back(one);
  }
  come_from_memory();
  emit();
}

void Lowering::take_links(const std::vector<Link>& links, const std::vector<Lookups>& lookups, size_t begin,
                          size_t end) {
  links_.assign(1, begin == 1 ? links[0] : Link{});
  links_.insert(links_.end(), links.begin() + static_cast<ptrdiff_t>(begin),
                links.begin() + static_cast<ptrdiff_t>(end));
  lookups_.clear();
  for (Lookups one : lookups) {
    if (one.link >= end || (one.link < begin && begin != 1)) continue;
    if (begin != 1) one.link -= begin - 1;
    lookups_.push_back(one);
  }
}

void Lowering::come_from_memory() {
  part_.from = memory_.at;
  part_.height = memory_.height;
  part_.width = memory_.width;
  part_.channels = memory_.channels;
  part_.source = kRead;
  links_[0].region = {0, 0, memory_.height, memory_.width};
  links_[0].channels = memory_.channels;
}

void Lowering::end_in(const Memory& kept, Region shown) {
  part_.end = kKeep;
  part_.dtype = static_cast<int32_t>(DType::kUint8);
  part_.to = kept.at;
  part_.shown = shown;
  part_.out_channels = kept.channels;
  part_.floats = part_.erases = 0;
  part_.statistics = kNoStatistics;
}

void Lowering::end_as(const Part& all) {
  part_.end = all.end;
  part_.dtype = all.dtype;
  part_.to = all.to;
  part_.shown = all.shown;
  part_.out_channels = all.out_channels;
  part_.floats = all.floats;
  part_.erases = all.erases;
  part_.statistics = all.statistics;
}

void Lowering::finish(const Tiling& tiles) {
  if (tiles.height == 0) {
    fail(ErrorCode::kValue, "a block needs more than the " + std::to_string(work().fixed_bytes(1, links_.size())) +
                                " bytes of shared memory that colours and statistics take, got shared_bytes " +
                                std::to_string(bag_.options_.shared_bytes));
  }
  Part& part = part_;
  part.direct = tiles.direct;
  Features features{};
  features.source = part.source;
  features.channels = part.channels;
  features.dtype = part.dtype;
  features.ends = 1u << part.end;
  features.flags = part.direct != 0 ? kHasDirect : kHasShared;
  if (part.erases != 0) features.flags |= kHasErases;
  if (part.floats != 0) features.flags |= kHasFloats;
  if (part.statistics == kLumaSum) features.flags |= kHasLuma;
  if (part.statistics == kGraySum) features.flags |= kHasGray;
  if (part.statistics == kV2GraySum) features.flags |= kHasV2Gray;
  if (is_parts(part.statistics)) features.flags |= kHasGrayParts;
  if (part.statistics == kExtremes) features.flags |= kHasExtremes;
  if (part.statistics == kHistogram) features.flags |= kHasHistogram;
  if (part.end == kStore && part.dtype != 0) {
    const bool quick =
        std::all_of(part.form, part.form + part.out_channels, [](const StoreForm& f) { return f.quick; });
    if (!quick || part.floats != 0) features.flags |= kHasDivision;
  }

  std::vector<Step> steps;
  std::vector<Colour> colours;
  std::vector<Task> tasks;
  for (size_t k = 0; k < links_.size(); ++k) {
    Link& link = links_[k];
    if (k == 0) {
      part.read_colours = static_cast<int32_t>(link.colours.size());
      if (!link.colours.empty()) features.steps |= 1u << (kStepKinds + kColoured);
    } else {
      link.step.colours = static_cast<int32_t>(link.colours.size());
      const bool from_source = k == 1 && part.direct != 0;
      features.steps |= 1u << (link.step.kind + (from_source ? kFromSource : kOccurs));
      if (!link.colours.empty()) features.steps |= 1u << (link.step.kind + kColoured);
      tables(&link.step, static_cast<int>(k) - 1, &tasks);
      steps.push_back(link.step);
    }
    for (size_t n = 0; n < link.colours.size(); ++n) {
      Colour& colour = link.colours[n];
      if (colour.kind == Colour::kLane) features.ops |= bit(colour.op.id);
      if (colour.kind == Colour::kFloat || colour.kind == Colour::kRound) features.flags |= kHasFloats;
      if (colour.kind == Colour::kFloat && kind_of(colour.op.id) != OpKind::kStore) {
        // Channels may vary.
        const Channels rule = info_of(colour.op.id).channels;
        if (rule == Channels::kToGray || rule == Channels::kFromGray) features.ops |= bit(colour.op.id);
      }
      if (colour.kind == Colour::kLookup) {
        features.flags |= kHasLookups;
        for (const Lookups& one : lookups_) {
          if (one.link != k || one.colour != n) continue;
          colour.table = bag_.reserve(256 * one.channels);
          tasks.push_back({Task::kLookups, 0, 0, one.ops, one.count, one.channels, colour.table, 0});
        }
      }
      colours.push_back(colour);
    }
  }
  lookups_.clear();

  part.steps = static_cast<int32_t>(steps.size());
  part.step = bag_.put(std::span<const Step>(steps));
  part.colours = static_cast<int32_t>(colours.size());
  part.colour = bag_.put(std::span<const Colour>(colours));
  part.tile_height = tiles.height;
  part.tile_width = tiles.width;
  part.tiles_y = (part.shown.height + tiles.height - 1) / tiles.height;
  part.tiles_x = (part.shown.width + tiles.width - 1) / tiles.width;
  part.row_extents = bag_.reserve(int64_t{part.steps + 1} * part.tiles_y * static_cast<int64_t>(sizeof(Extent)));
  part.column_extents = bag_.reserve(int64_t{part.steps + 1} * part.tiles_x * static_cast<int64_t>(sizeof(Extent)));
  part.buffer = tiles.first;
  part.shared = work().fixed_bytes(1, links_.size()) + tiles.first + tiles.second;
  tasks.push_back({Task::kExtents, 0, 0, 0, 0, 0, 0, 0});
  if (part.statistics != kNoStatistics) tasks.push_back({Task::kClear, 0, 0, 0, 0, 0, 0, 0});
  if (part.counts_parts()) tasks.push_back({Task::kMean, 0, 0, 0, 0, 0, 0, 0});

  const uint32_t at = bag_.put(part);
  for (Task& task : tasks) {
    task.part = at;
    // Only what is made of statistics has to wait for them.
    const bool waits = task.kind == Task::kMean || (task.kind == Task::kLookups && part.counted != kNowhere);
    bag_.level(waits ? level_ : 0).tasks.push_back(task);
  }
  const auto kernel = static_cast<size_t>(bag_.kernel_of(features));
  Bag::Level& own = bag_.level(level_);
  if (own.groups.size() <= kernel) own.groups.resize(kernel + 1);
  Bag::Group& group = own.groups[kernel];
  group.entries.push_back({group.blocks, at, 0});
  group.blocks += int64_t{part.tiles_y} * part.tiles_x;
  group.shared = std::max(group.shared, part.shared);
  ++level_;
}

void Lowering::tables(Step* step, int number, std::vector<Task>* tasks) {
  const auto add = [&](Task::Kind kind) { tasks->push_back({kind, 0, number, 0, 0, 0, 0, 0}); };
  if (step->kind == kTake) {
    if (step->op.id == OpId::WINDOW) return;
    const bool scales = step->op.id == OpId::AFFINE;
    step->rows = bag_.reserve(int64_t{step->row_outputs} * 4);
    step->columns = bag_.reserve(int64_t{step->column_outputs} * 4);
    add(scales ? Task::kScaleRows : Task::kTakeRows);
    add(scales ? Task::kScaleColumns : Task::kTakeColumns);
    return;
  }
  if (step->kind == kTorchFilter) {
    const int64_t rows = step->row_outputs;
    const int64_t columns = step->column_outputs;
    step->by_output = torch_tap_stride({step->op.flags, step->in_height, step->out_height});
    const int stride = torch_tap_stride({step->op.flags, step->in_width, step->out_width});
    step->rows = bag_.reserve(rows * static_cast<int64_t>(sizeof(TapRange)));
    step->columns = bag_.reserve(columns * static_cast<int64_t>(sizeof(TapRange)));
    step->weights = bag_.reserve((rows * step->by_output + columns * stride) * 4);
    return add(Task::kTorchTaps);
  }
  if (step->kind != kAcross && step->kind != kDown) return;
  const bool down = step->kind == kDown;
  const TapAxis axis = {step->op.flags & kFilterMask, down ? step->in_height : step->in_width,
                        down ? step->out_height : step->out_width};
  const int begin = down ? step->begin_row : step->begin_column;
  const int count = down ? step->row_outputs : step->column_outputs;
  uint32_t& ranges = down ? step->rows : step->columns;
  const int stride = tap_stride(axis);
  step->by_output = down ? stride : 1;
  step->by_tap = down ? 1 : count;
  if (!has_plain_taps(axis.filter)) {
    step->in_blob = 1;
    const Bag::HostTaps taps = host_taps(axis, down, begin, count);
    ranges = taps.ranges;
    step->weights = taps.weights;
    step->bits = taps.bits;
    return;
  }
  ranges = bag_.reserve(int64_t{count} * static_cast<int64_t>(sizeof(TapRange)));
  step->weights = bag_.reserve(int64_t{count} * stride * 4);
  add(Task::kTaps);
}

Bag::HostTaps Lowering::host_taps(TapAxis axis, bool down, int begin, int count) {
  const auto key = std::make_tuple(axis.filter, axis.in, axis.out, down, begin, count);
  const auto found = bag_.tables_.find(key);
  if (found != bag_.tables_.end()) return found->second;
  const Taps taps = make_taps(static_cast<Filter>(axis.filter), axis.in, axis.out, begin, count);
  std::vector<TapRange> ranges;
  std::vector<int32_t> weights = taps.weight;
  for (int k = 0; k < count; ++k) {
    ranges.push_back({taps.first[static_cast<size_t>(k)], taps.count[static_cast<size_t>(k)]});
    if (down) continue;
    for (int t = 0; t < taps.stride; ++t) {
      weights[static_cast<size_t>(t) * static_cast<size_t>(count) + static_cast<size_t>(k)] = taps.weights(k)[t];
    }
  }
  const Bag::HostTaps made = {bag_.put(std::span<const TapRange>(ranges)), bag_.put(std::span<const int32_t>(weights)),
                              taps.bits};
  return bag_.tables_[key] = made;
}

}  // namespace fastaug::cuda
