#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/lane.h"
#include "pixel/pointwise.h"
#include "pixel/statistics.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::GuardedRows;
using test::Random;
using test::Side;

Op make_op(OpId id, double factor = 0.0, int number = 0, uint16_t flags = 0) {
  Op op{};
  op.id = id;
  op.f[0] = factor;
  op.i[0] = number;
  op.flags = flags;
  return op;
}

// Every stain times alpha and plus beta.
Op make_stains(uint16_t flags) {
  Op op = make_op(OpId::STAINS, 0.0, 0, flags);
  for (int k = 0; k < 8; ++k) op.f[k] = k % 4 == 0 ? 1.07 : 0.03 * (k - 4);
  op.i[1] = 0x3fe0;  // the first of the others is 0.5
  return op;
}

Op make_hed(double alpha, double beta, uint16_t flags) {
  Op op = make_op(OpId::HED, 0.0, 0, flags);
  std::fill_n(op.f, 3, alpha);
  std::fill_n(op.f + 3, 3, beta);
  return op;
}

constexpr double kFactors[] = {0.0, 0.3, 0.7123, 1.0, 1.05, 1.9, 2.7, -0.4};

// Every pointwise op that an image of this many channels can meet.
std::vector<Op> ops_for(int channels) {
  std::vector<Op> ops;
  for (double factor : kFactors) {
    for (uint16_t flags : {uint16_t{0}, kHasAlpha}) {
      if (flags == kHasAlpha && channels % 2 == 1) continue;
      ops.push_back(make_op(OpId::BRIGHTNESS, factor, 0, flags));
      ops.push_back(make_op(OpId::CONTRAST, factor, 0, flags));
      ops.push_back(make_op(OpId::TORCH_CONTRAST, factor, 0, flags));
      ops.push_back(make_op(OpId::V2_CONTRAST, factor, 0, flags));
    }
    if (channels >= 3) {
      ops.push_back(make_op(OpId::SATURATION, factor));
      ops.push_back(make_op(OpId::TORCH_SATURATION, factor));
      ops.push_back(make_op(OpId::V2_SATURATION, factor));
    }
  }
  if (channels >= 3) {
    for (int shift : {0, 1, 100, 255}) ops.push_back(make_op(OpId::HUE, 0.0, shift));
    for (double factor : {0.0, 0.5, -0.5, 0.123, -0.0371}) {
      ops.push_back(make_op(OpId::TORCH_HUE, factor));
      ops.push_back(make_op(OpId::V2_HUE, factor));
    }
    for (uint16_t flags : {uint16_t{0}, kUnclipped}) {
      ops.push_back(make_hed(1.0, 0.0, flags));
      ops.push_back(make_hed(1.031, -0.0213, flags));
    }
    for (uint16_t flags = 0; flags < 8; ++flags) ops.push_back(make_stains(flags));
    ops.push_back(make_op(OpId::LUMA));
    ops.push_back(make_op(OpId::TORCH_LUMA));
    ops.push_back(make_op(OpId::V2_LUMA));
  }
  for (int order[] = {0, 1, 2, 3}; std::next_permutation(order, order + channels);) {
    Op op = make_op(OpId::V2_PERMUTE);
    std::copy_n(order, kMaxChannels, op.i);
    ops.push_back(op);
  }
  if (channels == 1) {
    for (int copies : {1, 3, 4}) ops.push_back(make_op(OpId::REPLICATE, 0.0, copies));
  }
  if (channels % 2 == 0) {
    ops.push_back(make_op(OpId::PREMULTIPLY));
    ops.push_back(make_op(OpId::UNPREMULTIPLY));
  }
  return ops;
}

struct Run {
  std::vector<Op> ops;
  std::vector<float> means;
  int channels;

  int channels_out() const {
    int now = channels;
    for (const Op& op : ops) now = channels_after(op, now);
    return now;
  }
};

// True when the kernels agree with the scalar ones on random samples.
bool agrees(const Kernels& tested, const Run& run, int width, Random& random) {
  GuardedRows got(kMaxChannels, width);
  std::vector<uint8_t> storage[kMaxChannels];
  uint8_t* want[kMaxChannels];
  for (int c = 0; c < kMaxChannels; ++c) {
    random.fill(got[c], static_cast<size_t>(width));
    storage[c].assign(got[c], got[c] + width + kRowPad);
    want[c] = storage[c].data();
  }
  const int count = static_cast<int>(run.ops.size());
  tested.pointwise(run.ops.data(), run.means.data(), count, run.channels, got.get(), width);
  kernels("scalar")->pointwise(run.ops.data(), run.means.data(), count, run.channels, want, width);
  bool same = got.intact();
  for (int c = 0; c < run.channels_out(); ++c) same &= std::memcmp(got[c], want[c], static_cast<size_t>(width)) == 0;
  return same;
}

