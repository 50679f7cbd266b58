#include "cuda/bag.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/status.h"
#include "cuda/tile.h"
#include "execute/stages/stages.h"
#include "pixel/statistics.h"
#include "pixel/table.h"
#include "pixel/taps.h"

namespace fastaug::cuda {
namespace {

constexpr int64_t kAlignment = 256;  // of what lies in the scratch

int64_t aligned(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

// An image in memory between two parts.
struct Memory {
  Strided at;
  int height;
  int width;
  int channels;
};

Strided strided(const void* data, ptrdiff_t row, ptrdiff_t pixel, ptrdiff_t channel) {
  return {static_cast<int64_t>(reinterpret_cast<intptr_t>(data)), 0, row, pixel, channel};
}

// The same memory, seen from a pixel of it.
Strided moved(Strided at, int64_t y, int64_t x) {
  at.address += y * at.row_stride + x * at.pixel_stride;
  return at;
}

// The memory of an image of height rows and width columns, rotated by turns times 90 degrees, 1 or 3.
Memory turned(const Memory& m, int turns) {
  const Strided at = turns == 1 ? moved(m.at, 0, m.width - 1) : moved(m.at, m.height - 1, 0);
  const int64_t sign = turns == 1 ? 1 : -1;
  return {{at.address, at.scratch, -sign * at.pixel_stride, sign * at.row_stride, at.channel_stride},
          m.width,
          m.height,
          m.channels};
}

// Where pixels of the image before that rotation go in the memory of the one after it.
Strided turned_back(const Strided& after, int turns, int height, int width) {
  return turned({after, width, height, 1}, 4 - turns).at;
}

int64_t counts_bytes(int statistics, int64_t pixels) {
  switch (statistics) {
    case kLumaSum:
    case kGraySum:
    case kV2GraySum:
      return offsetof(Counts, low);
    case kGrayParts:
    case kV2GrayParts:
      return sizeof(uint64_t) + torch_order(pixels).size() * static_cast<int64_t>(sizeof(uint32_t));
    case kExtremes:
      return offsetof(Counts, count);
    default:
      return sizeof(Counts);
  }
}

Statistics statistics_of(const Op& op, int64_t pixels) {
  switch (op.id) {
    case OpId::CONTRAST:
      return kLumaSum;
    case OpId::TORCH_CONTRAST:
      return pixels > kExactTorchPixels ? kGrayParts : kGraySum;
    case OpId::V2_CONTRAST:
      return pixels > kExactTorchPixels ? kV2GrayParts : kV2GraySum;
    case OpId::AUTOCONTRAST:
    case OpId::TORCH_AUTOCONTRAST:
    case OpId::V2_AUTOCONTRAST:
      return kExtremes;
    case OpId::EQUALIZE:
      return kHistogram;
    default:
      fail_on("statistics_of", op.id);
  }
}
static_assert(registry::for_every_op([](OpId id) {
                return (kind_of(id) == OpKind::kReduction) ==
                       (id == OpId::CONTRAST || takes_torch_mean(id) || id == OpId::AUTOCONTRAST ||
                        id == OpId::TORCH_AUTOCONTRAST || id == OpId::V2_AUTOCONTRAST || id == OpId::EQUALIZE);
              }),
              "a reduction has no statistics on a device");

Source source_of(const Op& op, bool rounded) {
  const auto mode = static_cast<Interpolation>(op.flags & kFilterMask);
  const auto by_mode = [&](Source nearest, Source linear, Source cubic) {
    return mode == Interpolation::kNearest ? nearest : mode == Interpolation::kBilinear ? linear : cubic;
  };
  switch (op.id) {
    case OpId::AFFINE:
      return rounded ? by_mode(kAffineNearest, kRoundedAffineLinear, kRoundedAffineCubic)
                     : by_mode(kAffineNearest, kAffineLinear, kAffineCubic);
    case OpId::PERSPECTIVE:
      return rounded ? by_mode(kPerspectiveNearest, kRoundedPerspectiveLinear, kRoundedPerspectiveCubic)
                     : by_mode(kPerspectiveNearest, kPerspectiveLinear, kPerspectiveCubic);
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      return mode == Interpolation::kNearest ? kGridNearest : kGridLinear;
    default:
      fail_on("source_of", op.id);
  }
}
static_assert(registry::for_every_op([](OpId id) {
                return registry::follows(has(id, Trait::kWarp),
                                         id == OpId::AFFINE || id == OpId::PERSPECTIVE || samples_grid(id));
              }),
              "a warp is no source of a device");

// kStepKinds stands for none.
constexpr StepKind step_of(OpId id, bool vertical) {
  switch (id) {
    case OpId::WINDOW:
    case OpId::PAD:
    case OpId::NEAREST:
    case OpId::HFLIP:
    case OpId::VFLIP:
      return kTake;
    case OpId::RESIZE:
      return vertical ? kDown : kAcross;
    case OpId::SHARPNESS:
      return kSharpen;
    case OpId::TORCH_SHARPNESS:
      return kTorchSharpen;
    case OpId::V2_SHARPNESS:
      return kV2Sharpen;
    case OpId::BLUR:
      return kBlur;
    case OpId::TORCH_RESIZE:
      return kTorchFilter;
    default:
      return kStepKinds;
  }
}
static_assert(registry::for_every_op([](OpId id) {
                const bool steps = kind_of(id) == OpKind::kGeometry || kind_of(id) == OpKind::kFilter;
                const bool other = has(id, Trait::kWarp) || id == OpId::ROT90 || id == OpId::BOX_BLUR;
                return (steps && !other) == (step_of(id, false) != kStepKinds);
              }),
              "an op of geometry, or a filter, has no step on a device");

// Tiles from large to small: the first whose pixels fit into shared memory is taken.
constexpr int kTiles[][2] = {{32, 32}, {16, 32}, {16, 16}, {8, 16}, {8, 8}, {4, 8}, {4, 4}, {2, 2}, {1, 1}};

}  // namespace

template <class T>
uint32_t Bag::put(std::span<const T> values) {
  const size_t offset = (blob_.size() + 15) / 16 * 16;
  if (offset + values.size_bytes() > kNowhere / 2) {
    fail(ErrorCode::kValue, "a bag of so many images does not fit into one call: its programs take 2 GB");
  }
  blob_.resize(offset + values.size_bytes());
  if (!values.empty()) std::memcpy(blob_.data() + offset, values.data(), values.size_bytes());
  return static_cast<uint32_t>(offset);
}

uint32_t Bag::reserve(int64_t bytes) {
  const int64_t offset = scratch_;
  scratch_bytes_ = std::max(scratch_bytes_, offset + bytes);
  scratch_ += aligned(bytes, kAlignment);
  if (offset >= kNowhere) fail(ErrorCode::kValue, "an image needs more than 4 GB of memory between its parts");
  return static_cast<uint32_t>(offset);
}

Bag::Level& Bag::level(size_t number) {
  if (levels_.size() <= number) levels_.resize(number + 1);
  used_levels_ = std::max(used_levels_, number + 1);
  return levels_[number];
}

int Bag::kernel_of(const Features& wanted) {
  for (size_t k = 0; k < features_.size(); ++k) {
    Features& f = features_[k];
    if (f.source != wanted.source || f.channels != wanted.channels || f.dtype != wanted.dtype) continue;
    f.steps |= wanted.steps;
    f.ends |= wanted.ends;
    f.ops |= wanted.ops;
    f.flags |= wanted.flags;
    return static_cast<int>(k);
  }
  features_.push_back(wanted);
  return static_cast<int>(features_.size()) - 1;
}

void Bag::end_wave() {
  for (size_t number = 0; number < used_levels_; ++number) {
    Level& level = levels_[number];
    if (!level.tasks.empty()) {
      const auto count = static_cast<int32_t>(level.tasks.size());
      launches_.push_back({-1, put(std::span<const Task>(level.tasks)), count, count, 0});
      level.tasks.clear();
    }
    for (size_t k = 0; k < level.groups.size(); ++k) {
      Group& group = level.groups[k];
      if (group.entries.empty()) continue;
      const uint32_t offset = put(std::span<const Entry>(group.entries));
      const auto count = static_cast<int32_t>(group.entries.size());
      launches_.push_back({static_cast<int32_t>(k), offset, count, group.blocks, group.shared});
      group = {};
    }
  }
  if (used_levels_ != 0) ++waves_;
  used_levels_ = 0;
  scratch_ = 0;
}

void Bag::finish() { end_wave(); }

// One image of a bag.
class Lowering {
 public:
  Lowering(Bag& bag, const Plan& plan, const Job& job) : bag_(bag), plan_(plan), target_(job.target) {
    const View& view = job.source.view;
    memory_ = {strided(view.data, view.row_stride, view.pixel_stride, view.channel_stride), view.height, view.width,
               view.channels};
  }

