// torchvision's gaussian_blur, bit for bit: torch's convolution is a chain of multiply-adds in float32, one per weight,
// nearly always fused.
//
// Floats are given that chain. For uint8 it costs too much: two passes, down the columns and then along the row, come
// within kernel.error of it (pixel/blur.cpp proves the bound), and the chain is formed only for samples that are so
// near to a half that it may round them the other way.
#define HWY_TARGET_INCLUDE "kernels/simd/blur.cc"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/simd/family-inl.h"
#include "pixel/fma.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/turn-inl.h"
#include "kernels/simd/wide-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using Ints = hn::ScalableTag<int32_t>;
using FloatVec = hn::Vec<Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));

HWY_INLINE FloatVec to_floats(hn::Vec<Ints> v) { return hn::ConvertTo(Floats(), v); }

// kLanes samples from p on.
HWY_INLINE FloatVec load(const uint8_t* p) {
  const hn::Rebind<uint8_t, Floats> bytes;
  return to_floats(hn::PromoteTo(Ints(), hn::LoadU(bytes, p)));
}

HWY_INLINE FloatVec load(const float* p) { return hn::LoadU(Floats(), p); }

// ---- Chains. A Source finds samples: run(i, j) points at those under weight (i, j), and those under each further
// weight of the row lie kStep elements later, kRun weights long.

// step(weight, samples) for every weight in turn.
template <class Source, class Step>
HWY_INLINE void each_weight(const BlurKernel& kernel, Source source, Step step) {
  const float* weight = kernel.matrix;
  for (int i = 0; i < kernel.height; ++i) {
    for (int j = 0; j < kernel.width; j += Source::kRun) {
      const auto* samples = source.run(i, j);
      const float* end = weight + std::min(kernel.width - j, Source::kRun);
      for (; weight != end; ++weight, samples += Source::kStep) step(*weight, samples);
    }
  }
}

template <int kVectors, class Source, class MultiplyAdd>
HWY_INLINE void form_chains_by(const BlurKernel& kernel, Source source, MultiplyAdd multiply_add, float* out) {
  const Floats d;
  FloatVec sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  each_weight(kernel, source, [&](float weight, const auto* samples) HWY_ATTR {
    const auto w = hn::Set(d, weight);
    for (int v = 0; v < kVectors; ++v) sum[v] = multiply_add(w, load(samples + v * kLanes), sum[v]);
  });
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, out + v * kLanes);
}

template <int kVectors, class Source>
HWY_INLINE void form_unfused_chains(const BlurKernel& kernel, Source source, float* out) {
  const auto apart = [](FloatVec w, FloatVec v, FloatVec sum) HWY_ATTR { return hn::Add(sum, hn::Mul(w, v)); };
  form_chains_by<kVectors>(kernel, source, apart, out);
}

#if HWY_NATIVE_FMA

template <int kVectors, class Source>
HWY_INLINE void form_fused_chains(const BlurKernel& kernel, Source source, float* out) {
  const auto fused = [](FloatVec w, FloatVec v, FloatVec sum) HWY_ATTR { return hn::MulAdd(w, v, sum); };
  form_chains_by<kVectors>(kernel, source, fused, out);
}

#else

// Without a fused multiply-add, in double, as pixel/fma.h has it. Whoever comes across a sum that may be rounded
// wrongly has any() and must start again.
using Doubles = hn::Repartition<double, Floats>;

class Doubt {
 public:
  HWY_INLINE Doubt() : any_(hn::MaskFromVec(hn::Zero(Doubles()))) {}
  HWY_INLINE void note(hn::Vec<Doubles> sum) {
    const Doubles d;
    const hn::RebindToUnsigned<Doubles> bits;
    const auto tail = hn::And(hn::BitCast(bits, sum), hn::Set(bits, kDroppedBits));
    const auto middle = hn::RebindMask(d, hn::Eq(tail, hn::Set(bits, kMiddle)));
    const auto small = hn::And(hn::Lt(hn::Abs(sum), hn::Set(d, kSmallSum)), hn::Ne(sum, hn::Zero(d)));
    any_ = hn::Or(any_, hn::Or(middle, small));
  }
  HWY_INLINE bool any() const { return !hn::AllFalse(Doubles(), any_); }

