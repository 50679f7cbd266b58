#include "plan/plan.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/pixel_source.h"
#include "base/status.h"
#include "plan/colour_run.h"
#include "plan/regions.h"

namespace fastaug {
namespace {

// Ops that stream row by row, between two ops that need a whole image.
struct Part {
  size_t begin;  // windows from here on only say which part of the image in memory is meant
  size_t start;  // the first op that is computed
  size_t end;
  std::vector<Region> regions;  // regions[k - start] of what enters op k is computed, the last of what comes out
  Region source;                // what is needed of what enters op `begin`
};

// True if ops of a kind are a pass each; others share one, or are done by the store.
constexpr bool has_pass(OpKind kind) { return kind == OpKind::kGeometry || kind == OpKind::kFilter; }

// The pass that an op of such a kind is.
constexpr std::optional<PassKind> pass_of(OpId id) {
  switch (id) {
    case OpId::WINDOW:
      return PassKind::kWindow;
    case OpId::PAD:
    case OpId::NEAREST:
    case OpId::HFLIP:
    case OpId::VFLIP:
      return PassKind::kIndex;
    case OpId::RESIZE:
      return PassKind::kFilter;
    case OpId::TORCH_RESIZE:
      return PassKind::kTorchFilter;
    case OpId::ROT90:
      return PassKind::kTurn;
    case OpId::AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      return PassKind::kWarp;
    case OpId::SHARPNESS:
    case OpId::TORCH_SHARPNESS:
    case OpId::V2_SHARPNESS:
      return PassKind::kSharpen;
    case OpId::BLUR:
      return PassKind::kBlur;
    case OpId::BOX_BLUR:
      return PassKind::kBoxBlur;
    case OpId::JPEG:
      return PassKind::kJpeg;
    default:
      return std::nullopt;
  }
}
static_assert(registry::for_every_op([](OpId id) { return has_pass(kind_of(id)) == pass_of(id).has_value(); }),
              "an op of geometry, or a filter, has no pass");

// The image that is in memory while a part is planned.
struct Memory {
  Region crop;  // the part of it that the next op sees as its input
  int channels;
  int64_t pixel_bytes;
  bool kept = false;  // by a pass; else it is the source
};

Pass& add_pass(Plan* plan, PassKind kind, int part, const OpList& ops, size_t begin, size_t end) {
  Pass& pass = plan->passes.emplace_back(Pass{kind, part, static_cast<int>(begin), static_cast<int>(end)});
  for (size_t k = begin; k < end; ++k) pass.origin |= ops[k].origin;
  return pass;
}

void add_decode(Plan* plan, Region wanted) {
  plan->decoded = true;
  Pass& pass = add_pass(plan, PassKind::kDecode, 0, {}, 0, 0);
  pass.region = wanted;
  pass.channels = plan->in.channels;
}

// True if a level that a sample is off by can become many.
bool magnifies(const Op& op) {
  const bool by_table = has(op.id, Trait::kTable) && op.id != OpId::INVERT;
  const bool by_factor = whole_input_of(op.id) == WholeInput::kMean && op.f[0] > 2.0;
  return by_table || by_factor || pass_of(op.id) == PassKind::kSharpen || pass_of(op.id) == PassKind::kJpeg;
}

// True if one of fast mode's rewrites computes an op in another way.
bool is_inexact(const Op& op) {
  return has(op.id, Trait::kFloatForm) || has(op.id, Trait::kWarp) || pass_of(op.id) == PassKind::kFilter ||
         pass_of(op.id) == PassKind::kTorchFilter;
}

// True if an op gives bytes from bytes without a rounding.
bool is_whole(const Op& op) {
  switch (op.id) {
    case OpId::INVERT:
    case OpId::POSTERIZE:
    case OpId::SOLARIZE:
    case OpId::EQUALIZE:
    case OpId::REPLICATE:
    case OpId::V2_PERMUTE:
      return true;
    default:
      return has(op.id, Trait::kMove) || kind_of(op.id) == OpKind::kStore;
  }
}

// True if the roundings of an op go up more often than down: a box of two samples has a half for every other sum.
bool rounds_up(const Op& op) {
  return op.id == OpId::RESIZE && (op.flags & kFilterMask) == static_cast<uint16_t>(Filter::kBox);
}

// With fewer pixels, chance decides which roundings are nearer to the truth.
constexpr int64_t kFewPixels = 32 * 32;

bool has_few_pixels(Shape shape) { return int64_t{shape.height} * shape.width < kFewPixels; }

// Fast mode's rewrites are for programs in which a sample stays as near as it is. Where an op behind an inexact one
// magnifies what they differ by from torchvision, neither of the two is nearer to the truth. Nor is it where a table
// turns round what torchvision has cut off to the next lower byte, or where roundings up make up for it: by luck.
uint32_t applicable(Program program, Shape in, uint32_t rewrites) {
  bool inexact = false;
  bool rounded = false;
  bool turned = false;
  if ((rewrites & ~uint32_t{kExactRewrites}) == 0) return rewrites;
  bool few = has_few_pixels(in);
  for (const Op& op : program) {
    in = shape_after(op, in);
    few = few || has_few_pixels(in);
    const bool undoes = turned && is_inexact(op);
    if (undoes || (inexact && (magnifies(op) || rounds_up(op)))) return rewrites & kExactRewrites;
    turned = turned || (rounded && has(op.id, Trait::kTable));
    inexact = inexact || is_inexact(op);
    rounded = rounded || !is_whole(op);
  }
  return few && is_fast(rewrites) ? rewrites & kExactRewrites : rewrites;
}

uint32_t rewrites_of(const PlanOptions& options) {
  if (options.device) return options.rewrites & ~uint32_t{kComposeTaps | kMovePixels};
  return options.scattered ? options.rewrites & ~uint32_t{kMovePixels | kRecolourPixels} : options.rewrites;
}

// Store ops leave the end of the list for the plan of the store.
void take_store(OpList* ops, StorePlan* store) {
  while (!ops->empty() && kind_of(ops->back().id) == OpKind::kStore) {
    const Step& op = ops->back();
    store->floats = true;
    store->origin |= op.origin;
    if (op.id == OpId::NORMALIZE) {
      store->normalize.normalize = true;
      for (int c = 0; c < kMaxChannels; ++c) {
        store->normalize.mean[c] = static_cast<float>(op.f[c]);
        store->normalize.std[c] = static_cast<float>(op.f[4 + c]);
      }
    } else if (op.id == OpId::ERASE) {
      Erase erase{{op.i[0], op.i[1], op.i[2], op.i[3]}};
      for (int c = 0; c < kMaxChannels; ++c) erase.value[c] = static_cast<float>(op.f[c]);
      store->erases.insert(store->erases.begin(), erase);
    } else if (begins_store(op.id)) {
      store->normalize.multiplied = multiplies(op.id);
      if (multiplies(op.id)) store->normalize.factor = unit_of(op);
    } else {
      fail_on("take_store", op.id);
    }
    ops->pop_back();
  }
}

class Planner {
 public:
  Planner(Plan* plan, const Target& target, const PlanOptions& options)
      : plan_(*plan),
        target_(target),
        options_(options),
        regions_(options.kernels, take_ends(std::move(plan->ops)), plan->in, rewrites_of(options), !options.device),
        ops_(regions_.ops()) {}

