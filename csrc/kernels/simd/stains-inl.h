// Stains of pixel/stains.h in vectors, once per instruction set. Included like hwy/highway.h, after lane-inl.h and
// inside no namespace.
#if defined(FASTAUG_SIMD_STAINS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_STAINS_INL_H_
#undef FASTAUG_SIMD_STAINS_INL_H_
#else
#define FASTAUG_SIMD_STAINS_INL_H_
#endif

#include <cmath>

#include "hwy/highway.h"
#include "kernels/simd/lane-inl.h"
#include "pixel/stains.h"

FASTAUG_LANES_BEGIN

// The common part of the two maps of densities: the light behind a mixture, in float32, with a bound on how far a
// sample may be off by that. Where an integer is within the bound, the sample is done again in float64; so neither what
// float32 rounds nor what is fused shows anywhere.
class Mixture {
 protected:
  // `half`: what is added to samples before they are truncated.
  explicit Mixture(float half) : half_(half) {}

  // Numbers of channel c in natural logarithms: what amount k adds to its density, what is added then, and a bound on
  // what the density of any channel of the pixel, as a share of that of black, adds by way of the amounts.
  void set_channel(int c, const double (&factors)[3], double shift, double most) {
    for (int k = 0; k < 3; ++k) mix_[k][c] = static_cast<float>(-kLog2OfE * factors[k]);
    base_[c] = static_cast<float>(-kLog2OfE * shift);
    // In units of 2^-24, relative to the sample. A term of the logarithm goes through five roundings of factors,
    // products and sums on its way into an amount, and through five on its way from there; log(2) times an error of the
    // logarithm is the sample's. `most` bounds the terms, of which some cancel out. The shift goes through four. The
    // power of two is off by less than two of its own, and by five roundings. All are rounded up.
    constexpr double kUnit = 0x1p-24;
    spread_[c] = static_cast<float>(8.0 * kUnit * kLog2OfE * most);
    least_[c] = static_cast<float>(kUnit * (4.0 * kLog2OfE * std::fabs(shift) + 9.0));
  }

  // Samples of one pixel, whose densities add up to `all`, from three amounts; again(pixel, c) is what float64 makes.
  template <class V, class Again>
  HWY_INLINE void mix(const V (&amount)[3], V all, V& r, V& g, V& b, const Again& again) const {
    V made[3];
    for (int c = 0; c < 3; ++c) {
      V x = mul_add_quick(amount[2], set<V>(mix_[2][c]), set<V>(base_[c]));
      x = mul_add_quick(amount[1], set<V>(mix_[1][c]), x);
      x = mul_add_quick(amount[0], set<V>(mix_[0][c]), x);
      // Beyond 255 samples are white, unless `off` is so large that all are done again.
      const V sample = add(power(min(x, set<V>(kMostLog))), set<V>(half_));
      const V off = mul(sample, mul_add_quick(all, set<V>(spread_[c]), set<V>(least_[c])));
      const V distance = abs(sub(sample, hn::Round(sample)));
      made[c] = trunc(min(sample, set<V>(255.0f)));
      const auto doubtful = less_or_equal(distance, off);
      if (HWY_UNLIKELY(!hn::AllFalse(hn::DFromV<V>(), doubtful))) redo(doubtful, c, r, g, b, made[c], again);
    }
    r = made[0];
    g = made[1];
    b = made[2];
  }

  // Samples are bytes; only what lies beyond a row may be anything.
  template <class V>
  static HWY_INLINE V density_of(V sample) {
    const hn::RebindToSigned<hn::DFromV<V>> whole;
    return hn::GatherIndex(hn::DFromV<V>(), kDensities32, hn::And(to_ints(sample), hn::Set(whole, 255)));
  }

 private:
  // Of 255.25 / 255, to base 2: no sample above comes near to one below, with half a level more or without.
  static constexpr float kMostLog = 0.0014137f;

  // 255 * 2^x: a minimax polynomial around the nearest integer, off by 1.6 * 2^-24 of it.
  template <class V>
  static HWY_INLINE V power(V x) {
#if HWY_TARGET > HWY_AVX3
    x = max(x, set<V>(-100.0f));
#endif
    const V n = hn::Round(x);
    const V f = sub(x, n);
    V sum = mul_add_quick(f, set<V>(0.33855003f), set<V>(2.4672632f));
    sum = mul_add_quick(sum, f, set<V>(14.154319f));
    sum = mul_add_quick(sum, f, set<V>(61.256405f));
    sum = mul_add_quick(sum, f, set<V>(176.75247f));
    sum = mul_add_quick(sum, f, set<V>(255.00002f));
#if HWY_TARGET <= HWY_AVX3
    return V{_mm512_scalef_ps(sum.raw, n.raw)};
#else
    return mul(sum, hn::BitCast(hn::DFromV<V>(), hn::ShiftLeft<23>(to_ints(add(n, set<V>(127.0f))))));
#endif
  }

