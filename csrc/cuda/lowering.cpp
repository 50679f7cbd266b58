#include "cuda/lowering.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/status.h"
#include "execute/stages/stages.h"
#include "pixel/statistics.h"
#include "pixel/table.h"
#include "pixel/tap.h"

namespace fastaug::cuda {
namespace {

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

int64_t counts_bytes(Statistics statistics, int64_t pixels) {
  switch (statistics) {
    case kNoStatistics:
      return 0;
    case kLumaSum:
    case kGraySum:
    case kV2GraySum:
      return offsetof(Counts, low);
    case kGrayParts:
    case kV2GrayParts:
      return sizeof(uint64_t) + torch_order(pixels).size() * static_cast<int64_t>(sizeof(uint32_t));
    case kExtremes:
      return offsetof(Counts, count);
    case kHistogram:
      return sizeof(Counts);
  }
  return 0;
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
                const bool other = has(id, Trait::kWarp) || has(id, Trait::kHost) || id == OpId::ROT90;
                return (steps && !other) == (step_of(id, false) != kStepKinds);
              }),
              "an op of geometry, or a filter, has no step on a device");

}  // namespace

Lowering::Lowering(Bag& bag, const Plan& plan, const Job& job) : bag_(bag), plan_(plan), target_(job.target) {
  const View& view = job.source.view;
  memory_ = {strided(view.data, view.row_stride, view.pixel_stride, view.channel_stride), view.height, view.width,
             view.channels};
}

void Lowering::run() {
  for (const Pass& pass : plan_.passes) take(pass);
}

bool Lowering::is_fit(const Plan& plan) {
  if (std::ranges::any_of(plan.ops, [](const Op& op) { return has(op.id, Trait::kHost); })) return false;
  return std::none_of(plan.passes.begin(), plan.passes.end(), [&](const Pass& pass) {
    const Op& op = plan.ops[static_cast<size_t>(std::min<int>(pass.begin, static_cast<int>(plan.ops.size()) - 1))];
    return pass.kind == PassKind::kWarp && op.id == OpId::AFFINE && (op.flags & kFilterMask) == 0 &&
           nearest_route(op.f, op.i[0], op.i[1]) == NearestRoute::kAccumulate;
  });
}

void Lowering::take(const Pass& pass) {
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
    case PassKind::kJpeg:
    case PassKind::kDecode:
    case PassKind::kMove:
    case PassKind::kMoveWarped:
    case PassKind::kRecolour:
      break;
  }
  fail(ErrorCode::kRuntime, std::string("a device has nothing for the pass ") + name_of(pass.kind));
}

void Lowering::begin(const Pass& pass) {
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

void Lowering::warp(const Op& op, Region region) {
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

void Lowering::scale(const Op& op, Region region) {
  links_[0].region = {0, 0, part_.height, part_.width};
  Link& link = add_link(op, kTake, region);
  link.step.in_height = part_.height;
  link.step.in_width = part_.width;
  link.step.out_height = op.i[0];
  link.step.out_width = op.i[1];
}

void Lowering::shift(const Op& op, const Pass& pass) {
  part_.from = part_.source == kRead ? moved(part_.from, op.i[0], op.i[1]) : part_.from;
  part_.shift_y += op.i[0];
  part_.shift_x += op.i[1];
  links_[0].region = pass.region;
  shape_ = plan_.shapes[static_cast<size_t>(pass.end)];
}

Link& Lowering::add_link(const Op& op, StepKind kind, Region region) {
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

void Lowering::add_step(const Pass& pass) {
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

void Lowering::add_colours(int begin, int end, bool floats) {
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

void Lowering::add_lookups(const Pass& pass) {
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

void Lowering::keep(const Pass& pass) {
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
    const Statistics statistics = statistics_of(op, counted_pixels_);
    part_.statistics = statistics;
    part_.counts = bag_.reserve(counts_bytes(statistics, counted_pixels_));
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

Memory Lowering::room(Region region, Shape shape, int channels, int turns) {
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

void Lowering::store() {
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

void Lowering::forms(const FloatStore& store) {
  if (!bag_.has_forms_ || !(bag_.stored_ == store)) {
    bag_.stored_ = store;
    bag_.has_forms_ = true;
    for (int c = 0; c < kMaxChannels; ++c) {
      bag_.forms_[c] = store_form(store.normalize, store.mean[c], store.normalize ? store.std[c] : 1.0f,
                                  store.multiplied, store.factor);
    }
  }
  std::copy_n(bag_.forms_, kMaxChannels, part_.form);
}

}  // namespace fastaug::cuda
