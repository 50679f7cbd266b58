#include "pixel/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/status.h"

namespace fastaug {
namespace {

// The filters of Pillow's Resample.c, in double. kSupport is the radius in source samples when nothing is shrunk.
struct Box {
  static constexpr double kSupport = 0.5;
  static double at(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
};

struct Bilinear {
  static constexpr double kSupport = 1.0;
  static double at(double x) {
    const double rest = 1.0 - std::fabs(x);
    return rest > 0.0 ? rest : 0.0;
  }
};

struct Hamming {
  static constexpr double kSupport = 1.0;
  static double at(double x) {
    x = std::fabs(x);
    if (x == 0.0) return 1.0;
    if (x >= 1.0) return 0.0;
    x *= std::numbers::pi;
    return std::sin(x) / x * (0.54f + 0.46f * std::cos(x));  // the constants are float32 in Pillow too
  }
};

struct Bicubic {
  static constexpr double kSupport = 2.0;
  static double at(double x) {
    constexpr double a = -0.5;
    x = std::fabs(x);
    const double inner = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    const double outer = (((x - 5.0) * x + 8.0) * x - 4.0) * a;
    return x < 1.0 ? inner : x < 2.0 ? outer : 0.0;
  }
};

struct Lanczos {
  static constexpr double kSupport = 3.0;
  static double sinc(double x) {
    if (x == 0.0) return 1.0;
    x *= std::numbers::pi;
    return std::sin(x) / x;
  }
  static double at(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }
};

// Outputs whose taps are built side by side, so that the compiler can use vectors; the order of operations within one output
// is Pillow's.
constexpr int kLanes = 8;

int32_t quantize(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
}

// Drops weights that came out as zero at either end of output `i`, but one.
void trim(Taps* taps, int i) {
  int32_t* weights = taps->weight.data() + static_cast<size_t>(i) * taps->stride;
  int count = taps->count[i];
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

template <typename F>
Taps make(int in_size, int out_size, int begin, int out) {
  // precompute_coeffs takes the box as float32.
  const double scale = static_cast<double>(static_cast<float>(in_size)) / out_size;
  const double filter_scale = std::max(scale, 1.0);
  const double support = F::kSupport * filter_scale;
  const double step = 1.0 / filter_scale;

  Taps taps;
  taps.out = out;
  taps.stride = std::min(static_cast<int>(std::ceil(support)) * 2 + 1, std::max(in_size, 1));
  taps.first.resize(out);
  taps.count.resize(out);
  taps.weight.resize(static_cast<size_t>(out) * taps.stride);

  std::vector<double> weights(static_cast<size_t>(taps.stride) * kLanes);
  for (int block = 0; block < out; block += kLanes) {
    double center[kLanes], first[kLanes], count[kLanes], sum[kLanes];
    for (int j = 0; j < kLanes; ++j) {
      center[j] = (begin + block + j + 0.5) * scale;
      const int low = std::max(static_cast<int>(center[j] - support + 0.5), 0);
      const int high = std::min(static_cast<int>(center[j] + support + 0.5), in_size);
      first[j] = low;
      count[j] = high - low;
      sum[j] = 0.0;
    }
    const int lanes = std::min(kLanes, out - block);
    const int longest = static_cast<int>(*std::max_element(count, count + lanes));
    for (int t = 0; t < longest; ++t) {
      double* w = &weights[static_cast<size_t>(t) * kLanes];
      for (int j = 0; j < kLanes; ++j) {
        const double value = F::at((t + first[j] - center[j] + 0.5) * step);
        w[j] = t < count[j] ? value : 0.0;
        sum[j] += w[j];
      }
    }
    for (int j = 0; j < kLanes; ++j) sum[j] = sum[j] != 0.0 ? sum[j] : 1.0;
    for (int t = 0; t < longest; ++t) {
      const double* w = &weights[static_cast<size_t>(t) * kLanes];
      int32_t quantized[kLanes];
      for (int j = 0; j < kLanes; ++j) quantized[j] = quantize(w[j] / sum[j]);
      int32_t* to = taps.weight.data() + static_cast<size_t>(block) * taps.stride + t;
      for (int j = 0; j < lanes; ++j) to[static_cast<size_t>(j) * taps.stride] = quantized[j];
    }
    for (int j = 0; j < lanes; ++j) {
      taps.first[block + j] = static_cast<int32_t>(first[j]);
      taps.count[block + j] = static_cast<int32_t>(count[j]);
      trim(&taps, block + j);
    }
  }
  return taps;
}

}  // namespace

Taps make_taps(Filter filter, int in_size, int out_size, int begin, int out) {
  switch (filter) {
    case Filter::kLanczos:
      return make<Lanczos>(in_size, out_size, begin, out);
    case Filter::kBilinear:
      return make<Bilinear>(in_size, out_size, begin, out);
    case Filter::kBicubic:
      return make<Bicubic>(in_size, out_size, begin, out);
    case Filter::kBox:
      return make<Box>(in_size, out_size, begin, out);
    case Filter::kHamming:
      return make<Hamming>(in_size, out_size, begin, out);
  }
  fail(ErrorCode::kValue, "unknown resize filter " + std::to_string(static_cast<int>(filter)));
}

}  // namespace fastaug
