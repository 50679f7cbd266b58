// Fast mode's colour: a run of pointwise ops in float32. A pixel's samples stay in registers from the first op to the
// last; every step of the loop goes through the whole run.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/float.cc"
#include "kernels/targets.h"
// clang-format off: after targets.h, in this order
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include <algorithm>
#include <cstring>

#include "kernels/table.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lane-inl.h"
// After the lanes that its bodies call.
#include "pixel/float_colour.h"
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
struct Two {
  V a;
  V b;

  HWY_INLINE Two() {}
  HWY_INLINE Two(V first, V second) : a(first), b(second) {}
};

HWY_INLINE int lanes() { return static_cast<int>(hn::Lanes(Floats())); }
HWY_INLINE int step_lanes() { return 2 * lanes(); }

// A run with its numbers worked out, and its channels.
struct Run {
  FloatOp ops[kMaxOps];
  int count;
  int in;
  int out;
  int most;  // on the way

  Run(const Op* source, const float* means, int length, int channels)
      : count(length), in(channels), out(channels), most(channels) {
    for (int k = 0; k < count; ++k) {
      ops[k] = float_op(source[k], means[k], out);
      out = ops[k].channels;
      most = std::max(most, out);
    }
  }
};

// The loop over one step's pixels: all planes that the run has on its way, whatever their number is now.
template <int kPlanes>
struct StepPixels {
  Two* v;

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
    if constexpr (kPlanes == 4) v[3].a = v[3].b = set<V>(255.0f);
  }
  template <class Body>
  HWY_INLINE void reduce(Body body) const {
    if constexpr (kPlanes >= 3) v[0] = {body(v[0].a, v[1].a, v[2].a), body(v[0].b, v[1].b, v[2].b)};
  }
  HWY_INLINE void replicate() const {
    for (int c = 1; c < kPlanes; ++c) v[c] = v[0];
  }
};

// The run over one step's pixels.
template <int kPlanes>
HWY_INLINE void apply(const Run& run, Two (&v)[kPlanes]) {
  for (const FloatOp *op = run.ops, *end = op + run.count; op != end; ++op) visit_float(*op, StepPixels<kPlanes>{v});
}

// Calls kernel.run<planes>(...) for the number of planes that a run needs.
template <template <int> class Kernel, class... Args>
HWY_INLINE void for_planes(int planes, const Args&... args) {
  switch (planes) {
    case 1:
      return Kernel<1>::run(args...);
    case 2:
      return Kernel<2>::run(args...);
    case 3:
      return Kernel<3>::run(args...);
    default:
      return Kernel<4>::run(args...);
  }
}

// Samples in place, in an order that suits the conversions.
template <int kPlanes>
struct InPlace {
  static HWY_INLINE Two load(const uint8_t* row) {
    const hn::Rebind<uint8_t, Words> bytes;
    const auto words = hn::PromoteTo(Words(), hn::LoadU(bytes, row));
    const auto zero = hn::Zero(Words());
    // Within 128-bit blocks, and so undone by ReorderDemote2To.
    const auto a = hn::BitCast(Ints(), hn::InterleaveLower(Words(), words, zero));
    const auto b = hn::BitCast(Ints(), hn::InterleaveUpper(Words(), words, zero));
    return {hn::ConvertTo(Floats(), a), hn::ConvertTo(Floats(), b)};
  }

  static HWY_INLINE void store(const Two& v, uint8_t* row) {
    const hn::Rebind<uint8_t, Words> bytes;
    const V half = set<V>(0.5f);
    const auto words = hn::ReorderDemote2To(Words(), to_ints(add(v.a, half)), to_ints(add(v.b, half)));
    hn::StoreU(hn::DemoteTo(bytes, words), bytes, row);
  }

  static void run(const Run& run, uint8_t* const* planes, int width) {
    for (int x = 0; x < width; x += step_lanes()) {
      Two v[kPlanes];
      for (int c = 0; c < kPlanes; ++c)
        v[c] = c < run.in ? load(planes[c] + x) : Two{hn::Zero(Floats()), hn::Zero(Floats())};
      apply<kPlanes>(run, v);
      for (int c = 0; c < kPlanes; ++c) {
        if (c < run.out) store(v[c], planes[c] + x);
      }
    }
  }
};