  void run() {
    for (const Pass& pass : plan_.passes) take(pass);
  }

  // Whether a device does all of a plan. BOX_BLUR is left to the host: each of its passes rounds, so that a tile would
  // have to be made with all that they reach around it.
  static bool is_fit(const Plan& plan) {
    return std::none_of(plan.passes.begin(), plan.passes.end(), [&](const Pass& pass) {
      if (pass.kind == PassKind::kBoxBlur) return true;
      const Op& op = plan.ops[static_cast<size_t>(std::min<int>(pass.begin, static_cast<int>(plan.ops.size()) - 1))];
      return pass.kind == PassKind::kWarp && op.id == OpId::AFFINE && (op.flags & kFilterMask) == 0 &&
             nearest_route(op.f, op.i[0], op.i[1]) == NearestRoute::kAccumulate;
    });
  }

 private:
  // What pixels go through, after the source (the first one) or a step.
  struct Link {
    Step step{};
    Region region{};   // that is made of its output
    int channels = 0;  // that it leaves before its colours
    std::vector<Colour> colours;

    int after() const {
      int now = channels;
      for (const Colour& c : colours) {
        if (c.kind == Colour::kLane || c.kind == Colour::kFloat) now = channels_after(c.op, now);
      }
      return now;
    }
  };

