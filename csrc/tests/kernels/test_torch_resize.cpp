#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/torch_taps.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::GuardedRows;
using test::Random;
using test::Side;

// Rows of floats that end where inaccessible memory begins.
struct FloatRows {
  std::vector<Guarded> memory;
  std::vector<float*> rows;

  FloatRows(int count, int width, Side side) {
    for (int k = 0; k < count; ++k) {
      memory.emplace_back(static_cast<size_t>(width + kFloatPad) * sizeof(float), side);
      rows.push_back(reinterpret_cast<float*>(memory.back().data()));
      std::fill_n(rows.back(), width + kFloatPad, 0.0f);
    }
  }
  bool intact() const {
    return std::all_of(memory.begin(), memory.end(), [](const Guarded& one) { return one.intact(); });
  }
};

void fill_samples(Random& random, uint8_t* data, int width) {
  random.fill(data, static_cast<size_t>(width));
  if (random.next() % 2 == 0)
    for (int x = 0; x < width; ++x) data[x] = data[x] < 128 ? 0 : 255;
}

void check_rows(const Kernels& tested, const FloatTaps& taps, int width, int count, Random& random) {
  CAPTURE(tested.name);
  CAPTURE(taps.out);
  CAPTURE(taps.stride);
  CAPTURE(width);
  CAPTURE(count);
  for (Side side : {Side::kFront, Side::kBack}) {
    GuardedRows src(count, width, side);
    for (int k = 0; k < count; ++k) fill_samples(random, src[k], width);
    FloatRows scratch(1, kTorchRows * (width + kFloatPad) - kFloatPad, side);
    FloatRows dst(count, taps.out, side), expected(count, taps.out, side);
    tested.torch_resize_rows(taps, src.get_const(), count, width, scratch.rows[0], dst.rows.data());
    kernels("scalar")->torch_resize_rows(taps, src.get_const(), count, width, nullptr, expected.rows.data());
    for (int k = 0; k < count; ++k) {
      REQUIRE(std::memcmp(dst.rows[k], expected.rows[k], static_cast<size_t>(taps.out) * sizeof(float)) == 0);
    }
    REQUIRE(src.intact());
    REQUIRE(dst.intact());
    REQUIRE(scratch.intact());
  }
}

void check_column(const Kernels& tested, const float* weights, int taps, int width, Random& random) {
  CAPTURE(tested.name);
  CAPTURE(taps);
  CAPTURE(width);
  for (Side side : {Side::kFront, Side::kBack}) {
    FloatRows rows(taps, width, side);
    for (float* row : rows.rows) {
      for (int x = 0; x < width; ++x) row[x] = static_cast<float>(random.between(-40 << 12, 300 << 12)) / 4096.0f;
    }
    GuardedRows dst(1, width, side), expected(1, width, side);
    tested.torch_resize_column(rows.rows.data(), weights, taps, width, dst[0]);
    kernels("scalar")->torch_resize_column(rows.rows.data(), weights, taps, width, expected[0]);
    REQUIRE(std::memcmp(dst[0], expected[0], static_cast<size_t>(width)) == 0);
    REQUIRE(dst.intact());
    REQUIRE(rows.intact());
  }
}

constexpr Filter kFilters[] = {Filter::kBilinear, Filter::kBicubic};

TEST_CASE("torch_resize_rows equals the scalar kernel at every width") {
  for (const char* name : available_isas()) {
    Random random(1);
    for (Filter filter : kFilters) {
      for (int size = 1; size <= 90; ++size) {
        const int count = random.between(1, kTorchRows);
        const int other = random.between(1, 300);
        check_rows(*kernels(name), make_torch_taps(filter, size, other, 0, other), size, count, random);
        check_rows(*kernels(name), make_torch_taps(filter, other, size, 0, size), other, count, random);
      }
      check_rows(*kernels(name), make_torch_taps(filter, 9000, 3, 0, 3), 9000, kTorchRows, random);
      check_rows(*kernels(name), make_torch_taps(filter, 3, 2000, 0, 2000), 3, kTorchRows, random);
    }
  }
}

TEST_CASE("torch_resize_rows reads a part of the source that starts anywhere") {
  for (const char* name : available_isas()) {
    Random random(2);
    for (Filter filter : kFilters) {
      for (int i = 0; i < 40; ++i) {
        const int in_size = random.between(1, 700);
        const int out_size = random.between(1, 300);
        const int begin = random.between(0, out_size - 1);
        FloatTaps taps = make_torch_taps(filter, in_size, out_size, begin, random.between(1, out_size - begin));
        const int start = taps.first[0];
        for (int& first : taps.first) first -= start;
        check_rows(*kernels(name), taps, taps.first.back() + taps.count.back(), random.between(1, kTorchRows), random);
      }
    }
  }
}

