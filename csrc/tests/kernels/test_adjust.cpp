#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/smooth.h"
#include "pixel/table.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::GuardedRows;
using test::Random;
using test::Side;

constexpr int kWidths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 1000};

// ---- Tables

TEST_CASE("gamma tables hold what Python computes") {
  uint8_t table[256];
  // int((255 + 1 - 1e-3) * gain * pow(v / 255.0, gamma)) through Image.point, by Python 3.11 and Pillow 13.
  struct Known {
    double exponent;
    double gain;
    int value[6];
  };
  constexpr int kAt[] = {0, 1, 50, 128, 200, 255};
  constexpr Known kKnown[] = {
      {1.0, 1.0, {0, 1, 50, 128, 200, 255}},   {2.2, 1.0, {0, 0, 7, 56, 150, 255}},
      {0.5, 1.0, {0, 16, 113, 181, 226, 255}}, {0.0, 1.0, {255, 255, 255, 255, 255, 255}},
      {0.7, 1.8, {0, 9, 147, 255, 255, 255}},  {1.3, -2.0, {0, 0, 0, 0, 0, 0}},
      {1.0, 0.0, {0, 0, 0, 0, 0, 0}},          {1.0, 3e7, {0, 255, 255, 0, 255, 0}},
      {1.0, 5e12, {0, 0, 0, 255, 0, 255}},
  };
  for (const Known& known : kKnown) {
    CAPTURE(known.exponent);
    CAPTURE(known.gain);
    CHECK(gamma_table_exists(known.exponent, known.gain));
    gamma_table(known.exponent, known.gain, table);
    for (int k = 0; k < 6; ++k) CHECK(static_cast<int>(table[kAt[k]]) == known.value[k]);
  }
}

TEST_CASE("gamma tables that torchvision refuses to make do not exist") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(gamma_table_exists(1.0, 3.6e16));
  CHECK_FALSE(gamma_table_exists(1.0, 3.7e16));
  CHECK_FALSE(gamma_table_exists(1.0, -3.7e16));
  CHECK_FALSE(gamma_table_exists(1.0, kInfinity));
  CHECK_FALSE(gamma_table_exists(std::nan(""), 1.0));
  uint8_t table[256];
  gamma_table(1.0, kInfinity, table);
  CHECK(std::all_of(table, table + 256, [](uint8_t v) { return v == 0; }));
}

TEST_CASE("autocontrast tables are those of ImageOps") {
  for (int low = 0; low < 256; ++low) {
    for (int high = 0; high < 256; ++high) {
      uint8_t table[256];
      autocontrast_table(low, high, table);
      int wrong = 0;
      for (int v = 0; v < 256; ++v) {
        int want = v;
        if (high > low) {
          const double scale = 255.0 / (high - low);
          const double offset = -low * scale;
          want = std::clamp(static_cast<int>(v * scale + offset), 0, 255);
        }
        wrong += table[v] != want;
      }
      REQUIRE(wrong == 0);
    }
  }
}

// Pillow, ImageOps.equalize, with its list of counts above zero.
std::vector<int> pillow_equalize(const std::vector<uint32_t>& counts) {
  std::vector<int> table(256);
  std::iota(table.begin(), table.end(), 0);
  std::vector<int64_t> used;
  for (uint32_t count : counts)
    if (count != 0) used.push_back(count);
  if (used.size() <= 1) return table;
  const int64_t step = (std::accumulate(used.begin(), used.end(), int64_t{0}) - used.back()) / 255;
  if (step == 0) return table;
  int64_t n = step / 2;
  for (size_t v = 0; v < 256; ++v) {
    table[v] = static_cast<int>(std::min<int64_t>(n / step, 255));
    n += counts[v];
  }
  return table;
}

TEST_CASE("equalize tables are those of ImageOps") {
  Random random(1);
  for (int trial = 0; trial < test::cases(3000); ++trial) {
    CAPTURE(trial);
    std::vector<uint32_t> counts(256);
    const int used = random.between(0, 6) == 0 ? random.between(0, 2) : random.between(1, 256);
    const int most = 1 << random.between(0, 30);
    for (int k = 0; k < used; ++k) counts[random.next() % 256] = static_cast<uint32_t>(random.between(0, most));
    uint8_t table[256];
    equalize_table(counts.data(), table);
    const std::vector<int> want = pillow_equalize(counts);
    REQUIRE(std::equal(want.begin(), want.end(), table));
  }
}