  // A table of lookups, and which colour of which link has it.
  struct Lookups {
    uint32_t ops;
    int32_t count;
    int32_t channels;
    size_t link;
    size_t colour;
  };

  const fastaug::Step& op_of(const Pass& pass) const { return plan_.ops[static_cast<size_t>(pass.begin)]; }

  void take(const Pass& pass) {
    switch (pass.kind) {
      case PassKind::kRead:
      case PassKind::kWarp:
        return begin(pass);
      case PassKind::kWindow:
      case PassKind::kIndex:
      case PassKind::kFilter:
      case PassKind::kTorchFilter:
      case PassKind::kSharpen:
      case PassKind::kBlur:
        return add_step(pass);
      case PassKind::kTables:
        return add_lookups(pass);
      case PassKind::kColour:
        add_colours(pass.begin, pass.end, pass.floats);
        if (pass.floats) {
          Colour round{};
          round.kind = Colour::kRound;
          round.channels = links_.back().after();
          links_.back().colours.push_back(round);
        }
        return;
      case PassKind::kKeep:
      case PassKind::kTurn:
      case PassKind::kStatistics:
        return keep(pass);
      case PassKind::kStore:
        return store();
      case PassKind::kBoxBlur:
      case PassKind::kDecode:
      case PassKind::kMove:
      case PassKind::kMoveWarped:
      case PassKind::kRecolour:
        break;
    }
    fail(ErrorCode::kRuntime, std::string("a device has nothing for the pass ") + name_of(pass.kind));
  }