TEST_CASE("torch_resize_column equals the scalar kernel at every width, for any number of taps") {
  for (const char* name : available_isas()) {
    Random random(3);
    for (int k = 1; k <= 150; ++k) {
      std::vector<float> weights(static_cast<size_t>(k));
      for (float& weight : weights) weight = static_cast<float>(random.between(-1000, 3000)) / 1000.0f / k;
      check_column(*kernels(name), weights.data(), k, random.between(1, 90), random);
      check_column(*kernels(name), weights.data(), random.between(1, k), k, random);
    }
  }
}

TEST_CASE("a fused addition rounds once") {
  // 8384513 * 8392705 = 2^46 + 1, so that a product is half a unit in the last place of n + 1/2, and so little more
  // that a double does not tell: rounded to double first, the sum would be in the middle, and become n + 1/2 again.
  const float weights[2] = {1.0f, 8384513.0f * 0x1p-23f};
  for (const char* name : available_isas()) {
    CAPTURE(name);
    constexpr int kWidth = 30;
    FloatRows rows(2, kWidth, Side::kBack);
    for (int x = 0; x < kWidth; ++x) {
      rows.rows[0][x] = static_cast<float>(64 + 2 * x) + 0.5f;
      rows.rows[1][x] = x % 3 == 0 ? 0.0f : 8392705.0f * 0x1p-41f;
    }
    GuardedRows dst(1, kWidth);
    kernels(name)->torch_resize_column(rows.rows.data(), weights, 2, kWidth, dst[0]);
    for (int x = 0; x < kWidth; ++x) CHECK(dst[0][x] == 64 + 2 * x + (x % 3 == 0 ? 0 : 1));
  }
}

TEST_CASE("widen makes floats of bytes") {
  for (const char* name : available_isas()) {
    Random random(5);
    for (int width = 1; width <= 90; ++width) {
      GuardedRows src(1, width);
      random.fill(src[0], static_cast<size_t>(width));
      FloatRows dst(1, width, Side::kBack);
      kernels(name)->widen(src[0], width, dst.rows[0]);
      for (int x = 0; x < width; ++x) REQUIRE(dst.rows[0][x] == static_cast<float>(src[0][x]));
      REQUIRE(dst.intact());
    }
  }
}

// What torch 2.14 makes of seven rows that are white in one sample each.
TEST_CASE("weights of torch") {
  const float linear[3][7] = {
      {0x1.6db6dcp-2f, 0x1.b6db6cp-2f, 0x1.b6db6cp-3f, 0.0f, 0.0f, 0.0f, 0.0f},
      {0.0f, 0x1.e1e1e2p-5f, 0x1.e1e1e2p-3f, 0x1.a5a5a8p-2f, 0x1.e1e1e2p-3f, 0x1.e1e1e2p-5f, 0.0f},
      {0.0f, 0.0f, 0.0f, 0x1.fffffcp-25f, 0x1.b6db74p-3f, 0x1.b6db6ep-2f, 0x1.6db6d6p-2f},
  };
  const float cubic[3][7] = {
      {0x1.884212p-2f, 0x1.c21084p-2f, 0x1.b5ad68p-3f, 0.0f, -0x1.0841fap-5f, -0x1.084212p-8f, 0.0f},
      {-0x1.f41f12p-6f, 0x1.721720p-5f, 0x1.1a91a8p-2f, 0x1.acdacap-2f, 0x1.1a91a8p-2f, 0x1.721720p-5f,
       -0x1.f41f12p-6f},
      {0.0f, -0x1.0841c8p-8f, -0x1.0841f8p-5f, 0x1.d81602p-48f, 0x1.b5ad76p-3f, 0x1.c21084p-2f, 0x1.88420ap-2f},
  };
  for (Filter filter : kFilters) {
    const FloatTaps taps = make_torch_taps(filter, 7, 3, 0, 3);
    for (int k = 0; k < 3; ++k) {
      float found[7] = {};
      std::copy_n(taps.weights(k), taps.count[static_cast<size_t>(k)], found + taps.first[static_cast<size_t>(k)]);
      const float* wanted = filter == Filter::kBilinear ? linear[k] : cubic[k];
      for (int t = 0; t < 7; ++t) CHECK(found[t] == wanted[t]);
    }
  }
  const FloatTaps same = make_torch_taps(Filter::kBicubic, 5, 5, 2, 2);
  CHECK(same.same);
  CHECK(same.first == std::vector<int32_t>{2, 3});
  CHECK(same.weight == std::vector<float>{1.0f, 1.0f});
}

TEST_CASE("windows lie inside axes that float32 cannot count") {
  for (int in : {(1 << 24) + 1, (1 << 29) - 3}) {
    for (int out : {1, 3, (1 << 24) + 7, (1 << 29)}) {
      const TapAxis axis = {static_cast<int32_t>(Filter::kBicubic), in, out};
      for (int k : {0, out / 2, out - 1}) {
        const TapRange window = torch_window(axis, k);
        CHECK(window.first >= 0);
        CHECK(window.count >= 1);
        CHECK(int64_t{window.first} + window.count <= in);
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
