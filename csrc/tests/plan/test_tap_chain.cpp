#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "pixel/index_table.h"
#include "plan/tap_chain.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Random;

Step step(OpId id, uint16_t flags, std::vector<int> operands = {}) {
  Step one{};
  one.id = id;
  one.flags = flags;
  std::copy(operands.begin(), operands.end(), one.i);
  return one;
}

// rows x columns.
using Dense = std::vector<std::vector<double>>;

Dense product(const Dense& a, const Dense& b) {
  Dense c(a.size(), std::vector<double>(b[0].size(), 0.0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < b.size(); ++k) {
      if (a[i][k] == 0.0) continue;
      for (size_t j = 0; j < b[k].size(); ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

// What an op does to the rows (or columns) of an image.
Dense matrix_of(const Op& op, bool row, Shape in) {
  const Shape after = shape_after(op, in);
  const int size = row ? in.width : in.height;
  const int out = row ? after.width : after.height;
  Dense m(static_cast<size_t>(out), std::vector<double>(static_cast<size_t>(size), 0.0));
  const auto choose = [&](int k, int from) {
    if (from >= 0 && from < size) m[static_cast<size_t>(k)][static_cast<size_t>(from)] = 1.0;
  };
  if (op.id == OpId::RESIZE && size != out) {
    const Taps taps = make_taps(static_cast<Filter>(op.flags), size, out, 0, out);
    for (int k = 0; k < out; ++k) {
      for (int t = 0; t < taps.count[k]; ++t) m[k][taps.first[k] + t] = std::ldexp(taps.weights(k)[t], -taps.bits);
    }
    return m;
  }
  std::vector<int32_t> index;
  if (op.id == OpId::NEAREST) index = nearest_index(static_cast<NearestRule>(op.flags), size, out);
  if (op.id == OpId::PAD) {
    index = pad_index(static_cast<PadMode>(op.flags), size, op.i[row ? 0 : 1], op.i[row ? 2 : 3]);
  }
  for (int k = 0; k < out; ++k) {
    int from = k;
    if (!index.empty()) from = index[k];
    if (op.id == OpId::WINDOW) from = k + op.i[row ? 1 : 0];
    if (op.id == (row ? OpId::HFLIP : OpId::VFLIP)) from = size - 1 - k;
    choose(k, from);
  }
  return m;
}

OpList random_run(Random& random, Shape in, int count) {
  constexpr uint16_t kFilters[] = {1, 2, 3, 4, 5, 9, 10, 11};
  OpList ops;
  for (int k = 0; k < count; ++k) {
    const int height = random.between(1, 90);
    const int width = random.between(1, 90);
    switch (random.between(0, 6)) {
      case 0:
        ops.push_back(step(OpId::NEAREST, static_cast<uint16_t>(random.between(0, 2)), {height, width}));
        break;
      case 1:
        ops.push_back(step(OpId::PAD, static_cast<uint16_t>(random.between(0, 2)),
                           {random.between(0, 9), random.between(0, 9), random.between(0, 9), random.between(0, 9)}));
        break;
      case 2:
        ops.push_back(step(OpId::WINDOW, 0, {random.between(-5, in.height), random.between(-5, 5), height, width}));
        break;
      case 3:
        ops.push_back(step(random.next() % 2 == 0 ? OpId::HFLIP : OpId::VFLIP, 0));
        break;
      default:
        ops.push_back(step(OpId::RESIZE, kFilters[random.between(0, 7)], {height, width}));
    }
    in = shape_after(ops.back(), in);
  }
  return ops;
}

TEST_CASE("composed taps are the product of the matrices of the steps") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int trial = 0; trial < test::cases(150); ++trial) {
      CAPTURE(trial);
      const Shape in{random.between(1, 120), random.between(1, 120), 3};
      const OpList ops = random_run(random, in, random.between(1, 5));
      for (const bool row : {false, true}) {
        Shape shape = in;
        Dense want;
        for (const Op& op : ops) {
          const Dense next = matrix_of(op, row, shape);
          want = want.empty() ? next : product(next, want);
          shape = shape_after(op, shape);
        }
        const int size = static_cast<int>(want.size());
        const int begin = random.between(0, size - 1);
        const int out = random.between(1, size - begin);
        const auto table = composed_axis_table(*kernels(name), row, ops, in, begin, out);
        const Taps& taps = table->taps;
        REQUIRE(taps.out == out);
        REQUIRE(taps.bits < kWeightBits);
        REQUIRE(table->source_begin >= 0);
        REQUIRE(table->source_end <= (row ? in.width : in.height));
        const double unit = std::ldexp(1.0, -taps.bits);
        double worst = 0.0;
        double worst_sum = 0.0;
        for (int k = 0; k < out; ++k) {
          REQUIRE(taps.count[k] >= 1);
          REQUIRE(taps.first[k] >= 0);
          REQUIRE(taps.first[k] + taps.count[k] <= table->source_end - table->source_begin);
          std::vector<double> rest = want[static_cast<size_t>(begin + k)];
          double sum = 0.0;
          for (const double v : rest) sum += v;
          for (int t = 0; t < taps.count[k]; ++t) {
            const int32_t weight = taps.weights(k)[t];
            REQUIRE(std::abs(weight) <= 32767);
            rest[static_cast<size_t>(table->source_begin + taps.first[k] + t)] -= weight * unit;
            sum -= weight * unit;
          }
          for (const double v : rest) worst = std::max(worst, std::fabs(v));
          worst_sum = std::max(worst_sum, std::fabs(sum));
        }
        // A unit of rounding, and what trimming gives to a neighbour.
        CHECK(worst <= unit + 0x1p-16);
        CHECK(worst_sum <= 0.5 * unit + 1e-9);
        CHECK(composed_axis_table(*kernels(name), row, ops, in, begin, out) == table);
      }
    }
  }
}

TEST_CASE("a composed pass is within 0.02 of the exact product, before it is rounded") {
  Random random(2);
  const Shape in{700, 900, 3};
  const OpList ops = {step(OpId::WINDOW, 0, {50, 70, 600, 800}), step(OpId::RESIZE, 2, {1024, 1024}),
                      step(OpId::RESIZE, 2, {224, 320})};
  for (const bool row : {false, true}) {
    Dense want = matrix_of(ops[0], row, in);
    want = product(matrix_of(ops[1], row, {600, 800, 3}), want);
    want = product(matrix_of(ops[2], row, {1024, 1024, 3}), want);
    const auto table = composed_axis_table(kernels(), row, ops, in, 0, static_cast<int>(want.size()));
    std::vector<uint8_t> samples(900);
    for (int trial = 0; trial < 50; ++trial) {
      random.fill(samples.data(), samples.size());
      for (uint8_t& v : samples) v = v < 128 ? 0 : 255;
      double worst = 0.0;
      for (size_t k = 0; k < want.size(); ++k) {
        double exact = 0.0;
        for (size_t j = 0; j < want[k].size(); ++j) exact += want[k][j] * samples[j];
        double got = 0.0;
        for (int t = 0; t < table->taps.count[k]; ++t) {
          got += table->taps.weights(static_cast<int>(k))[t] *
                 static_cast<double>(samples[static_cast<size_t>(table->source_begin + table->taps.first[k] + t)]);
        }
        worst = std::max(worst, std::fabs(exact - std::ldexp(got, -table->taps.bits)));
      }
      CHECK(worst <= 0.02);
    }
  }
}

TEST_CASE("runs that are worth composing") {
  const Shape in{1000, 1000, 3};
  const Step window = step(OpId::WINDOW, 0, {10, 10, 800, 800});
  const Step up = step(OpId::RESIZE, 2, {1024, 1024});
  const Step down = step(OpId::RESIZE, 2, {512, 512});
  const Step tiny = step(OpId::RESIZE, 2, {20, 20});
  const Step flip = step(OpId::HFLIP, 0);
  const Step upside_down = step(OpId::VFLIP, 0);
  const Step colour = step(OpId::INVERT, 0);
  Step framed = step(OpId::WINDOW, 0, {-5, -5, 900, 900});
  CHECK(separable_end({window, up, down}, 0, in) == 3);
  // torch's resizes are composed where they make an image smaller.
  const Step torch_up = step(OpId::TORCH_RESIZE, 2, {1024, 1024});
  CHECK(separable_end({window, torch_up, down}, 0, in) == 0);
  CHECK(separable_end({window, step(OpId::TORCH_RESIZE, 2, {700, 700}), down}, 0, in) == 3);
  CHECK(separable_end({window, step(OpId::TORCH_RESIZE, 3, {700, 700}), down}, 0, in) == 0);
  CHECK(separable_end({window, up, down, colour, down}, 0, in) == 3);
  CHECK(separable_end({colour, up, down}, 0, in) == 0);
  CHECK(separable_end({colour, up, down}, 1, in) == 3);
  CHECK(separable_end({down}, 0, in) == 0);
  CHECK(separable_end({window, flip}, 0, in) == 0);
  CHECK(separable_end({flip, down}, 0, in) == 2);
  CHECK(separable_end({upside_down, down}, 0, in) == 0);
  CHECK(separable_end({framed, down}, 0, in) == 2);
  framed.fill[1] = 7;
  CHECK(separable_end({framed, down}, 0, in) == 0);
  // One filter would have to be as wide as the image.
  CHECK(separable_end({tiny, up}, 0, in) == 0);
}

}  // namespace
}  // namespace fastaug
