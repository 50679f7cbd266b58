// The traits of ops: the columns of program/ops.def.
#pragma once

#include <cstdint>

namespace fastaug {

enum class OpId : uint16_t {
#define FASTAUG_OP(name, ...) name,
#include "program/ops.def"
#undef FASTAUG_OP
};

constexpr int kOpCount = 0
#define FASTAUG_OP(name, ...) +1
#include "program/ops.def"
#undef FASTAUG_OP
    ;

enum class OpKind : uint8_t { kGeometry, kPointwise, kReduction, kStore, kFilter };

// The channels that an op takes, and those that it makes. From it follows the loop that a lane op runs in.
enum class Channels : uint8_t {
  kAny,        // any number of them, each for itself
  kColour,     // 3 or 4; a fourth is left alone
  kOpaque,     // 3 or 4; a fourth becomes 255
  kToGray,     // 3 or 4, to 1
  kFromGray,   // 1, to i[0] of them
  kAlpha,      // 2 or 4, of which the last is alpha
  kPermuted,   // any number of them, in the order of i[]
  kGrayOrRgb,  // 1 or 3
};

// Operands that are checked and printed alike for all the ops that have them.
struct Operands {
  enum Form : uint8_t { kPlain, kFactor, kNumber, kInteger, kOwn };

  Form form;
  const char* name = nullptr;  // kInteger: of i[0], and its range
  int low = 0;
  int high = 0;

