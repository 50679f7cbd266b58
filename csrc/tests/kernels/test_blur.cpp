#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "execute/stages/blur.h"
#include "kernels/kernels.h"
#include "pixel/blur_weights.h"
#include "plan/neighbourhood.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::GuardedRows;
using test::Random;
using test::Side;

std::vector<float> gaussian(int size, double sigma) {
  std::vector<double> exact(static_cast<size_t>(size));
  double sum = 0.0;
  for (int k = 0; k < size; ++k) {
    const double x = (k - size / 2) / sigma;
    sum += exact[static_cast<size_t>(k)] = std::exp(-0.5 * x * x);
  }
  std::vector<float> weights;
  for (double weight : exact) weights.push_back(static_cast<float>(weight / sum));
  return weights;
}

// Equal weights whose sums end in a half as often as can be: size is a power of two, plus one weight of zero.
std::vector<float> halves(int size) {
  std::vector<float> weights(static_cast<size_t>(size), 1.0f / static_cast<float>(size - 1));
  weights[static_cast<size_t>(size / 2)] = 0.0f;
  return weights;
}

std::vector<float> random_weights(Random& random, int size) {
  if (size > 1 && random.next() % 6 == 0) return halves((random.next() % 2 == 0 || size < 9) ? 5 : 9);
  return gaussian(size, random.next() % 2 == 0 ? 0.1 + 2.0 * random.unit() : 0.1 + 10.0 * random.unit());
}

void fill_samples(Random& random, uint8_t* row, int width, int kind) {
  random.fill(row, static_cast<size_t>(width));
  const auto value = static_cast<uint8_t>(random.between(1, 255));
  for (int x = 0; x < width; ++x) {
    if (kind == 1) row[x] = value;
    if (kind == 2) row[x] = x % 2 == 0 ? value : 0;
    if (kind == 3) row[x] = row[x] < 128 ? 0 : 255;
    if (kind == 4) row[x] = static_cast<uint8_t>(x * value / std::max(width, 1));
    if (kind == 5) row[x] &= 1;
  }
}

// blur_rows, and blur_samples for what it leaves open.
void finish_rows(const Kernels& tested, const BlurKernel& kernel, const uint8_t* const* rows, int count, int width,
                 uint8_t* const* dst) {
  std::vector<BlurSample> open(static_cast<size_t>(count) * static_cast<size_t>(width));
  const int found = tested.blur_rows(kernel, rows, count, width, dst, open.data());
  REQUIRE(found <= count * width);
  tested.blur_samples(kernel, open.data(), found);
}

void check_rows(const Kernels& tested, const BlurWeights& weights, int width, int kind, Random& random) {
  BlurKernel kernel = weights.kernel();
  kernel.fused = random.next() % 4 != 0;
  CAPTURE(tested.name);
  CAPTURE(kernel.height);
  CAPTURE(kernel.width);
  CAPTURE(width);
  CAPTURE(kind);
  const int count = random.between(1, 14);
  CAPTURE(count);
  for (Side side : {Side::kFront, Side::kBack}) {
    GuardedRows src(kernel.height + count - 1, width + kernel.width - 1, side);
    GuardedRows dst(count, width, side), expected(count, width, side);
    for (int i = 0; i < kernel.height + count - 1; ++i) fill_samples(random, src[i], width + kernel.width - 1, kind);
    finish_rows(tested, kernel, src.get_const(), count, width, dst.get());
    finish_rows(*kernels("scalar"), kernel, src.get_const(), count, width, expected.get());
    for (int k = 0; k < count; ++k) {
      REQUIRE(std::memcmp(dst[k], expected[k], static_cast<size_t>(width)) == 0);
    }
    REQUIRE(src.intact());
    REQUIRE(dst.intact());
  }
}

TEST_CASE("blur_rows equals the scalar kernel at every width") {
  for (const char* name : available_isas()) {
    Random random(1);
    for (int width = 1; width <= 140; ++width) {
      for (int size : {1, 3, 5}) {
        const BlurWeights weights(random_weights(random, size), random_weights(random, size));
        check_rows(*kernels(name), weights, width, random.between(0, 5), random);
      }
    }
    for (int width : {255, 256, 257, 512, 1030}) {
      const BlurWeights weights(gaussian(3, 1.0), gaussian(7, 1.5));
      for (int kind = 0; kind <= 5; ++kind) check_rows(*kernels(name), weights, width, kind, random);
    }
  }
}

