// Pointwise ops on planar rows. A run of ops goes over a piece of the row at a time; between its ops the piece stays in
// cache as float32, so that only the run's ends convert.
#define FASTAUG_VBMI
#define HWY_TARGET_INCLUDE "kernels/simd/pointwise.cc"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/simd/family-inl.h"
#include "pixel/statistics.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lane-inl.h"
#include "kernels/simd/lookup-inl.h"
#include "kernels/simd/stains-inl.h"
// After the lanes that its bodies call.
#include "pixel/point.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RepartitionToNarrow<Ints>;
using V = hn::Vec<Floats>;

// Two vectors: neighbouring samples, in an order that suits the conversions.
struct Two {
  V a;
  V b;
};

// The number of samples that a loop takes at once.
HWY_INLINE int step_lanes() { return 2 * static_cast<int>(hn::Lanes(Floats())); }

// Pixels of a piece; a multiple of every step_lanes().
constexpr int kPiece = 256;

// A piece of a row, as the caller's samples.
struct Samples {
  uint8_t* const* rows;
  int begin;

  HWY_INLINE Two load(int c, int x) const {
    const hn::Rebind<uint8_t, Words> bytes;
    const auto words = hn::PromoteTo(Words(), hn::LoadU(bytes, rows[c] + begin + x));
    const auto zero = hn::Zero(Words());
    // Within 128-bit blocks, and so undone by ReorderDemote2To.
    const auto a = hn::BitCast(Ints(), hn::InterleaveLower(Words(), words, zero));
    const auto b = hn::BitCast(Ints(), hn::InterleaveUpper(Words(), words, zero));
    return {hn::ConvertTo(Floats(), a), hn::ConvertTo(Floats(), b)};
  }
  HWY_INLINE void store(int c, int x, const Two& v) const {
    const hn::Rebind<uint8_t, Words> bytes;
    const auto words = hn::ReorderDemote2To(Words(), to_ints(v.a), to_ints(v.b));
    hn::StoreU(hn::DemoteTo(bytes, words), bytes, rows[c] + begin + x);
  }
};

// A piece between two ops, in the order of Two.
struct Piece {
  float (*plane)[kPiece];

  HWY_INLINE Two load(int c, int x) const {
    const float* from = plane[c] + x;
    return {hn::Load(Floats(), from), hn::Load(Floats(), from + hn::Lanes(Floats()))};
  }
  HWY_INLINE void store(int c, int x, const Two& v) const {
    float* to = plane[c] + x;
    hn::Store(v.a, Floats(), to);
    hn::Store(v.b, Floats(), to + hn::Lanes(Floats()));
  }
};

// One op over `count` pixels of a piece.
template <class In, class Out>
struct Pass {
  In in;
  Out out;
  int count;

  template <class Body>
  HWY_INLINE void plane(Body body, int c) const {
    for (int x = 0; x < count; x += step_lanes()) {
      const Two v = in.load(c, x);
      out.store(c, x, {body(v.a), body(v.b)});
    }
  }

  // Channels that the op leaves alone.
  HWY_INLINE void keep(int begin, int end) const {
    if constexpr (!std::is_same_v<In, Out>) {
      for (int c = begin; c < end; ++c) plane(Keep(), c);
    }
  }

  template <class Body>
  HWY_INLINE void each(Body body, int colours, int channels) const {
    for (int c = 0; c < colours; ++c) plane(body, c);
    keep(colours, channels);
  }

  template <class Body>
  HWY_INLINE void mix(Body body) const {
    for (int x = 0; x < count; x += step_lanes()) {
      Two r = in.load(0, x);
      Two g = in.load(1, x);
      Two b = in.load(2, x);
      body(r.a, g.a, b.a);
      body(r.b, g.b, b.b);
      out.store(0, x, r);
      out.store(1, x, g);
      out.store(2, x, b);
    }
  }

  // The bodies leave the colours of opaque pixels as they are.
  template <class Body>
  HWY_INLINE void with_alpha(Body body, int channels) const {
    const V full = set<V>(255.0f);
    for (int x = 0; x < count; x += step_lanes()) {
      const Two alpha = in.load(channels - 1, x);
      if constexpr (std::is_same_v<In, Out>) {
        if (hn::AllTrue(Floats(), hn::And(equal(alpha.a, full), equal(alpha.b, full)))) continue;
      }
      for (int c = 0; c < channels - 1; ++c) {
        const Two v = in.load(c, x);
        out.store(c, x, {body(v.a, alpha.a), body(v.b, alpha.b)});
      }
    }
    keep(channels - 1, channels);
  }