  // ---- The links of a part.

  void begin(const Pass& pass) {
    part_ = {};
    part_.counted = counted_;
    part_.reduction = reduction_;
    part_.counted_pixels = counted_pixels_;
    counted_ = kNowhere;
    part_.from = moved(memory_.at, pass.crop.y, pass.crop.x);
    part_.height = pass.crop.height;
    part_.width = pass.crop.width;
    part_.channels = memory_.channels;
    links_.assign(1, Link{});
    links_[0].region = pass.region;
    links_[0].channels = memory_.channels;
    shape_ = {pass.crop.height, pass.crop.width, memory_.channels};
    if (pass.kind == PassKind::kWarp) warp(op_of(pass), pass.region);
  }

  void warp(const Op& op, Region region) {
    shape_ = {op.i[0], op.i[1], memory_.channels};
    if (op.id == OpId::AFFINE && (op.flags & kFilterMask) == 0) {
      if (nearest_route(op.f, op.i[0], op.i[1]) == NearestRoute::kScale) return scale(op, region);
      part_.fixed = make_fixed(op.f);
    }
    part_.warp = op;
    part_.source = source_of(op, plan_.rounded);
    if (samples_grid(op.id)) {
      part_.map = grid_map(op, {nullptr, part_.height, part_.width, part_.channels, 0, 0, 0});
      for (int c = 0; c < kMaxChannels; ++c) part_.fill[c] = fill_of(op, c);
    }
  }

  // Without shear it is a table for each axis.
  void scale(const Op& op, Region region) {
    links_[0].region = {0, 0, part_.height, part_.width};
    Link& link = add_link(op, kTake, region);
    link.step.in_height = part_.height;
    link.step.in_width = part_.width;
    link.step.out_height = op.i[0];
    link.step.out_width = op.i[1];
  }

  // A window of the source needs no step: pixels are counted from its corner.
  void shift(const Op& op, const Pass& pass) {
    part_.from = part_.source == kRead ? moved(part_.from, op.i[0], op.i[1]) : part_.from;
    part_.shift_y += op.i[0];
    part_.shift_x += op.i[1];
    links_[0].region = pass.region;
    shape_ = plan_.shapes[static_cast<size_t>(pass.end)];
  }

  Link& add_link(const Op& op, StepKind kind, Region region) {
    const int channels = links_.back().after();
    Link& link = links_.emplace_back();
    link.region = region;
    link.channels = channels;
    link.step.op = op;
    link.step.kind = kind;
    link.step.channels = channels;
    link.step.rows = link.step.columns = link.step.weights = kNowhere;
    link.step.begin_row = region.y;
    link.step.begin_column = region.x;
    link.step.row_outputs = region.height;
    link.step.column_outputs = region.width;
    return link;
  }

  void add_step(const Pass& pass) {
    const Op& op = op_of(pass);
    if (links_.size() == 1 && links_[0].colours.empty() && is_window_inside(op, shape_)) return shift(op, pass);
    Link& link = add_link(op, step_of(op.id, pass.vertical), pass.region);
    Step& step = link.step;
    step.in_height = shape_.height;
    step.in_width = shape_.width;
    if (pass.kind != PassKind::kFilter) {
      shape_ = plan_.shapes[static_cast<size_t>(pass.end)];
    } else if (pass.vertical) {
      shape_.height = op.i[0];
    } else {
      shape_.width = op.i[1];
    }
    step.out_height = shape_.height;
    step.out_width = shape_.width;
    step.bits = kWeightBits;
  }

  void add_colours(int begin, int end, bool floats) {
    Link& link = links_.back();
    for (int k = begin; k < end; ++k) {
      Colour colour{};
      colour.op = plan_.ops[static_cast<size_t>(k)];
      colour.kind = floats ? Colour::kFloat : Colour::kLane;
      colour.channels = link.after();
      colour.host = kNowhere;
      link.colours.push_back(colour);
    }
  }

