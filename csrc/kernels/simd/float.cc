// Fast mode's colour: a run of pointwise ops in 16 bits, or in float32. A pixel's samples stay in registers from the
// first op to the last; every step of the loop goes through the whole run.
#define HWY_TARGET_INCLUDE "kernels/simd/float.cc"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/simd/family-inl.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lane-inl.h"
// After the lanes that its bodies call.
#include "pixel/float_colour.h"
// After both.
#include "kernels/simd/short_colour-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RepartitionToNarrow<Ints>;
using V = hn::Vec<Floats>;

// Two vectors of one channel: what a step of a loop does at once. An implicit constructor would not be compiled for the
// instruction set that NEON's vectors ask of theirs.
template <class Lane>
struct Two {
  Lane a;
  Lane b;

  HWY_INLINE Two() {}
  HWY_INLINE Two(Lane first, Lane second) : a(first), b(second) {}
};

// The loop over one step's pixels: all planes that the run has on its way, whatever their number is now.
template <class Lane, int kPlanes>
struct StepPixels {
  Two<Lane>* v;
  Lane white;

  template <class Body>
  HWY_INLINE void each(Body body, int kept) const {
    for (int c = 0; c < kPlanes; ++c) {
      if (c % 2 == 0 || c != kept) v[c] = {body(v[c].a), body(v[c].b)};  // alpha is the second or fourth
    }
  }
  template <class Body>
  HWY_INLINE void together(Body body) const {
    if constexpr (kPlanes >= 3) {
      body(v[0].a, v[1].a, v[2].a);
      body(v[0].b, v[1].b, v[2].b);
    }
  }
  HWY_INLINE void opaque() const {
    if constexpr (kPlanes == 4) v[3].a = v[3].b = white;
  }
  template <class Body>
  HWY_INLINE void reduce(Body body) const {
    if constexpr (kPlanes >= 3) v[0] = {body(v[0].a, v[1].a, v[2].a), body(v[0].b, v[1].b, v[2].b)};
  }
  HWY_INLINE void replicate() const {
    for (int c = 1; c < kPlanes; ++c) v[c] = v[0];
  }
};

HWY_INLINE void store_at(V v, int place, float* to) { hn::StoreU(v, Floats(), to + place * hn::Lanes(Floats())); }

// Samples in float32: for what the others have no form of.
struct FloatLanes {
  using Op = FloatOp;
  using Lane = V;
  using Pair = Two<Lane>;

  static constexpr float kUnits = 1.0f;  // in a level
  static HWY_INLINE int step_lanes() { return static_cast<int>(2 * hn::Lanes(Floats())); }
  static HWY_INLINE Pair zero() { return {hn::Zero(Floats()), hn::Zero(Floats())}; }

  template <int kPlanes>
  static HWY_INLINE void apply(const Op& op, Pair* v) {
    visit_float(op, StepPixels<Lane, kPlanes>{v, set<V>(255.0f)});
  }

  // In an order that suits the conversions, and back.
  static HWY_INLINE Pair load_somehow(const uint8_t* row) {
    const hn::Rebind<uint8_t, Words> bytes;
    const auto words = hn::PromoteTo(Words(), hn::LoadU(bytes, row));
    const auto zero = hn::Zero(Words());
    // Within 128-bit blocks, and so undone by ReorderDemote2To.
    const auto a = hn::BitCast(Ints(), hn::InterleaveLower(Words(), words, zero));
    const auto b = hn::BitCast(Ints(), hn::InterleaveUpper(Words(), words, zero));
    return {hn::ConvertTo(Floats(), a), hn::ConvertTo(Floats(), b)};
  }
  static HWY_INLINE void store_back(const Pair& v, uint8_t* row) {
    const hn::Rebind<uint8_t, Words> bytes;
    const V half = set<V>(0.5f);
    const auto words = hn::ReorderDemote2To(Words(), to_ints(add(v.a, half)), to_ints(add(v.b, half)));
    hn::StoreU(hn::DemoteTo(bytes, words), bytes, row);
  }

  static HWY_INLINE Pair load(const uint8_t* row) { return {half_of(row), half_of(row + hn::Lanes(Floats()))}; }
  static HWY_INLINE void store(const Pair& v, V scale, V offset, bool reversed, float* to) {
    const Floats d;
    const V a = mul_add_quick(v.a, scale, offset);
    const V b = mul_add_quick(v.b, scale, offset);
    store_at(reversed ? hn::Reverse(d, b) : a, 0, to);
    store_at(reversed ? hn::Reverse(d, a) : b, 1, to);
  }

