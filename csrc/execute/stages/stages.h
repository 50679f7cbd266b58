// Row stages: each yields one row of its image on demand, as planes. A chain of stages is how the streaming executor
// runs a program without ever holding a whole intermediate image.
#pragma once

#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/image.h"
#include "execute/reduction.h"
#include "kernels/kernels.h"
#include "plan/rewrite.h"
#include "plan/tap_cache.h"
#include "program/program.h"

namespace fastaug {

// State that all stages of one run share.
struct Context {
  const Kernels& kernels;
  Arena& arena;
};

// Four row buffers. A stage that yields fewer channels leaves the rest alone.
struct Planes {
  uint8_t* row[kMaxChannels] = {};
};

Planes make_planes(Arena& arena, int width);

// The ops of some steps one after the other, as kernels take them.
Op* bare_ops(Arena& arena, const Step* steps, int count);

class Stage {
 public:
  virtual ~Stage() = default;
  // Writes columns [region.x, region.x + region.width) of row y to dst.row[c][0...]. y lies in the region. When
  // in_order is set, y must not decrease from call to call.
  virtual void row(int y, const Planes& dst) = 0;
  // Returns the same columns as pixels of pixel_stride bytes, where that is not 0, in foreign memory.
  virtual const uint8_t* pixels(int) { return nullptr; }

  Region region;  // the part of this stage's image that is ever asked for
  int channels = 0;
  bool in_order = false;
  int pixel_stride = 0;
};

// This stage yields rows of an image in memory. `region` is in the view's coordinates. With `rows`, those of the view
// are there, and its data are not read.
Stage* source_stage(Context& context, const View& view, Region region, const uint8_t* const* rows = nullptr);
// Rows of a warp of an image in memory: is_warp_source() holds for it. Of the view only
// `read`, which holds warp_region(op, ..., region), has to be memory. `rounded` as in WarpRow.
Stage* warp_stage(Context& context, const View& view, const Op& op, Region region, Region read, bool rounded);
// The kernels for warps of this image: vector kernels keep byte offsets into it in 32 bits; plain code has no such
// limit.
const Kernels& kernels_in_reach(const Kernels& wanted, const View& view);
// The arguments of a warp's kernels for whole rows. Callers set y, and a narrower part.
using WarpKernel = void (*)(const WarpRow&, uint8_t* const*);
using GridKernel = void (*)(const GridRow&, uint8_t* const*);
WarpRow warp_row(const Op& op, const View& source);
WarpKernel warp_kernel(const Op& op, const Kernels& kernels);
GridMap grid_map(const Op& op, const View& source);
GridRow grid_row(const Op& op, const View& source);
GridKernel grid_kernel(const Op& op, const Kernels& kernels);

// This stage yields a window of its input; pixels outside it read op.fill. A window inside only shifts coordinates.
Stage* window_stage(Context& context, Stage* input, const Op& op, Shape in, Region region);
// This stage finds the input row and column of each output row and column in tables that cover the whole output. It
// does the ops of kAxisIndex: PAD, NEAREST and flips.
Stage* index_stage(Context& context, Stage* input, const std::vector<int32_t>& rows,
                   const std::vector<int32_t>& columns, Region region);
// These stages are the two passes of a resize. Each changes one axis, and leaves the other as the input has it.
Stage* resample_row_stage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region region);
Stage* resample_column_stage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region region);
// This stage is both passes of a TORCH_RESIZE, in float32 between them.
Stage* torch_resize_stage(Context& context, Stage* input, std::shared_ptr<const FloatAxisTable> down,
                          std::shared_ptr<const FloatAxisTable> across, Region region);
// A run of ops on samples as one table for each channel that any of them changes. `reduced` and `means` as below.
struct RunTables : ChannelTables {
  bool changed[kMaxChannels];
};
const RunTables* run_tables(Context& context, const Step* ops, const ChannelTables* const* reduced, const float* means,
                            int count, int channels);
// This stage does a run of table ops. `reduced` has the tables of the reductions among them, one entry per op. With
// `means`, one entry per op, others of kPerSample may be among them.
Stage* table_stage(Context& context, Stage* input, const Step* ops, const ChannelTables* const* reduced, int count,
                   const float* means = nullptr);
// This stage does the ops of `sharpens`.
using SharpenKernel = void (*)(const uint8_t*, const uint8_t*, const uint8_t*, int, double, uint8_t*);
SharpenKernel sharpen_kernel(const Op& op, const Kernels& kernels);
Stage* sharpen_stage(Context& context, Stage* input, const Op& op, Shape in, Region region);
// This stage does BOX_BLUR. It pulls all rows of its input before it yields the first, and keeps them in memory.
Stage* box_blur_stage(Context& context, Stage* input, const Op& op, Region region);
// This stage does JPEG, a row of MCUs at a time.
Stage* jpeg_stage(Context& context, Stage* input, const Op& op, Shape in, Region region);
// This stage does a run of other pointwise ops. `means` has one entry per op. With `floats` they are of kFloatForm, and
// done in float32.
Stage* pointwise_stage(Context& context, Stage* input, const Step* ops, const float* means, int count, int out_channels,
                       bool floats);

}  // namespace fastaug