  void add_lookups(const Pass& pass) {
    Link& link = links_.back();
    Colour lookup{};
    lookup.kind = Colour::kLookup;
    lookup.channels = link.after();
    std::vector<Colour> ops;
    for (int k = pass.begin; k < pass.end; ++k) {
      Colour colour{};
      colour.op = plan_.ops[static_cast<size_t>(k)];
      colour.channels = lookup.channels;
      colour.host = kNowhere;
      if (colour.op.id == OpId::GAMMA || colour.op.id == OpId::TORCH_GAMMA) {  // libm's pow
        uint8_t table[256];
        plain_table(colour.op, table);
        colour.host = bag_.put(std::span<const uint8_t>(table));
      }
      ops.push_back(colour);
    }
    lookups_.push_back({bag_.put(std::span<const Colour>(ops)), static_cast<int32_t>(ops.size()), lookup.channels,
                        links_.size() - 1, link.colours.size()});
    link.colours.push_back(lookup);
  }

  // ---- The end of a part.

  void keep(const Pass& pass) {
    const bool looks = pass.kind == PassKind::kStatistics;
    const bool turns = pass.kind == PassKind::kTurn;
    const int turns_by = turns ? op_of(pass).flags : 0;
    if (turns && links_.size() == 1 && part_.source == kRead && links_[0].colours.empty()) {
      memory_ = turned({part_.from, part_.height, part_.width, part_.channels}, turns_by);
      return;
    }
    if (pass.statistics || looks) {
      const Op& op = op_of(pass);
      const Shape whole = plan_.shapes[static_cast<size_t>(pass.begin)];
      counted_pixels_ = int64_t{whole.height} * whole.width;
      part_.statistics = statistics_of(op, counted_pixels_);
      part_.counts = bag_.reserve(counts_bytes(part_.statistics, counted_pixels_));
      counted_ = part_.counts;
      reduction_ = op.id;
    }
    part_.shown = pass.region;
    if (looks) {
      part_.end = kLookOnly;
      emit();
      return;
    }
    const Memory kept = room(pass.region, shape_, links_.back().after(), turns_by);
    part_.end = kKeep;
    part_.to = turns ? turned_back(kept.at, turns_by, shape_.height, shape_.width) : kept.at;
    part_.out_channels = kept.channels;
    emit();
    memory_ = kept;
  }

  // Scratch for a region of an image; the memory stands for the whole of it, after `turns`.
  Memory room(Region region, Shape shape, int channels, int turns) {
    if (turns != 0) {
      region = {0, 0, shape.width, shape.height};
      std::swap(shape.height, shape.width);
    }
    const int64_t row = int64_t{region.width} * channels;
    const int64_t start = bag_.scratch_;
    bag_.scratch_bytes_ = std::max(bag_.scratch_bytes_, start + row * region.height);
    bag_.scratch_ += aligned(row * region.height, kAlignment);
    const Strided at = {start, 1, row, channels, 1};
    return {moved(at, -int64_t{region.y}, -int64_t{region.x}), shape.height, shape.width, channels};
  }

  void store() {
    const StorePlan& store = plan_.store;
    part_.end = kStore;
    part_.shown = {0, 0, target_.height, target_.width};
    part_.dtype = static_cast<int32_t>(target_.dtype);
    part_.out_channels = target_.channels;
    if (store.fused_begin != store.fused_end) {
      add_colours(store.fused_begin, store.fused_end, true);
      part_.floats = 1;
    }
    Strided to = strided(target_.data, target_.row_stride, target_.pixel_stride, target_.channel_stride);
    if (store.vflip) {
      to = moved(to, target_.height - 1, 0);
      to.row_stride = -to.row_stride;
    }
    if (store.hflip) {
      to = moved(to, 0, target_.width - 1);
      to.pixel_stride = -to.pixel_stride;
    }
    part_.to = to;
    if (store.floats) forms(store.normalize);
    std::vector<Erased> erased;
    for (const Erase& erase : store.erases) {
      Erased& one = erased.emplace_back();
      one.region = erase.region;
      if (store.vflip) one.region.y = target_.height - erase.region.y - erase.region.height;
      if (store.hflip) one.region.x = target_.width - erase.region.x - erase.region.width;
      std::copy_n(erase.value, kMaxChannels, one.value);
    }
    part_.erases = static_cast<int32_t>(erased.size());
    if (!erased.empty()) part_.erase = bag_.put(std::span<const Erased>(erased));
    emit();
  }

