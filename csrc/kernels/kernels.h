// The table of row kernels, one table per instruction set. Everything that is fast goes through it; nothing outside
// csrc/kernels depends on an instruction set.
//
// Contract for every planar row buffer that a kernel is given (rows of `uint8_t* const*`): kRowPad bytes after its last
// sample belong to it too, so a kernel may read and write whole vectors past `width` (what it leaves there is garbage).
// Buffers are usually, but not always, aligned to 64 bytes: use unaligned loads. Memory named "foreign" is the caller's
// image: a kernel never reads or writes one byte outside the samples it was asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/image.h"
#include "kernels/jpeg.h"
#include "kernels/take_table.h"
#include "pixel/blur.h"
#include "pixel/box_blur.h"
#include "pixel/grid.h"
#include "pixel/taps.h"
#include "pixel/torch_taps.h"
#include "program/program.h"

namespace fastaug {

// Bytes that belong to a row buffer after its last sample.
constexpr int kRowPad = 128;

// Floats that belong to a row of floats after its last one where a kernel says so, as bytes do in kRowPad.
constexpr int kFloatPad = 64;

// Lines that a box blur takes at once, and what its kernels read and write in multiples of.
constexpr int kBoxLanes = 64;
constexpr int kBoxRows = 16;

// Rows that torch_resize_rows takes at most.
constexpr int kTorchRows = 16;

// Pixels along each side of what turn_square turns.
constexpr int kSquareSide = 16;

// Arrays of counts that make a histogram.
constexpr int kHistograms = 4;

// A map of the bytes of pixels, each by itself.
struct PixelTables {
  static constexpr int kKept = -1;  // as they were
  static constexpr int kFull = -2;  // 255

  int stride = 1;                // bytes of a pixel, 1 to kMaxChannels
  int which[kMaxChannels] = {};  // for each of them: its table, or one of the above
  int count = 1;                 // tables, of which there is one at least
  uint8_t table[kMaxChannels][256] = {};
  // The only table is v & mask, of 255 - v from `threshold` (0..256) on.
  bool switches = false;
  int threshold = 256;
  int mask = 255;
};

// Costs of kernels per sample, for plans: measured, in units of a sixtieth of a nanosecond. The defaults are for AVX2
// and SSE4 on rows of 64 to 512.
struct ColourCosts {
  int lookup = 8;
  int cheap = 1;       // an op of Trait::kCheap
  int floats = 4;      // an op of Kernels::pointwise
  int conversion = 4;  // what surrounds a run of those
  bool apart = false;  // recolour takes several tables faster than planes would have them
};

// A horizontal filter, laid out for the kernels of one instruction set by Kernels::build_row_table.
struct RowTable {
  int out = 0;             // samples that resample_row writes
  int groups = 0;          // groups of taps per output
  int layout = 0;          // private to the kernels
  int bits = kWeightBits;  // as in Taps
  std::vector<int32_t> base;
  std::vector<uint8_t> data;

  bool operator==(const RowTable&) const = default;
};

// An image that a warp walks through in any direction: 1 channel with pixel_stride 1, or up to 4 channels
// interleaved with pixel_stride 3 or 4 (channel_stride 1). row_stride may be negative. Foreign memory.
struct WarpRow {
  View source;
  double matrix[8];  // output to input, as in Op::f: six coefficients of an affine map, or eight of a perspective
  uint8_t fill[kMaxChannels];
  int out_height;  // the whole output: Pillow's choice of arithmetic for nearest depends on it
  int out_width;
  int y;      // output row
  int x;      // first output column
  int width;  // output columns
  // Fast mode: linear and cubic kernels compute in float32 and round to nearest, where Pillow truncates.
  bool rounded;
};

// Part of a row of an image sampled as torch's grid_sample samples it, align_corners=False: sample k is at
// (grid[2 k], grid[2 k + 1]), x first, where -1 and 1 are the outer edges of the image.
struct GridRow {
  View source;  // as in WarpRow
  const float* grid;
  int width;                 // samples
  Filling filling;           // what lies outside the image
  float fill[kMaxChannels];  // from 0 to 255
};

// Part of row y of a grid, from column x on.
struct MapRow {
  GridMap map;
  int y;
  int x;
  int width;
};

// A sample of a blur that blur_rows left open: dst[x] from `rows`.
struct BlurSample {
  const uint8_t* const* rows;
  uint8_t* dst;
  int x;
};

// How a finished row of uint8 samples becomes float32: v / 255, or v * factor if multiplied is set, then
// (v - mean) / std if normalize is, each step correctly rounded in float32.
struct FloatStore {
  bool normalize = false;
  bool multiplied = false;  // of V2_TO_FLOAT and SCALE
  float factor = 1.0f / 255.0f;
  float mean[kMaxChannels] = {};
  float std[kMaxChannels] = {};

