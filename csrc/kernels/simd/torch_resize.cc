// The passes of TORCH_RESIZE, in float32 and in torch's order (pixel/torch_tap.h).
//
// Down columns, lanes are columns. Along rows, lanes are rows: bytes of as many rows as there are lanes are turned into
// vectors of one column each, so that all lanes have the same taps and weights; sums are turned back four outputs at a
// time.
#define HWY_TARGET_INCLUDE "kernels/simd/torch_resize.cc"

#include <algorithm>
#include <cmath>

#include "kernels/simd/family-inl.h"
#include "pixel/fma.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/wide-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using Ints = hn::ScalableTag<int32_t>;
using Words = hn::ScalableTag<uint32_t>;
using FloatVec = hn::Vec<Floats>;
constexpr int kLanes = HWY_LANES(float);
static_assert(kTorchRows % kLanes == 0);

#if HWY_NATIVE_FMA

HWY_INLINE FloatVec fused_add(FloatVec a, FloatVec b, FloatVec c) { return hn::MulAdd(a, b, c); }

#else

// In double, as pixel/fma.h has it.
HWY_INLINE FloatVec fused_add(FloatVec a, FloatVec b, FloatVec c) {
  const Floats d;
  const hn::Half<Floats> half;
  const hn::Repartition<double, Floats> doubles;
  const hn::RebindToUnsigned<decltype(doubles)> bits;
  const auto sum = [&](auto part) HWY_ATTR {
    return hn::Add(hn::Mul(hn::PromoteTo(doubles, part(a)), hn::PromoteTo(doubles, part(b))),
                   hn::PromoteTo(doubles, part(c)));
  };
  const auto low = sum([&](FloatVec v) HWY_ATTR { return hn::LowerHalf(half, v); });
  const auto high = sum([&](FloatVec v) HWY_ATTR { return hn::UpperHalf(half, v); });
  const auto doubtful = [&](auto v) HWY_ATTR {
    const auto tail = hn::And(hn::BitCast(bits, v), hn::Set(bits, kDroppedBits));
    const auto middle = hn::RebindMask(doubles, hn::Eq(tail, hn::Set(bits, kMiddle)));
    const auto small = hn::And(hn::Lt(hn::Abs(v), hn::Set(doubles, kSmallSum)), hn::Ne(v, hn::Zero(doubles)));
    return hn::Or(middle, small);
  };
  if (!hn::AllFalse(doubles, hn::Or(doubtful(low), doubtful(high)))) {
    alignas(16) float v[3][kLanes];
    hn::Store(a, d, v[0]);
    hn::Store(b, d, v[1]);
    hn::Store(c, d, v[2]);
    for (int lane = 0; lane < kLanes; ++lane) v[2][lane] = std::fma(v[0][lane], v[1][lane], v[2][lane]);
    return hn::Load(d, v[2]);
  }
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

#endif  // HWY_NATIVE_FMA

// torch_sum of kVectors vectors, which lie one after the other from sample(t) on.
template <int kVectors, class Sample>
HWY_INLINE void sums(const float* weights, int count, Sample sample, FloatVec* sum) {
  const Floats d;
  const float* at = sample(0);
  auto w = hn::Set(d, weights[0]);
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Mul(hn::LoadU(d, at + v * kLanes), w);
  int t = 1;
  for (; t + 4 <= count; t += 4) {
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      at = sample(t + k);
      w = hn::Set(d, weights[t + k]);
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::Add(sum[v], hn::Mul(hn::LoadU(d, at + v * kLanes), w));
    }
  }
  for (; t < count; ++t) {
    at = sample(t);
    w = hn::Set(d, weights[t]);
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) sum[v] = fused_add(hn::LoadU(d, at + v * kLanes), w, sum[v]);
  }
}

// ---- Along rows.

// 16 bytes of rows row, row + 4, ... in the 128-bit blocks of a vector.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const uint8_t* const* rows, int row, int x) {
  if constexpr (hn::MaxLanes(D()) == 16) {
    return hn::LoadU(d, rows[row] + x);
  } else {
    const hn::Half<D> half;
    constexpr int kRows = static_cast<int>(hn::MaxLanes(D())) / 8;
    return hn::Combine(d, load_blocks(half, rows, row + kRows, x), load_blocks(half, rows, row, x));
  }
}

// The 128-bit blocks of a vector to rows row, row + 4, ...
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, float* const* rows, int row, int x) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    hn::StoreU(v, d, rows[row] + x);
  } else {
    const hn::Half<D> half;
    constexpr int kRows = static_cast<int>(hn::MaxLanes(D())) / 2;
    store_blocks(half, hn::LowerHalf(half, v), rows, row, x);
    store_blocks(half, hn::UpperHalf(half, v), rows, row + kRows, x);
  }
}