TEST_CASE("every pointwise op gives the same bits on every instruction set") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    test::Share share;
    for (int channels = 1; channels <= kMaxChannels; ++channels) {
      CAPTURE(channels);
      for (const Op& op : ops_for(channels)) {
        CAPTURE(name_of(op.id));
        CAPTURE(op.f[0]);
        CAPTURE(op.flags);
        for (int width = 1; width <= 130; ++width) {
          if (!share.next()) continue;
          CAPTURE(width);
          const float mean = takes_torch_mean(op.id) ? 117.3f : 117.0f;
          REQUIRE(agrees(*kernels(name), {{op}, {mean}, channels}, width, random));
        }
      }
    }
  }
}

TEST_CASE("permuted channels are those that were asked for") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int channels = 1; channels <= kMaxChannels; ++channels) {
      for (int order[] = {0, 1, 2, 3}; std::next_permutation(order, order + channels);) {
        Op op = make_op(OpId::V2_PERMUTE);
        std::copy_n(order, kMaxChannels, op.i);
        GuardedRows rows(kMaxChannels, 77);
        for (int c = 0; c < channels; ++c) std::memset(rows[c], 10 + c, 77);
        const float mean = 0.0f;
        kernels(name)->pointwise(&op, &mean, 1, channels, rows.get(), 77);
        int right = 0;
        for (int c = 0; c < channels; ++c) right += static_cast<int>(std::count(rows[c], rows[c] + 77, 10 + order[c]));
        CHECK(right == 77 * channels);
      }
    }
  }
}

TEST_CASE("runs of ops give the same bits on every instruction set") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (int trial = 0; trial < test::cases(2000); ++trial) {
      CAPTURE(trial);
      Run run;
      run.channels = random.between(1, kMaxChannels);
      int channels = run.channels;
      for (int left = random.between(1, 6); left > 0; --left) {
        const std::vector<Op> choice = ops_for(channels);
        run.ops.push_back(choice[static_cast<size_t>(random.between(0, static_cast<int>(choice.size()) - 1))]);
        run.means.push_back(static_cast<float>(random.between(0, 255)));
        channels = channels_after(run.ops.back(), channels);
      }
      REQUIRE(agrees(*kernels(name), run, random.between(1, 700), random));
    }
  }
}

// torchvision, _functional_tensor.py, rgb_to_grayscale of uint8, in float32 without contraction.
int torch_gray(int r, int g, int b) {
  return static_cast<int>((0.2989f * static_cast<float>(r) + 0.587f * static_cast<float>(g)) +
                          0.114f * static_cast<float>(b));
}

// v2/functional/_color.py, _rgb_to_grayscale_image of uint8, whose additions fuse.
int v2_gray(int r, int g, int b) {
  const float sum = std::fma(0.587f, static_cast<float>(g), 0.2989f * static_cast<float>(r));
  return static_cast<int>(std::fma(0.114f, static_cast<float>(b), sum));
}

// _blend of uint8, and that of v2.
int torch_blended(float degenerate, int value, double factor) {
  const float mixed =
      static_cast<float>(factor) * static_cast<float>(value) + static_cast<float>(1.0 - factor) * degenerate;
  return static_cast<int>(std::min(std::max(mixed, 0.0f), 255.0f));
}

int v2_blended(float degenerate, int value, double factor) {
  const float mixed =
      std::fma(static_cast<float>(1.0 - factor), degenerate, static_cast<float>(factor) * static_cast<float>(value));
  return static_cast<int>(std::min(std::max(mixed, 0.0f), 255.0f));
}