  void run(const View& source) {
    split(options_.device || is_warp_source(source));
    plan_.passes.reserve(ops_.size() + 2 * parts_.size() + 2);
    if (options_.encoded) {
      add_decode(&plan_, parts_[0].source);
      part_ = 1;
    }
    memory_ = {whole(plan_.in), plan_.in.channels, pixel_bytes(source)};
    for (size_t p = 0; p < parts_.size(); ++p, ++part_) {
      const bool last = p + 1 == parts_.size();
      if (last && goes_straight(parts_[p], source)) {
        recolour(parts_[p]);
        break;
      }
      enter(parts_[p]);
      last ? store() : barrier(parts_[p]);
    }
    regions_.release(&plan_.ops, &plan_.shapes);
  }

 private:
  // Ops at the end that only say how the result is written.
  OpList take_ends(OpList ops) {
    StorePlan& store = plan_.store;
    take_store(&ops, &store);
    while (!ops.empty() && has(ops.back().id, Trait::kFlip)) {
      bool& flip = ops.back().id == OpId::HFLIP ? store.hflip : store.vflip;
      flip = !flip;
      store.origin |= ops.back().origin;
      ops.pop_back();
    }
    return ops;
  }

  // Fills parts_, and, from the last to the first, which regions each has to compute.
  void split(bool walks) {
    size_t reduced_until = static_cast<size_t>(-1);
    for (size_t begin = 0;;) {
      Part part{begin, begin, 0, {}, {}};
      while (part.start < ops_.size() && is_window_inside(ops_[part.start], regions_.shape(part.start))) ++part.start;
      part.end = part_end(part.start, walks, reduced_until);
      parts_.push_back(part);
      if (part.end == ops_.size()) break;
      const OpId id = ops_[part.end].id;
      if (kind_of(id) == OpKind::kReduction) reduced_until = part.end;
      // An image kept between parts has the layout that a warp needs, if one comes next.
      walks = options_.device || has(id, Trait::kWarp);
      begin = whole_input_of(id) == WholeInput::kTurn ? part.end + 1 : part.end;
    }
    Region out = whole(regions_.shape(ops_.size()));
    for (size_t p = parts_.size(); p-- > 0;) {
      Part& part = parts_[p];
      part.regions.assign(part.end - part.start + 1, out);
      for (size_t k = part.end; k-- > part.start;) {
        part.regions[k - part.start] = regions_.source_region(k, part.regions[k - part.start + 1]);
      }
      part.source = part.regions[0];
      for (size_t k = part.start; k-- > part.begin;) part.source = regions_.source_region(k, part.source);
      if (p == 0) break;
      const size_t end = parts_[p - 1].end;
      const bool all = kind_of(ops_[end].id) == OpKind::kReduction || ops_[end].id == OpId::ROT90;
      out = all ? whole(regions_.shape(end)) : part.source;
    }
  }

