// The two passes of Pillow's 8-bit resize (Resample.c, ImagingResampleHorizontal_8bpc and
// ImagingResampleVertical_8bpc), and of filters with shorter weights.
//
// A 22-bit weight w is split into high = w >> 12 (signed) and low = w & 4095, so that both fit the 16-bit multiply-add,
// and sum(w * v) = (sum(high * v) << 12) + sum(low * v), exactly, in whatever order. Shorter weights fit as they are.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/resample.cc"
#include "kernels/targets.h"
// clang-format off: after targets.h, in this order
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/wide-inl.h"
// clang-format on

#include <algorithm>
#include <cstring>

#include "kernels/table.h"

#ifndef FASTAUG_SIMD_RESAMPLE_ONCE
#define FASTAUG_SIMD_RESAMPLE_ONCE
namespace fastaug::resample {

constexpr int kLowBits = 12;

// How a RowTable is laid out; RowTable::layout holds it, packed.
//
// kWindows: a block is 4 outputs, one 128-bit part of a vector. Its samples come from a window of 16 bytes by a table
// lookup, 2 taps per output at a time; when the taps do not all lie in one window, the window moves on by 2 * pairs
// bytes and the lookup stays the same. Four vectors make a batch: with `blocks` blocks to a vector, vector k has the
// blocks k, 4 + k, ... of the batch, the order in which narrow() puts them back in a row. RowTable::base: the window of
// each block, vector by vector. Data, vector by vector: the lookup, then for every pair of taps the high and the low
// weights, or the short ones.
//
// kDots: for strong shrinking. Each output is a dot product of consecutive samples and weights, `blocks` times 8 at a
// time. RowTable::base: first sample of each output. Data, output by output: for every group the high and the low
// weights, or the short ones.
struct Layout {
  enum Kind { kWindows, kDots };
  Kind kind;
  int pairs;   // kWindows: pairs of taps in one window, 1..8
  int offset;  // of the first byte of data that is aligned to a cache line

