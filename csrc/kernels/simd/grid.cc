// torch's grid_sample, one output row at a time, in chunks: positions and weights in vectors, pixels fetched one by
// one, then mixed in vectors, a vector per channel. The arithmetic is that of pixel/grid.h, in the same order, so that
// the bits are the same too; what is not inside is left to the scalar bodies.
//
// Instruction sets without a fused multiply-add use the scalar kernels.
#define HWY_TARGET_INCLUDE "kernels/simd/grid.cc"

#include "kernels/grid_row.h"
#include "kernels/simd/family-inl.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lane-inl.h"
#include "kernels/simd/warp_fetch-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using FloatV = hn::Vec<Floats>;
using FloatMask = hn::Mask<Floats>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;

// Points of a grid for whole vectors; the products, sums and quotients of grid_point.
template <bool kFuse, bool kPerspective>
void map_values(const MapRow& row, float* grid) {
  const Floats d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const GridMap& map = row.map;
  const float y = kPerspective ? perspective_base(row.y) : grid_base(row.y, map.out_height);
  const auto value = [&](const float* theta, FloatV x) HWY_ATTR {
    const auto across = hn::Mul(x, hn::Set(d, theta[0]));
    const auto both =
        kFuse ? hn::MulAdd(hn::Set(d, y), hn::Set(d, theta[1]), across) : hn::Add(hn::Set(d, y * theta[1]), across);
    return hn::Add(both, hn::Set(d, theta[2]));
  };
  for (int k = 0; k < row.width; k += lanes) {
    const int column = row.x + k;
    const FloatV x = hn::Iota(d, kPerspective ? perspective_base(column) : grid_base(column, map.out_width));
    FloatV at_x = value(map.theta, x);
    FloatV at_y = value(map.theta + 3, x);
    if constexpr (kPerspective) {
      const FloatV below = value(map.below, x);
      const FloatV one = hn::Set(d, 1.0f);
      at_x = hn::Sub(hn::Div(at_x, below), one);
      at_y = hn::Sub(hn::Div(at_y, below), one);
    }
    hn::StoreInterleaved2(at_x, at_y, d, grid + 2 * k);
  }
}

void map_grid(const MapRow& row, float* grid) {
  const GridMap& map = row.map;
  if (!grid_fuses(map.fused, map.out_height, map.out_width)) {
    return map.perspective ? map_values<false, true>(row, grid) : map_values<false, false>(row, grid);
  }
#if HWY_NATIVE_FMA
  return map.perspective ? map_values<true, true>(row, grid) : map_values<true, false>(row, grid);
#else
  map_grid_row(row, grid);
#endif
}

#if HWY_NATIVE_FMA

// Samples whose positions are computed together.
constexpr int kChunk = kFetch;

HWY_INLINE uint64_t bits_of(FloatMask mask, int shift) {
  uint8_t bits[8] = {};
  hn::StoreMaskBits(Floats(), mask, bits);
  uint64_t all;
  std::memcpy(&all, bits, sizeof(all));
  return all << shift;
}

// low <= v < high.
HWY_INLINE FloatMask between(FloatV v, float low, float high) {
  return hn::And(hn::Ge(v, hn::Set(Floats(), low)), hn::Lt(v, hn::Set(Floats(), high)));
}

HWY_INLINE FloatV position(FloatV g, int size) {
  const Floats d;
  return hn::MulAdd(hn::Add(g, hn::Set(d, 1.0f)), hn::Set(d, static_cast<float>(size) * 0.5f), hn::Set(d, -0.5f));
}

// Byte offset of the pixel at whole coordinates; of the first one where mask is false.
HWY_INLINE void store_offset(const View& v, FloatMask mask, FloatV x, FloatV y, int32_t* offset) {
  const Ints ints;
  const auto ix = to_ints(hn::IfThenElseZero(mask, x));
  const auto iy = to_ints(hn::IfThenElseZero(mask, y));
  const auto row = hn::Mul(iy, hn::Set(ints, static_cast<int32_t>(v.row_stride)));
  hn::Store(hn::Add(row, hn::Mul(ix, hn::Set(ints, static_cast<int32_t>(v.pixel_stride)))), ints, offset);
}

// Samples that lie outside.
inline void set_span(const GridRow& row, Span span, bool filled, uint8_t* const* dst) {
  for (int c = 0; c < row.source.channels; ++c) {
    std::memset(dst[c] + span.begin, filled ? static_cast<int>(rintf(row.fill[c])) : 0,
                static_cast<size_t>(span.end - span.begin));
  }
}