TEST_CASE("luma_sum and gray_sums add up the row and nothing after it") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(3);
    for (int channels : {1, 2, 3, 4}) {
      CAPTURE(channels);
      for (int width : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 130, 1000, 70000}) {
        CAPTURE(width);
        GuardedRows rows(kMaxChannels, width);
        for (int c = 0; c < kMaxChannels; ++c) random.fill(rows[c], static_cast<size_t>(width) + kRowPad);
        uint64_t luma = 0;
        uint32_t gray[kTorchClasses];
        uint32_t sums[kTorchClasses];
        uint32_t fused_gray[kTorchClasses];
        uint32_t fused_sums[kTorchClasses];
        for (uint32_t k = 0; k < kTorchClasses; ++k) {
          gray[k] = sums[k] = 1000 * k;
          fused_gray[k] = fused_sums[k] = 7 * k;
        }
        for (int x = 0; x < width; ++x) {
          const uint32_t r = rows[0][x], g = rows[1][x], b = rows[2][x];
          luma += channels < 3 ? r : (19595u * r + 38470u * g + 7471u * b + 32768u) >> 16;
          gray[x % kTorchClasses] +=
              channels < 3 ? r : static_cast<uint32_t>(torch_gray(rows[0][x], rows[1][x], rows[2][x]));
          fused_gray[x % kTorchClasses] +=
              channels < 3 ? r : static_cast<uint32_t>(v2_gray(rows[0][x], rows[1][x], rows[2][x]));
        }
        REQUIRE(kernels(name)->luma_sum(rows.get_const(), channels, width) == luma);
        kernels(name)->gray_sums(rows.get_const(), channels, width, sums);
        REQUIRE(std::equal(sums, sums + kTorchClasses, gray));
        kernels(name)->v2_gray_sums(rows.get_const(), channels, width, fused_sums);
        REQUIRE(std::equal(fused_sums, fused_sums + kTorchClasses, fused_gray));
      }
    }
  }
}

// Among the factors are some whose products come close to integers, or are integers, on either side of 1.
TEST_CASE("saturation is Pillow's for every sample and luma, by any factor") {
  constexpr int kPixels = 1 << 16;
  std::vector<double> factors = {0.0, 1e-9, 0.25, 0.5, 0.75,  0.999999, 1.0,  1.000001, 1.1,  1.3,  1.5,   1.7,
                                 2.0, 2.55, 4.0,  8.5, 255.0, 3e5,      1e30, -1e-9,    -0.5, -1.0, -300.0};
  Random random(9);
  for (int k = 0; k < 60; ++k) factors.push_back(random.unit() * 2.0);
  GuardedRows rows(kMaxChannels, kPixels);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (double factor : factors) {
      CAPTURE(factor);
      for (int x = 0; x < kPixels; ++x) {
        // Green makes most of luma: with blue that is nearly every pair, and red is another sample of it.
        rows[0][x] = static_cast<uint8_t>(random.next() >> 9);
        rows[1][x] = static_cast<uint8_t>(x >> 8);
        rows[2][x] = static_cast<uint8_t>(x);
      }
      std::vector<uint8_t> before[3];
      for (int c = 0; c < 3; ++c) before[c].assign(rows[c], rows[c] + kPixels);
      const Op op = make_op(OpId::SATURATION, factor);
      const float mean = 0.0f;
      kernels(name)->pointwise(&op, &mean, 1, 3, rows.get(), kPixels);
      int wrong = 0;
      for (size_t x = 0; x < kPixels; ++x) {
        const int luma = (19595 * before[0][x] + 38470 * before[1][x] + 7471 * before[2][x] + 0x8000) >> 16;
        for (int c = 0; c < 3; ++c) {
          const float product = static_cast<float>(factor) * static_cast<float>(before[c][x] - luma);
          const float mixed = static_cast<float>(luma) + product;
          const int want = static_cast<int>(std::min(std::max(mixed, 0.0f), 255.0f));
          wrong += rows[c][x] != want ? 1 : 0;
        }
      }
      REQUIRE(wrong == 0);
      REQUIRE(rows.intact());
    }
  }
}

TEST_CASE("saturations that follow one another give the scalar bits row after row, however many they are") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(10);
    for (int count = 2; count <= 9; ++count) {
      CAPTURE(count);
      Run run{{}, std::vector<float>(static_cast<size_t>(count)), 3};
      for (int k = 0; k < count; ++k) run.ops.push_back(make_op(OpId::SATURATION, 0.55 + 0.1 * k));
      for (int row = 0; row < 3; ++row) REQUIRE(agrees(*kernels(name), run, 100, random));
    }
  }
}