 private:
  hn::Mask<Doubles> any_;
};

template <class Source>
HWY_INLINE void form_chain(const BlurKernel& kernel, Source source, int v, float* out) {
  const Floats d;
  const Doubles doubles;
  const hn::Half<Floats> half;
  Doubt doubt;
  auto low = hn::Zero(doubles);
  auto high = hn::Zero(doubles);
  each_weight(kernel, source, [&](float weight, const auto* samples) HWY_ATTR {
    const auto w = hn::Set(doubles, static_cast<double>(weight));
    const auto loaded = load(samples + v * kLanes);
    low = hn::Add(low, hn::Mul(w, hn::PromoteTo(doubles, hn::LowerHalf(half, loaded))));
    high = hn::Add(high, hn::Mul(w, hn::PromoteTo(doubles, hn::UpperHalf(half, loaded))));
    doubt.note(low);
    doubt.note(high);
    low = hn::PromoteTo(doubles, hn::DemoteTo(half, low));
    high = hn::PromoteTo(doubles, hn::DemoteTo(half, high));
  });
  hn::StoreU(hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low)), d, out);
  if (!doubt.any()) return;
  std::fill_n(out, kLanes, 0.0f);
  each_weight(kernel, source, [&](float weight, const auto* samples) {
    for (int lane = 0; lane < kLanes; ++lane) {
      out[lane] = std::fma(weight, static_cast<float>(samples[v * kLanes + lane]), out[lane]);
    }
  });
}

template <int kVectors, class Source>
HWY_INLINE void form_fused_chains(const BlurKernel& kernel, Source source, float* out) {
  for (int v = 0; v < kVectors; ++v) form_chain(kernel, source, v, out + v * kLanes);
}

#endif  // HWY_NATIVE_FMA

template <int kVectors, class Source>
HWY_INLINE void form_chains(const BlurKernel& kernel, Source source, float* out) {
  if (kernel.fused) {
    form_fused_chains<kVectors>(kernel, source, out);
  } else {
    form_unfused_chains<kVectors>(kernel, source, out);
  }
}

// ---- Floats.

// Rows of output together, every sample that is loaded serving them all, and vectors of each. Vectors as wide as a line
// of the cache nearly always come from two lines, at half the rate: there each has to serve as many rows as there are
// registers for.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr int kVectors = 4;
constexpr int kBlock = kVectors * kLanes;

// Adds kWide vectors of samples to kActive rows of sums: to row k by the weight `step` before that of row k - 1.
template <int kActive, int kWide, class Sample>
HWY_INLINE void add_samples(const Sample* samples, const float* weight, ptrdiff_t step,
                            FloatVec (&sum)[kActive][kWide]) {
  const Floats d;
  if constexpr (kActive < kWide) {  // whichever are fewer wait in registers
    FloatVec w[kActive];
    for (int k = 0; k < kActive; ++k) w[k] = hn::Set(d, weight[-k * step]);
    for (int v = 0; v < kWide; ++v) {
      const auto loaded = load(samples + v * kLanes);
      for (int k = 0; k < kActive; ++k) sum[k][v] = hn::MulAdd(w[k], loaded, sum[k][v]);
    }
  } else {
    FloatVec loaded[kWide];
    for (int v = 0; v < kWide; ++v) loaded[v] = load(samples + v * kLanes);
    for (int k = 0; k < kActive; ++k) {
      const auto w = hn::Set(d, weight[-k * step]);
      for (int v = 0; v < kWide; ++v) sum[k][v] = hn::MulAdd(w, loaded[v], sum[k][v]);
    }
  }
}

struct FloatColumns {
  static constexpr int kRun = 1 << 30;
  static constexpr int kStep = 1;
  const float* const* rows;
  int x;

  HWY_INLINE const float* run(int i, int j) const { return rows[i] + x + j; }
};

// kWide vectors of `count` rows of output, from column x on.
template <int kWide>
HWY_INLINE void float_chains(const BlurKernel& kernel, const float* const* rows, int count, int x, float* sums) {
  for (int k = 0; k < count; ++k) form_chains<kWide>(kernel, FloatColumns{rows + k, x}, sums + k * kWide * kLanes);
}

#if HWY_NATIVE_FMA