  // The first op at or after `start` that needs its whole input in memory before it can start. `walks`: the image in
  // memory is one that a warp reads where it lies.
  size_t part_end(size_t start, bool walks, size_t reduced_until) {
    bool in_order = false;
    for (size_t k = start; k < ops_.size(); ++k) {
      const Op& op = ops_[k];
      const WholeInput whole_input = whole_input_of(op.id);
      const bool ready = whole_input == WholeInput::kNo || k == reduced_until ||
                         (whole_input == WholeInput::kAnyOrder && k == start && walks);
      if (!ready) return k;
      if (has(op.id, Trait::kAxisIndex) && in_order && !options_.device) {
        const std::vector<int32_t>& rows = regions_.rows(k);
        if (!std::is_sorted(rows.begin(), rows.end())) return k;
      }
      if (kind_of(op.id) == OpKind::kFilter || op.id == OpId::TORCH_RESIZE) in_order = true;
      if (op.id == OpId::RESIZE && (op.i[0] != regions_.shape(k).height || regions_.composed(k) != 0)) in_order = true;
    }
    return ops_.size();
  }

  Pass& add(PassKind kind, size_t begin, size_t end) { return add_pass(&plan_, kind, part_, ops_, begin, end); }

  // True if the last part is a run of ops on samples, from a source to a target that lies alike.
  bool goes_straight(const Part& part, const View& source) const {
    if ((rewrites_of(options_) & kRecolourPixels) == 0 || options_.device) return false;
    if (memory_.kept || part.start == part.end || plan_.store.floats || plan_.store.hflip) return false;
    const Step* ops = &ops_[part.start];
    const int count = static_cast<int>(part.end - part.start);
    if (grays_straight(ops, count, source, target_)) return (options_.rewrites & kFloatColour) == 0;
    return source.channels == target_.channels && is_blit(source, target_) &&
           recolours_straight(ops, count, source, options_.rewrites, costs());
  }

  ColourCosts costs() const { return options_.device ? ColourCosts{} : options_.kernels.costs; }

  void recolour(const Part& part) {
    const uint64_t cropped = crop_memory(part);
    Pass& pass = add(PassKind::kRecolour, part.start, part.end);
    pass.origin |= cropped | plan_.store.origin;
    pass.crop = memory_.crop;
    pass.read = pass.region = part.regions[0];
    pass.channels = plan_.out.channels;
    pass.bytes_read = area(pass.read) * memory_.pixel_bytes;
    pass.bytes_written = area(pass.read) * target_.pixel_stride * (target_.pixel_stride == 1 ? target_.channels : 1);
  }

  // Windows that only say which part of the image in memory is meant. Returns their origin.
  uint64_t crop_memory(const Part& part) {
    uint64_t cropped = 0;
    for (size_t k = part.begin; k < part.start; ++k) {
      const Op& op = ops_[k];
      memory_.crop = {memory_.crop.y + op.i[0], memory_.crop.x + op.i[1], op.i[2], op.i[3]};
      cropped |= ops_[k].origin;
    }
    return cropped;
  }

  // The first pass of a part, and those that pull their rows from it.
  void enter(const Part& part) {
    const uint64_t cropped = crop_memory(part);
    size_t k = part.start;
    const bool warps = k < part.end && has(ops_[k].id, Trait::kWarp);
    Pass& first = warps ? add(PassKind::kWarp, k, k + 1) : add(PassKind::kRead, part.begin, part.start);
    first.origin |= cropped;
    first.crop = memory_.crop;
    first.read = part.regions[0];
    first.region = part.regions[warps ? 1 : 0];
    first.channels = channels_ = memory_.channels;
    first.bytes_read = area(first.read) * memory_.pixel_bytes;
    region_ = first.region;
    if (warps) ++k;
    while (k < part.end) k = continue_with(part, k);
  }