  int pack() const { return kind | pairs << 4 | offset << 8; }
  static Layout unpack(int packed) { return {static_cast<Kind>(packed & 15), packed >> 4 & 15, packed >> 8}; }
};

// Gives `table` room for `size` bytes of zeros; returns where the first aligned one is.
inline int allocate(size_t size, RowTable* table) {
  constexpr size_t kLine = 64;
  table->data.assign(size + kLine, 0);
  return static_cast<int>(-reinterpret_cast<uintptr_t>(table->data.data()) % kLine);
}

// Vectors of weights for the same samples.
inline int parts_of(int bits) { return bits == kWeightBits ? 2 : 1; }

// The second part goes `distance` bytes after the first.
inline void put_weight(int32_t weight, int parts, uint8_t* to, size_t distance) {
  if (parts == 1) {
    const auto whole = static_cast<int16_t>(weight);
    std::memcpy(to, &whole, 2);
    return;
  }
  const int16_t split[2] = {static_cast<int16_t>(weight >> kLowBits),
                            static_cast<int16_t>(weight & ((1 << kLowBits) - 1))};
  std::memcpy(to, &split[0], 2);
  std::memcpy(to + distance, &split[1], 2);
}

// Where the taps lie.
struct Extent {
  int longest = 1;  // taps of one output
  int end = 0;      // after the last source sample
  int spread = 0;   // between the first samples of a block of 4 outputs
};

inline Extent extent_of(const Taps& taps) {
  Extent extent;
  for (int i = 0; i < taps.out; ++i) {
    extent.longest = std::max(extent.longest, taps.count[i]);
    extent.end = std::max(extent.end, taps.first[i] + taps.count[i]);
  }
  for (int i = 0; i < taps.out; i += 4) {
    const auto [low, high] = std::minmax_element(&taps.first[i], taps.first.data() + std::min(i + 4, taps.out));
    extent.spread = std::max(extent.spread, *high - *low);
  }
  return extent;
}

// False when the taps are too far apart. Windows that would leave the row buffer count as too far, too.
template <int blocks>
bool build_windows(const Taps& taps, const Extent& extent, RowTable* table) {
  const int all_pairs = (extent.longest + 1) / 2;
  const int room = (16 - extent.spread) / 2;
  if (room < 1) return false;
  const int windows = (all_pairs + room - 1) / room;
  const int pairs = (all_pairs + windows - 1) / windows;
  if (2 * pairs * (windows - 1) + 16 > kRowPad) return false;

  constexpr int vector_bytes = 16 * blocks;
  const int parts = parts_of(taps.bits);
  const int batches = (taps.out + 16 * blocks - 1) / (16 * blocks);
  const size_t vector_size = static_cast<size_t>(vector_bytes) * (1 + parts * pairs * windows);
  const int offset = allocate(vector_size * 4 * batches, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = windows;
  table->layout = Layout{Layout::kWindows, pairs, offset}.pack();
  table->base.resize(static_cast<size_t>(batches) * 4 * blocks);

  for (int block = 0; block < batches * 4 * blocks; ++block) {
    const int batch = block / (4 * blocks);
    const int place = block % (4 * blocks);
    const int vector = batch * 4 + place % 4;
    uint8_t* data = table->data.data() + offset + vector_size * vector + 16 * (place / 4);
    int32_t& base = table->base[static_cast<size_t>(vector) * blocks + place / 4];
    // The outputs after the last one repeat its block.
    const int begin = std::min(4 * block, (taps.out - 1) / 4 * 4);
    const int outputs = std::min(4, taps.out - begin);
    base = *std::min_element(&taps.first[begin], &taps.first[begin] + outputs);
    for (int i = 0; i < outputs; ++i) {
      const int at = taps.first[begin + i] - base;
      const uint8_t lookup[4] = {static_cast<uint8_t>(at), 0x80, static_cast<uint8_t>(at + 1), 0x80};
      std::memcpy(data + 4 * i, lookup, 4);
      const int32_t* weights = taps.weights(begin + i);
      uint8_t* to = data + vector_bytes + 4 * i;
      for (int t = 0; t < taps.count[begin + i]; ++t, to += 2) {
        put_weight(weights[t], parts, to, vector_bytes);
        if (t % 2 == 1) to += parts * vector_bytes - 4;
      }
    }
  }
  return true;
}

template <int blocks>
void build_dots(const Taps& taps, const Extent& extent, RowTable* table) {
  constexpr int step = 8 * blocks;
  const int groups = (extent.longest + step - 1) / step;
  const int parts = parts_of(taps.bits);
  const size_t group_size = static_cast<size_t>(2) * parts * step;
  const size_t output_size = group_size * groups;
  const int padded_out = (taps.out + 15) / 16 * 16;
  const int offset = allocate(output_size * padded_out, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = groups;
  table->layout = Layout{Layout::kDots, 0, offset}.pack();
  table->base.assign(padded_out, 0);
  for (int i = 0; i < taps.out; ++i) {
    // Outputs at the right end start earlier, with zero weights, rather than read past the row.
    const int base = std::min(taps.first[i], std::max(0, extent.end - step * groups));
    table->base[i] = base;
    uint8_t* data = table->data.data() + offset + output_size * i;
    const int32_t* weights = taps.weights(i);
    for (int t = 0; t < taps.count[i]; ++t) {
      const int at = taps.first[i] - base + t;
      put_weight(weights[t], parts, data + group_size * (at / step) + 2 * (at % step), 2 * step);
    }
  }
}

}  // namespace fastaug::resample
#endif  // FASTAUG_SIMD_RESAMPLE_ONCE

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using resample::kLowBits;
using resample::Layout;

using Bytes = hn::ScalableTag<uint8_t>;
using Shorts = hn::Repartition<int16_t, Bytes>;
using Words = hn::Repartition<int32_t, Bytes>;
using Sum = hn::Vec<Words>;

constexpr int kLanes = HWY_LANES(uint8_t);
constexpr int kBlocks = kLanes / 16;

// The dot products are short: vectors of at most 256 bits.
using DotShorts = hn::CappedTag<int16_t, 16>;
constexpr int kDotBlocks = kLanes >= 32 ? 2 : 1;

constexpr int kHalf = 1 << (kWeightBits - 1);

// Sums of samples times weights, rounded: `low` has half a unit of the result already. kShort: `high` is not used.
template <bool kShort, class V>
HWY_INLINE V finish(V high, V low, int bits) {
  if constexpr (kShort) return hn::ShiftRightSame(low, bits);
  return hn::ShiftRight<kWeightBits>(hn::Add(hn::ShiftLeft<kLowBits>(high), low));
}

// ---- Rows ----

void build_row_table(const Taps& taps, RowTable* table) {
  const resample::Extent extent = resample::extent_of(taps);
  if (!resample::build_windows<kBlocks>(taps, extent, table)) resample::build_dots<kDotBlocks>(taps, extent, table);
}

// One window per block, the first one in the lowest block.
HWY_INLINE hn::Vec<Bytes> load_windows(const uint8_t* src, const int32_t* base) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Half<Bytes> half;
#endif
#if HWY_TARGET == HWY_AVX2
  return hn::Combine(Bytes(), hn::LoadU(half, src + base[1]), hn::LoadU(half, src + base[0]));
#elif HWY_TARGET <= HWY_AVX3
  const hn::Half<hn::Half<Bytes>> quarter;
  return hn::Combine(Bytes(), hn::Combine(half, hn::LoadU(quarter, src + base[3]), hn::LoadU(quarter, src + base[2])),
                     hn::Combine(half, hn::LoadU(quarter, src + base[1]), hn::LoadU(quarter, src + base[0])));
#else
  return hn::LoadU(Bytes(), src + base[0]);
#endif
}

template <int kPairs, bool kShort>
HWY_INLINE Sum windows_vector(const uint8_t* src, const int32_t* base, const uint8_t* data, int windows, int bits) {
  constexpr int kParts = kShort ? 1 : 2;
  const Bytes d;
  const Shorts d16;
  const Words d32;
  const auto advance = hn::Set(d16, 2);
  const auto first = hn::BitCast(d16, hn::LoadU(d, data));
  const uint8_t* weights = data + kLanes;
  Sum high = hn::Zero(d32);
  Sum low = hn::Set(d32, kShort ? 1 << (bits - 1) : kHalf);
  for (int w = 0; w < windows; ++w, src += 2 * kPairs) {
    const auto window = load_windows(src, base);
    auto lookup = first;
    HWY_UNROLL(8)
    for (int p = 0; p < kPairs; ++p, weights += kParts * kLanes) {
      const auto samples = hn::BitCast(d16, hn::TableLookupBytesOr0(window, hn::BitCast(d, lookup)));
      if constexpr (!kShort) high = hn::Add(high, madd(samples, hn::BitCast(d16, hn::LoadU(d, weights))));
      low = hn::Add(low, madd(samples, hn::BitCast(d16, hn::LoadU(d, weights + (kParts - 1) * kLanes))));
      lookup = hn::Add(lookup, advance);
    }
  }
  return finish<kShort>(high, low, bits);
}

template <int kPairs, bool kOneWindow, bool kShort>
void windows_row(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
                 int channels) {
  const Bytes d;
  const int windows = kOneWindow ? 1 : table.groups;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(kLanes) * (1 + (kShort ? 1 : 2) * kPairs * windows);
  const uint8_t* data = table.data.data() + layout.offset;
  const int32_t* base = table.base.data();
  for (int x = 0; x < table.out; x += kLanes, base += 4 * kBlocks, data += 4 * stride) {
    for (int c = 0; c < channels; ++c) {
      const uint8_t* from = src[c];
      const Sum s0 = windows_vector<kPairs, kShort>(from, base, data, windows, table.bits);
      const Sum s1 = windows_vector<kPairs, kShort>(from, base + kBlocks, data + stride, windows, table.bits);
      const Sum s2 = windows_vector<kPairs, kShort>(from, base + 2 * kBlocks, data + 2 * stride, windows, table.bits);
      const Sum s3 = windows_vector<kPairs, kShort>(from, base + 3 * kBlocks, data + 3 * stride, windows, table.bits);
      hn::StoreU(narrow(s0, s1, s2, s3), d, dst[c] + x);
    }
  }
}

using DotSum = hn::Vec<hn::Repartition<int32_t, DotShorts>>;

// The sum for one output, spread over the lanes.
template <bool kShort>
HWY_INLINE DotSum dot(const uint8_t* src, const uint8_t* data, int groups) {
  const DotShorts d16;
  const hn::Repartition<int32_t, DotShorts> d32;
  const hn::Repartition<uint8_t, DotShorts> d8;
  constexpr int kStep = 8 * kDotBlocks;
  constexpr int kBytes = kShort ? 2 * kStep : 4 * kStep;
  DotSum high = hn::Zero(d32);
  DotSum low = hn::Zero(d32);
  for (int g = 0; g < groups; ++g, src += kStep, data += kBytes) {
    const auto samples = hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, DotShorts>(), src));
    if constexpr (!kShort) high = hn::Add(high, madd(samples, hn::BitCast(d16, hn::LoadU(d8, data))));
    low = hn::Add(low, madd(samples, hn::BitCast(d16, hn::LoadU(d8, data + kBytes - 2 * kStep))));
  }
  if constexpr (kShort) return low;
  return hn::Add(hn::ShiftLeft<kLowBits>(high), low);
}