// Adds what `inputs` rows contribute to kActive rows of sums: the first row of sums by `weight` and the rows of weights
// after it, each further row of sums by the row of weights before.
template <int kActive, int kWide>
HWY_INLINE void add_rows(const float* const* rows, int inputs, int x, const float* weight, int taps, float* sums) {
  const Floats d;
  FloatVec sum[kActive][kWide];
  for (int k = 0; k < kActive; ++k)
    for (int v = 0; v < kWide; ++v) sum[k][v] = hn::Load(d, sums + (k * kWide + v) * kLanes);
  for (int r = 0; r < inputs; ++r, weight += taps) {
    const float* samples = rows[r] + x;
    for (int j = 0; j < taps; ++j) add_samples(samples + j, weight + j, taps, sum);
  }
  for (int k = 0; k < kActive; ++k)
    for (int v = 0; v < kWide; ++v) hn::Store(sum[k][v], d, sums + (k * kWide + v) * kLanes);
}

// add_rows for any number of rows of sums up to kMost.
template <int kMost, int kWide>
HWY_INLINE void add_active_rows(int active, const float* const* rows, int inputs, int x, const float* weight, int taps,
                                float* sums) {
  if constexpr (kMost > 1) {
    if (active < kMost) return add_active_rows<kMost - 1, kWide>(active, rows, inputs, x, weight, taps, sums);
  }
  add_rows<kMost, kWide>(rows, inputs, x, weight, taps, sums);
}

// The same as float_chains, but an input row serves all rows of output that it is part of.
template <int kWide>
HWY_INLINE void float_block(const BlurKernel& kernel, const float* const* rows, int count, int x, float* sums) {
  if (!kernel.fused) return float_chains<kWide>(kernel, rows, count, x, sums);
  const Floats d;
  constexpr int kRow = kWide * kLanes;
  const int height = kernel.height;
  const int taps = kernel.width;
  for (int k = 0; k < count * kWide; ++k) hn::Store(hn::Zero(d), d, sums + k * kLanes);
  for (int r = 0; r < height + count - 1;) {
    // Rows of output that input row r is part of, and how many input rows have the same.
    const int first = std::max(r - height + 1, 0);
    const int active = std::min(r, count - 1) - first + 1;
    const bool all = active == count;
    const int inputs = all ? height - r : 1;
    const float* weight = kernel.matrix + static_cast<ptrdiff_t>(r - first) * taps;
    float* to = sums + first * kRow;
    add_active_rows<kRows, kWide>(active, rows + r, inputs, x, weight, taps, to);
    r += inputs;
  }
}

#else

template <int kWide>
HWY_INLINE void float_block(const BlurKernel& kernel, const float* const* rows, int count, int x, float* sums) {
  float_chains<kWide>(kernel, rows, count, x, sums);
}

#endif  // HWY_NATIVE_FMA

void blur_float_rows(const BlurKernel& kernel, const float* const* rows, int count, int width, float* const* dst) {
  alignas(64) float sums[kRows * kBlock];
  for (int y = 0; y < count; y += kRows) {
    const int band = std::min(kRows, count - y);
    if (width >= kBlock) {
      for (int next = 0; next < width; next += kBlock) {
        const int x = std::min(next, width - kBlock);
        float_block<kVectors>(kernel, rows + y, band, x, sums);
        for (int k = 0; k < band; ++k) std::copy_n(sums + k * kBlock, kBlock, dst[y + k] + x);
      }
    } else {
      for (int x = 0; x < width; x += kLanes) {
        float_block<1>(kernel, rows + y, band, x, sums);
        const int rest = std::min(kLanes, width - x);
        for (int k = 0; k < band; ++k) std::copy_n(sums + k * kLanes, rest, dst[y + k] + x);
      }
    }
  }
}

// ---- uint8.

constexpr int kTile = 256;      // columns of output between the two passes
constexpr int kMostTaps = 128;  // weights of each of the two passes, at most

HWY_INLINE void store_bytes(const float* sums, uint8_t* dst) {
  const Floats d;
  store_rounded(hn::LoadU(d, sums), hn::LoadU(d, sums + kLanes), hn::LoadU(d, sums + 2 * kLanes),
                hn::LoadU(d, sums + 3 * kLanes), dst);
}

struct Columns {
  static constexpr int kRun = 1 << 30;
  static constexpr int kStep = 1;
  const uint8_t* const* rows;
  int x;