  // Set by Kernels::prepare_store.
  bool quick[kMaxChannels] = {};     // a short form was seen to give the bits of all 256 samples
  float inverse[kMaxChannels] = {};  // 1 / std, and what rounding it to float32 left out
  float residue[kMaxChannels] = {};

  bool operator==(const FloatStore&) const = default;
};

// Filtered rows of a PNG: each is the type of its filter, then `size` bytes, and they follow one another.
struct FilteredRows {
  const uint8_t* filtered;  // the type of the first row
  const uint8_t* above;     // the row before the first, unfiltered; nullptr: zeros
  ptrdiff_t size;
  int pixel;  // bytes of a pixel: 1, 2, 3, 4, 6 or 8; size is a multiple
  int count;
  uint8_t* rows;  // where they go: to foreign memory, or to filtered + 1 with a row_stride of size + 1
  ptrdiff_t row_stride;
};

// For pixels of RGB: the sums of their samples, and how many have all of them above, or below, a limit.
struct TissueSums {
  uint64_t colour[3] = {};
  uint64_t white = 0;
  uint64_t black = 0;
};

// Of a Laplacian.
struct LaplacianSums {
  int64_t sum = 0;
  uint64_t squares = 0;
};

struct Kernels {
  const char* name;  // "scalar", "sse4", "avx2", "avx512", "avx512vbmi", "neon"

  // Horizontal pass of a resize. Sample indices in `taps` are relative to the start of the source row buffers.
  void (*build_row_table)(const Taps& taps, RowTable* table);
  void (*resample_row)(const RowTable& table, const uint8_t* const* src, uint8_t* const* dst, int channels);
  // The same of 3 or 4 channels that lie interleaved, pixel_stride bytes a pixel and kRowPad bytes behind the last, for
  // filters that take longer in planes. build_pixel_table is false for all others; the first table is that of the
  // planes. `next` are the pixels that will be read next, or null: they are on their way from memory meanwhile.
  bool (*build_pixel_table)(const Taps& taps, const RowTable& planar, RowTable* table);
  void (*resample_pixels)(const RowTable& table, const uint8_t* src, const uint8_t* next, int pixel_stride,
                          uint8_t* const* dst, int channels);
  // Vertical pass for one plane: dst[x] = clip8((sum(weights[t] * rows[t][x]) + half) >> bits), half a unit of the
  // result. `bits` as in Taps.
  void (*resample_column)(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width,
                          uint8_t* dst);

  // TORCH_RESIZE. The pass along rows of one plane, `samples` long, up to kTorchRows of them at once; indices in `taps`
  // are relative to their start. `scratch` has room for kTorchRows * (samples + kFloatPad) floats, and rows of dst have
  // kFloatPad.
  void (*torch_resize_rows)(const FloatTaps& taps, const uint8_t* const* rows, int count, int samples, float* scratch,
                            float* const* dst);
  // The same for an axis that stays as it is: a row to floats. dst has kFloatPad.
  void (*widen)(const uint8_t* src, int width, float* dst);
  // The pass down one plane: dst[x] from rows[t][x], whose rows have kFloatPad, rounded.
  void (*torch_resize_column)(const float* const* rows, const float* weights, int taps, int width, uint8_t* dst);