  static constexpr Operands plain() { return {kPlain}; }    // none
  static constexpr Operands factor() { return {kFactor}; }  // f[0]: of a blend, which at 1 changes nothing
  static constexpr Operands number() { return {kNumber}; }  // f[0]: finite
  static constexpr Operands integer(const char* name, int low, int high) { return {kInteger, name, low, high}; }
  static constexpr Operands own() { return {kOwn}; }  // its own, in program.cpp
};

// Why an op needs its whole input before it makes its first pixel; kRowOrder belongs to no op: it reads
// rows in an order in which a filter before it does not yield them.
enum class WholeInput : uint8_t { kNo, kAnyOrder, kTurn, kMean, kExtremes, kHistogram, kRowOrder };

enum class Trait : uint32_t {
  kNone = 0,
  kMove = 1 << 0,       // every output pixel is an input pixel or fill
  kAxisIndex = 1 << 1,  // maps every output row and column to one input row and column
  kFlip = 1 << 2,       // exchanges left and right, or top and bottom
  kTurn = 1 << 3,       // a flip or a rotation by quarter turns
  kWarp = 1 << 4,       // computes for every pixel a place in its input
  kSeparable = 1 << 5,  // does to rows what it does, and to columns what it does; see is_separable in plan/tap_chain.h
  kFills = 1 << 6,      // reads the op's fill
  kChannelwise = 1 << 7,  // does the same to every channel, by itself or with the op's statistics
  kPerSample = 1 << 8,    // makes each sample of itself alone, given the op's statistics
  kTable = 1 << 9,        // looks each sample up in a table of the op's own, one per channel in reductions
  kCheap = 1 << 10,       // has a kernel that is much quicker than a table
  kInverts = 1 << 11,     // inverts samples from a threshold on
  kFloatForm = 1 << 12,   // has a form in float32 for fast mode, in pixel/float_colour.h
  kKeepsGray = 1 << 13,   // leaves pixels alone whose colours are equal
  kAlphaFlag = 1 << 14,   // under kHasAlpha the last channel is left alone
  kCanVanish = 1 << 15,   // does nothing with some operands; see is_no_op in plan/rewrite.cpp
  kHost = 1 << 16,        // is done by no device
};

constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

// A row of program/ops.def.
struct OpInfo {
  const char* name;
  OpKind kind;
  Channels channels;
  Operands operands;
  WholeInput whole_input;
  Trait traits;
};

namespace registry {

using enum Trait;

inline constexpr OpInfo kOps[] = {
#define FASTAUG_OP(name, kind, channels, operands, whole_input, traits) \
  {#name, OpKind::kind, Channels::channels, Operands::operands, WholeInput::whole_input, traits},
#include "program/ops.def"
#undef FASTAUG_OP
};

}  // namespace registry

constexpr const OpInfo& info_of(OpId id) { return registry::kOps[static_cast<int>(id)]; }
constexpr OpKind kind_of(OpId id) { return info_of(id).kind; }
constexpr WholeInput whole_input_of(OpId id) { return info_of(id).whole_input; }
constexpr bool has(OpId id, Trait trait) {
  return (static_cast<uint32_t>(info_of(id).traits) & static_cast<uint32_t>(trait)) != 0;
}

// A row of the registry as a type, to choose functions by.
template <OpId kId>
struct OpTag {};

// Ops of pixel/point.h: they see a pixel, or a sample of it, as float lanes.
constexpr bool is_lane_op(OpId id) {
  const OpKind kind = kind_of(id);
  return (kind == OpKind::kPointwise || kind == OpKind::kReduction) && !has(id, Trait::kTable);
}

// The registry in device code, which cannot call the functions above.
template <OpId kId>
inline constexpr Channels kChannelsOf = info_of(kId).channels;
template <OpId kId, Trait kTrait>
inline constexpr bool kHas = has(kId, kTrait);
template <OpId kId>
inline constexpr bool kIsLaneOp = is_lane_op(kId);

namespace registry {

// True if `holds` is true of every op.
template <class Condition>
constexpr bool for_every_op(Condition holds) {
  for (int k = 0; k < kOpCount; ++k) {
    if (!holds(static_cast<OpId>(k))) return false;
  }
  return true;
}

constexpr bool follows(bool fact, bool consequence) { return !fact || consequence; }

// True if all ops with one trait have another, too.
constexpr bool implies(Trait fact, Trait consequence) {
  return for_every_op([=](OpId id) { return follows(has(id, fact), has(id, consequence)); });
}

constexpr bool is_statistic(WholeInput why) {
  return why == WholeInput::kMean || why == WholeInput::kExtremes || why == WholeInput::kHistogram;
}

// Rewrites and the store spell a run of turns with these three.
static_assert(for_every_op([](OpId id) {
                return has(id, kFlip) == (id == OpId::HFLIP || id == OpId::VFLIP) &&
                       has(id, kTurn) == (has(id, kFlip) || id == OpId::ROT90);
              }),
              "a flip or a turn is none of those that are known");
static_assert(implies(kFlip, kTurn) && implies(kFlip, kAxisIndex));
static_assert(implies(kTurn, kMove) && implies(kAxisIndex, kMove) && implies(kAxisIndex, kSeparable));
static_assert(implies(kCheap, kTable) && implies(kTable, kPerSample) && implies(kPerSample, kChannelwise));
static_assert(for_every_op([](OpId id) {
  const bool geometry = kind_of(id) == OpKind::kGeometry;
  return follows(has(id, kMove | kWarp | kSeparable | kFills), geometry) &&
         (whole_input_of(id) == WholeInput::kAnyOrder) == has(id, kWarp) &&
         (whole_input_of(id) == WholeInput::kTurn) == (has(id, kTurn) && !has(id, kFlip));
}));
static_assert(for_every_op([](OpId id) {
  const bool reduction = kind_of(id) == OpKind::kReduction;
  const bool of_pixels = reduction || kind_of(id) == OpKind::kPointwise;
  return is_statistic(whole_input_of(id)) == reduction && follows(has(id, kPerSample), of_pixels) &&
         follows(reduction, (whole_input_of(id) == WholeInput::kMean) != has(id, kTable)) &&
         follows(has(id, kCheap), !reduction) && follows(has(id, kFloatForm), is_lane_op(id));
}));
static_assert(for_every_op([](OpId id) {
  const OpInfo& info = info_of(id);
  const bool any = info.channels == Channels::kAny;
  return follows(!any, !has(id, kChannelwise)) &&
         follows(!any && info.channels != Channels::kGrayOrRgb, is_lane_op(id)) &&
         follows(is_lane_op(id) && any, has(id, kAlphaFlag)) &&
         follows(has(id, kAlphaFlag), any && info.operands.form == Operands::kFactor) &&
         follows(info.operands.form == Operands::kFactor, has(id, kCanVanish)) &&
         follows(info.kind == OpKind::kStore, info.traits == kNone);
}));

}  // namespace registry
}  // namespace fastaug