  HWY_INLINE const uint8_t* run(int i, int j) const { return rows[i] + x + j; }
};

// Chains of consecutive samples.
void chain_columns(const BlurKernel& kernel, const uint8_t* const* rows, int begin, int end, uint8_t* dst) {
  alignas(64) float sums[kBlock];
  for (int x = begin; x < end; x += kBlock) {
    form_chains<4>(kernel, Columns{rows, x}, sums);
    store_bytes(sums, dst + x);
  }
}

constexpr int kTogether = 16;

// Samples [j, j + 16) under row i of the weights, of 16 open samples, to columns of a square, whose rows are `stride`
// apart.
HWY_INLINE void turn_samples(const BlurSample* const* samples, int i, int j, uint8_t* square, int stride) {
  const hn::Full128<uint8_t> d;
  hn::Vec<decltype(d)> rows[kTogether];
  for (int k = 0; k < kTogether; ++k) rows[k] = hn::LoadU(d, samples[k]->rows[i] + samples[k]->x + j);
  turn_block(d, rows);
  for (int k = 0; k < kTogether; ++k) hn::Store(rows[k], d, square + k * stride);
}

template <int kGroups>
struct OpenSamples {
  static constexpr int kRun = kTogether;
  static constexpr int kStep = kGroups * kTogether;
  const BlurSample* samples[kStep];
  uint8_t* square;

  HWY_INLINE const uint8_t* run(int i, int j) const {
    for (int g = 0; g < kStep; g += kTogether) turn_samples(samples + g, i, j, square + g, kStep);
    return square;
  }
};

// Up to kGroups * kTogether samples.
template <int kGroups>
void settle(const BlurKernel& kernel, const BlurSample* samples, int count) {
  constexpr int kMost = kGroups * kTogether;
  alignas(64) float sums[kMost];
  alignas(64) uint8_t square[kTogether * kMost];
  OpenSamples<kGroups> some{{}, square};
  for (int k = 0; k < kMost; ++k) some.samples[k] = samples + std::min(k, count - 1);
  form_chains<kMost / kLanes>(kernel, some, sums);
  for (int k = 0; k < std::min(kMost, count); ++k) samples[k].dst[samples[k].x] = scalar::round_blur(sums[k]);
}

// Chains of samples from anywhere. A chain waits for every sum, so there are two of them at a time.
void blur_samples(const BlurKernel& kernel, const BlurSample* samples, int count) {
  constexpr int kGroups = HWY_NATIVE_FMA ? 2 : 1;
  for (int begin = 0; begin < count; begin += kGroups * kTogether) {
    const int rest = count - begin;
    if (rest > kTogether) {
      settle<kGroups>(kernel, samples + begin, rest);
    } else {
      settle<1>(kernel, samples + begin, rest);
    }
  }
}

// Adds up `width` sums along the row and rounds them; returns how many lie near a half, and which.
int pass_across(const float* weights, int taps, float error, const float* sums, int width, uint8_t* dst,
                int32_t* open) {
  const Floats d;
  // Subtracting from 1/2 rounds by far less than the bound has in reserve.
  const auto far = hn::Set(d, 0.5f - error);
  int count = 0;
  for (int x = 0; x < width; x += kBlock) {
    FloatVec sum[4];
    for (int v = 0; v < 4; ++v) sum[v] = hn::Zero(d);
    for (int j = 0; j < taps; ++j) {
      const auto w = hn::Set(d, weights[j]);
      for (int v = 0; v < 4; ++v) sum[v] = hn::MulAdd(w, hn::LoadU(d, sums + x + j + v * kLanes), sum[v]);
    }
    store_rounded(sum[0], sum[1], sum[2], sum[3], dst + x);
    hn::Mask<Floats> is_near[4];
    for (int v = 0; v < 4; ++v) is_near[v] = hn::Ge(hn::Abs(hn::Sub(sum[v], hn::Round(sum[v]))), far);
    if (hn::AllFalse(d, hn::Or(hn::Or(is_near[0], is_near[1]), hn::Or(is_near[2], is_near[3])))) continue;
    // One by one: there are few, and to compress vectors into memory takes some processors hundreds of cycles.
    for (int v = 0; v < 4; ++v) {
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, is_near[v], bytes);
      uint32_t bits;
      std::memcpy(&bits, bytes, sizeof bits);
      for (; bits != 0; bits &= bits - 1) {
        const int column = x + v * kLanes + std::countr_zero(bits);
        if (column < width) open[count++] = column;
      }
    }
  }
  return count;
}