 private:
  static HWY_INLINE V half_of(const uint8_t* row) {
    const hn::Rebind<uint8_t, Floats> bytes;
    return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::LoadU(bytes, row)));
  }
};

// Samples in 16 bits.
struct ShortLanes {
  using Op = ShortOp;
  using Lane = ShortV;
  using Pair = Two<Lane>;

  static constexpr float kUnits = kShortUnits;
  static HWY_INLINE int step_lanes() { return static_cast<int>(2 * hn::Lanes(Shorts())); }
  static HWY_INLINE Pair zero() { return {hn::Zero(Shorts()), hn::Zero(Shorts())}; }

  template <int kPlanes>
  static HWY_INLINE void apply(const Op& op, Pair* v) {
    visit_short(op, StepPixels<Lane, kPlanes>{v, set_short(65535)});
  }

  // Even columns, and odd ones.
  static HWY_INLINE Pair load_somehow(const uint8_t* row) {
    const hn::Repartition<uint8_t, Shorts> bytes;
    const auto words = hn::BitCast(Shorts(), hn::LoadU(bytes, row));
    const auto even = hn::And(words, set_short(0x00ff));
    const auto odd = hn::ShiftRight<8>(words);
    return {hn::Or(even, hn::ShiftLeft<8>(words)), hn::Or(odd, hn::AndNot(set_short(0x00ff), words))};
  }
  static HWY_INLINE void store_back(const Pair& v, uint8_t* row) {
    const hn::Repartition<uint8_t, Shorts> bytes;
    const auto even = hn::ShiftRight<8>(in_upper_byte(v.a));
    const auto odd = hn::AndNot(set_short(0x00ff), in_upper_byte(v.b));
    hn::StoreU(hn::BitCast(bytes, hn::Or(even, odd)), bytes, row);
  }

  static HWY_INLINE Pair load(const uint8_t* row) { return {half_of(row), half_of(row + hn::Lanes(Shorts()))}; }
  static HWY_INLINE void store(const Pair& v, V scale, V offset, bool reversed, float* to) {
    const hn::Half<Shorts> half;
    const auto put = [&](hn::Vec<hn::Half<Shorts>> part, int place) HWY_ATTR {
      const hn::RebindToUnsigned<Ints> words;
      const V whole = hn::ConvertTo(Floats(), hn::BitCast(Ints(), hn::PromoteTo(words, part)));
      const V result = mul_add_quick(whole, scale, offset);
      store_at(reversed ? hn::Reverse(Floats(), result) : result, reversed ? 3 - place : place, to);
    };
    put(hn::LowerHalf(half, v.a), 0);
    put(hn::UpperHalf(half, v.a), 1);
    put(hn::LowerHalf(half, v.b), 2);
    put(hn::UpperHalf(half, v.b), 3);
  }

 private:
  static HWY_INLINE Lane half_of(const uint8_t* row) {
    const hn::Rebind<uint8_t, Shorts> bytes;
    const Lane v = hn::PromoteTo(Shorts(), hn::LoadU(bytes, row));
    return hn::Or(v, hn::ShiftLeft<8>(v));
  }
  // The nearest sample of 8 bits, times 256; below it there is something else. 257 s + r becomes 256 s + r + 128, but
  // for what r borrows.
  static HWY_INLINE Lane in_upper_byte(Lane v) { return hn::Add(hn::Sub(v, hn::ShiftRight<8>(v)), set_short(128)); }
};

// A run with its numbers worked out, and its channels.
template <class Lanes>
struct Run {
  typename Lanes::Op ops[kMaxOps];
  int count = 0;
  int in;
  int out;
  int most;  // on the way

  using LanesType = Lanes;
  explicit Run(int channels) : in(channels), out(channels), most(channels) {}

  void add(const typename Lanes::Op& op) {
    ops[count++] = op;
    out = op.channels;
    most = std::max(most, out);
  }

  template <int kPlanes>
  HWY_INLINE void apply(typename Lanes::Pair (&v)[kPlanes]) const {
    for (int k = 0; k < count; ++k) Lanes::template apply<kPlanes>(ops[k], v);
  }
};

template <class R>
using LanesOf = typename std::remove_cvref_t<R>::LanesType;

// Calls kernel(integral constant of the number of planes that the run needs, run).
template <class Lanes, class Kernel>
HWY_INLINE void for_planes(const Run<Lanes>& run, const Kernel& kernel) {
  switch (run.most) {
    case 1:
      return kernel(std::integral_constant<int, 1>(), run);
    case 2:
      return kernel(std::integral_constant<int, 2>(), run);
    case 3:
      return kernel(std::integral_constant<int, 3>(), run);
    default:
      return kernel(std::integral_constant<int, 4>(), run);
  }
}