TEST_CASE("equalize clips what overshoots") {
  // Step 1 of 509 / 255: the last table entries pass 255.
  std::vector<uint32_t> counts(256);
  counts[3] = 509;
  counts[9] = 1;
  uint8_t table[256];
  equalize_table(counts.data(), table);
  CHECK(static_cast<int>(table[3]) == 0);
  CHECK(static_cast<int>(table[4]) == 255);
  CHECK(static_cast<int>(table[255]) == 255);
}

TEST_CASE("posterize masks and solarize thresholds") {
  for (int bits = 1; bits <= 8; ++bits) {
    for (int v = 0; v < 256; ++v) CHECK((v & posterize_mask(bits)) == (v >> (8 - bits) << (8 - bits)));
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (double threshold : {-kInfinity, -3.0, -0.0, 0.0, 1e-300, 0.5, 1.0, 99.2, 127.999, 128.0, 254.0, 254.5, 255.0,
                           std::nextafter(255.0, 256.0), 255.5, 256.0, 1e30, kInfinity, std::nan("")}) {
    CAPTURE(threshold);
    int first = 0;
    while (first < 256 && first < threshold) ++first;
    CHECK(solarize_threshold(threshold) == first);
  }
}

// ---- Kernels

TEST_CASE("lookup finds every entry of every table") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (int trial = 0; trial < test::cases(200); ++trial) {
      uint8_t table[256];
      random.fill(table, sizeof table);
      GuardedRows row(1, 256);
      for (int v = 0; v < 256; ++v) row[0][v] = static_cast<uint8_t>(v + trial);
      kernels(name)->lookup(table, row[0], 256);
      int wrong = 0;
      for (int v = 0; v < 256; ++v) wrong += row[0][v] != table[(v + trial) & 255];
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("lookup, solarize and posterize do whole rows of every width in place") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    Random random(3);
    uint8_t table[256];
    random.fill(table, sizeof table);
    for (int width = 1; width <= 300; ++width) {
      CAPTURE(width);
      for (Side side : {Side::kFront, Side::kBack}) {
        GuardedRows rows(3, width, side);
        random.fill(rows[0], static_cast<size_t>(width));
        std::memcpy(rows[1], rows[0], static_cast<size_t>(width));
        std::memcpy(rows[2], rows[0], static_cast<size_t>(width));
        const std::vector<uint8_t> was(rows[0], rows[0] + width);
        const int threshold = random.between(0, 256);
        const int mask = posterize_mask(random.between(1, 8));
        tested.lookup(table, rows[0], width);
        tested.solarize(threshold, rows[1], width);
        tested.posterize(mask, rows[2], width);
        int wrong = 0;
        for (int x = 0; x < width; ++x) {
          const int v = was[static_cast<size_t>(x)];
          wrong += rows[0][x] != table[v];
          wrong += rows[1][x] != (v < threshold ? v : 255 - v);
          wrong += rows[2][x] != (v & mask);
        }
        REQUIRE(wrong == 0);
        REQUIRE(rows.intact());
      }
    }
  }
}

TEST_CASE("solarize takes every threshold on every sample") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    GuardedRows row(1, 256);
    int wrong = 0;
    for (int threshold = 0; threshold <= 256; ++threshold) {
      std::iota(row[0], row[0] + 256, uint8_t{0});
      kernels(name)->solarize(threshold, row[0], 256);
      for (int v = 0; v < 256; ++v) wrong += row[0][v] != (v < threshold ? v : 255 - v);
    }
    CHECK(wrong == 0);
  }
}

std::vector<uint32_t> summed(const uint32_t (*counts)[256]) {
  std::vector<uint32_t> sums(256);
  for (int k = 0; k < kHistograms; ++k)
    for (size_t v = 0; v < 256; ++v) sums[v] += counts[k][v];
  return sums;
}