// A chunk's part of the grid; at the end of the row a copy that may be read in whole vectors.
HWY_INLINE const float* grid_at(const GridRow& row, int begin, int count, float* copy) {
  const float* grid = row.grid + 2 * static_cast<ptrdiff_t>(begin);
  if (count == kChunk) return grid;
  std::memcpy(copy, grid, static_cast<size_t>(count) * 2 * sizeof(float));
  std::fill(copy + 2 * count, copy + 2 * kChunk, 0.0f);
  return copy;
}

void grid_nearest(const GridRow& row, uint8_t* const* dst) {
  const Floats d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const View& v = row.source;
  const auto width = static_cast<float>(v.width);
  const auto height = static_cast<float>(v.height);
  const float safe_width = width - static_cast<float>(pixels_after(v, 1));
  if (safe_width <= 0.0f || !offsets_fit(v)) return grid_nearest_span(row, {0, row.width}, dst);
  alignas(64) int32_t offset[kChunk];
  alignas(64) float copy[2 * kChunk];
  for (int begin = 0; begin < row.width; begin += kChunk) {
    const int count = std::min(kChunk, row.width - begin);
    const float* grid = grid_at(row, begin, count, copy);
    uint64_t fetched = 0;
    uint64_t inside = 0;
    for (int k = 0; k < count; k += lanes) {
      FloatV gx, gy;
      hn::LoadInterleaved2(d, grid + 2 * k, gx, gy);
      const auto x = hn::Round(position(gx, v.width));
      const auto y = hn::Round(position(gy, v.height));
      const auto inside_y = between(y, 0.0f, height);
      const auto interior = hn::And(between(x, 0.0f, safe_width), inside_y);
      fetched |= bits_of(interior, k);
      inside |= bits_of(hn::And(between(x, 0.0f, width), inside_y), k);
      store_offset(v, interior, x, y, offset + k);
    }
    const uint64_t all = low_bits(count);
    if ((fetched & all) != 0) {
      redirect(fetched & all, count, offset);
      fetch_pixels(v, offset, count, dst, begin);
    }
    if (HWY_LIKELY((fetched & all) == all)) continue;
    for_runs(all & inside & ~fetched,
             [&](int from, int to) { grid_nearest_span(row, {begin + from, begin + to}, dst); });
    for_runs(all & ~inside,
             [&](int from, int to) { set_span(row, {begin + from, begin + to}, row.filling != Filling::kNone, dst); });
  }
}

// The taps and weights of a chunk: northwest, northeast, southwest, southeast. Two neighbouring pixels of a source row
// are fetched as eight bytes, or as two if they have one channel.
struct Taps4 {
  alignas(64) int32_t offset[kChunk];
  alignas(64) int32_t x[kChunk];
  alignas(64) int32_t y[kChunk];
  alignas(64) float weight[4][kChunk];
  alignas(64) uint64_t pair[2][kChunk];
};

// Which of a chunk's samples have taps that can all be fetched; with kBorder also which have any tap in the source, and
// which are zero because their weights are not finite.
struct Samples {
  uint64_t interior = 0;
  uint64_t touched = 0;
  uint64_t lost = 0;
};