// Two grays, one of them 1 less where additions do not fuse.
TEST_CASE("the grays of tensors differ in a few colours") {
  std::vector<std::array<uint8_t, 3>> colours;
  for (int k = 0; k < 1 << 24; ++k) {
    const int r = k >> 16, g = k >> 8 & 255, b = k & 255;
    if (torch_gray(r, g, b) == v2_gray(r, g, b)) continue;
    colours.push_back({static_cast<uint8_t>(r), static_cast<uint8_t>(g), static_cast<uint8_t>(b)});
  }
  const int width = static_cast<int>(colours.size());
  REQUIRE(width == 21);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    GuardedRows rows(kMaxChannels, width);
    uint64_t torch = 0;
    uint64_t v2 = 0;
    for (int x = 0; x < width; ++x) {
      const auto& [r, g, b] = colours[static_cast<size_t>(x)];
      rows[0][x] = r;
      rows[1][x] = g;
      rows[2][x] = b;
      torch += static_cast<uint64_t>(torch_gray(r, g, b));
      v2 += static_cast<uint64_t>(v2_gray(r, g, b));
    }
    uint32_t sums[kTorchClasses] = {};
    uint32_t v2_sums[kTorchClasses] = {};
    kernels(name)->gray_sums(rows.get_const(), 3, width, sums);
    kernels(name)->v2_gray_sums(rows.get_const(), 3, width, v2_sums);
    CHECK(std::accumulate(sums, sums + kTorchClasses, uint64_t{0}) == torch);
    CHECK(std::accumulate(v2_sums, v2_sums + kTorchClasses, uint64_t{0}) == v2);
  }
}

TEST_CASE("a white row of 70000 pixels does not overflow the sums") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    GuardedRows rows(kMaxChannels, 70000);
    for (int c = 0; c < kMaxChannels; ++c) std::memset(rows[c], 255, 70000);
    CHECK(kernels(name)->luma_sum(rows.get_const(), 3, 70000) == uint64_t{255} * 70000);
    // .2989 + .587 + .114 is below 1, and so is the white's gray.
    uint32_t sums[kTorchClasses] = {};
    kernels(name)->gray_sums(rows.get_const(), 3, 70000, sums);
    CHECK(std::accumulate(sums, sums + kTorchClasses, uint64_t{0}) ==
          static_cast<uint64_t>(torch_gray(255, 255, 255)) * 70000);
  }
}

