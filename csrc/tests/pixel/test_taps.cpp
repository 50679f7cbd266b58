#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/status.h"
#include "pixel/taps.h"

namespace fastaug {
namespace {

constexpr Filter kFilters[] = {Filter::kLanczos, Filter::kBilinear, Filter::kBicubic, Filter::kBox, Filter::kHamming};

double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x * std::numbers::pi) / (x * std::numbers::pi); }

double filter_at(Filter filter, double x) {
  const double r = std::fabs(x);
  switch (filter) {
    case Filter::kLanczos:
    case Filter::kShortLanczos:
      return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
    case Filter::kBilinear:
    case Filter::kShortBilinear:
      return r < 1.0 ? 1.0 - r : 0.0;
    case Filter::kBicubic:
    case Filter::kShortBicubic:
      if (r < 1.0) return ((-0.5 + 2.0) * r - (-0.5 + 3.0)) * r * r + 1;
      return r < 2.0 ? (((r - 5) * r + 8) * r - 4) * -0.5 : 0.0;
    case Filter::kBox:
      return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    case Filter::kHamming:
      if (r == 0.0) return 1.0;
      if (r >= 1.0) return 0.0;
      return std::sin(r * std::numbers::pi) / (r * std::numbers::pi) * (0.54f + 0.46f * std::cos(r * std::numbers::pi));
  }
  return 0.0;
}

double support_of(Filter filter) {
  switch (filter) {
    case Filter::kLanczos:
    case Filter::kShortLanczos:
      return 3.0;
    case Filter::kBicubic:
    case Filter::kShortBicubic:
      return 2.0;
    case Filter::kBox:
      return 0.5;
    default:
      return 1.0;
  }
}

// The weight of every source sample in one output sample: Pillow, Resample.c, precompute_coeffs and
// normalize_coeffs_8bpc, line by line.
std::vector<int32_t> pillow_weights(Filter filter, int in_size, int out_size, int index) {
  const double scale = static_cast<double>(static_cast<float>(in_size)) / out_size;
  const double filter_scale = scale < 1.0 ? 1.0 : scale;
  const double support = support_of(filter) * filter_scale;
  const double center = (index + 0.5) * scale;
  const double ss = 1.0 / filter_scale;
  const int low = std::max(static_cast<int>(center - support + 0.5), 0);
  const int high = std::min(static_cast<int>(center + support + 0.5), in_size);
  std::vector<double> k;
  double ww = 0.0;
  for (int x = 0; x < high - low; ++x) {
    k.push_back(filter_at(filter, (x + low - center + 0.5) * ss));
    ww += k.back();
  }
  std::vector<int32_t> weights(static_cast<size_t>(in_size), 0);
  for (int x = 0; x < high - low; ++x) {
    if (ww != 0.0) k[x] /= ww;
    weights[low + x] = static_cast<int32_t>(k[x] < 0 ? -0.5 + k[x] * (1 << 22) : 0.5 + k[x] * (1 << 22));
  }
  return weights;
}

// The same, from taps.
std::vector<int32_t> spread_out(const Taps& taps, int in_size, int i) {
  std::vector<int32_t> weights(static_cast<size_t>(in_size), 0);
  for (int t = 0; t < taps.count[i]; ++t) weights.at(static_cast<size_t>(taps.first[i] + t)) = taps.weights(i)[t];
  return weights;
}

void check(Filter filter, int in_size, int out_size, int begin, int out) {
  CAPTURE(static_cast<int>(filter));
  CAPTURE(in_size);
  CAPTURE(out_size);
  const Taps taps = make_taps(filter, in_size, out_size, begin, out);
  REQUIRE(taps.out == out);
  REQUIRE(taps.first.size() == static_cast<size_t>(out));
  REQUIRE(taps.count.size() == static_cast<size_t>(out));
  REQUIRE(taps.weight.size() == static_cast<size_t>(out) * taps.stride);
  for (int i = 0; i < out; ++i) {
    CAPTURE(i);
    REQUIRE(taps.count[i] >= 1);
    REQUIRE(taps.count[i] <= taps.stride);
    for (int t = taps.count[i]; t < taps.stride; ++t) REQUIRE(taps.weights(i)[t] == 0);
    REQUIRE(spread_out(taps, in_size, i) == pillow_weights(filter, in_size, out_size, begin + i));
  }
}

TEST_CASE("taps are Pillow's for all small sizes") {
  for (Filter filter : kFilters)
    for (int in_size = 1; in_size <= 24; ++in_size)
      for (int out_size = 1; out_size <= 24; ++out_size) check(filter, in_size, out_size, 0, out_size);
}

TEST_CASE("taps are Pillow's for usual sizes") {
  for (Filter filter : kFilters) {
    for (int in_size : {31, 97, 224, 333, 500, 887, 1024, 2041})
      for (int out_size : {1, 7, 96, 224, 257, 384, 1024}) check(filter, in_size, out_size, 0, out_size);
  }
}

TEST_CASE("a range of outputs has the taps of the whole") {
  for (Filter filter : kFilters) {
    check(filter, 500, 256, 16, 224);
    check(filter, 500, 256, 255, 1);
    check(filter, 33, 100, 3, 13);
    check(filter, 33, 100, 0, 0);
  }
}