// Positions and weights. With kBorder taps outside the source get no weight, which adds the same as leaving them out,
// and the whole coordinates are stored too.
template <bool kBorder>
HWY_INLINE Samples locate(const View& v, const float* grid, int count, Taps4* out) {
  const Floats d;
  const Ints ints;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto one = hn::Set(d, 1.0f);
  const auto width = static_cast<float>(v.width);
  const auto height = static_cast<float>(v.height);
  const float safe_width = width - 1.0f - static_cast<float>(pixels_after(v, 2));
  Samples is;
  for (int k = 0; k < count; k += lanes) {
    FloatV gx, gy;
    hn::LoadInterleaved2(d, grid + 2 * k, gx, gy);
    const FloatV x = position(gx, v.width);
    const FloatV y = position(gy, v.height);
    const FloatV west = hn::Floor(x);
    const FloatV north = hn::Floor(y);
    const FloatV dx = hn::Sub(x, west);
    const FloatV dy = hn::Sub(y, north);
    const FloatV rest_x = hn::Sub(one, dx);
    const FloatV rest_y = hn::Sub(one, dy);
    FloatV weight[4] = {hn::Mul(rest_x, rest_y), hn::Mul(dx, rest_y), hn::Mul(rest_x, dy), hn::Mul(dx, dy)};
    const auto interior = hn::And(between(west, 0.0f, safe_width), between(north, 0.0f, height - 1.0f));
    is.interior |= bits_of(interior, k);
    if constexpr (kBorder) {
      const FloatMask at_west = between(west, 0.0f, width);
      const FloatMask at_east = between(west, -1.0f, width - 1.0f);
      const FloatMask at_north = between(north, 0.0f, height);
      const FloatMask at_south = between(north, -1.0f, height - 1.0f);
      weight[0] = hn::IfThenElseZero(hn::And(at_north, at_west), weight[0]);
      weight[1] = hn::IfThenElseZero(hn::And(at_north, at_east), weight[1]);
      weight[2] = hn::IfThenElseZero(hn::And(at_south, at_west), weight[2]);
      weight[3] = hn::IfThenElseZero(hn::And(at_south, at_east), weight[3]);
      const auto touched = hn::And(hn::Or(at_west, at_east), hn::Or(at_north, at_south));
      is.touched |= bits_of(touched, k);
      is.lost |= bits_of(hn::Not(hn::Le(hn::Add(dx, dy), hn::Set(d, 2.0f))), k);
      hn::Store(to_ints(hn::IfThenElseZero(touched, west)), ints, out->x + k);
      hn::Store(to_ints(hn::IfThenElseZero(touched, north)), ints, out->y + k);
    }
    for (int t = 0; t < 4; ++t) hn::Store(weight[t], d, out->weight[t] + k);
    store_offset(v, interior, west, north, out->offset + k);
  }
  return is;
}

template <int kStride>
HWY_INLINE void fetch_pairs(const View& v, int from, int to, Taps4* at) {
  using Bytes = std::conditional_t<kStride == 1, uint16_t, uint64_t>;
  for (int k = from; k < to; ++k) {
    const uint8_t* p = v.data + at->offset[k];
    Bytes above, below;
    std::memcpy(&above, p, sizeof(Bytes));
    std::memcpy(&below, p + v.row_stride, sizeof(Bytes));
    at->pair[0][k] = above;
    at->pair[1][k] = below;
  }
}

// The same where taps lie outside, or the source ends after them. A tap outside is read from the nearest pixel.
template <int kStride>
HWY_INLINE void fetch_border(const View& v, uint64_t samples, Taps4* at) {
  const WarpSource source = warp_source(v);
  for_runs(samples, [&](int from, int to) {
    for (int k = from; k < to; ++k) {
      for (int i = 0; i < 2; ++i) {
        const int y = clamp_index(at->y[k] + i, v.height);
        const uint8_t* tap[2] = {source.at(y, clamp_index(at->x[k], v.width)),
                                 source.at(y, clamp_index(at->x[k] + 1, v.width))};
        uint64_t pair = 0;
        for (int c = v.channels - 1; c >= 0; --c) {
          pair = pair << 8 | tap[0][c] | static_cast<uint64_t>(tap[1][c]) << (8 * kStride);
        }
        at->pair[i][k] = pair;
      }
    }
  });
}

// One word per tap: the channels of its pixel.
template <int kStride>
HWY_INLINE void load_taps(const Taps4& at, int k, hn::Vec<Words>* tap) {
  const Words words;
  const hn::Repartition<uint64_t, Words> pairs;
  const auto half = static_cast<int>(hn::Lanes(pairs));
  for (int i = 0; i < 2; ++i) {
    const auto low = hn::Load(pairs, at.pair[i] + k);
    const auto high = hn::Load(pairs, at.pair[i] + k + half);
    tap[2 * i] = hn::ConcatEven(words, hn::BitCast(words, high), hn::BitCast(words, low));
    if constexpr (kStride == 4) {
      tap[2 * i + 1] = hn::ConcatOdd(words, hn::BitCast(words, high), hn::BitCast(words, low));
    } else if constexpr (kStride == 3) {
      tap[2 * i + 1] = hn::ConcatEven(words, hn::BitCast(words, hn::ShiftRight<24>(high)),
                                      hn::BitCast(words, hn::ShiftRight<24>(low)));
    } else {
      tap[2 * i + 1] = hn::ShiftRight<8>(tap[2 * i]);
    }
  }
}