// Four outputs, summed up.
template <bool kShort>
HWY_INLINE hn::Vec128<int32_t> dots(const uint8_t* src, const int32_t* base, const uint8_t* data, ptrdiff_t stride,
                                    int groups, int bits) {
  const hn::Repartition<int32_t, DotShorts> d32;
  const DotSum s0 = dot<kShort>(src + base[0], data, groups);
  const DotSum s1 = dot<kShort>(src + base[1], data + stride, groups);
  const DotSum s2 = dot<kShort>(src + base[2], data + 2 * stride, groups);
  const DotSum s3 = dot<kShort>(src + base[3], data + 3 * stride, groups);
  const DotSum s02 = hn::Add(hn::InterleaveLower(d32, s0, s2), hn::InterleaveUpper(d32, s0, s2));
  const DotSum s13 = hn::Add(hn::InterleaveLower(d32, s1, s3), hn::InterleaveUpper(d32, s1, s3));
  const DotSum all = hn::Add(hn::InterleaveLower(d32, s02, s13), hn::InterleaveUpper(d32, s02, s13));
  const hn::Full128<int32_t> d128;
#if HWY_TARGET <= HWY_AVX2
  const auto sum = hn::Add(hn::LowerHalf(d128, all), hn::UpperHalf(d128, all));
#else
  const auto sum = all;
#endif
  return finish<true>(sum, hn::Add(sum, hn::Set(d128, 1 << (bits - 1))), bits);
}