  // A pass for op k, and for those after it that the same pass can do. Returns the first op that is left.
  size_t continue_with(const Part& part, size_t k) {
    const OpId id = ops_[k].id;
    if (!has_pass(kind_of(id))) return colour(part, k);
    const PassKind kind = *pass_of(id);
    const Region out = part.regions[k + 1 - part.start];
    if (kind == PassKind::kFilter) {
      resize(k, out);
    } else if (kind == PassKind::kWarp || kind == PassKind::kTurn) {
      fail_on("a part that goes on", id);  // one begins with a warp, and ends before a turn
    } else {
      Pass& pass = stream_pass(kind, k, k + 1, out);
      if (kind == PassKind::kIndex && !options_.device) {
        pass.rows = regions_.take_rows(k);
        pass.columns = regions_.take_columns(k);
      }
      if (kind == PassKind::kTorchFilter && !options_.device) {
        pass.down = regions_.down(k);
        pass.across = regions_.across(k);
      }
    }
    return k + 1;
  }

  Pass& stream_pass(PassKind kind, size_t begin, size_t end, Region out) {
    Pass& pass = add(kind, begin, end);
    pass.region = region_ = out;
    pass.channels = channels_;
    return pass;
  }

  // A run of ops on each pixel for itself.
  size_t colour(const Part& part, size_t k) {
    size_t last = k + 1;
    while (last < part.end && kind_of(ops_[last].id) == OpKind::kPointwise) ++last;
    const auto [count, tables] =
        colour_run(&ops_[k], static_cast<int>(last - k), area(region_) * channels_, options_.rewrites, costs());
    last = k + static_cast<size_t>(count);
    const bool floats = !tables && (options_.rewrites & kFloatColour) != 0 && has(ops_[k].id, Trait::kFloatForm);
    StorePlan& store = plan_.store;
    if (floats && store.floats && last == ops_.size()) {
      store.fused_begin = static_cast<int>(k);
      store.fused_end = static_cast<int>(last);
      for (size_t j = k; j < last; ++j) store.origin |= ops_[j].origin;
      return last;
    }
    if (!tables) channels_ = regions_.shape(last).channels;
    stream_pass(tables ? PassKind::kTables : PassKind::kColour, k, last, region_).floats = floats;
    return last;
  }

  void resize(size_t k, Region out) {
    const bool rows_first = regions_.height_first(k);
    for (int number = 0; number < 2; ++number) {
      const bool vertical = (number == 0) == rows_first;
      const Shape in = regions_.shape(k);
      const bool stays = vertical ? in.height == ops_[k].i[0] : in.width == ops_[k].i[1];
      const auto& table = vertical ? regions_.vertical(k) : regions_.horizontal(k);
      if (options_.device ? stays : table == nullptr) continue;
      Region middle = region_;
      const int from = vertical ? middle.height : middle.width;
      if (vertical) {
        middle.y = out.y;
        middle.height = out.height;
      } else {
        middle.x = out.x;
        middle.width = out.width;
      }
      Pass& pass = stream_pass(PassKind::kFilter, k, k + 1, middle);
      pass.vertical = vertical;
      pass.from = from;
      pass.composed = static_cast<int>(regions_.composed(k));
      pass.taps = table;
    }
  }

  // Keeps what comes before the op that ends a part, which needs it in memory.
  void barrier(const Part& part) {
    const Step& op = ops_[part.end];
    const WholeInput reason = whole_input_of(op.id);
    const bool reduces = kind_of(op.id) == OpKind::kReduction;
    const bool turns = reason == WholeInput::kTurn;
    const bool looks = reduces && part.start == part.end;
    Pass& pass = add(turns ? PassKind::kTurn : looks ? PassKind::kStatistics : PassKind::kKeep, part.end, part.end + 1);
    if (pass.kind == PassKind::kKeep) pass.origin = 0;
    pass.region = region_;
    pass.channels = channels_;
    pass.reason = reason == WholeInput::kNo ? WholeInput::kRowOrder : reason;
    pass.statistics = reduces;
    if (looks) return;
    pass.interleaved = reason == WholeInput::kAnyOrder && channels_ > 1;
    const int64_t bytes = pass.interleaved ? kMaxChannels : channels_;
    pass.bytes_written = area(region_) * bytes;
    const Shape shape = regions_.shape(turns ? part.end + 1 : part.end);
    memory_ = {whole(shape), channels_, bytes, true};
  }