  // Samples of channel c in float64, in the lanes of a mask.
  template <class M, class V, class Again>
  static HWY_NOINLINE void redo(M doubtful, int c, V r, V g, V b, V& made, const Again& again) {
    const hn::DFromV<V> d;
    constexpr size_t kLanes = hn::MaxLanes(d);
    HWY_ALIGN float lanes[4][kLanes];
    HWY_ALIGN float marks[kLanes];
    hn::Store(r, d, lanes[0]);
    hn::Store(g, d, lanes[1]);
    hn::Store(b, d, lanes[2]);
    hn::Store(made, d, lanes[3]);
    hn::Store(hn::IfThenElseZero(doubtful, hn::Set(d, 1.0f)), d, marks);
    for (size_t k = 0; k < hn::Lanes(d); ++k) {
      if (marks[k] == 0.0f) continue;
      const int pixel[3] = {byte_of(lanes[0][k]), byte_of(lanes[1][k]), byte_of(lanes[2][k])};
      lanes[3][k] = again(pixel, c);
    }
    made = hn::Load(d, lanes[3]);
  }

  static int byte_of(float sample) { return static_cast<int>(sample) & 255; }

  float half_;
  float mix_[3][3];  // what an amount adds to the logarithm to base 2 of each channel
  float base_[3];    // that logarithm without any
  float spread_[3];  // of the bound: what the density of all channels together is multiplied by,
  float least_[3];   // and what is added to it
};

// Amounts are those of stains.
class HedJitter : Mixture {
 public:
  HedJitter(const double* numbers, bool clips)
      : Mixture(0.0f), numbers_(numbers), clips_(clips), lowest_(clips ? 0.0f : -1e30f) {
    for (int c = 0; c < 3; ++c) {
      double factors[3], shift = 0.0, most = 0.0;
      for (int k = 0; k < 3; ++k) {
        const double unit = kDensityOfBlack * kRgbFromHed[k][c];
        double largest = 0.0;
        for (const auto& row : kHedFromRgb) largest = std::fmax(largest, std::fabs(row[k]));
        unmix_[c][k] = static_cast<float>(kHedFromRgb[c][k]);
        factors[k] = unit * numbers[k];
        shift += unit * numbers[3 + k];
        most += std::fabs(factors[k]) * largest;
      }
      set_channel(c, factors, shift, most);
    }
  }

  template <class V>
  HWY_INLINE void operator()(V& r, V& g, V& b) const {
    const V density[3] = {density_of(r), density_of(g), density_of(b)};
    V stain[3];
    for (int k = 0; k < 3; ++k) {
      V sum = mul(density[2], set<V>(unmix_[2][k]));
      sum = mul_add_quick(density[1], set<V>(unmix_[1][k]), sum);
      stain[k] = max(mul_add_quick(density[0], set<V>(unmix_[0][k]), sum), set<V>(lowest_));
    }
    const V all = add(add(density[0], density[1]), density[2]);
    mix(stain, all, r, g, b, [this](const int* pixel, int c) { return jittered_hed(pixel, c, numbers_, clips_); });
  }

 private:
  const double* numbers_;
  bool clips_;
  float lowest_;       // of a stain
  float unmix_[3][3];  // what the density of a channel adds to each stain
};

// Amounts are densities themselves.
class Restain : Mixture {
 public:
  explicit Restain(const Op& op)
      : Mixture((op.flags & kRoundsStains) != 0 ? 0.5f : 0.0f),
        map_(StainMap::of(op)),
        brighter_(static_cast<float>(map_.brighter())),
        darkest_(map_.bounded() ? 1.0f : 0.0f),
        lightest_(map_.bounded() ? static_cast<float>(kLeastDensity / kDensityOfBlack) : -1.0f),
        background_((op.flags & kKeepsBackground) != 0 ? kLeastBackground : 1e9f) {
    for (int c = 0; c < 3; ++c) {
      double factors[3], most = 0.0;
      for (int k = 0; k < 3; ++k) {
        factors[k] = kDensityOfBlack * map_.mix[k][c];
        most = std::fmax(most, std::fabs(factors[k]));
      }
      set_channel(c, factors, map_.shift[c], most);
    }
  }

  template <class V>
  HWY_INLINE void operator()(V& r, V& g, V& b) const {
    const V density[3] = {bounded(r), bounded(g), bounded(b)};
    const V all = add(add(abs(density[0]), abs(density[1])), abs(density[2]));
    // Integers below 2^18.
    const V light = mul_add_quick(r, set<V>(299.0f), mul_add_quick(g, set<V>(587.0f), mul(b, set<V>(114.0f))));
    const auto tissue = less(light, set<V>(background_));
    V made[3] = {r, g, b};
    mix(density, all, made[0], made[1], made[2], [this](const int* pixel, int c) { return map_.sample_of(pixel, c); });
    r = select(tissue, made[0], r);
    g = select(tissue, made[1], g);
    b = select(tissue, made[2], b);
  }

 private:
  template <class V>
  HWY_INLINE V bounded(V sample) const {
    const V place = min(max(add(sample, set<V>(brighter_)), set<V>(darkest_)), set<V>(256.0f));
    return max(hn::GatherIndex(hn::DFromV<V>(), kDensities32, to_ints(place)), set<V>(lightest_));
  }

  StainMap map_;
  float brighter_;
  float darkest_;     // sample
  float lightest_;    // density
  float background_;  // the least light that counts as such
};

FASTAUG_LANES_END

#endif