// Exchanges rows and columns of the squares of 4 words that the blocks of four vectors make.
HWY_INLINE void turn(hn::Vec<Words>* v) {
  const Words d;
  const hn::Repartition<uint64_t, Words> pairs;
  const auto low02 = hn::InterleaveLower(d, v[0], v[1]);
  const auto high02 = hn::InterleaveUpper(d, v[0], v[1]);
  const auto low13 = hn::InterleaveLower(d, v[2], v[3]);
  const auto high13 = hn::InterleaveUpper(d, v[2], v[3]);
  const auto cast = [&](auto x) HWY_ATTR { return hn::BitCast(pairs, x); };
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, cast(low02), cast(low13)));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, cast(low02), cast(low13)));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, cast(high02), cast(high13)));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, cast(high02), cast(high13)));
}

// Columns [x, x + 16) of kLanes rows to vectors of floats, one for each column.
HWY_INLINE void turn_columns(const uint8_t* const* rows, int x, float* columns) {
  const hn::ScalableTag<uint8_t> bytes;
  const Words words;
  const Floats d;
  const Ints ints;
  hn::Vec<Words> v[4];
  for (int k = 0; k < 4; ++k) v[k] = hn::BitCast(words, load_blocks(bytes, rows, k, x));
  turn(v);
  const auto last = hn::Set(words, 255u);
  const auto put = [&](hn::Vec<Words> sample, int column) HWY_ATTR {
    hn::StoreU(hn::ConvertTo(d, hn::BitCast(ints, sample)), d, columns + column * kLanes);
  };
  HWY_UNROLL(4)
  for (int k = 0; k < 4; ++k) {
    put(hn::And(v[k], last), 4 * k);
    put(hn::And(hn::ShiftRight<8>(v[k]), last), 4 * k + 1);
    put(hn::And(hn::ShiftRight<16>(v[k]), last), 4 * k + 2);
    put(hn::ShiftRight<24>(v[k]), 4 * k + 3);
  }
}

// kLanes rows.
void resize_lanes(const FloatTaps& taps, const uint8_t* const* rows, float* scratch, float* const* dst) {
  const Words words;
  const Floats d;
  int turned = 0;  // columns
  for (int x = 0; x < taps.out; x += 4) {
    // Neither first samples nor last ones decrease.
    const auto last = static_cast<size_t>(std::min(x + 3, taps.out - 1));
    for (; turned < taps.first[last] + taps.count[last]; turned += 16) {
      turn_columns(rows, turned, scratch + turned * kLanes);
    }
    hn::Vec<Words> v[4];
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      const int out = std::min(x + k, taps.out - 1);
      const float* at = scratch + taps.first[static_cast<size_t>(out)] * kLanes;
      FloatVec sum;
      const auto sample = [=](int t) HWY_ATTR { return at + t * kLanes; };
      sums<1>(taps.weights(out), taps.count[static_cast<size_t>(out)], sample, &sum);
      v[k] = hn::BitCast(words, sum);
    }
    turn(v);
    for (int k = 0; k < 4; ++k) store_blocks(d, hn::BitCast(d, v[k]), dst, k, x);
  }
}

void torch_resize_rows(const FloatTaps& taps, const uint8_t* const* rows, int count, int, float* scratch,
                       float* const* dst) {
  for (int y = 0; y < count; y += kLanes) {
    // Lanes after the last row do it once more.
    const uint8_t* from[kLanes];
    float* to[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      const int row = std::min(y + k, count - 1);
      from[k] = rows[row];
      to[k] = dst[row];
    }
    resize_lanes(taps, from, scratch, to);
  }
}

void widen(const uint8_t* src, int width, float* dst) {
  const Floats d;
  const hn::Rebind<uint8_t, Floats> bytes;
  for (int x = 0; x < width; x += kLanes) {
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(Ints(), hn::LoadU(bytes, src + x))), d, dst + x);
  }
}

// ---- Down columns.

void torch_resize_column(const float* const* rows, const float* weights, int taps, int width, uint8_t* dst) {
  for (int x = 0; x < width; x += 4 * kLanes) {
    FloatVec sum[4];
    sums<4>(weights, taps, [=](int t) HWY_ATTR { return rows[t] + x; }, sum);
    store_rounded(sum[0], sum[1], sum[2], sum[3], dst + x);
  }
}

}  // namespace

void fill_torch_resize(Kernels* table) {
  table->torch_resize_rows = torch_resize_rows;
  table->widen = widen;
  table->torch_resize_column = torch_resize_column;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(torch_resize)