  // In the integers of Pillow's formula: 16 bits hold its sums.
  HWY_INLINE void with_alpha(Premultiply, int channels) const
    requires(std::is_same_v<In, Samples> && std::is_same_v<Out, Samples>)
  {
    const hn::RebindToUnsigned<Words> d;
    const hn::Rebind<uint8_t, Words> bytes;
    const auto row = [this](int c, int x) { return in.rows[c] + in.begin + x; };
    for (int x = 0; x < count; x += step_lanes()) {
      const auto alpha = hn::PromoteTo(d, hn::LoadU(bytes, row(channels - 1, x)));
      if (hn::AllTrue(d, hn::Eq(alpha, hn::Set(d, 255)))) continue;
      for (int c = 0; c < channels - 1; ++c) {
        const auto color = hn::PromoteTo(d, hn::LoadU(bytes, row(c, x)));
        const auto t = hn::Add(hn::Mul(color, alpha), hn::Set(d, 128));
        const auto product = hn::ShiftRight<8>(hn::Add(hn::ShiftRight<8>(t), t));
        hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(Words(), product)), bytes, row(c, x));
      }
    }
  }

  HWY_INLINE void permute(const int32_t* from, int channels) const {
    for (int x = 0; x < count; x += step_lanes()) {
      Two v[kMaxChannels];
      for (int c = 0; c < channels; ++c) v[c] = in.load(from[c], x);
      for (int c = 0; c < channels; ++c) out.store(c, x, v[c]);
    }
  }

  template <class Body>
  HWY_INLINE void together(Body body, int channels) const {
    mix(body);
    keep(3, channels);
  }

  template <class Body>
  HWY_INLINE void opaque(Body body, int channels) const {
    mix(body);
    if (channels < 4) return;
    const V full = set<V>(255.0f);
    for (int x = 0; x < count; x += step_lanes()) out.store(3, x, {full, full});
  }

  template <class Body>
  HWY_INLINE void reduce(Body body) const {
    for (int x = 0; x < count; x += step_lanes()) {
      const Two r = in.load(0, x);
      const Two g = in.load(1, x);
      const Two b = in.load(2, x);
      out.store(0, x, {body(r.a, g.a, b.a), body(r.b, g.b, b.b)});
    }
  }

  void replicate(int copies) const {
    for (int x = 0; x < count; x += step_lanes()) {
      const Two v = in.load(0, x);
      for (int c = 0; c < copies; ++c) out.store(c, x, {v.a, v.b});
    }
  }

  void run(const Op& op, float mean, int channels) const { visit(op, mean, channels, *this); }
};

void through_floats(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  if (count == 0) return;
  alignas(64) float plane[kMaxChannels][kPiece];
  const Piece piece = {plane};
  // A lone op needs no buffer.
  const int most = count == 1 ? width : kPiece;
  for (int begin = 0; begin < width; begin += most) {
    const int pixels = std::min(most, width - begin);
    const Samples samples = {planes, begin};
    int now = channels;
    for (int k = 0; k < count; ++k) {
      const bool first = k == 0;
      const bool last = k == count - 1;
      if (first && last) {
        Pass<Samples, Samples>{samples, samples, pixels}.run(ops[k], means[k], now);
      } else if (first) {
        Pass<Samples, Piece>{samples, piece, pixels}.run(ops[k], means[k], now);
      } else if (last) {
        Pass<Piece, Samples>{piece, samples, pixels}.run(ops[k], means[k], now);
      } else {
        Pass<Piece, Piece>{piece, piece, pixels}.run(ops[k], means[k], now);
      }
      now = channels_after(ops[k], now);
    }
  }
}

HWY_INLINE V load(const uint8_t* row) {
  const hn::Rebind<uint8_t, Floats> bytes;
  return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::LoadU(bytes, row)));
}

#if HWY_TARGET == HWY_AVX3_DL

#include "kernels/simd/pointwise_vbmi-inl.h"

#else

void pointwise(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  through_floats(ops, means, count, channels, planes, width);
}

uint64_t luma_sum(const uint8_t* const* planes, int channels, int width) {
  const auto lanes = static_cast<int>(hn::Lanes(Floats()));
  // A lane of int32 holds this many samples safely.
  const int safe = lanes << 22;
  uint64_t total = 0;
  for (int begin = 0; begin < width; begin += safe) {
    const int end = std::min(width, begin + safe);
    auto sum = hn::Zero(Ints());
    const auto value = [&](int x) HWY_ATTR {
      const V first = load(planes[0] + x);
      return to_ints(channels < 3 ? first : Luma()(first, load(planes[1] + x), load(planes[2] + x)));
    };
    int x = begin;
    for (; x + lanes <= end; x += lanes) sum = hn::Add(sum, value(x));
    if (x < end) {
      const auto wanted = hn::FirstN(Ints(), static_cast<size_t>(end - x));
      sum = hn::Add(sum, hn::IfThenElseZero(wanted, value(x)));
    }
    alignas(64) int32_t part[hn::MaxLanes(Ints())];
    hn::Store(sum, Ints(), part);
    for (int k = 0; k < lanes; ++k) total += static_cast<uint64_t>(part[k]);
  }
  return total;
}

#endif

template <class Gray>
void gray_sums(const uint8_t* const* planes, int channels, int width, uint32_t* sums) {
  constexpr int kMostVectors = kTorchClasses / 4;
  const auto lanes = static_cast<int>(hn::Lanes(Floats()));
  const int vectors = kTorchClasses / lanes;
  const auto value = [&](int x) HWY_ATTR {
    const V first = load(planes[0] + x);
    return to_ints(channels < 3 ? first : Gray()(first, load(planes[1] + x), load(planes[2] + x)));
  };
  hn::Vec<Ints> sum[kMostVectors];
  for (int k = 0; k < vectors; ++k) sum[k] = hn::Zero(Ints());
  int x = 0;
  for (; x + kTorchClasses <= width; x += kTorchClasses) {
    for (int k = 0; k < vectors; ++k) sum[k] = hn::Add(sum[k], value(x + k * lanes));
  }
  for (int k = 0; k < vectors && x < width; ++k, x += lanes) {
    const auto wanted = hn::FirstN(Ints(), static_cast<size_t>(std::min(lanes, width - x)));
    sum[k] = hn::Add(sum[k], hn::IfThenElseZero(wanted, value(x)));
  }
  const hn::RebindToUnsigned<Ints> whole;
  for (int k = 0; k < vectors; ++k) {
    uint32_t* to = sums + k * lanes;
    hn::StoreU(hn::Add(hn::LoadU(whole, to), hn::BitCast(whole, sum[k])), whole, to);
  }
}

}  // namespace

void fill_pointwise(Kernels* table) {
  table->pointwise = pointwise;
  table->luma_sum = luma_sum;
  table->gray_sums = gray_sums<TorchGray>;
  table->v2_gray_sums = gray_sums<V2Gray>;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(pointwise)