template <bool kShort>
void dots_row(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
              int channels) {
  const hn::Full128<uint8_t> d;
  const int groups = table.groups;
  const ptrdiff_t stride = static_cast<ptrdiff_t>(kShort ? 2 : 4) * 8 * kDotBlocks * groups;
  const uint8_t* data = table.data.data() + layout.offset;
  const int32_t* base = table.base.data();
  for (int x = 0; x < table.out; x += 16, base += 16, data += 16 * stride) {
    for (int c = 0; c < channels; ++c) {
      const auto s0 = dots<kShort>(src[c], base, data, stride, groups, table.bits);
      const auto s1 = dots<kShort>(src[c], base + 4, data + 4 * stride, stride, groups, table.bits);
      const auto s2 = dots<kShort>(src[c], base + 8, data + 8 * stride, stride, groups, table.bits);
      const auto s3 = dots<kShort>(src[c], base + 12, data + 12 * stride, stride, groups, table.bits);
      hn::StoreU(narrow(s0, s1, s2, s3), d, dst[c] + x);
    }
  }
}

template <int kPairs>
void windows_row_of(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
                    int channels) {
  const bool one = table.groups == 1;
  if (table.bits != kWeightBits) {
    if (one) return windows_row<kPairs, true, true>(table, layout, src, dst, channels);
    return windows_row<kPairs, false, true>(table, layout, src, dst, channels);
  }
  if (one) return windows_row<kPairs, true, false>(table, layout, src, dst, channels);
  return windows_row<kPairs, false, false>(table, layout, src, dst, channels);
}

void resample_row(const RowTable& table, const uint8_t* const* src, uint8_t* const* dst, int channels) {
  const Layout layout = Layout::unpack(table.layout);
  if (layout.kind == Layout::kDots) {
    if (table.bits != kWeightBits) return dots_row<true>(table, layout, src, dst, channels);
    return dots_row<false>(table, layout, src, dst, channels);
  }
  switch (layout.pairs) {
    case 1:
      return windows_row_of<1>(table, layout, src, dst, channels);
    case 2:
      return windows_row_of<2>(table, layout, src, dst, channels);
    case 3:
      return windows_row_of<3>(table, layout, src, dst, channels);
    case 4:
      return windows_row_of<4>(table, layout, src, dst, channels);
    case 5:
      return windows_row_of<5>(table, layout, src, dst, channels);
    case 6:
      return windows_row_of<6>(table, layout, src, dst, channels);
    case 7:
      return windows_row_of<7>(table, layout, src, dst, channels);
    default:
      return windows_row_of<8>(table, layout, src, dst, channels);
  }
}

// ---- Columns ----

// The weights of two rows, as madd takes them. Short ones are all in `low`.
struct WeightPair {
  int32_t high;
  int32_t low;

  WeightPair() = default;
  WeightPair(int32_t a, int32_t b, bool whole)
      : high(whole ? 0 : join(a >> kLowBits, b >> kLowBits)),
        low(whole ? join(a, b) : join(a & kLowMask, b & kLowMask)) {}

 private:
  static constexpr int32_t kLowMask = (1 << kLowBits) - 1;
  static int32_t join(int32_t a, int32_t b) {
    return static_cast<int32_t>((static_cast<uint32_t>(a) & 0xffff) | static_cast<uint32_t>(b) << 16);
  }
};