  // Foreign interleaved samples to planes and back. pixel_stride 1..4 and at least channels; channel_stride is 1. When
  // interleave is given a pixel_stride above channels it fills the rest with 255.
  void (*deinterleave)(const uint8_t* foreign, int pixel_stride, int channels, int width, uint8_t* const* dst);
  void (*interleave)(const uint8_t* const* src, int channels, int pixel_stride, int width, uint8_t* foreign);

  // One row of an affine map, into planes. Linear and cubic are bit-equal to Pillow's double arithmetic, truncation
  // included.
  void (*affine_nearest)(const WarpRow& row, uint8_t* const* dst);
  void (*affine_linear)(const WarpRow& row, uint8_t* const* dst);
  void (*affine_cubic)(const WarpRow& row, uint8_t* const* dst);

  // affine_nearest for an image of four interleaved channels: row.width pixels to foreign.
  void (*affine_nearest_pixels)(const WarpRow& row, uint8_t* foreign);

  // One row of a perspective map, into planes.
  void (*perspective_nearest)(const WarpRow& row, uint8_t* const* dst);
  void (*perspective_linear)(const WarpRow& row, uint8_t* const* dst);
  void (*perspective_cubic)(const WarpRow& row, uint8_t* const* dst);

  // One row of torch's grid_sample, rounded half to even, into planes; and the grid of an affine map (2 * width floats,
  // and as many as kRowPad bytes more that it may spoil).
  void (*grid_nearest)(const GridRow& row, uint8_t* const* dst);
  void (*grid_linear)(const GridRow& row, uint8_t* const* dst);
  void (*map_grid)(const MapRow& row, float* grid);

  // dst[x] = src[table.index[x]], within the row. dst != src.
  void (*take)(const TakeTable& table, const uint8_t* src, uint8_t* dst);
  // dst[x] = src[width - 1 - x]. dst != src; writes exactly width samples (dst may be foreign).
  void (*reverse)(const uint8_t* src, int width, uint8_t* dst);
  // The same of pixels of 4 bytes. Both rows are foreign.
  void (*reverse_pixels)(const uint8_t* src, int width, uint8_t* dst);
  // Pixels of 1, 3 or 4 bytes, rows to columns: pixel x of row y of dst is that y pixels after rows[x] + offset, for x
  // and y in [0, kSquareSide). Foreign memory on both sides, apart from one another; rows of dst may go upwards.
  void (*turn_square)(const uint8_t* const* rows, ptrdiff_t offset, int bytes, uint8_t* dst, ptrdiff_t row_stride);

  // Undoes the filters of rows of a PNG. False at a type of filter that does not exist; what was written is then
  // garbage. Not one byte outside the rows is read or written.
  bool (*unfilter)(const FilteredRows& rows);

  // JPEG. Decodes MCUs of a scan until `mcus` are done or the next byte lies beyond `limit`: how many, or -1 where one
  // is broken. jpeg_skip keeps no coefficients.
  int (*jpeg_blocks)(JpegScan* scan, int mcus, const uint8_t* limit);
  int (*jpeg_skip)(JpegScan* scan, int mcus, const uint8_t* limit);
  // The same of a scan of a progressive file: MCUs of DC, which has no `last`, or blocks of a component. Coefficients
  // are added to those of the scans before, or 0.
  int (*jpeg_band)(JpegScan* scan, JpegBand* band, int count, const uint8_t* limit);
  // The inverse DCT of blocks side by side, coefficients times `steps`, both in natural order; `last` as in JpegBlocks.
  // Reads a block more, writes 8 * blocks columns of 8 rows. False where a version of libjpeg may differ.
  bool (*jpeg_inverse)(const int16_t* coefs, const uint8_t* last, const uint16_t* steps, int blocks, uint8_t* dst,
                       ptrdiff_t stride);
  // Chroma twice as wide: dst[2 x] and dst[2 x + 1], for x in [0, width), from near[x - 1] to near[x + 1] and, where
  // rows are smaller too, as many of `far`, the row on the other side; else that is null.
  void (*jpeg_upsample)(const uint8_t* near, const uint8_t* far, int width, uint8_t* dst);
  // A row of YCbCr to RGB, or with pixel_stride 4 RGB and 255. Writes exactly width pixels.
  void (*jpeg_colours)(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, int width, int pixel_stride,
                       uint8_t* foreign);
  // The same the other way: a row of RGB, in planes, to YCbCr; rows of chroma half as wide, each sample of width pairs
  // of samples of two rows; and the forward DCT of blocks side by side, in steps of quantisation, with `last` 0 for
  // those of DC alone. The latter reads up to 8 columns more, and writes up to one block more.
  void (*jpeg_ycc)(const uint8_t* const* rgb, int width, uint8_t* const* ycc);
  void (*jpeg_halve)(const uint8_t* above, const uint8_t* below, int width, uint8_t* dst);
  void (*jpeg_forward)(const uint8_t* src, ptrdiff_t stride, const JpegSteps& steps, int blocks, int16_t* coefs,
                       uint8_t* last);
  // True if these together were measured to be faster than libjpeg-turbo, for sequential files and for progressive
  // ones.
  bool quick_jpeg;
  bool quick_progressive_jpeg;

