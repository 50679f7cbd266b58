#include "pixel/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/status.h"

namespace fastaug {
namespace {

// Taps are built for eight outputs side by side, in vectors of two doubles, which every compiler that we use has. Every
// operation within one output, and their order, is Pillow's.
using Pair = double __attribute__((vector_size(16)));
using IntPair = int32_t __attribute__((vector_size(8)));
constexpr int kPairs = 4;
constexpr int kLanes = 2 * kPairs;
struct Lanes {
  Pair pair[kPairs];
};

Pair same(double x) { return Pair{x, x}; }
Pair absolute(Pair x) { return x < 0.0 ? -x : x; }
Pair truncated(Pair x) { return __builtin_convertvector(__builtin_convertvector(x, IntPair), Pair); }

// A filter of pixel/tap.h.
template <Filter kNumber, class F>
struct Plain {
  static constexpr Filter kFilter = kNumber;
  static constexpr bool kExact = true;
  static Pair at(Pair x) { return F::template at<Pair>(x); }
};

// The filters that call libm. kExact: what at() gives is Pillow's, bit by bit.
struct Hamming {
  static constexpr Filter kFilter = Filter::kHamming;
  static constexpr bool kExact = true;
  static double at(double x) {
    x = std::fabs(x);
    if (x == 0.0) return 1.0;
    if (x >= 1.0) return 0.0;
    x *= std::numbers::pi;
    return std::sin(x) / x * (0.54f + 0.46f * std::cos(x));  // the constants are float32 in Pillow too
  }
  static Pair at(Pair x) { return Pair{at(x[0]), at(x[1])}; }
};

struct Lanczos {
  static constexpr bool kExact = true;
  static double sinc(double x) {
    if (x == 0.0) return 1.0;
    x *= std::numbers::pi;
    return std::sin(x) / x;
  }
  static double at(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }
  static Pair at(Pair x) { return Pair{at(x[0]), at(x[1])}; }
};

// Lanczos within 2e-15, ten times as fast: sin(pi u) as a polynomial, and sin(3 pi u) from it.
struct NearLanczos {
  static constexpr Filter kFilter = Filter::kLanczos;
  static constexpr bool kExact = false;
  using Exact = Lanczos;
  static Pair at(Pair x) {
    // pi^(2k+1) / (2k+1)!, with the signs of the sine's Taylor series; the first term left out is 3e-16 at u = 1/2.
    constexpr double kSine[] = {3.14159265358979323846,   -5.16771278004997002925,   2.55016403987734548944,
                                -0.599264529320792076888, 0.0821458866111282287985,  -0.00737043094571435080,
                                0.000466302805767612566,  -0.0000219153534478302173, 7.95205400147551267e-7,
                                -2.29484289972850045e-8};
    const Pair u = absolute(x) * (1.0 / 3.0);
    const Pair v = u < 0.5 ? u : 1.0 - u;
    const Pair v2 = v * v;
    Pair sine = same(kSine[9]);
    for (int k = 8; k >= 0; --k) sine = sine * v2 + kSine[k];
    sine *= v;
    constexpr double kDivisor = 3.0 * std::numbers::pi * std::numbers::pi;
    const Pair product = sine * sine * (3.0 - 4.0 * sine * sine) / (u * u * kDivisor);
    const Pair inside = u < 1e-9 ? same(1.0) : product;
    return u < 1.0 ? inside : same(0.0);
  }
};

struct ShortLanczos : Lanczos {
  static constexpr Filter kFilter = Filter::kShortLanczos;
};

struct NearShortLanczos : NearLanczos {
  static constexpr Filter kFilter = Filter::kShortLanczos;
  using Exact = ShortLanczos;
};

// A block of outputs: their centres and source samples, which are integers.
struct Block {
  Lanes center;
  Lanes first;
  Lanes count;
  int longest = 0;
};

// Those that `at` names, of an axis of in_size samples.
Block block_of(TapScale by, int in_size, const int* at) {
  Block block;
  for (int p = 0; p < kPairs; ++p) {
    const Pair index = {static_cast<double>(at[2 * p]), static_cast<double>(at[2 * p + 1])};
    const Pair center = (index + 0.5) * by.scale;
    const Pair low = center - by.support + 0.5;
    const Pair high = center + by.support + 0.5;
    const Pair size = same(in_size);
    // As tap_window.
    const Pair first = truncated(low > 0.0 ? low < size - 1.0 ? low : size - 1.0 : same(0.0));
    const Pair count = truncated(high < size ? high : size) - first;
    block.center.pair[p] = center;
    block.first.pair[p] = first;
    block.count.pair[p] = count;
    for (int j = 0; j < 2; ++j) block.longest = std::max(block.longest, static_cast<int>(count[j]));
  }
  return block;
}

// scaled[t]: the weights of tap t of each output, in units of 2^-22.
template <typename F>
void weigh(const Block& block, double step, Lanes* scaled) {
  Lanes sum = {};
  for (int t = 0; t < block.longest; ++t) {
    for (int p = 0; p < kPairs; ++p) {
      const Pair weight = F::at((static_cast<double>(t) + block.first.pair[p] - block.center.pair[p] + 0.5) * step);
      const Pair used = same(t) < block.count.pair[p] ? weight : same(0.0);
      scaled[t].pair[p] = used;
      sum.pair[p] += used;
    }
  }
  for (int p = 0; p < kPairs; ++p) sum.pair[p] = sum.pair[p] != 0.0 ? sum.pair[p] : same(1.0);
  for (int t = 0; t < block.longest; ++t)
    for (int p = 0; p < kPairs; ++p)
      scaled[t].pair[p] = scaled[t].pair[p] / sum.pair[p] * static_cast<double>(1 << kWeightBits);
}

// In units of 2^-kWeightBits, or longer ones, a weight this close to the middle between two integers may be rounded the
// other way by an error of 1e-13.
constexpr double kNearTie = 1e-13 * (1 << kWeightBits);

bool any_near_tie(const Block& block, const Lanes* scaled) {
  Pair nearest = same(1.0);
  for (int t = 0; t < block.longest; ++t) {
    for (int p = 0; p < kPairs; ++p) {
      const Pair value = absolute(scaled[t].pair[p]);
      const Pair distance = absolute(value - truncated(value) - 0.5);
      nearest = distance < nearest ? distance : nearest;
    }
  }
  return std::min(nearest[0], nearest[1]) < kNearTie;
}

// Drops weights that came out as zero at either end of output `i`, but one.
void trim(Taps* taps, int i) {
  int32_t* weights = taps->weight.data() + static_cast<size_t>(i) * taps->stride;
  int count = taps->count[i];
  if (weights[0] != 0 && weights[count - 1] != 0) return;
  while (count > 1 && weights[count - 1] == 0) --count;
  int lead = 0;
  while (lead < count - 1 && weights[lead] == 0) ++lead;
  if (lead > 0) {
    std::copy(weights + lead, weights + count, weights);
    std::fill(weights + count - lead, weights + count, 0);
  }
  taps->first[i] += lead;
  taps->count[i] = count - lead;
}

Taps room_for(TapAxis axis, int out) {
  Taps taps;
  taps.out = out;
  taps.stride = tap_stride(axis);
  taps.first.resize(out);
  taps.count.resize(out);
  taps.weight.resize(static_cast<size_t>(out) * taps.stride);
  return taps;
}

template <typename F>
Taps make(int in_size, int out_size, int begin, int out) {
  const TapAxis axis = {static_cast<int32_t>(F::kFilter), in_size, out_size};
  const TapScale by = tap_scale(axis);
  Taps taps = room_for(axis, out);

  std::vector<Lanes> scaled(taps.stride);
  for (int x = 0; x < out; x += kLanes) {
    // Lanes after the last output repeat it, down to where it is written.
    const int last = out - 1;
    int at[kLanes];
    for (int j = 0; j < kLanes; ++j) at[j] = std::min(x + j, last);
    int index[kLanes];
    for (int j = 0; j < kLanes; ++j) index[j] = begin + at[j];
    const Block block = block_of(by, in_size, index);
    for (int j = 0; j < kLanes; ++j) {
      taps.first[at[j]] = static_cast<int32_t>(block.first.pair[j / 2][j % 2]);
      taps.count[at[j]] = static_cast<int32_t>(block.count.pair[j / 2][j % 2]);
    }
    weigh<F>(block, by.step, scaled.data());
    if constexpr (!F::kExact) {
      if (any_near_tie(block, scaled.data())) weigh<typename F::Exact>(block, by.step, scaled.data());
    }
    int32_t* row[kLanes];
    for (int j = 0; j < kLanes; ++j) row[j] = taps.weight.data() + static_cast<size_t>(at[j]) * taps.stride;
    for (int t = 0; t < block.longest; ++t) {
      for (int p = 0; p < kPairs; ++p) {
        const Pair value = scaled[t].pair[p];
        const IntPair rounded = __builtin_convertvector(value + (value < 0.0 ? same(-0.5) : same(0.5)), IntPair);
        row[2 * p][t] = rounded[0];
        row[2 * p + 1][t] = rounded[1];
      }
    }
    for (int i = x; i < std::min(x + kLanes, out); ++i) trim(&taps, i);
  }
  return taps;
}

// Short weights: bits until the next one would be too much for the largest weight. torch adds up and fuses in another
// order than Pillow, which moves weights by 1e-16: no axis is known in which that shows in one of so few bits.
template <typename F>
Taps make_short(int in_size, int out_size, int begin, int out) {
  const TapAxis axis = {static_cast<int32_t>(F::kFilter), in_size, out_size};
  const TapScale by = tap_scale(axis);
  Taps taps = room_for(axis, out);
  std::vector<double> weight(taps.weight.size());  // in units of 2^-kWeightBits
  std::vector<Lanes> scaled(taps.stride);
  Pair most = same(0.0);
  for (int x = 0; x < out_size; x += kLanes) {
    int at[kLanes];
    for (int j = 0; j < kLanes; ++j) at[j] = std::min(x + j, out_size - 1);
    const Block block = block_of(by, in_size, at);
    weigh<F>(block, by.step, scaled.data());
    for (int t = 0; t < block.longest; ++t) {
      for (const Pair& pair : scaled[t].pair) most = pair > most ? pair : most;
    }
    for (int j = 0; j < kLanes; ++j) {
      const int k = at[j] - begin;
      if (k < 0 || k >= out) continue;
      taps.first[k] = static_cast<int32_t>(block.first.pair[j / 2][j % 2]);
      taps.count[k] = static_cast<int32_t>(block.count.pair[j / 2][j % 2]);
      double* to = weight.data() + static_cast<size_t>(k) * taps.stride;
      for (int t = 0; t < taps.count[k]; ++t) to[t] = scaled[t].pair[j / 2][j % 2];
    }
  }
  constexpr double kUnit = 1.0 / (1 << kWeightBits);
  const double largest = std::max(most[0], most[1]) * kUnit;
  constexpr int kTooMuch = 1 << 15;
  int bits = 0;
  bool near = false;
  for (; bits < kWeightBits; ++bits) {
    const double next = largest * static_cast<double>(2 << bits);
    near = near || std::fabs(next - (kTooMuch - 0.5)) < kNearTie;
    if (static_cast<int>(0.5 + next) >= kTooMuch) break;
  }
  taps.bits = bits;
  const double unit = kUnit * static_cast<double>(1 << bits);
  for (size_t k = 0; k < weight.size(); ++k) {
    const double value = weight[k] * unit;
    const auto rounded = static_cast<int32_t>(value + (value < 0.0 ? -0.5 : 0.5));
    near = near || std::fabs(std::fabs(value - rounded) - 0.5) < kNearTie;
    taps.weight[k] = rounded;
  }
  if constexpr (!F::kExact) {
    if (near) return make_short<typename F::Exact>(in_size, out_size, begin, out);
  }
  for (int k = 0; k < out; ++k) trim(&taps, k);
  return taps;
}

}  // namespace

Taps make_taps(Filter filter, int in_size, int out_size, int begin, int out) {
  switch (filter) {
    case Filter::kLanczos:
      return make<NearLanczos>(in_size, out_size, begin, out);
    case Filter::kBilinear:
      return make<Plain<Filter::kBilinear, BilinearFilter>>(in_size, out_size, begin, out);
    case Filter::kBicubic:
      return make<Plain<Filter::kBicubic, BicubicFilter>>(in_size, out_size, begin, out);
    case Filter::kBox:
      return make<Plain<Filter::kBox, BoxFilter>>(in_size, out_size, begin, out);
    case Filter::kHamming:
      return make<Hamming>(in_size, out_size, begin, out);
    case Filter::kShortLanczos:
      return make_short<NearShortLanczos>(in_size, out_size, begin, out);
    case Filter::kShortBilinear:
      return make_short<Plain<Filter::kShortBilinear, BilinearFilter>>(in_size, out_size, begin, out);
    case Filter::kShortBicubic:
      return make_short<Plain<Filter::kShortBicubic, BicubicFilter>>(in_size, out_size, begin, out);
  }
  fail(ErrorCode::kValue, "unknown resize filter " + std::to_string(static_cast<int>(filter)));
}

}  // namespace fastaug