// The same for a run of ops, in 16 bits if all of them have such a form.
template <class Kernel>
void for_run(const Op* ops, const float* means, int count, int channels, const Kernel& kernel) {
  Run<FloatLanes> floats(channels);
  for (int k = 0; k < count; ++k) floats.add(float_op(ops[k], means[k], floats.out));
  Run<ShortLanes> shorts(channels);
  for (ShortOp op; shorts.count < count && make_short_op(floats.ops[shorts.count], &op);) shorts.add(op);
  if (shorts.count == count) return for_planes(shorts, kernel);
  for_planes(floats, kernel);
}

template <class Lanes, int kPlanes>
void run_in_place(const Run<Lanes>& run, uint8_t* const* planes, int width) {
  for (int x = 0; x < width; x += Lanes::step_lanes()) {
    typename Lanes::Pair v[kPlanes];
    for (int c = 0; c < kPlanes; ++c) v[c] = c < run.in ? Lanes::load_somehow(planes[c] + x) : Lanes::zero();
    run.apply(v);
    for (int c = 0; c < kPlanes; ++c) {
      if (c < run.out) Lanes::store_back(v[c], planes[c] + x);
    }
  }
}

void pointwise_float(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  for_run(ops, means, count, channels, [=](auto most, const auto& run) HWY_ATTR {
    run_in_place<LanesOf<decltype(run)>, most()>(run, planes, width);
  });
}

// FloatStore as one multiply-add.
struct Affine {
  float scale[kMaxChannels];
  float offset[kMaxChannels];

  Affine(const FloatStore& store, float units, int channels) {
    for (int c = 0; c < channels; ++c) {
      const double std = store.normalize ? store.std[c] : 1.0;
      const double factor = store.multiplied ? store.factor : 1.0 / 255.0;
      scale[c] = static_cast<float>(factor / (units * std));
      offset[c] = store.normalize ? static_cast<float>(-store.mean[c] / std) : 0.0f;
    }
  }
};

// One step's pixels, from column `x` of the planes to foreign[c][to].
template <class Lanes, int kPlanes>
HWY_INLINE void store_step(const Run<Lanes>& run, const Affine& affine, const uint8_t* const* planes, int x,
                           bool reversed, float* const* foreign, int to) {
  typename Lanes::Pair v[kPlanes];
  for (int c = 0; c < kPlanes; ++c) v[c] = c < run.in ? Lanes::load(planes[c] + x) : Lanes::zero();
  run.apply(v);
  for (int c = 0; c < kPlanes; ++c) {
    if (c < run.out) Lanes::store(v[c], set<V>(affine.scale[c]), set<V>(affine.offset[c]), reversed, foreign[c] + to);
  }
}

template <class Lanes, int kPlanes>
void run_to_floats(const Run<Lanes>& run, const Affine& affine, const uint8_t* const* planes, int width, bool reversed,
                   float* const* foreign) {
  const int most = Lanes::step_lanes();
  if (width < most) {
    alignas(64) float rows[kPlanes][4 * hn::MaxLanes(Floats())];
    float* to[kPlanes];
    for (int c = 0; c < kPlanes; ++c) to[c] = rows[c];
    store_step<Lanes, kPlanes>(run, affine, planes, 0, reversed, to, 0);
    for (int c = 0; c < std::min(kPlanes, run.out); ++c) {
      std::memcpy(foreign[c], rows[c] + (reversed ? most - width : 0), static_cast<size_t>(width) * sizeof(float));
    }
    return;
  }
  for (int next = 0; next < width; next += most) {
    const int x = std::min(next, width - most);
    store_step<Lanes, kPlanes>(run, affine, planes, x, reversed, foreign, reversed ? width - most - x : x);
  }
}

void pointwise_store(const FloatStore& store, const Op* ops, const float* means, int count, int channels,
                     const uint8_t* const* planes, int width, bool reversed, float* const* foreign) {
  for_run(ops, means, count, channels, [=, &store](auto most, const auto& run) HWY_ATTR {
    using Lanes = LanesOf<decltype(run)>;
    run_to_floats<Lanes, most()>(run, Affine(store, Lanes::kUnits, run.out), planes, width, reversed, foreign);
  });
}

}  // namespace

void fill_float(Kernels* table) {
  table->pointwise_float = pointwise_float;
  table->pointwise_store = pointwise_store;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(float)