  void forms(const FloatStore& store) {
    if (!bag_.has_forms_ || !(bag_.stored_ == store)) {
      bag_.stored_ = store;
      bag_.has_forms_ = true;
      for (int c = 0; c < kMaxChannels; ++c) {
        bag_.forms_[c] =
            store_form(store.normalize, store.mean[c], store.normalize ? store.std[c] : 1.0f, store.multiplied);
      }
    }
    std::copy_n(bag_.forms_, kMaxChannels, part_.form);
  }

  // ---- Parts to the bag.

  struct Tiling {
    int height = 0;  // 0: nothing fits
    int width = 0;
    uint32_t first = 0;  // bytes of the two buffers
    uint32_t second = 0;
    bool direct = false;
    double work = HUGE_VAL;
  };

  // The part as it is; or in several, with an image in memory between them, where its pixels do not fit into shared
  // memory together, or where tiles would compute much of their neighbours.
  void emit() {
    const size_t steps = links_.size() - 1;
    const Tiling whole = tiling(1, steps + 1);
    if (whole.height != 0 && (steps < 2 || whole.work < kMuchWork * ideal_work())) return finish(whole);
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
        const Tiling tiles = tiling(begin, end);
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

  // Where not even one step fits after the colours of what it reads: those with an image in memory behind them.
  void emit_apart() {
    if (links_.size() == 1 || links_[0].colours.empty()) return finish({});
    const Part all = part_;
    std::vector<Link> links = std::move(links_);
    const std::vector<Lookups> lookups = std::move(lookups_);
    const Step& next = links[1].step;
    take_links(links, lookups, 1, 1);
    const Memory kept = room(links[0].region, {next.in_height, next.in_width, 0}, links[0].after(), 0);
    end_in(kept, links[0].region);
    finish(tiling(1, 1));
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

  // The steps from `begin` on, up to `end`, and what is before the first.
  void take_links(const std::vector<Link>& links, const std::vector<Lookups>& lookups, size_t begin, size_t end) {
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

  void come_from_memory() {
    part_.from = memory_.at;
    part_.height = memory_.height;
    part_.width = memory_.width;
    part_.channels = memory_.channels;
    part_.source = kRead;
    links_[0].region = {0, 0, memory_.height, memory_.width};
    links_[0].channels = memory_.channels;
  }

  void end_in(const Memory& kept, Region shown) {
    part_.end = kKeep;
    part_.dtype = static_cast<int32_t>(DType::kUint8);
    part_.to = kept.at;
    part_.shown = shown;
    part_.out_channels = kept.channels;
    part_.floats = part_.erases = 0;
    part_.statistics = kNoStatistics;
  }

  void end_as(const Part& all) {
    part_.end = all.end;
    part_.dtype = all.dtype;
    part_.to = all.to;
    part_.shown = all.shown;
    part_.out_channels = all.out_channels;
    part_.floats = all.floats;
    part_.erases = all.erases;
    part_.statistics = all.statistics;
  }

  // Work is in instructions for each pixel of three channels, as far as they were counted in machine code.
  static constexpr double kStoreWork = 60.0;
  static constexpr double kCutWork = 40.0;  // to write a pixel and to read it again
  // Above this share of the work without neighbours, cutting is thought about.
  static constexpr double kMuchWork = 1.7;
  // A first step reads the source only where that saves so much: it is another loop in the kernel.
  static constexpr double kDirectShare = 0.8;

  static double read_work(int source) {
    switch (source) {
      case kRead:
        return 15.0;
      case kAffineNearest:
      case kPerspectiveNearest:
      case kGridNearest:
        return 40.0;
      case kAffineCubic:
      case kPerspectiveCubic:
        return 520.0;
      default:
        return 130.0;
    }
  }

  // Of torch's resize.
  static double mean_taps(TapAxis axis) { return axis.in == axis.out ? 1.0 : 2.0 * torch_scale(axis).support; }

  static double step_work(const Step& s, double reads) {
    switch (s.kind) {
      case kTake:
        return 10.0 + reads;
      case kAcross:
      case kDown: {
        const bool down = s.kind == kDown;
        const TapAxis axis = {s.op.flags & kFilterMask, down ? s.in_height : s.in_width,
                              down ? s.out_height : s.out_width};
        return 20.0 + 2.0 * tap_scale(axis).support * (2.0 + reads);
      }
      case kTorchFilter: {
        const double taps = mean_taps({s.op.flags, s.in_width, s.out_width});
        return 20.0 + mean_taps({s.op.flags, s.in_height, s.out_height}) * (6.0 + taps * (4.0 + reads));
      }
      case kBlur:
        return 20.0 + static_cast<double>(s.op.i[0]) * s.op.i[1] * (4.0 + reads);
      default:
        return 40.0 + 9.0 * reads;
    }
  }
  static constexpr double kSharedRead = 6.0;

  // If tiles had no neighbours.
  double ideal_work() const {
    double work = kStoreWork * static_cast<double>(area(part_.shown));
    const bool direct = links_.size() > 1 && links_[1].step.kind == kTake;
    if (!direct) work += read_work(part_.source) * static_cast<double>(area(links_[0].region));
    for (size_t k = 1; k < links_.size(); ++k) {
      const double reads = k == 1 && direct ? read_work(part_.source) : kSharedRead;
      work += step_work(links_[k].step, reads) * static_cast<double>(area(links_[k].region));
    }
    return work;
  }

  uint32_t fixed_bytes(size_t begin, size_t end) const {
    size_t colours = begin == 1 ? links_[0].colours.size() : 0;
    for (size_t k = begin; k < end; ++k) colours += links_[k].colours.size();
    return shared_pixels(static_cast<int>(colours), end == links_.size() ? part_.statistics : kNoStatistics);
  }

  // How steps [begin, end) had better be tiled, as one part.
  Tiling tiling(size_t begin, size_t end) const {
    const bool takes = end > begin && links_[begin].step.kind == kTake;
    // Whose colours lie in between has to be read first.
    const bool reads = begin == 1 && !links_[0].colours.empty();
    Tiling best = takes && !reads ? Tiling{} : tiling(begin, end, false);
    if (end > begin && !reads) {
      const Tiling other = tiling(begin, end, true);
      if (other.work < kDirectShare * best.work) best = other;
    }
    return best;
  }

  Tiling tiling(size_t begin, size_t end, bool direct) const {
    const uint32_t fixed = fixed_bytes(begin, end);
    const Region shown = end == links_.size() ? part_.shown : links_[end - 1].region;
    const double reads = read_work(begin == 1 ? part_.source : kRead);
    for (const auto& size : kTiles) {
      int rows = std::min(size[0], shown.height);
      int columns = std::min(size[1], shown.width);
      double work = kStoreWork * rows * columns;
      int64_t bytes[2] = {0, 0};
      for (size_t k = end; k-- > begin;) {
        const Step& s = links_[k].step;
        const bool from_source = direct && k == begin;
        work += step_work(s, from_source ? reads : kSharedRead) * rows * columns;
        if (s.kind != kAcross) rows = extent_bound(s.op, true, rows, s.in_height, s.out_height);
        if (s.kind != kDown) columns = extent_bound(s.op, false, columns, s.in_width, s.out_width);
        if (from_source) break;
        const size_t stage = k - begin - (direct ? 1 : 0);  // that makes what step k reads
        int64_t& most = bytes[stage % 2];
        most = std::max(most, int64_t{rows} * columns * word_bytes(s.channels));
      }
      if (!direct) work += reads * rows * columns;
      bytes[0] = aligned(bytes[0], 16);
      bytes[1] = aligned(bytes[1], 16);
      if (fixed + bytes[0] + bytes[1] > bag_.options_.shared_bytes) continue;
      const double tiles = std::ceil(1.0 * shown.height / size[0]) * std::ceil(1.0 * shown.width / size[1]);
      return {size[0], size[1], static_cast<uint32_t>(bytes[0]), static_cast<uint32_t>(bytes[1]), direct, work * tiles};
    }
    return {};
  }

  void finish(const Tiling& tiles) {
    if (tiles.height == 0) {
      fail(ErrorCode::kValue, "a block needs more than the " + std::to_string(fixed_bytes(1, links_.size())) +
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
    part.shared = fixed_bytes(1, links_.size()) + tiles.first + tiles.second;
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

  // Room for the tables of a step, and who makes them.
  void tables(Step* step, int number, std::vector<Task>* tasks) {
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

  Bag::HostTaps host_taps(TapAxis axis, bool down, int begin, int count) {
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
    const Bag::HostTaps made = {bag_.put(std::span<const TapRange>(ranges)),
                                bag_.put(std::span<const int32_t>(weights)), taps.bits};
    return bag_.tables_[key] = made;
  }

  Bag& bag_;
  const Plan& plan_;
  const Target& target_;
  Memory memory_{};
  Part part_{};
  std::vector<Link> links_;
  std::vector<Lookups> lookups_;
  Shape shape_;  // of what the last link makes
  size_t level_ = 0;
  uint32_t counted_ = kNowhere;
  OpId reduction_{};
  int64_t counted_pixels_ = 0;
};

namespace {

Plan device_plan(Program program, const View& source, const Target& target, uint32_t rewrites) {
  const Kernels& plain = *kernels("scalar");  // whose layout of taps nobody asks for
  return make_plan(program, source, target, {plain, rewrites, false, true});
}

}  // namespace

Region needed_region(Program program, Shape in, uint32_t rewrites) {
  const View view{nullptr, in.height, in.width, in.channels, int64_t{in.width} * in.channels, in.channels, 1};
  const Plan plan = device_plan(program, view, usual_target(program, in), rewrites);
  Region all{};
  for (const Pass& pass : plan.passes) {
    if (pass.kind == PassKind::kRead || pass.kind == PassKind::kWarp) {
      const Region r = {pass.crop.y + pass.read.y, pass.crop.x + pass.read.x, pass.read.height, pass.read.width};
      if (all.height == 0) {
        all = r;
      } else {
        const int y = std::min(all.y, r.y);
        const int x = std::min(all.x, r.x);
        all = {y, x, std::max(all.y + all.height, r.y + r.height) - y, std::max(all.x + all.width, r.x + r.width) - x};
      }
    } else if (pass.kind == PassKind::kKeep || pass.kind == PassKind::kTurn) {
      break;  // what follows reads what is kept
    }
  }
  return all;
}

bool Bag::add(const Job& job) {
  if (job.source.pixels != nullptr || job.source.view.dtype != DType::kUint8 || job.target.fill_gaps) return false;
  const Plan plan = device_plan(job.program, job.source.view, job.target, options_.rewrites);
  if (plan.out.channels != job.target.channels || !Lowering::is_fit(plan)) return false;
  if (scratch_ >= options_.wave_bytes) end_wave();
  Lowering(*this, plan, job).run();
  return true;
}

}  // namespace fastaug::cuda
