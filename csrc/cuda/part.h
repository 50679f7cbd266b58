// A bag of images as a device gets it: plain data in one block of bytes, the blob. A second block, the scratch, holds
// the tables made from it, and images between two parts. Places in either are offsets.
//
// This includes no header of the C++ library, so that a compiler at run time reads it as it is.
#pragma once

#include "base/image.h"
#include "pixel/extent.h"
#include "pixel/grid.h"
#include "pixel/statistics.h"
#include "pixel/store.h"
#include "pixel/warp.h"
#include "program/op.h"

namespace fastaug::cuda {

// The ways to find the pixels of a part. Each has its own kernels.
enum Source : int32_t {
  kRead,           // where they lie
  kAffineNearest,  // in 16.16 fixed point
  kAffineLinear,
  kAffineCubic,
  kPerspectiveNearest,
  kPerspectiveLinear,
  kPerspectiveCubic,
  kGridNearest,  // TORCH_AFFINE, TORCH_PERSPECTIVE
  kGridLinear,
  kRoundedAffineLinear,  // fast mode's
  kRoundedAffineCubic,
  kRoundedPerspectiveLinear,
  kRoundedPerspectiveCubic,
  kSources,
};

// A step makes pixels from those of the step before it, or from the source.
enum StepKind : int32_t {
  kTake,
  kAcross,
  kDown,
  kSharpen,
  kTorchSharpen,
  kV2Sharpen,
  kBlur,
  kTorchFilter,
  kStepKinds,
};

// Where the last pixels of a part go: to the scratch, to the result, or nowhere but into statistics.
enum End : int32_t { kKeep, kStore, kLookOnly, kEnds };

// Statistics that a part takes of its last pixels, for the reduction that the next part begins with.
enum Statistics : int32_t {
  kNoStatistics,
  kLumaSum,
  kGraySum,
  kV2GraySum,
  kGrayParts,  // of an image in which the order matters: see torch_order in pixel/statistics.h
  kV2GrayParts,
  kExtremes,
  kHistogram,
};
FASTAUG_HOST_DEVICE constexpr bool is_sum(int statistics) {
  return statistics == kLumaSum || statistics == kGraySum || statistics == kV2GraySum;
}
FASTAUG_HOST_DEVICE constexpr bool is_parts(int statistics) {
  return statistics == kGrayParts || statistics == kV2GrayParts;
}

// Numbers of a reduction in the scratch. Only as much of it as the kind of statistics needs is there. Of parts it has
// those of the sum behind `sum`, and then in it the bits of the mean.
struct Counts {
  uint64_t sum;
  uint32_t low[kMaxChannels];
  uint32_t high[kMaxChannels];
  uint32_t count[kMaxChannels][256];
};

FASTAUG_HOST_DEVICE inline uint32_t* gray_parts(Counts* counts) {
  return reinterpret_cast<uint32_t*>(&counts->sum + 1);
}

constexpr uint32_t kNowhere = 0xffffffffu;

// Samples in memory: at an address, or in the scratch. Strides are in bytes.
struct Strided {
  int64_t address;
  int64_t scratch;  // 1: `address` counts from there
  int64_t row_stride;
  int64_t pixel_stride;
  int64_t channel_stride;
};

// One op of a run of colour ops on a pixel.
struct Colour {
  enum Kind : int32_t {
    kLane,    // `op`, which is_lane_op
    kFloat,   // its form in float32
    kRound,   // to integers, after a run in float32
    kLookup,  // through `table`
  };

  Op op;
  Kind kind;
  int32_t channels;  // that enter
  uint32_t table;    // in the scratch: 256 samples a channel
  uint32_t host;     // of an op whose table the host makes: 256 samples in the blob
};

struct Step {
  Op op;
  int32_t kind;
  int32_t channels;
  int32_t in_height, in_width;
  int32_t out_height, out_width;
  // Tables of outputs from `begin` on, `outputs` of them, along the rows and the columns. kTake: the input row or
  // column of each, -1 for fill; kNowhere: those of a WINDOW, which need none. Filters: a TapRange each; weight t of
  // output n is weights[t * outputs + n], so that threads side by side read side by side. kTorchFilter has ranges of
  // both, and floats for weights: those of the rows, at n * by_output + t, and behind them those of the columns, at
  // t * column_outputs + n.
  uint32_t rows, columns;
  int32_t begin_row, begin_column;
  int32_t row_outputs, column_outputs;
  uint32_t weights;
  int32_t in_blob;  // 1: the tables were made by the host, and lie in the blob; else in the scratch
  int32_t by_output, by_tap;
  int32_t bits;     // of the weights
  int32_t colours;  // behind it
  int32_t unused;
};

// Pixels of the result that become a value: ERASE.
struct Erased {
  Region region;
  float value[kMaxChannels];
};

// The work on an image between two places where all of it must be in memory.
struct Part {
  Strided from;
  int32_t height, width, channels;
  int32_t source;
  Op warp;
  FixedMap fixed;            // kAffineNearest
  GridMap map;               // kGridNearest, kGridLinear
  float fill[kMaxChannels];  // of map
  int32_t shift_y, shift_x;  // pixel (y, x) of the part is (y + shift_y, x + shift_x) of the warp