TEST_CASE("blur_rows equals the scalar kernel with every kernel") {
  for (const char* name : available_isas()) {
    Random random(2);
    for (int i = 0; i < test::cases(300); ++i) {
      const int height = 2 * random.between(0, i % 10 == 0 ? 25 : 8) + 1;
      const int width = 2 * random.between(0, i % 10 == 1 ? 25 : 8) + 1;
      const BlurWeights weights(random_weights(random, height), random_weights(random, width));
      check_rows(*kernels(name), weights, random.between(1, 200), random.between(0, 5), random);
    }
    check_rows(*kernels(name), BlurWeights(gaussian(3, 1.0), gaussian(201, 30.0)), 90, 0, random);
    check_rows(*kernels(name), BlurWeights(gaussian(1, 1.0), gaussian(1, 1.0)), 600, 0, random);
  }
}

// Sums of these are exact in every order, and half of them are ties.
TEST_CASE("a tie is rounded to even") {
  for (const char* name : available_isas()) {
    const BlurWeights weights(std::vector<float>{1.0f}, std::vector<float>{0.5f, 0.0f, 0.5f});
    const BlurKernel kernel = weights.kernel();
    for (bool crowded : {true, false}) {
      GuardedRows src(1, 1002), dst(1, 1000);
      for (int x = 0; x < 1002; ++x)
        src[0][x] = static_cast<uint8_t>(crowded ? x % 251 : (x % 50 == 0 ? x / 2 % 256 : 8));
      finish_rows(*kernels(name), kernel, src.get_const(), 1, 1000, dst.get());
      for (int x = 0; x < 1000; ++x) {
        const int sum = src[0][x] + src[0][x + 2];
        REQUIRE(dst[0][x] == (sum % 4 == 3 ? sum / 2 + 1 : sum / 2));
      }
    }
  }
}

// The bound that blur_rows relies on, against both values themselves.
TEST_CASE("two passes come as near to the chain as they say") {
  Random random(3);
  for (int i = 0; i < test::cases(400); ++i) {
    const int height = 2 * random.between(0, 15) + 1;
    const int width = 2 * random.between(0, 15) + 1;
    const BlurWeights weights(random_weights(random, height), random_weights(random, width));
    const BlurKernel kernel = weights.kernel();
    const int kind = random.between(0, 5);
    GuardedRows src(kernel.height, kernel.width);
    for (int k = 0; k < kernel.height; ++k) fill_samples(random, src[k], kernel.width, kind);
    float chain = 0.0f;
    float unfused = 0.0f;
    float fused = 0.0f;
    float plain = 0.0f;
    for (int y = 0; y < kernel.height; ++y) {
      for (int x = 0; x < kernel.width; ++x) {
        const float weight = kernel.matrix[y * kernel.width + x];
        chain = std::fma(weight, src[y][x], chain);
        unfused += weight * src[y][x];
      }
    }
    for (int x = kernel.skip_columns; x < kernel.width - kernel.skip_columns; ++x) {
      float fused_column = 0.0f;
      float plain_column = 0.0f;
      for (int y = kernel.skip_rows; y < kernel.height - kernel.skip_rows; ++y) {
        fused_column = std::fma(kernel.down[y], src[y][x], fused_column);
        plain_column += kernel.down[y] * src[y][x];
      }
      fused = std::fma(kernel.across[x], fused_column, fused);
      plain += kernel.across[x] * plain_column;
    }
    CAPTURE(kernel.height);
    CAPTURE(kernel.width);
    REQUIRE(std::abs(fused - chain) <= kernel.error);
    REQUIRE(std::abs(plain - chain) <= kernel.error);
    REQUIRE(std::abs(fused - unfused) <= kernel.error);
    REQUIRE(std::abs(plain - unfused) <= kernel.error);
    REQUIRE(kernel.error < 0.02f);
  }
}

// Floats of a row in a guarded buffer with its pad.
Guarded float_row(int width, Side side) { return Guarded(static_cast<size_t>(width) * 4 + kRowPad, side); }

float* floats(Guarded& row) { return reinterpret_cast<float*>(row.data()); }