TEST_CASE("samples of weight zero are not taps") {
  const Taps taps = make_taps(Filter::kBox, 4, 8, 0, 8);
  for (int i = 0; i < 8; ++i) {
    CHECK(taps.count[i] == 1);
    CHECK(taps.first[i] == i / 2);
    CHECK(taps.weights(i)[0] == 1 << kWeightBits);
  }
}

constexpr Filter kShortFilters[] = {Filter::kShortLanczos, Filter::kShortBilinear, Filter::kShortBicubic};

// torch, native/cpu/UpSampleKernel.cpp, with what its compiler fuses in a bicubic: the weights of an axis, by output
// and source sample, and their bits.
std::pair<std::vector<std::vector<int32_t>>, int> torch_weights(Filter filter, int in_size, int out_size) {
  const auto at = [&](double x) {
    if (filter != Filter::kShortBicubic) return filter_at(filter, x);
    const double r = std::fabs(x);
    if (r < 1.0) return std::fma(std::fma(1.5, r, -2.5) * r, r, 1.0);
    return r < 2.0 ? std::fma(std::fma(std::fma(-0.5, r, 2.5), r, -4.0), r, 2.0) : 0.0;
  };
  const double scale = static_cast<double>(in_size) / out_size;
  const double support = scale >= 1.0 ? support_of(filter) * scale : support_of(filter);
  const double step = scale >= 1.0 ? 1.0 / scale : 1.0;
  std::vector<std::vector<double>> weights;
  double largest = 0.0;
  for (int k = 0; k < out_size; ++k) {
    const double center = scale * (k + 0.5);
    const int low = std::max(static_cast<int>(center - support + 0.5), 0);
    const int high = std::min(static_cast<int>(center + support + 0.5), in_size);
    std::vector<double>& row = weights.emplace_back(static_cast<size_t>(in_size), 0.0);
    double sum = 0.0;
    for (int x = low; x < high; ++x) sum += row[x] = at((x - center + 0.5) * step);
    for (int x = low; x < high; ++x) largest = std::max(largest, row[x] /= sum);
  }
  int bits = 0;
  while (bits < 22 && static_cast<int>(0.5 + largest * (1 << (bits + 1))) < 1 << 15) ++bits;
  std::vector<std::vector<int32_t>> rounded;
  for (const std::vector<double>& row : weights) {
    std::vector<int32_t>& to = rounded.emplace_back();
    for (const double weight : row) {
      const double value = weight * (1 << bits);
      to.push_back(static_cast<int32_t>(value < 0 ? -0.5 + value : 0.5 + value));
    }
  }
  return {rounded, bits};
}

void check_short(Filter filter, int in_size, int out_size, int begin, int out) {
  CAPTURE(static_cast<int>(filter));
  CAPTURE(in_size);
  CAPTURE(out_size);
  const auto [weights, bits] = torch_weights(filter, in_size, out_size);
  const Taps taps = make_taps(filter, in_size, out_size, begin, out);
  REQUIRE(taps.out == out);
  REQUIRE(taps.bits == bits);
  for (int i = 0; i < out; ++i) {
    CAPTURE(i);
    REQUIRE(taps.count[i] >= 1);
    REQUIRE(taps.count[i] <= taps.stride);
    for (int t = taps.count[i]; t < taps.stride; ++t) REQUIRE(taps.weights(i)[t] == 0);
    REQUIRE(spread_out(taps, in_size, i) == weights[static_cast<size_t>(begin + i)]);
    REQUIRE(*std::max_element(taps.weights(i), taps.weights(i) + taps.stride) <= 32767);
  }
}

TEST_CASE("short taps are torch's for all small sizes") {
  for (Filter filter : kShortFilters)
    for (int in_size = 1; in_size <= 40; ++in_size)
      for (int out_size = 1; out_size <= 40; ++out_size) check_short(filter, in_size, out_size, 0, out_size);
}

TEST_CASE("short taps are torch's for usual sizes") {
  for (Filter filter : kShortFilters) {
    for (int in_size : {97, 224, 333, 500, 1024, 2041})
      for (int out_size : {1, 7, 96, 224, 257, 384}) check_short(filter, in_size, out_size, 0, out_size);
    check_short(filter, 3, 4000, 0, 4000);
    check_short(filter, 60000, 3, 0, 3);
  }
}

TEST_CASE("a range of outputs has the short weights of the whole") {
  for (Filter filter : kShortFilters) {
    check_short(filter, 500, 256, 16, 224);
    check_short(filter, 500, 256, 255, 1);
    check_short(filter, 33, 100, 3, 13);
    check_short(filter, 33, 100, 40, 3);
    check_short(filter, 33, 100, 0, 0);
  }
}

TEST_CASE("short weights have as many bits as their largest leaves room for") {
  CHECK(make_taps(Filter::kShortBilinear, 10, 20, 0, 20).bits == 14);
  CHECK(make_taps(Filter::kShortBilinear, 20, 19, 0, 19).bits == 15);
  CHECK(make_taps(Filter::kShortBilinear, 20, 10, 0, 10).bits == 16);
  CHECK(make_taps(Filter::kShortBilinear, 9000, 10, 0, 10).bits == kWeightBits);
}

TEST_CASE("an unknown filter is an error") { CHECK_THROWS_AS(make_taps(static_cast<Filter>(0), 4, 4, 0, 4), Error); }

}  // namespace
}  // namespace fastaug