  // A run of lane ops (is_lane_op) in place on `planes`, which always holds kMaxChannels row buffers; channels may
  // change on the way. `means` has one entry per op: the mean for those that need it, else unused.
  void (*pointwise)(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width);
  // Sum of Pillow's 8-bit luma over the row; of the samples themselves when channels < 3.
  uint64_t (*luma_sum)(const uint8_t* const* planes, int channels, int width);
  // The same of torchvision's 8-bit gray, and of that of its v2, each sample x added to sums[x % kTorchClasses]. For
  // widths below 2^28.
  void (*gray_sums)(const uint8_t* const* planes, int channels, int width, uint32_t* sums);
  void (*v2_gray_sums)(const uint8_t* const* planes, int channels, int width, uint32_t* sums);

  // One plane of a row, in place: table[v]; 255 - v from the threshold (0..256) on; v & mask.
  void (*lookup)(const uint8_t* table, uint8_t* row, int width);
  void (*solarize)(int threshold, uint8_t* row, int width);
  void (*posterize)(int mask, uint8_t* row, int width);
  // Pixels that lie side by side, from one foreign memory to another.
  void (*recolour)(const PixelTables& tables, const uint8_t* src, ptrdiff_t pixels, uint8_t* dst);
  // Pillow's 8-bit luma of pixels of four bytes, from one foreign memory to another: alone, or three times and 255.
  void (*gray)(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst);
  void (*gray_pixels)(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst);
  ColourCosts costs;
  // Folds the samples of a row into *low and *high, and into counts[kHistograms], of which the sum is meant: neighbours
  // are counted in different ones, as an increment would wait for one of the same count before it to reach memory.
  void (*extremes)(const uint8_t* row, int width, uint8_t* low, uint8_t* high);
  void (*histogram)(const uint8_t* row, int width, uint32_t (*counts)[256]);
  // One plane of SHARPNESS: dst[x] for x in [0, width) from columns x - 1 to x + 1 of three rows (row[-1] is there).
  void (*sharpen)(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                  uint8_t* dst);
  // The same of TORCH_SHARPNESS.
  void (*torch_sharpen)(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                        uint8_t* dst);
  // And of V2_SHARPNESS.
  void (*v2_sharpen)(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                     uint8_t* dst);

  // `count` rows of a blur: dst[k][x] for x in [0, width) from columns x to x + kernel.width - 1 of rows k to
  // k + kernel.height - 1, which start kernel.width / 2 columns before dst does. Several at once are faster. Equal to
  // the sum that torch's convolution forms, one fused multiply-add per weight, row by row from zero; rounded half to
  // even. Returns how many samples are still open, of which a quick sum does not tell, and lists them in `open` (room
  // for count * width of them).
  int (*blur_rows)(const BlurKernel& kernel, const uint8_t* const* rows, int count, int width, uint8_t* const* dst,
                   BlurSample* open);
  // Settles open samples. Many at once, of several rows, are much faster.
  void (*blur_samples)(const BlurKernel& kernel, const BlurSample* samples, int count);
  // `count` rows of a blur of floats: dst[k] from rows k to k + kernel.height - 1. Several at once are faster. Writes
  // exactly width floats to each.
  void (*blur_float_rows)(const BlurKernel& kernel, const float* const* rows, int count, int width, float* const* dst);