  int32_t direct;  // 1: the first step takes its pixels from the source, and not from shared memory
  int32_t steps;
  uint32_t step;    // Step[steps] in the blob
  uint32_t colour;  // Colour[colours] in the blob: those of the source first, then those of each step
  int32_t colours;
  int32_t read_colours;  // of the pixels of the source

  // Statistics that an op of this part needs, in the scratch, or kNowhere; `reduction` is the op.
  uint32_t counted;
  OpId reduction;
  int64_t counted_pixels;
  // True if they are parts of a sum.
  FASTAUG_HOST_DEVICE bool counts_parts() const {
    return counted != kNowhere && takes_torch_mean(reduction) && counted_pixels > kExactTorchPixels;
  }
  // Those that it takes.
  int32_t statistics;
  uint32_t counts;

  int32_t end;
  int32_t dtype;
  Strided to;    // of pixel (0, 0) behind the last step, which may lie outside of `shown`
  Region shown;  // what is made of the pixels behind the last step
  int32_t out_channels;
  int32_t floats;  // 1: the samples of a float result were not rounded
  int32_t erases;
  uint32_t erase;  // Erased[erases] in the blob, in coordinates of `shown`
  StoreForm form[kMaxChannels];

  int32_t tile_height, tile_width;
  int32_t tiles_y, tiles_x;
  // Extent[steps + 1][tiles] in the scratch: what a tile has of the input of each step, and last of `shown`.
  uint32_t row_extents, column_extents;
  uint32_t buffer;  // bytes of the first of two buffers in shared memory
  uint32_t shared;  // bytes of shared memory that a block needs
};

// A part in the list of a launch.
struct Entry {
  int64_t first_block;  // of the launch's
  uint32_t part;        // in the blob
  uint32_t unused;
};

// A table to make in the scratch before the parts that need it run. A block does a task.
struct Task {
  enum Kind : int32_t {
    kTakeRows,  // tables of step `step` of the part
    kTakeColumns,
    kScaleRows,  // the same, of a nearest AFFINE without shear
    kScaleColumns,
    kTaps,
    kTorchTaps,
    kExtents,  // of the part's tiles
    kClear,    // the part's `counts`
    kMean,     // of the part's `counted`, which are parts of a sum
    kLookups,  // table of the Colours from `colour` on, `count` of them, for `channels` channels
  };

  Kind kind;
  uint32_t part;  // in the blob
  int32_t step;
  uint32_t colour;
  int32_t count;
  int32_t channels;
  uint32_t table;  // in the scratch
  uint32_t unused;
};

// The features that can occur in the parts of a kernel. Kernels differ where the first three differ. The others are
// sets of bits, and a kernel with more of them serves as well.
struct Features {
  int32_t source;
  int32_t channels;  // of the source
  int32_t dtype;     // of the end
  uint32_t steps;    // see below
  uint32_t ends;     // bits of End
  uint64_t ops;      // bits of OpId, of colours
  uint32_t flags;    // of Flag
};
// Features::steps has, for each StepKind k, the bit k and one of these. Pixels that are read count as kind kStepKinds.
constexpr int kOccurs = 0;
constexpr int kColoured = 10;    // colours follow it
constexpr int kFromSource = 20;  // it takes its pixels from the source
static_assert(kStepKinds < kColoured);
enum Flag : uint32_t {
  kHasDirect = 1 << 0,  // steps that take their pixels from the source
  kHasShared = 1 << 1,  // a first step that does not, or none
  kHasLookups = 1 << 2,
  kHasFloats = 1 << 3,
  kHasErases = 1 << 4,
  kHasDivision = 1 << 5,  // stores without a quick form
  kHasLuma = 1 << 6,      // sums of it
  kHasExtremes = 1 << 7,
  kHasHistogram = 1 << 8,
  kHasGray = 1 << 9,  // sums of it
  kHasV2Gray = 1 << 10,
  kHasGrayParts = 1 << 11,  // of either gray
};

constexpr int kThreads = 256;

}  // namespace fastaug::cuda