template <int kStride, Filling kFilling>
HWY_INLINE void mix(const GridRow& row, const Taps4& at, int begin, int from, int to, uint8_t* const* dst) {
  const Floats d;
  const Ints ints;
  const Words words;
  const hn::Rebind<uint8_t, Floats> bytes;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (int k = from; k < to; k += lanes) {
    hn::Vec<Words> tap[4];
    load_taps<kStride>(at, k, tap);
    FloatV weight[4];
    for (int t = 0; t < 4; ++t) weight[t] = hn::Load(d, at.weight[t] + k);
    const FloatV mask = hn::Add(hn::Add(hn::Add(weight[0], weight[1]), weight[2]), weight[3]);
    const FloatV rest = hn::Sub(hn::Set(d, 1.0f), mask);
    for (int c = 0; c < row.source.channels; ++c) {
      const auto sample = [&](int t) HWY_ATTR {
        const auto value = hn::And(hn::ShiftRightSame(tap[t], 8 * c), hn::Set(words, 255));
        return hn::ConvertTo(d, hn::BitCast(ints, value));
      };
      FloatV sum = hn::Mul(sample(0), weight[0]);
      for (int t = 1; t < 4; ++t) sum = hn::MulAdd(sample(t), weight[t], sum);
      const FloatV fill = hn::Set(d, row.fill[c]);
      if constexpr (kFilling == Filling::kTorch) sum = hn::Add(hn::Mul(sum, mask), hn::Mul(rest, fill));
      if constexpr (kFilling == Filling::kV2) sum = hn::Add(hn::Mul(hn::Sub(sum, fill), mask), fill);
      // Rounds half to even: the lowest bit of a float this large is worth one.
      const auto whole = hn::BitCast(ints, hn::Add(sum, hn::Set(d, 8388608.0f)));
      hn::StoreU(hn::DemoteTo(bytes, hn::And(whole, hn::Set(ints, 255))), bytes, dst[c] + begin + k);
    }
  }
}

// A chunk that is not wholly inside.
template <int kStride, Filling kFilling>
void border_chunk(const GridRow& row, const float* grid, int begin, int count, Taps4* at, uint8_t* const* dst) {
  const uint64_t all = low_bits(count);
  const Samples is = locate<true>(row.source, grid, count, at);
  const uint64_t touched = is.touched & all;
  if (touched != 0) {
    const auto lanes = static_cast<int>(hn::Lanes(Floats()));
    for_runs(is.interior & all, [&](int from, int to) { fetch_pairs<kStride>(row.source, from, to, at); });
    fetch_border<kStride>(row.source, touched & ~is.interior, at);
    mix<kStride, kFilling>(row, *at, begin, std::countr_zero(touched) & -lanes, 64 - std::countl_zero(touched), dst);
  }
  const auto set = [&](uint64_t samples, bool filled) {
    for_runs(samples, [&](int from, int to) { set_span(row, {begin + from, begin + to}, filled, dst); });
  };
  set(all & ~touched & ~is.lost, kFilling != Filling::kNone);
  set(all & is.lost, false);
}

template <int kStride, Filling kFilling>
void linear_row(const GridRow& row, uint8_t* const* dst) {
  const View& v = row.source;
  if (!offsets_fit(v)) return grid_linear_span(row, {0, row.width}, dst);
  Taps4 at;
  alignas(64) float copy[2 * kChunk];
  for (int begin = 0; begin < row.width; begin += kChunk) {
    const int count = std::min(kChunk, row.width - begin);
    const float* grid = grid_at(row, begin, count, copy);
    const Samples is = locate<false>(v, grid, count, &at);
    if (HWY_LIKELY((~is.interior & low_bits(count)) == 0)) {
      fetch_pairs<kStride>(v, 0, count, &at);
      mix<kStride, kFilling>(row, at, begin, 0, count, dst);
    } else {
      border_chunk<kStride, kFilling>(row, grid, begin, count, &at, dst);
    }
  }
}

template <int kStride>
void filled_row(const GridRow& row, uint8_t* const* dst) {
  switch (row.filling) {
    case Filling::kNone:
      return linear_row<kStride, Filling::kNone>(row, dst);
    case Filling::kTorch:
      return linear_row<kStride, Filling::kTorch>(row, dst);
    case Filling::kV2:
      return linear_row<kStride, Filling::kV2>(row, dst);
  }
}

void grid_linear(const GridRow& row, uint8_t* const* dst) {
  switch (row.source.pixel_stride) {
    case 3:
      return filled_row<3>(row, dst);
    case 4:
      return filled_row<4>(row, dst);
    default:
      return filled_row<1>(row, dst);
  }
}

#endif  // HWY_NATIVE_FMA

}  // namespace

void fill_grid(Kernels* table) {
  scalar::fill_grid(table);
#if HWY_NATIVE_FMA
  table->grid_nearest = grid_nearest;
  table->grid_linear = grid_linear;
#endif
  table->map_grid = map_grid;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(grid)