void pointwise_float(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  const Run run(ops, means, count, channels);
  for_planes<InPlace>(run.most, run, planes, width);
}

// FloatStore as one multiply-add.
struct Affine {
  float scale[kMaxChannels];
  float offset[kMaxChannels];

  Affine(const FloatStore& store, int channels) {
    for (int c = 0; c < channels; ++c) {
      const double std = store.normalize ? store.std[c] : 1.0;
      scale[c] = static_cast<float>(1.0 / (255.0 * std));
      offset[c] = store.normalize ? static_cast<float>(-store.mean[c] / std) : 0.0f;
    }
  }
};

template <int kPlanes>
struct ToFloats {
  static HWY_INLINE V load(const uint8_t* row) {
    const hn::Rebind<uint8_t, Floats> bytes;
    return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::LoadU(bytes, row)));
  }

  static HWY_INLINE void store(const Two& v, bool reversed, float* to) {
    const Floats d;
    hn::StoreU(reversed ? hn::Reverse(d, v.b) : v.a, d, to);
    hn::StoreU(reversed ? hn::Reverse(d, v.a) : v.b, d, to + hn::Lanes(d));
  }

  // One step's pixels, from column `x` of the planes to foreign[c][to].
  static HWY_INLINE void step(const Run& run, const Affine& affine, const uint8_t* const* planes, int x, bool reversed,
                              float* const* foreign, int to) {
    Two v[kPlanes];
    for (int c = 0; c < kPlanes; ++c) {
      v[c] = c < run.in ? Two{load(planes[c] + x), load(planes[c] + x + lanes())}
                        : Two{hn::Zero(Floats()), hn::Zero(Floats())};
    }
    apply<kPlanes>(run, v);
    for (int c = 0; c < kPlanes; ++c) {
      if (c >= run.out) continue;
      const V scale = set<V>(affine.scale[c]);
      const V offset = set<V>(affine.offset[c]);
      store({mul_add_quick(v[c].a, scale, offset), mul_add_quick(v[c].b, scale, offset)}, reversed, foreign[c] + to);
    }
  }

  static void run(const Run& run, const Affine& affine, const uint8_t* const* planes, int width, bool reversed,
                  float* const* foreign) {
    const int most = step_lanes();
    if (width < most) {
      alignas(64) float rows[kPlanes][2 * hn::MaxLanes(Floats())];
      float* to[kPlanes];
      for (int c = 0; c < kPlanes; ++c) to[c] = rows[c];
      step(run, affine, planes, 0, reversed, to, 0);
      for (int c = 0; c < std::min(kPlanes, run.out); ++c) {
        std::memcpy(foreign[c], rows[c] + (reversed ? most - width : 0), static_cast<size_t>(width) * sizeof(float));
      }
      return;
    }
    for (int next = 0; next < width; next += most) {
      const int x = std::min(next, width - most);
      step(run, affine, planes, x, reversed, foreign, reversed ? width - most - x : x);
    }
  }
};

void pointwise_store(const FloatStore& store, const Op* ops, const float* means, int count, int channels,
                     const uint8_t* const* planes, int width, bool reversed, float* const* foreign) {
  const Run run(ops, means, count, channels);
  for_planes<ToFloats>(run.most, run, Affine(store, run.out), planes, width, reversed, foreign);
}

}  // namespace

void fill_float(Kernels* table) {
  table->pointwise_float = pointwise_float;
  table->pointwise_store = pointwise_store;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fastaug {

void set_float(Isa isa, Kernels* table) {
  switch (isa) {
    case Isa::kScalar:
      return scalar::fill_float(table);
      FASTAUG_SIMD_CASES(fill_float, table)
    default:
      return;
  }
}

}  // namespace fastaug
#endif  // HWY_ONCE