TEST_CASE("saturation of tensors is torchvision's on every colour") {
  constexpr int kWidth = 1 << 16;
  for (const char* name : available_isas()) {
    CAPTURE(name);
    GuardedRows rows(kMaxChannels, kWidth);
    const float mean = 0.0f;
    for (int r = 0; r < 256; ++r) {
      const double factor = kFactors[static_cast<size_t>(r) % std::size(kFactors)];
      CAPTURE(r);
      CAPTURE(factor);
      for (int k = 0; k < kWidth; ++k) {
        rows[0][k] = static_cast<uint8_t>(r);
        rows[1][k] = static_cast<uint8_t>(k >> 8);
        rows[2][k] = static_cast<uint8_t>(k);
      }
      const Op op = make_op(OpId::TORCH_SATURATION, factor);
      kernels(name)->pointwise(&op, &mean, 1, 3, rows.get(), kWidth);
      int wrong = 0;
      for (int k = 0; k < kWidth; ++k) {
        const int g = k >> 8;
        const int b = k & 255;
        const auto gray = static_cast<float>(torch_gray(r, g, b));
        wrong += rows[0][k] != torch_blended(gray, r, factor) || rows[1][k] != torch_blended(gray, g, factor) ||
                 rows[2][k] != torch_blended(gray, b, factor);
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("contrast of tensors is torchvision's for every sample") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(4);
    for (int trial = 0; trial < test::cases(2000); ++trial) {
      const double factor = trial < 16 ? kFactors[trial / 2] : 3.0 * random.unit();
      const auto mean = static_cast<float>(255.0 * random.unit());
      CAPTURE(factor);
      CAPTURE(mean);
      GuardedRows rows(kMaxChannels, 256);
      for (int v = 0; v < 256; ++v) rows[0][v] = static_cast<uint8_t>(v);
      const bool v2 = trial % 2 == 1;
      const Op op = make_op(v2 ? OpId::V2_CONTRAST : OpId::TORCH_CONTRAST, factor);
      kernels(name)->pointwise(&op, &mean, 1, 1, rows.get(), 256);
      int wrong = 0;
      for (int v = 0; v < 256; ++v) {
        wrong += rows[0][v] != (v2 ? v2_blended(mean, v, factor) : torch_blended(mean, v, factor));
      }
      REQUIRE(wrong == 0);
    }
  }
}

// Pillow, Convert.c, rgb2hsv_row and hsv2rgb, restated in its own mix of float and double.
void pillow_hue(int shift, uint8_t* rgb) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const int top = std::max(r, std::max(g, b));
  const int bottom = std::min(r, std::min(g, b));
  uint8_t h8 = 0;
  uint8_t s8 = 0;
  if (top != bottom) {
    const auto range = static_cast<float>(top - bottom);
    const float s = range / static_cast<float>(top);
    const float rc = static_cast<float>(top - r) / range;
    const float gc = static_cast<float>(top - g) / range;
    const float bc = static_cast<float>(top - b) / range;
    float h;
    if (r == top) {
      h = bc - gc;
    } else if (g == top) {
      h = static_cast<float>(2.0 + rc - bc);
    } else {
      h = static_cast<float>(4.0 + gc - rc);
    }
    h = static_cast<float>(std::fmod(h / 6.0 + 1.0, 1.0));
    h8 = static_cast<uint8_t>(static_cast<int>(h * 255.0));
    s8 = static_cast<uint8_t>(static_cast<int>(s * 255.0));
  }
  h8 = static_cast<uint8_t>(h8 + shift);
  const auto v = static_cast<float>(top);
  if (s8 == 0) {
    rgb[0] = rgb[1] = rgb[2] = static_cast<uint8_t>(top);
    return;
  }
  const double turn = static_cast<float>(h8) * 6.0 / 255.0;
  const int sector = static_cast<int>(std::floor(turn));
  const auto f = static_cast<float>(turn - static_cast<float>(sector));
  const auto s = static_cast<float>(static_cast<float>(s8) / 255.0);
  const auto p = static_cast<uint8_t>(std::round(v * (1.0 - s)));
  const auto q = static_cast<uint8_t>(std::round(v * (1.0 - s * f)));
  const auto t = static_cast<uint8_t>(std::round(v * (1.0 - s * (1.0 - f))));
  const auto full = static_cast<uint8_t>(top);
  const uint8_t table[6][3] = {{full, t, p}, {q, full, p}, {p, full, t}, {p, q, full}, {t, p, full}, {full, p, q}};
  std::memcpy(rgb, table[sector % 6], 3);
}

TEST_CASE("hue is Pillow's on every colour") {
  constexpr int kWidth = 1 << 16;
  for (const char* name : available_isas()) {
    CAPTURE(name);
    GuardedRows rows(kMaxChannels, kWidth);
    const float mean = 0.0f;
    test::Share share;
    for (int r = 0; r < 256; ++r) {
      if (!share.next()) continue;
      const int shift = (r * 37 + 11) % 256;
      for (int k = 0; k < kWidth; ++k) {
        rows[0][k] = static_cast<uint8_t>(r);
        rows[1][k] = static_cast<uint8_t>(k >> 8);
        rows[2][k] = static_cast<uint8_t>(k);
      }
      const Op op = make_op(OpId::HUE, 0.0, shift);
      kernels(name)->pointwise(&op, &mean, 1, 3, rows.get(), kWidth);
      int wrong = 0;
      for (int k = 0; k < kWidth; ++k) {
        uint8_t want[3] = {static_cast<uint8_t>(r), static_cast<uint8_t>(k >> 8), static_cast<uint8_t>(k)};
        pillow_hue(shift, want);
        wrong += rows[0][k] != want[0] || rows[1][k] != want[1] || rows[2][k] != want[2];
      }
      CAPTURE(shift);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("rounded division by 65025 is exact on its whole domain") {
  int wrong = 0;
  for (int n = 0; n <= 255 * 65025; ++n) {
    wrong += static_cast<int>(scalar::round_65025th(static_cast<float>(n))) != (2 * int64_t{n} + 65025) / 130050;
  }
  CHECK(wrong == 0);
}

TEST_CASE("alpha arithmetic is Pillow's on every pair") {
  constexpr int kWidth = 1 << 16;
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (OpId id : {OpId::PREMULTIPLY, OpId::UNPREMULTIPLY}) {
      // Alpha differs from pixel to pixel, or is the same for many.
      for (int alpha_bit : {0, 8}) {
        GuardedRows rows(kMaxChannels, kWidth);
        const auto color = [=](int k) { return k >> (8 - alpha_bit) & 255; };
        const auto alpha = [=](int k) { return k >> alpha_bit & 255; };
        for (int k = 0; k < kWidth; ++k) {
          rows[0][k] = static_cast<uint8_t>(color(k));
          rows[1][k] = static_cast<uint8_t>(alpha(k));
        }
        const Op op = make_op(id);
        const float mean = 0.0f;
        kernels(name)->pointwise(&op, &mean, 1, 2, rows.get(), kWidth);
        int wrong = 0;
        for (int k = 0; k < kWidth; ++k) {
          const int c = color(k);
          const int a = alpha(k);
          const int t = c * a + 128;
          const int kept = a == 0 || a == 255 ? c : std::min(255, 255 * c / std::max(a, 1));
          wrong += rows[0][k] != (id == OpId::PREMULTIPLY ? ((t >> 8) + t) >> 8 : kept) || rows[1][k] != a;
        }
        CHECK(wrong == 0);
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