  void store() {
    Pass& pass =
        add(PassKind::kStore, static_cast<size_t>(plan_.store.fused_begin), static_cast<size_t>(plan_.store.fused_end));
    pass.origin = plan_.store.origin;
    pass.region = region_;
    pass.channels = channels_;
    pass.bytes_written = area(region_) * channels_ * size_of(target_.dtype);
  }

  Plan& plan_;
  const Target& target_;
  const PlanOptions& options_;
  Regions regions_;
  const OpList& ops_;
  std::vector<Part> parts_;
  Memory memory_{};
  int part_ = 0;
  Region region_;  // of what the last pass yields
  int channels_ = 0;
};

// True if one nearest AFFINE moves pixels of four bytes from the source to the target.
bool is_warped_blit(const OpList& ops, const View& source, const Target& target) {
  if (ops.size() != 1 || ops[0].id != OpId::AFFINE || ops[0].flags != 0) return false;
  return source.pixel_stride == 4 && source.channel_stride == 1 && target.pixel_stride == 4 &&
         target.channel_stride == 1 && source.channels == target.channels &&
         (target.fill_gaps || target.channels == 4) && is_in_reach(source);
}

// The region of its source that a program of moves shows.
Region shown_region(const Plan& plan, const Kernels& kernels) {
  Regions regions(kernels, plan.ops, plan.in, kExactRewrites);
  Region region = whole(plan.out);
  for (size_t k = plan.ops.size(); k-- > 0;) region = regions.source_region(k, region);
  return region;
}

void plan_moves(Plan* plan, PassKind kind, const View& source, const PlanOptions& options) {
  if (options.encoded) {
    add_decode(plan, shown_region(*plan, options.kernels));
    if (plan->in_place) return;
  }
  if (kind == PassKind::kMove) plan->blit = blit_map(plan->ops, plan->in);
  Pass& pass = add_pass(plan, kind, options.encoded ? 1 : 0, plan->ops, 0, plan->ops.size());
  pass.region = whole(plan->out);
  pass.channels = plan->out.channels;
  pass.bytes_read = pass.bytes_written = area(pass.region) * pixel_bytes(source);
}

// Floats go from the source to the target row by row: through the map of all moves, and the store. There is nothing to
// rewrite in that.
void plan_floats(Plan* plan, Program program, const View& source) {
  plan->from_floats = true;
  for (size_t k = 0; k < program.size(); ++k) plan->ops.push_back({program[k], uint64_t{1} << k});
  plan->store.floats = true;
  take_store(&plan->ops, &plan->store);
  plan->blit = blit_map(plan->ops, plan->in);
  Pass& pass = add_pass(plan, PassKind::kStore, 0, plan->ops, 0, plan->ops.size());
  pass.origin |= plan->store.origin;
  pass.region = whole(plan->out);
  pass.channels = plan->out.channels;
  pass.bytes_read = area(pass.region) * pixel_bytes(source);
  pass.bytes_written = area(pass.region) * pass.channels * size_of(plan->dtype);
}

}  // namespace

Plan make_plan(Program program, const View& source, const Target& target, const PlanOptions& wanted) {
  Plan plan;
  plan.in = {source.height, source.width, source.channels};
  plan.out = validate(program, plan.in, source.dtype);
  check_target(target, plan.out, gives_floats(program, source.dtype));
  if (target.patches.side != 0 && !program.empty() && program.back().id == OpId::ERASE) {
    fail(ErrorCode::kValue, "nothing is erased in patches");
  }
  plan.dtype = target.dtype;
  PlanOptions options = wanted;
  options.rewrites = applicable(program, plan.in, wanted.rewrites);
  if (source.dtype != DType::kUint8) {
    plan_floats(&plan, program, source);
    return plan;
  }
  plan.rounded = (options.rewrites & kRoundWarps) != 0;
  plan.unrounded = (options.rewrites & kFloatColour) != 0;
  plan.ops = optimise(program, plan.in, rewrites_of(options));
  if ((rewrites_of(options) & kMovePixels) != 0 && target.dtype == DType::kUint8) {
    plan.in_place = options.encoded && plan.ops.empty() && is_decoder_target(target, plan.in.channels);
    const bool moves = plan.in_place || (only_moves(plan.ops) && is_blit(source, target));
    const bool warps = !options.encoded && is_warped_blit(plan.ops, source, target);
    if (moves || warps) {
      plan_moves(&plan, moves ? PassKind::kMove : PassKind::kMoveWarped, source, options);
      return plan;
    }
  }
  Planner(&plan, target, options).run(source);
  return plan;
}

}  // namespace fastaug