TEST_CASE("extremes and histogram count the row, nothing after it, and add to what is there") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    Random random(4);
    std::vector<int> widths(std::begin(kWidths), std::end(kWidths));
    for (int around : {2040, 4080}) {
      for (int d = -17; d <= 17; ++d) widths.push_back(around + d);
    }
    for (int width : widths) {
      CAPTURE(width);
      for (Side side : {Side::kFront, Side::kBack}) {
        GuardedRows row(1, width, side);
        random.fill(row[0], static_cast<size_t>(width) + kRowPad);
        // Away from both ends, so that a sample of the pad would show.
        for (int x = 0; x < width; ++x) row[0][x] = static_cast<uint8_t>(40 + row[0][x] % 170);
        auto low = static_cast<uint8_t>(random.between(0, 255));
        auto high = static_cast<uint8_t>(random.between(0, 255));
        const uint8_t want_low = std::min(low, *std::min_element(row[0], row[0] + width));
        const uint8_t want_high = std::max(high, *std::max_element(row[0], row[0] + width));
        tested.extremes(row[0], width, &low, &high);
        REQUIRE(low == want_low);
        REQUIRE(high == want_high);

        uint32_t counts[kHistograms][256];
        for (auto& part : counts)
          for (uint32_t& count : part) count = random.next() >> 6;
        std::vector<uint32_t> want = summed(counts);
        for (int x = 0; x < width; ++x) ++want[row[0][x]];
        tested.histogram(row[0], width, counts);
        REQUIRE(summed(counts) == want);
        REQUIRE(row.intact());
      }
    }
  }
}

TEST_CASE("a flat row does not overflow the histogram") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int value : {0, 77, 255}) {
      for (int width : {254, 255, 256, 2039, 2040, 2041, 4096, 70000}) {
        CAPTURE(width);
        GuardedRows row(1, width);
        std::memset(row[0], value, static_cast<size_t>(width));
        uint32_t parts[kHistograms][256] = {};
        kernels(name)->histogram(row[0], width, parts);
        const std::vector<uint32_t> counts = summed(parts);
        uint8_t low = 255;
        uint8_t high = 0;
        kernels(name)->extremes(row[0], width, &low, &high);
        CHECK(low == value);
        CHECK(high == value);
        CHECK(counts[static_cast<size_t>(value)] == static_cast<uint32_t>(width));
        CHECK(std::accumulate(counts.begin(), counts.end(), 0u) == static_cast<uint32_t>(width));
      }
    }
  }
}

// ---- Sharpness

// Pillow, Filter.c, ImagingFilter3x3 with the kernel of ImageFilter.SMOOTH: float32, from below to above.
int pillow_smooth(const uint8_t* above, const uint8_t* row, const uint8_t* below, int x) {
  const float outer = 1.0f / 13.0f;
  const float centre = 5.0f / 13.0f;
  const auto three = [&](const uint8_t* in, float middle) {
    const float left = static_cast<float>(in[x - 1]) * outer;
    return left + static_cast<float>(in[x]) * middle + static_cast<float>(in[x + 1]) * outer;
  };
  float sum = 0.5f;
  sum += three(below, outer);
  sum += three(row, centre);
  sum += three(above, outer);
  return std::clamp(static_cast<int>(sum), 0, 255);
}

// torch's conv2d with the kernel of _blurred_degenerate_image, one fused multiply-add per weight, then rint.
int torch_smooth(const uint8_t* above, const uint8_t* row, const uint8_t* below, int x) {
  float sum = 0.0f;
  for (const uint8_t* in : {above, row, below}) {
    for (int d = -1; d <= 1; ++d) {
      const float weight = (in == row && d == 0 ? 5.0f : 1.0f) / 13.0f;
      sum = std::fma(static_cast<float>(in[x + d]), weight, sum);
    }
  }
  return static_cast<int>(std::nearbyint(sum));
}

TEST_CASE("the smooth of integers is Pillow's and torch's float32 one") {
  for (int sum = 0; sum <= 13 * 255; ++sum) {
    REQUIRE(smooth_of(sum) == (2 * sum + 13) / 26);
    REQUIRE(smooth_of(sum) == ((sum + 6) * kThirteenth) >> 16);
  }
  Random random(5);
  int wrong = 0;
  for (int trial = 0; trial < test::cases(200000); ++trial) {
    uint8_t rows[3][3];
    random.fill(&rows[0][0], 9);
    if (trial % 3 == 0) {
      for (auto& row : rows)
        for (uint8_t& v : row) v = v < 128 ? 255 : static_cast<uint8_t>(v & 1 ? 254 : 0);
    }
    const int got = smooth_of(smooth_sum(rows[0] + 1, rows[1] + 1, rows[2] + 1, 0));
    wrong += got != pillow_smooth(rows[0] + 1, rows[1] + 1, rows[2] + 1, 0);
    wrong += got != torch_smooth(rows[0] + 1, rows[1] + 1, rows[2] + 1, 0);
  }
  CHECK(wrong == 0);
}