  // All passes of one axis of BOX_BLUR, in place: along the rows of a plane, and down its columns. Rows are `stride`
  // apart, their kRowPad bytes with them, and memory goes on to a multiple of kBoxRows of them. `scratch` has room for
  // 2 * kBoxLanes bytes for each of `width` or `height`, rounded up to a multiple of kBoxRows.
  void (*box_blur_across)(const BoxBlur& blur, uint8_t* plane, ptrdiff_t stride, int height, int width,
                          uint8_t* scratch);
  void (*box_blur_down)(const BoxBlur& blur, uint8_t* plane, ptrdiff_t stride, int height, int width, uint8_t* scratch);

  // AugMix's mixture: the sum of weights[k] * images[k][x], every product and sum rounded to float32, from the first to
  // the last, truncated; it must stay below 256. Foreign memory on both sides.
  void (*mix)(const uint8_t* const* images, const float* weights, int count, int width, uint8_t* foreign);

  // OpenCV's gray and saturation of a row of RGB (pixel/tissue.h), both with kRowPad, and what is added to `sums`;
  // limits are from 0 to 255.
  void (*tissue_row)(const uint8_t* const* planes, int width, int white, int black, uint8_t* gray, uint8_t* saturation,
                     TissueSums* sums);
  // Adds to `sums` for columns x in [0, width) of a row of gray; row[-1] is there, and all rows have kRowPad.
  void (*laplacian_row)(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, LaplacianSums* sums);

  // Makes store_float faster. The store is then for this table's kernels alone.
  void (*prepare_store)(int channels, FloatStore* store);
  // One plane of a row to float32, reversed left to right if asked. Writes exactly width floats at foreign.
  void (*store_float)(const FloatStore& store, int channel, const uint8_t* src, int width, bool reversed,
                      float* foreign);
  // One plane of a row of floats, normalised if the store says so, reversed left to right if asked. Both rows are
  // foreign, apart from one another, and hold exactly width floats. Without normalize every bit is kept.
  void (*move_floats)(const FloatStore& store, int channel, const float* src, int width, bool reversed, float* foreign);
  // Pixels of 2 to 4 floats to planes. Reads exactly width pixels, and writes exactly width floats to each plane.
  void (*deinterleave_float)(const float* foreign, int channels, int width, float* const* dst);
  // Floats to float16 or bfloat16, rounded half to even as torch's Tensor.to rounds. Writes exactly width numbers.
  void (*narrow)(DType dtype, const float* src, int width, uint16_t* foreign);
  // Rows of floats to pixels of 2 to 4 channels. Writes exactly width pixels.
  void (*interleave_float)(const float* const* src, int channels, int width, float* foreign);

  // Fast mode. As pointwise, but samples have 16 bits or are float32 from op to op, and are clamped to 0..255 between
  // them; HUE turns the hue by f[0] of a circle in HSV of real numbers. Rounded to nearest at the end.
  void (*pointwise_float)(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes,
                          int width);
  // The same, then store_float of what comes out without rounding to uint8: plane c of the result to exactly width
  // floats at foreign[c]. `count` may be 0.
  void (*pointwise_store)(const FloatStore& store, const Op* ops, const float* means, int count, int channels,
                          const uint8_t* const* planes, int width, bool reversed, float* const* foreign);
};

// The kernels of the best instruction set of this machine, or of the one that FASTAUG_ISA names. Throws Error when
// FASTAUG_ISA names one that this build or this machine does not have.
const Kernels& kernels();
// The kernels by name; nullptr when this build or this machine does not have them.
const Kernels* kernels(const char* name);
// Names that kernels(name) finds, best last.
std::vector<const char*> available_isas();

}  // namespace fastaug