// rows has 2 * pairs entries.
template <int kPairs, bool kShort>
void columns(const uint8_t* const* rows, const WeightPair* weights, int pairs, int bits, int width, uint8_t* dst) {
  const Bytes d;
  const Shorts d16;
  const Words d32;
  const auto zero = hn::Zero(d);
  const Sum half = hn::Set(d32, 1 << (bits - 1));
  for (int x = 0; x < width; x += kLanes) {
    Sum h0 = hn::Zero(d32), h1 = h0, h2 = h0, h3 = h0;
    Sum l0 = half, l1 = half, l2 = half, l3 = half;
    for (int p = 0; p < (kPairs > 0 ? kPairs : pairs); ++p) {
      const auto low = hn::BitCast(d16, hn::Set(d32, weights[p].low));
      const auto a = hn::LoadU(d, rows[2 * p] + x);
      const auto b = hn::LoadU(d, rows[2 * p + 1] + x);
      const auto lower = hn::InterleaveLower(d, a, b);
      const auto upper = hn::InterleaveUpper(d, a, b);
      const auto s0 = hn::BitCast(d16, hn::InterleaveLower(d, lower, zero));
      const auto s1 = hn::BitCast(d16, hn::InterleaveUpper(d, lower, zero));
      const auto s2 = hn::BitCast(d16, hn::InterleaveLower(d, upper, zero));
      const auto s3 = hn::BitCast(d16, hn::InterleaveUpper(d, upper, zero));
      if constexpr (!kShort) {
        const auto high = hn::BitCast(d16, hn::Set(d32, weights[p].high));
        h0 = hn::Add(h0, madd(s0, high));
        h1 = hn::Add(h1, madd(s1, high));
        h2 = hn::Add(h2, madd(s2, high));
        h3 = hn::Add(h3, madd(s3, high));
      }
      l0 = hn::Add(l0, madd(s0, low));
      l1 = hn::Add(l1, madd(s1, low));
      l2 = hn::Add(l2, madd(s2, low));
      l3 = hn::Add(l3, madd(s3, low));
    }
    const auto s0 = finish<kShort>(h0, l0, bits);
    const auto s1 = finish<kShort>(h1, l1, bits);
    const auto s2 = finish<kShort>(h2, l2, bits);
    const auto s3 = finish<kShort>(h3, l3, bits);
    hn::StoreU(narrow(s0, s1, s2, s3), d, dst + x);
  }
}

template <bool kShort>
void columns_of(const uint8_t* const* rows, const WeightPair* weights, int pairs, int bits, int width, uint8_t* dst) {
  switch (pairs) {
    case 1:
      return columns<1, kShort>(rows, weights, pairs, bits, width, dst);
    case 2:
      return columns<2, kShort>(rows, weights, pairs, bits, width, dst);
    case 3:
      return columns<3, kShort>(rows, weights, pairs, bits, width, dst);
    default:
      return columns<0, kShort>(rows, weights, pairs, bits, width, dst);
  }
}

void resample_column(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  if (taps == 1 && weights[0] == 1 << bits) {
    std::memcpy(dst, rows[0], static_cast<size_t>(width));
    return;
  }
  const int pairs = (taps + 1) / 2;
  constexpr int kOnStack = 32;
  WeightPair stack_weights[kOnStack];
  const uint8_t* stack_rows[2 * kOnStack];
  std::vector<WeightPair> heap_weights;
  std::vector<const uint8_t*> heap_rows;
  WeightPair* split = stack_weights;
  const uint8_t** paired = stack_rows;
  if (pairs > kOnStack) {
    heap_weights.resize(static_cast<size_t>(pairs));
    heap_rows.resize(static_cast<size_t>(2) * pairs);
    split = heap_weights.data();
    paired = heap_rows.data();
  }
  for (int p = 0; p < pairs; ++p) {
    const bool both = 2 * p + 1 < taps;
    split[p] = WeightPair(weights[2 * p], both ? weights[2 * p + 1] : 0, bits != kWeightBits);
    paired[2 * p] = rows[2 * p];
    paired[2 * p + 1] = rows[both ? 2 * p + 1 : 2 * p];
  }
  if (bits != kWeightBits) return columns_of<true>(paired, split, pairs, bits, width, dst);
  return columns_of<false>(paired, split, pairs, bits, width, dst);
}

}  // namespace

void fill_resample(Kernels* table) {
  table->build_row_table = build_row_table;
  table->resample_row = resample_row;
  table->resample_column = resample_column;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fastaug {

void set_resample(Isa isa, Kernels* table) {
  switch (isa) {
    case Isa::kScalar:
      return scalar::fill_resample(table);
      FASTAUG_SIMD_CASES(fill_resample, table)
    default:
      return;
  }
}

}  // namespace fastaug
#endif  // HWY_ONCE
