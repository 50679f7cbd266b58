// A plan: what has to be done to run a program on an image, as plain data. Making one touches no pixel; it can be
// printed, compared, kept, and run by any backend. See docs/notes/design/house.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/image.h"
#include "base/pixel_source.h"
#include "kernels/kernels.h"
#include "plan/blit_map.h"
#include "plan/rewrite.h"
#include "plan/tap_cache.h"
#include "program/program.h"

namespace fastaug {

// The kinds of passes. Those up to kColour yield rows to the pass after them. Those from kKeep on, and kDecode and
// kMove, pull all the rows of the pass before them and leave an image in memory.
enum class PassKind : uint8_t {
  kDecode,       // the pixels of an encoded image
  kMove,         // whole pixels from the image in memory to the target, through Plan::blit
  kMoveWarped,   // the same, through one nearest AFFINE
  kRecolour,     // ops on samples, straight from the image in memory to the target
  kRead,         // rows of the image in memory
  kWarp,         // rows of a warp of the image in memory
  kWindow,       // a crop or constant padding
  kIndex,        // rows and columns chosen by tables: PAD, NEAREST, flips
  kFilter,       // one axis of a resize
  kTorchFilter,  // both axes of TORCH_RESIZE
  kSharpen,
  kBlur,
  kBoxBlur,
  kJpeg,
  kTables,      // a run of ops on samples, as lookups
  kColour,      // a run of other pointwise ops
  kKeep,        // the rows become the image in memory
  kTurn,        // the same, turned by 90 degrees
  kStatistics,  // the rows are looked at for a reduction; the image in memory stays
  kStore,       // the rows become the result
};
const char* name_of(PassKind kind);

struct Pass {
  PassKind kind;
  // Passes of one part go row by row together; between parts a whole image is in memory.
  int part = 0;
  // Ops [begin, end) of Plan::ops that it does, or for whose sake it is there.
  int begin = 0;
  int end = 0;
  // The ops of the program as it was written that it does, bit k for op k.
  uint64_t origin = 0;
  // The region of its output that it computes, in the output's coordinates; kDecode: of the encoded image.
  Region region{};
  int channels = 0;
  // kRead, kRecolour, kWarp: the part of the image in memory that ops see as their input, and what is read of that
  // part.
  Region crop{};
  Region read{};
  // kFilter.
  bool vertical = false;
  int from = 0;      // samples of the axis before the filter; region says how many there are after it
  int composed = 0;  // how many ops it stands for, when its taps are composed; else 0
  std::shared_ptr<const AxisTable> taps{};  // null for a device
  // kTorchFilter. Null for a device.
  std::shared_ptr<const FloatAxisTable> down{};
  std::shared_ptr<const FloatAxisTable> across{};
  // kIndex: the input row and column of every row and column of the whole output. None for a device.
  std::vector<int32_t> rows{};
  std::vector<int32_t> columns{};
  // kKeep, kTurn, kStatistics: why the op at `begin` needs its input as a whole. kRowOrder: it reads rows in an order
  // in which the filter before it does not give them.
  WholeInput reason = WholeInput::kNo;
  bool statistics = false;   // kKeep: those of the reduction at `begin` are taken on the way
  bool interleaved = false;  // kKeep: pixels of four bytes, for ops that walk in any direction; else planes
  bool floats = false;       // kColour: in float32
  // Bytes of whole images: the source, the target, and what is kept in between.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
};
// By content, taps and all.
bool operator==(const Pass& a, const Pass& b);

// Pixels of the result, as it lies in the target, that become `value`.
struct Erase {
  Region region;
  float value[kMaxChannels] = {};

  bool operator==(const Erase&) const = default;
};

// How the last rows become the result.
struct StorePlan {
  bool hflip = false;
  bool vflip = false;
  // For float targets only.
  bool floats = false;
  FloatStore normalize{};
  std::vector<Erase> erases{};  // one after the other, when all rows are stored
  // Fast mode: ops [fused_begin, fused_end) of Plan::ops, all with a float form, done on the way into the target.
  int fused_begin = 0;
  int fused_end = 0;
  uint64_t origin = 0;

  bool operator==(const StorePlan&) const = default;
};

struct Plan {
  Shape in;
  Shape out;
  // Rewritten, without those of the store.
  OpList ops;
  std::vector<Shape> shapes;  // shapes[k] enters op k, the last comes out
  std::vector<Pass> passes;
  StorePlan store;
  BlitMap blit;                 // kMove, and of floats
  DType dtype = DType::kUint8;  // of the target
  bool from_floats = false;     // the source is float32: the only pass is kStore, through Plan::blit
  bool rounded = false;         // fast mode's warps
  bool unrounded = false;       // fast mode's colour
  bool decoded = false;         // the first pass is kDecode
  bool in_place = false;        // kDecode writes into the target, and nothing is left to do

  bool operator==(const Plan&) const = default;
};

struct PlanOptions {
  const Kernels& kernels;  // their layout of taps
  uint32_t rewrites = kExactRewrites;
  bool encoded = false;  // the source's pixels are yet to be made, as interleaved bytes
  // For a device: without tables, which it makes by itself; every image in memory is one that a warp can read, rows
  // come in any order, and nothing is moved but by passes of pixels. Taps are not composed.
  bool device = false;
  // The source's pixels need not be made, since rows are read where they are: PixelSource::rows().
  bool scattered = false;
};

// For a source whose pixels are made by `pixels`, if that is not null.
inline PlanOptions options_for(const Kernels& kernels, uint32_t rewrites, const PixelSource* pixels) {
  const bool encoded = pixels != nullptr;
  return {kernels, rewrites, encoded, false, encoded && pixels->rows() != nullptr};
}

// Reads only shape, layout and dtype of source and target: their data may be null. Throws Error when the
// program makes no sense for them.
Plan make_plan(Program program, const View& source, const Target& target, const PlanOptions& wanted);

// The usual target of a program: its shape, as interleaved bytes or planes of float32, without memory.
Target usual_target(Program program, Shape in, DType source = DType::kUint8);

// A line for each pass: "filter height 887 to 512, 4 taps: RESIZE -> 512x887x3".
std::string to_string(const Plan& plan);

// Throws Error when `target` is not where a result of `shape` goes.
void check_target(const Target& target, Shape shape, bool stored);

// Bytes that a pixel takes in memory.
int64_t pixel_bytes(const View& view);

inline int64_t area(Region region) { return int64_t{region.height} * region.width; }

// True if the kernels of warps and of grid_sample read an image where it lies: one plane, or pixels of three or four
// bytes.
bool is_warp_source(const View& view);

// True if vector kernels reach all of an image: they keep byte offsets in 32 bits. Plain code has no such limit.
bool is_in_reach(const View& view);

}  // namespace fastaug
