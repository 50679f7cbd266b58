// The table of row kernels, one table per instruction set. Everything that is fast goes through it; nothing outside
// csrc/simd knows an instruction set.
//
// Contract for every planar row buffer that a kernel is given (rows of `uint8_t* const*`): kRowPad bytes after its last
// sample belong to it too, so a kernel may read and write whole vectors past `width` (what it leaves there is garbage).
// Buffers are usually, but not always, aligned to 64 bytes: use unaligned loads. Memory named "foreign" is the caller's
// image: a kernel never reads or writes one byte outside the samples it was asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.h"
#include "core/program.h"
#include "pixel/taps.h"

namespace fastaug {

// Bytes that belong to a row buffer after its last sample.
constexpr int kRowPad = 128;

// A horizontal filter, laid out for the kernels of one instruction set by Kernels::build_row_table.
struct RowTable {
  int out = 0;     // samples that resample_row writes
  int groups = 0;  // groups of taps per output
  int layout = 0;  // private to the kernels
  std::vector<int32_t> base;
  std::vector<uint8_t> data;
};

// An image that an affine op walks through in any direction: 1 channel with pixel_stride 1, or up to 4 channels
// interleaved with pixel_stride 3 or 4 (channel_stride 1). row_stride may be negative. Foreign memory.
struct AffineRow {
  View source;
  double matrix[6];  // output to input, Pillow's order; as in Op::f
  uint8_t fill[kMaxChannels];
  int out_height;  // the whole output: Pillow's choice of arithmetic for nearest depends on it
  int out_width;
  int y;      // output row
  int x;      // first output column
  int width;  // output columns
};

// How a finished row of uint8 samples becomes float32: v / 255, then (v - mean) / std if normalize is set, each step
// correctly rounded in float32.
struct FloatStore {
  bool normalize = false;
  float mean[kMaxChannels] = {};
  float std[kMaxChannels] = {};
};

struct Kernels {
  const char* name;  // "scalar", "sse4", "avx2", "avx512", "neon"

  // Horizontal pass of Pillow's resize. Sample indices in `taps` are relative to the start of the source row buffers.
  void (*build_row_table)(const Taps& taps, RowTable* table);
  void (*resample_row)(const RowTable& table, const uint8_t* const* src, uint8_t* const* dst, int channels);
  // Vertical pass for one plane: dst[x] = clip8((sum(weights[t] * rows[t][x]) + 2^21) >> 22).
  void (*resample_column)(const uint8_t* const* rows, const int32_t* weights, int taps, int width, uint8_t* dst);

  // Foreign interleaved samples to planes and back. pixel_stride 1..4 and at least channels; channel_stride is 1. When
  // interleave is given a pixel_stride above channels it fills the rest with 255.
  void (*deinterleave)(const uint8_t* foreign, int pixel_stride, int channels, int width, uint8_t* const* dst);
  void (*interleave)(const uint8_t* const* src, int channels, int pixel_stride, int width, uint8_t* foreign);

  // One row of an affine map, into planes. Linear and cubic are bit-equal to Pillow's double arithmetic, truncation
  // included.
  void (*affine_nearest)(const AffineRow& row, uint8_t* const* dst);
  void (*affine_linear)(const AffineRow& row, uint8_t* const* dst);
  void (*affine_cubic)(const AffineRow& row, uint8_t* const* dst);

  // dst[x] = src[index[x]], index within the row. dst != src.
  void (*take)(const uint8_t* src, const int32_t* index, int width, uint8_t* dst);
  // dst[x] = src[width - 1 - x]. dst != src; writes exactly width samples (dst may be foreign).
  void (*reverse)(const uint8_t* src, int width, uint8_t* dst);

  // A run of kPointwise / kReduction ops, in place on `planes`, which always holds kMaxChannels row buffers; channels
  // may change on the way. `means` has one entry per op: the mean luma for CONTRAST, else unused.
  void (*pointwise)(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width);
  // Sum of Pillow's 8-bit luma over the row; of the samples themselves when channels < 3.
  uint64_t (*luma_sum)(const uint8_t* const* planes, int channels, int width);

  // One plane of a row to float32, reversed left to right if asked. Writes exactly width floats at foreign.
  void (*store_float)(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed,
                      float* foreign);
};

// The kernels of the best instruction set of this machine, or of the one that FASTAUG_ISA names. Throws Error when
// FASTAUG_ISA names one that this build or this machine does not have.
const Kernels& kernels();
// The kernels by name; nullptr when this build or this machine does not have them.
const Kernels* kernels(const char* name);
// Names that kernels(name) finds, best last.
std::vector<const char*> available_isas();

}  // namespace fastaug