void check_float_rows(const Kernels& tested, int height, int width, int count, int out, Random& random) {
  const BlurWeights weights(random_weights(random, height), random_weights(random, width));
  BlurKernel kernel = weights.kernel();
  kernel.fused = random.next() % 4 != 0;
  CAPTURE(tested.name);
  CAPTURE(kernel.height);
  CAPTURE(kernel.width);
  CAPTURE(count);
  CAPTURE(out);
  for (Side side : {Side::kFront, Side::kBack}) {
    std::vector<Guarded> src, dst, expected;
    std::vector<const float*> rows;
    std::vector<float*> to, expected_to;
    for (int i = 0; i < kernel.height + count - 1; ++i) {
      src.push_back(float_row(out + kernel.width - 1, side));
      rows.push_back(floats(src.back()));
      // Now and then subnormal, or in the middle between two floats.
      for (int x = 0; x < out + kernel.width - 1; ++x) {
        const double value = 2.0 * random.unit() - 1.0;
        floats(src.back())[x] = static_cast<float>(x % 19 == 0  ? value * 1e-38
                                                   : x % 7 == 0 ? (value < 0 ? 1 : 3)
                                                                : value);
      }
    }
    for (int k = 0; k < count; ++k) {
      dst.emplace_back(static_cast<size_t>(out) * 4, side);
      expected.emplace_back(static_cast<size_t>(out) * 4, side);
    }
    for (int k = 0; k < count; ++k) {
      to.push_back(floats(dst[static_cast<size_t>(k)]));
      expected_to.push_back(floats(expected[static_cast<size_t>(k)]));
    }
    tested.blur_float_rows(kernel, rows.data(), count, out, to.data());
    kernels("scalar")->blur_float_rows(kernel, rows.data(), count, out, expected_to.data());
    for (int k = 0; k < count; ++k) {
      REQUIRE(std::memcmp(to[static_cast<size_t>(k)], expected_to[static_cast<size_t>(k)],
                          static_cast<size_t>(out) * 4) == 0);
      REQUIRE(dst[static_cast<size_t>(k)].intact());
    }
  }
}

TEST_CASE("blur_float_rows equals the scalar kernel") {
  for (const char* name : available_isas()) {
    Random random(4);
    for (int out = 1; out <= 140; ++out) {
      check_float_rows(*kernels(name), 2 * random.between(0, 4) + 1, 2 * random.between(0, 4) + 1, random.between(1, 7),
                       out, random);
    }
    check_float_rows(*kernels(name), 41, 41, 4, 100, random);
    check_float_rows(*kernels(name), 1, 41, 5, 70, random);
  }
}

// 1 + weight * sample lies just above the middle between two floats, so near that rounding it to double first yields
// the middle, and then the wrong one of the two.
TEST_CASE("a chain rounds once") {
  constexpr float kSample = 16773151 * 0x1p-24f;
  const float weights[] = {1.0f, 8390641 * 0x1p-47f, 0.0f};
  const BlurKernel kernel{1, 3, weights};
  REQUIRE(std::fma(weights[1], kSample, 1.0f) > 1.0f);
  REQUIRE(static_cast<float>(1.0 + static_cast<double>(weights[1]) * kSample) == 1.0f);
  for (const char* name : available_isas()) {
    std::vector<float> row(62 + kRowPad / sizeof(float));
    for (size_t x = 0; x < row.size(); ++x) row[x] = x % 2 == 0 ? 1.0f : kSample;
    std::vector<float> dst(60);
    const float* rows[] = {row.data()};
    float* to[] = {dst.data()};
    kernels(name)->blur_float_rows(kernel, rows, 1, 60, to);
    for (size_t x = 0; x < 60; x += 2) REQUIRE(dst[x] == 0x1.000002p0f);
  }
}

int mirror(int k, int size) {
  if (k < 0) return -k;
  return k >= size ? 2 * size - 2 - k : k;
}

template <class At>
float chain_at(const BlurKernel& kernel, int height, int width, int y, int x, At at) {
  float sum = 0.0f;
  for (int i = 0; i < kernel.height; ++i) {
    for (int j = 0; j < kernel.width; ++j) {
      const int row = mirror(y + i - kernel.height / 2, height);
      const int column = mirror(x + j - kernel.width / 2, width);
      const float weight = kernel.matrix[i * kernel.width + j];
      const auto sample = static_cast<float>(at(row, column));
      sum = kernel.fused ? std::fma(weight, sample, sum) : sum + weight * sample;
    }
  }
  return sum;
}

Op blur_op(Random& random, int kernel_height, int kernel_width) {
  Op op{};
  op.id = OpId::BLUR;
  op.i[0] = kernel_width;
  op.i[1] = kernel_height;
  std::vector<float> packed;
  const auto put = [&](const std::vector<float>& weights) {
    packed.insert(packed.end(), weights.begin(), weights.begin() + static_cast<ptrdiff_t>(weights.size() / 2 + 1));
  };
  const double sigma = 0.3 + 3.0 * random.unit();
  put(gaussian(kernel_width, sigma));
  if (kernel_height == kernel_width && random.next() % 2 == 0) {
    op.flags = kSquare;
  } else {
    put(gaussian(kernel_height, 0.3 + 3.0 * random.unit()));
  }
  if (random.next() % 4 == 0) op.flags |= kUnfused;
  REQUIRE(packed.size() <= 16);
  std::memcpy(op.f, packed.data(), packed.size() * sizeof(float));
  return op;
}