// kActive rows of sums, `stride` apart, of columns [x, x + width) of `inputs` rows: row k by `weight` - k.
template <int kActive>
HWY_INLINE void pass_down(const uint8_t* const* rows, int inputs, int x, int width, const float* weight, float* sums,
                          ptrdiff_t stride) {
  const Floats d;
  for (int at = 0; at < width; at += kBlock) {
    FloatVec sum[kActive][kVectors];
    for (int k = 0; k < kActive; ++k)
      for (int v = 0; v < kVectors; ++v) sum[k][v] = hn::Zero(d);
    for (int r = 0; r < inputs; ++r) {
      add_samples(rows[r] + x + at, weight + r, 1, sum);
    }
    for (int k = 0; k < kActive; ++k)
      for (int v = 0; v < kVectors; ++v) hn::Store(sum[k][v], d, sums + k * stride + at + v * kLanes);
  }
}

template <int kMost>
HWY_INLINE void pass_active_down(int active, const uint8_t* const* rows, int inputs, int x, int width,
                                 const float* weight, float* sums, ptrdiff_t stride) {
  if constexpr (kMost > 1) {
    if (active < kMost) return pass_active_down<kMost - 1>(active, rows, inputs, x, width, weight, sums, stride);
  }
  pass_down<kMost>(rows, inputs, x, width, weight, sums, stride);
}

// Columns [x, x + width) of up to kRows rows of output.
int blur_tile(const BlurKernel& kernel, const float* down, const uint8_t* const* rows, int count, int x, int width,
              uint8_t* const* dst, BlurSample* open) {
  constexpr ptrdiff_t kStride = kTile + kMostTaps + kBlock;
  alignas(64) float sums[kRows * kStride];
  int32_t columns[kTile];
  const int inputs = kernel.height - 2 * kernel.skip_rows + count - 1;
  const int taps = kernel.width - 2 * kernel.skip_columns;
  pass_active_down<kRows>(count, rows + kernel.skip_rows, inputs, x + kernel.skip_columns, width + taps - 1, down, sums,
                          kStride);
  int found = 0;
  for (int k = 0; k < count; ++k) {
    const int more = pass_across(kernel.across + kernel.skip_columns, taps, kernel.error, sums + k * kStride, width,
                                 dst[k] + x, columns);
    // Samples that lie side by side are settled several times faster.
    if (more > width / 4) {
      chain_columns(kernel, rows + k, x, x + width, dst[k]);
    } else {
      for (int n = 0; n < more; ++n) open[found++] = {rows + k, dst[k], x + columns[n]};
    }
  }
  return found;
}

int blur_rows(const BlurKernel& kernel, const uint8_t* const* rows, int count, int width, uint8_t* const* dst,
              BlurSample* open) {
  const int taps = kernel.height - 2 * kernel.skip_rows;
  if (std::max(taps, kernel.width - 2 * kernel.skip_columns) > kMostTaps || kernel.error >= 0.25f) {
    for (int y = 0; y < count; ++y) chain_columns(kernel, rows + y, 0, width, dst[y]);
    return 0;
  }
  // Between zeros: every input row of a turn then serves all of its rows of output.
  float down[kMostTaps + 2 * kRows] = {};
  std::copy_n(kernel.down + kernel.skip_rows, taps, down + kRows);
  // The same number in each turn.
  const int turns = (count + kRows - 1) / kRows;
  int found = 0;
  for (int turn = 0, y = 0; turn < turns; ++turn) {
    const int some = (count - y) / (turns - turn);
    for (int x = 0; x < width; x += kTile) {
      found += blur_tile(kernel, down + kRows, rows + y, some, x, std::min(kTile, width - x), dst + y, open + found);
    }
    y += some;
  }
  return found;
}

}  // namespace

void fill_blur(Kernels* table) {
  table->blur_rows = blur_rows;
  table->blur_samples = blur_samples;
  table->blur_float_rows = blur_float_rows;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(blur)