// The blends, restated with a branch for Pillow's two cases (Blend.c) and without vectors.
int pillow_blend(int degenerate, int value, float factor) {
  if (factor == 0.0f) return degenerate;
  if (factor == 1.0f) return value;
  const float mixed = static_cast<float>(degenerate) + factor * static_cast<float>(value - degenerate);
  if (factor >= 0.0f && factor <= 1.0f) return static_cast<int>(mixed);
  return mixed <= 0.0f ? 0 : mixed >= 255.0f ? 255 : static_cast<int>(mixed);
}

int torch_blend_of(int degenerate, int value, double factor) {
  const float one = static_cast<float>(factor) * static_cast<float>(value);
  const float other = static_cast<float>(1.0 - factor) * static_cast<float>(degenerate);
  return static_cast<int>(std::clamp(one + other, 0.0f, 255.0f));
}

int v2_blend_of(int degenerate, int value, double factor) {
  const auto difference = static_cast<float>(degenerate - value);
  const float mixed = std::fma(static_cast<float>(1.0 - factor), difference, static_cast<float>(value));
  return static_cast<int>(std::clamp(mixed, 0.0f, 255.0f));
}

enum class Rule { kPillow, kTorch, kV2 };
constexpr Rule kRules[] = {Rule::kPillow, Rule::kTorch, Rule::kV2};

auto sharpen_of(const Kernels& kernels, Rule rule) {
  return rule == Rule::kPillow ? kernels.sharpen : rule == Rule::kTorch ? kernels.torch_sharpen : kernels.v2_sharpen;
}

int blend_of(Rule rule, int degenerate, int value, double factor) {
  if (rule == Rule::kTorch) return torch_blend_of(degenerate, value, factor);
  if (rule == Rule::kV2) return v2_blend_of(degenerate, value, factor);
  return pillow_blend(degenerate, value, static_cast<float>(factor));
}

constexpr double kFactors[] = {0.0, 0.1, 0.5, 0.7123, 1.0, 1.9, 2.0, 3.3, 17.0, -0.4, 1e12};

TEST_CASE("sharpen blends every sample with every mean") {
  // Three rows of one value each: the mean of (d, v, d) over all pairs takes every value that a centre of v can see.
  constexpr int kWidth = 256;
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (double factor : kFactors) {
      CAPTURE(factor);
      for (Rule rule : kRules) {
        CAPTURE(static_cast<int>(rule));
        int wrong = 0;
        for (int v = 0; v < 256; ++v) {
          GuardedRows rows(4, kWidth + 2);
          for (int x = 0; x < kWidth + 2; ++x) {
            rows[0][x] = rows[2][x] = static_cast<uint8_t>(x);
            rows[1][x] = static_cast<uint8_t>(v);
          }
          const auto sharpen = sharpen_of(*kernels(name), rule);
          sharpen(rows[0] + 1, rows[1] + 1, rows[2] + 1, kWidth, factor, rows[3]);
          for (int x = 0; x < kWidth; ++x) {
            const int smooth = pillow_smooth(rows[0] + 1, rows[1] + 1, rows[2] + 1, x);
            wrong += rows[3][x] != blend_of(rule, smooth, v, factor);
          }
        }
        REQUIRE(wrong == 0);
      }
    }
  }
}

TEST_CASE("sharpen does rows of every width within their buffers") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(6);
    for (int width = 1; width <= 140; ++width) {
      CAPTURE(width);
      for (Side side : {Side::kFront, Side::kBack}) {
        // Source rows with one more sample on either side.
        GuardedRows source(3, width + 2, side);
        GuardedRows dst(1, width, side);
        for (int k = 0; k < 3; ++k) random.fill(source[k], static_cast<size_t>(width) + 2);
        const double factor = kFactors[random.next() % std::size(kFactors)];
        const Rule rule = kRules[random.next() % std::size(kRules)];
        const auto sharpen = sharpen_of(*kernels(name), rule);
        sharpen(source[0] + 1, source[1] + 1, source[2] + 1, width, factor, dst[0]);
        int wrong = 0;
        for (int x = 0; x < width; ++x) {
          const int smooth = torch_smooth(source[0] + 1, source[1] + 1, source[2] + 1, x);
          const int v = source[1][x + 1];
          wrong += dst[0][x] != blend_of(rule, smooth, v, factor);
        }
        REQUIRE(wrong == 0);
        REQUIRE(source.intact());
        REQUIRE(dst.intact());
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