void check_stage(const Kernels& tested, const Op& op, Shape in, Region out, bool wider, bool skipping, Random& random) {
  CAPTURE(tested.name);
  CAPTURE(op.i[0]);
  CAPTURE(op.i[1]);
  CAPTURE(in.height);
  CAPTURE(in.width);
  CAPTURE(out.y);
  CAPTURE(out.x);
  CAPTURE(out.height);
  CAPTURE(out.width);
  const size_t row_size = static_cast<size_t>(in.width) * static_cast<size_t>(in.channels);
  std::vector<uint8_t> image(row_size * static_cast<size_t>(in.height));
  const int kind = random.between(0, 5);
  for (int y = 0; y < in.height; ++y) {
    fill_samples(random, image.data() + row_size * static_cast<size_t>(y), static_cast<int>(row_size), kind);
  }
  const View view{image.data(), in.height, in.width, in.channels, static_cast<ptrdiff_t>(row_size), in.channels, 1};
  Arena arena;
  Context context{tested, arena};
  const Region needs = wider ? Region{0, 0, in.height, in.width} : filter_region(op, in, out);
  REQUIRE((needs.y >= 0 && needs.x >= 0 && needs.y + needs.height <= in.height && needs.x + needs.width <= in.width));
  Stage* stage = blur_stage(context, source_stage(context, view, needs), op, in, out);
  REQUIRE(stage->region == out);
  REQUIRE(stage->channels == in.channels);
  const BlurWeights weights(op);
  GuardedRows planes(kMaxChannels, out.width);
  Planes dst;
  for (int c = 0; c < kMaxChannels; ++c) dst.row[c] = planes[c];
  for (int y = out.y; y < out.y + out.height; y += skipping ? random.between(1, 5) : 1) {
    stage->row(y, dst);
    for (int c = 0; c < in.channels; ++c) {
      for (int x = 0; x < out.width; ++x) {
        const auto at = [&](int row, int column) { return *view.at(row, column, c); };
        const float sum = chain_at(weights.kernel(), in.height, in.width, y, out.x + x, at);
        REQUIRE(dst.row[c][x] == static_cast<uint8_t>(std::nearbyint(sum)));
      }
    }
  }
  REQUIRE(planes.intact());
}

TEST_CASE("blur_stage equals its definition, whole and in parts") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    Random random(5);
    for (int i = 0; i < test::cases(250); ++i) {
      const int kernel_width = 2 * random.between(0, 7) + 1;
      const int kernel_height = i % 3 == 0 ? kernel_width : 2 * random.between(0, 7) + 1;
      const Op op = blur_op(random, kernel_height, kernel_width);
      const int most = i % 2 == 0 ? 3 : 40;
      const Shape in{kernel_height / 2 + random.between(1, most), kernel_width / 2 + random.between(1, most),
                     random.between(1, kMaxChannels)};
      Region out{0, 0, in.height, in.width};
      if (i % 4 != 0) {
        out.y = random.between(0, in.height - 1);
        out.x = random.between(0, in.width - 1);
        out.height = random.between(1, in.height - out.y);
        out.width = random.between(1, in.width - out.x);
      }
      check_stage(tested, op, in, out, i % 5 == 0, i % 7 == 0, random);
    }
  }
}

TEST_CASE("blur_stage makes rows in bands") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    Random random(6);
    Op op = blur_op(random, 5, 3);
    check_stage(tested, op, {60, 530, 3}, {0, 0, 60, 530}, false, false, random);
    check_stage(tested, op, {60, 530, 3}, {3, 7, 50, 520}, false, true, random);
    op = blur_op(random, 23, 5);
    check_stage(tested, op, {40, 600, 1}, {5, 10, 30, 590}, false, false, random);
  }
}

TEST_CASE("blur_plane equals its definition") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    Random random(7);
    for (int i = 0; i < 60; ++i) {
      const int kernel_height = 2 * random.between(0, i % 4 == 0 ? 20 : 3) + 1;
      const int kernel_width = i % 2 == 0 ? kernel_height : 2 * random.between(0, 5) + 1;
      const int height = kernel_height / 2 + random.between(1, 20);
      const int width = kernel_width / 2 + random.between(1, 80);
      const BlurWeights weights(gaussian(kernel_height, 2.0), gaussian(kernel_width, 5.0));
      BlurKernel kernel = weights.kernel();
      kernel.fused = i % 3 != 0;
      Guarded src(static_cast<size_t>(height * width) * 4), dst(static_cast<size_t>(height * width) * 4);
      for (int k = 0; k < height * width; ++k) floats(src)[k] = static_cast<float>(2.0 * random.unit() - 1.0);
      blur_plane(floats(src), height, width, kernel, floats(dst), tested);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const auto at = [&](int row, int column) { return floats(src)[row * width + column]; };
          REQUIRE(floats(dst)[y * width + x] == chain_at(kernel, height, width, y, x, at));
        }
      }
      REQUIRE(dst.intact());
    }
  }
}

}  // namespace
}  // namespace fastaug
