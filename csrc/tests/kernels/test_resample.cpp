#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/taps.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::GuardedRows;
using test::Random;
using test::Side;

constexpr Filter kFilters[] = {Filter::kLanczos, Filter::kBilinear,     Filter::kBicubic,       Filter::kBox,
                               Filter::kHamming, Filter::kShortLanczos, Filter::kShortBilinear, Filter::kShortBicubic};

// Samples that make sums overshoot at both ends now and then.
void fill_samples(Random& random, uint8_t* data, int width) {
  random.fill(data, static_cast<size_t>(width));
  if (random.next() % 2 == 0)
    for (int x = 0; x < width; ++x) data[x] = data[x] < 128 ? 0 : 255;
}

// The same filter of interleaved pixels, where there is one.
void check_pixels(const Kernels& tested, const Taps& taps, const RowTable& planar, int width, int channels,
                  Random& random) {
  RowTable table, expected_table;
  if (!tested.build_pixel_table(taps, planar, &table)) return;
  const Kernels& scalar = *kernels("scalar");
  scalar.build_row_table(taps, &expected_table);
  for (int pixel_stride = channels; pixel_stride <= 4; ++pixel_stride) {
    CAPTURE(pixel_stride);
    GuardedRows pixels(1, width * pixel_stride), src(channels, width);
    GuardedRows dst(channels, taps.out), expected(channels, taps.out);
    fill_samples(random, pixels[0], width * pixel_stride);
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) src[c][x] = pixels[0][x * pixel_stride + c];
    tested.resample_pixels(table, pixels[0], random.next() % 2 == 0 ? pixels[0] : nullptr, pixel_stride, dst.get(),
                           channels);
    scalar.resample_row(expected_table, src.get_const(), expected.get(), channels);
    for (int c = 0; c < channels; ++c) REQUIRE(std::memcmp(dst[c], expected[c], static_cast<size_t>(taps.out)) == 0);
    REQUIRE(pixels.intact());
    REQUIRE(dst.intact());
  }
}

void check_row(const Kernels& tested, const Taps& taps, int width, int channels, Random& random) {
  const Kernels& scalar = *kernels("scalar");
  RowTable table, expected_table;
  tested.build_row_table(taps, &table);
  scalar.build_row_table(taps, &expected_table);
  REQUIRE(table.out == taps.out);
  for (Side side : {Side::kFront, Side::kBack}) {
    GuardedRows src(channels, width, side), dst(channels, taps.out, side), expected(channels, taps.out, side);
    for (int c = 0; c < channels; ++c) fill_samples(random, src[c], width);
    tested.resample_row(table, src.get_const(), dst.get(), channels);
    scalar.resample_row(expected_table, src.get_const(), expected.get(), channels);
    for (int c = 0; c < channels; ++c) REQUIRE(std::memcmp(dst[c], expected[c], static_cast<size_t>(taps.out)) == 0);
    REQUIRE(src.intact());
    REQUIRE(dst.intact());
  }
  if (channels > 2) check_pixels(tested, taps, table, width, channels, random);
}

void check_resize(const Kernels& tested, Filter filter, int in_size, int out_size, Random& random) {
  CAPTURE(tested.name);
  CAPTURE(static_cast<int>(filter));
  CAPTURE(in_size);
  CAPTURE(out_size);
  check_row(tested, make_taps(filter, in_size, out_size, 0, out_size), in_size, random.between(1, 4), random);
}

TEST_CASE("resample_row equals the scalar kernel at every width") {
  for (const char* name : available_isas()) {
    Random random(1);
    for (Filter filter : kFilters) {
      for (int size = 1; size <= 130; ++size) {
        check_resize(*kernels(name), filter, size, random.between(1, 300), random);
        check_resize(*kernels(name), filter, random.between(1, 300), size, random);
      }
    }
  }
}

TEST_CASE("resample_row equals the scalar kernel at every scale") {
  for (const char* name : available_isas()) {
    Random random(2);
    for (Filter filter : kFilters)
      for (int in_size : {50, 100, 187, 224, 256, 333, 400, 447, 500, 620, 1000, 1024, 2500, 5003})
        check_resize(*kernels(name), filter, in_size, 101, random);
    check_resize(*kernels(name), Filter::kLanczos, 40000, 3, random);
    check_resize(*kernels(name), Filter::kBilinear, 3, 5000, random);
  }
}

TEST_CASE("resample_row reads a part of the source that starts anywhere") {
  for (const char* name : available_isas()) {
    Random random(3);
    for (Filter filter : kFilters) {
      for (int i = 0; i < 40; ++i) {
        const int in_size = random.between(1, 700);
        const int out_size = random.between(1, 300);
        const int begin = random.between(0, out_size - 1);
        Taps taps = make_taps(filter, in_size, out_size, begin, random.between(1, out_size - begin));
        const int start = *std::min_element(taps.first.begin(), taps.first.end());
        int end = 0;
        for (int o = 0; o < taps.out; ++o) {
          taps.first[o] -= start;
          end = std::max(end, taps.first[o] + taps.count[o]);
        }
        CAPTURE(name);
        CAPTURE(in_size);
        CAPTURE(out_size);
        check_row(*kernels(name), taps, end, 3, random);
      }
    }
  }
}

TEST_CASE("resample_row takes outputs in any order") {
  for (const char* name : available_isas()) {
    Random random(4);
    for (int in_size : {64, 300, 1000}) {
      Taps taps = make_taps(Filter::kBicubic, in_size, 90, 0, 90);
      Taps mirrored = taps;
      for (int o = 0; o < 90; ++o) {
        mirrored.first[o] = taps.first[89 - o];
        mirrored.count[o] = taps.count[89 - o];
        std::copy_n(taps.weights(89 - o), taps.stride, mirrored.weight.data() + static_cast<size_t>(o) * taps.stride);
      }
      check_row(*kernels(name), mirrored, in_size, 3, random);
    }
  }
}

TEST_CASE("filters of many taps take pixels as they are, but where bytes have dot products") {
  for (const std::string name : available_isas()) {
    const Kernels& tested = *kernels(name.c_str());
    for (Filter filter : kFilters) {
      for (bool many : {false, true}) {
        const Taps taps = make_taps(filter, many ? 2000 : 150, 100, 0, 100);
        RowTable planar, table;
        tested.build_row_table(taps, &planar);
        CAPTURE(name);
        CHECK(tested.build_pixel_table(taps, planar, &table) == (many && name != "scalar" && name != "avx512vbmi"));
      }
    }
  }
}

TEST_CASE("a copied row table works like the original") {
  for (const char* name : available_isas()) {
    const Kernels& tested = *kernels(name);
    Random random(5);
    for (int in_size : {100, 900}) {
      std::vector<RowTable> tables(8);
      tested.build_row_table(make_taps(Filter::kBilinear, in_size, 77, 0, 77), &tables[0]);
      for (size_t i = 1; i < tables.size(); ++i) tables[i] = tables[0];
      GuardedRows src(1, in_size), first(1, 77), other(1, 77);
      fill_samples(random, src[0], in_size);
      tested.resample_row(tables[0], src.get_const(), first.get(), 1);
      for (const RowTable& table : tables) {
        tested.resample_row(table, src.get_const(), other.get(), 1);
        CHECK(std::memcmp(first[0], other[0], 77) == 0);
      }
    }
  }
}

void check_column(const Kernels& tested, const std::vector<int32_t>& weights, int width, Random& random,
                  int bits = kWeightBits) {
  CAPTURE(tested.name);
  CAPTURE(width);
  CAPTURE(weights.size());
  const int taps = static_cast<int>(weights.size());
  for (Side side : {Side::kFront, Side::kBack}) {
    GuardedRows rows(taps, width, side), dst(1, width, side), expected(1, width, side);
    for (int t = 0; t < taps; ++t) fill_samples(random, rows[t], width);
    tested.resample_column(rows.get_const(), weights.data(), taps, bits, width, dst[0]);
    kernels("scalar")->resample_column(rows.get_const(), weights.data(), taps, bits, width, expected[0]);
    REQUIRE(std::memcmp(dst[0], expected[0], static_cast<size_t>(width)) == 0);
    REQUIRE(rows.intact());
    REQUIRE(dst.intact());
  }
}

TEST_CASE("resample_column equals the scalar kernel at every width") {
  for (const char* name : available_isas()) {
    Random random(6);
    for (Filter filter : kFilters) {
      for (int width = 1; width <= 130; ++width) {
        const int in_size = random.between(1, 60);
        const int out_size = random.between(1, 20);
        const Taps taps = make_taps(filter, in_size, out_size, 0, out_size);
        const int i = random.between(0, out_size - 1);
        check_column(*kernels(name), {taps.weights(i), taps.weights(i) + taps.count[i]}, width, random);
      }
    }
  }
}

TEST_CASE("resample_column equals the scalar kernel for any number of taps") {
  for (const char* name : available_isas()) {
    Random random(7);
    for (int count = 1; count <= 150; ++count) {
      // Signed weights that add up to one, as the filters' do.
      std::vector<int32_t> weights(static_cast<size_t>(count));
      int32_t rest = 1 << kWeightBits;
      for (int t = 0; t + 1 < count; ++t) {
        weights[t] = random.between(-(1 << kWeightBits) / (2 * count), (1 << kWeightBits) * 2 / count);
        rest -= weights[t];
      }
      weights[count - 1] = rest;
      check_column(*kernels(name), weights, random.between(1, 90), random);
    }
  }
}

TEST_CASE("a column of one tap that is not one is scaled and clipped") {
  for (const char* name : available_isas()) {
    Random random(8);
    for (int32_t weight : {1 << kWeightBits, (1 << kWeightBits) - 1, 1 << 21, -(1 << kWeightBits), 6 << 20, 0})
      check_column(*kernels(name), {weight}, 70, random);
  }
}

// The taps of a filter with weights of `bits` bits.
Taps shortened(Taps taps, int bits) {
  for (int32_t& weight : taps.weight) weight >>= kWeightBits - bits;
  taps.bits = bits;
  return taps;
}

TEST_CASE("short weights give the scalar kernels' bits too") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(9);
    for (Filter filter : kFilters) {
      for (int i = 0; i < 60; ++i) {
        const int in_size = random.between(1, i % 10 == 0 ? 1500 : 300);
        const int out_size = random.between(1, 200);
        CAPTURE(in_size);
        CAPTURE(out_size);
        const Taps whole = make_taps(filter, in_size, out_size, 0, out_size);
        const Taps taps = whole.bits == kWeightBits ? shortened(whole, random.between(10, 14)) : whole;
        check_row(*kernels(name), taps, in_size, random.between(1, 4), random);
        const int k = random.between(0, out_size - 1);
        const int width = random.between(1, 130);
        GuardedRows rows(taps.count[k], width), dst(1, width), expected(1, width);
        for (int t = 0; t < taps.count[k]; ++t) fill_samples(random, rows[t], width);
        kernels(name)->resample_column(rows.get_const(), taps.weights(k), taps.count[k], taps.bits, width, dst[0]);
        kernels("scalar")->resample_column(rows.get_const(), taps.weights(k), taps.count[k], taps.bits, width,
                                           expected[0]);
        REQUIRE(std::memcmp(dst[0], expected[0], static_cast<size_t>(width)) == 0);
        REQUIRE(dst.intact());
      }
    }
  }
}

// Outputs of `count` taps each, from the first sample of outputs[i] on.
Taps taps_of(const std::vector<int>& outputs, int count, int bits, const std::vector<int32_t>& weights) {
  Taps taps;
  taps.out = static_cast<int>(outputs.size());
  taps.stride = count;
  taps.bits = bits;
  taps.first.assign(outputs.begin(), outputs.end());
  taps.count.assign(outputs.size(), count);
  for (size_t i = 0; i < outputs.size(); ++i)
    for (int t = 0; t < count; ++t) taps.weight.push_back(weights[(i + t) % weights.size()]);
  return taps;
}

TEST_CASE("resample_row equals the scalar kernel where taps are just near enough, and just not") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(10);
    const std::vector<int32_t> weights = {1 << 20, -(1 << 18), 3 << 19, 12345, -54321, 1 << 21};
    for (int count : {1, 2, 3, 4, 5, 8, 9}) {
      for (int distance :
           {1, 16, 54, 55, 56, 57, 59, 60, 61, 62, 63, 64, 118, 119, 120, 121, 123, 124, 125, 126, 127, 128}) {
        // Of the first 16 outputs, and of the next 64, the last lies that far from the first.
        std::vector<int> outputs(80);
        for (int i = 0; i < 80; ++i) outputs[i] = i < 16 ? i % 2 * distance : (i - 16) * distance / 63;
        CAPTURE(count);
        CAPTURE(distance);
        check_row(*kernels(name), taps_of(outputs, count, kWeightBits, weights), distance + count, 3, random);
      }
    }
  }
}

TEST_CASE("one tap and two that add up to one, just near enough and just not") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(12);
    for (int bits : {12, kWeightBits}) {
      const int32_t one = 1 << bits;
      for (int distance : {0, 1, 12, 13, 14, 15, 16, 17, 60, 61, 62, 63, 64, 65}) {
        CAPTURE(distance);
        std::vector<int> outputs(150);
        for (int i = 0; i < 150; ++i) outputs[i] = i < 16 ? i % 2 * distance : i % 64 * distance / 63;
        for (int32_t weight : {0, 1, one / 128, one / 3, one - 1, one}) {
          check_row(*kernels(name), taps_of(outputs, 2, bits, {weight, one - weight}), distance + 2, 3, random);
        }
        check_row(*kernels(name), taps_of(outputs, 1, bits, {one}), distance + 1, 3, random);
      }
    }
  }
}

TEST_CASE("weights at the ends of what digits can hold give the scalar kernels' bits") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(11);
    for (int bits : {12, 14, kWeightBits}) {
      const int32_t half = bits == kWeightBits ? 0x808080 : 0x8080;
      const int32_t greatest = bits == kWeightBits ? 0x7f7f7f : 0x7f7f;
      // Just outside, short weights are still of 16 bits.
      const std::vector<int32_t> ends = {
          greatest, greatest + 1, bits == kWeightBits ? -half : -0x8000, greatest - 1, 127, 128, -128, -129,
          0x7f80,   -0x7f80};
      for (int32_t weight : ends) {
        CAPTURE(weight);
        check_row(*kernels(name), taps_of({0, 5, 2}, 1, bits, {weight}), 6, 4, random);
        check_row(*kernels(name), taps_of({0, 5, 2}, 3, bits, {weight, -weight / 2, 77}), 8, 4, random);
        check_column(*kernels(name), {weight}, 70, random, bits);
        check_column(*kernels(name), {weight, -weight / 2, 77}, 70, random, bits);
      }
    }
  }
}

TEST_CASE("a column of two taps equals the scalar kernel for every pair of samples") {
  constexpr int32_t kOne = 1 << kWeightBits;
  std::vector<int32_t> seconds = {0, 1, 2, kOne - 1, kOne / 2, kOne / 2 - 1, kOne / 2 + 1, kOne / 3, 0x2aaaaa, kOne};
  for (int zeros = 8; zeros <= kWeightBits; ++zeros)
    for (int32_t odd : {1, 3, 5, 85, 127, 255}) seconds.push_back((odd << zeros) % kOne);
  constexpr int kWidth = 256 * 256;
  GuardedRows rows(2, kWidth), dst(1, kWidth), expected(1, kWidth);
  for (int x = 0; x < kWidth; ++x) {
    rows[0][x] = static_cast<uint8_t>(x);
    rows[1][x] = static_cast<uint8_t>(x >> 8);
  }
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int32_t second : seconds) {
      CAPTURE(second);
      const int32_t weights[2] = {kOne - second, second};
      kernels(name)->resample_column(rows.get_const(), weights, 2, kWeightBits, kWidth, dst[0]);
      kernels("scalar")->resample_column(rows.get_const(), weights, 2, kWeightBits, kWidth, expected[0]);
      REQUIRE(std::memcmp(dst[0], expected[0], kWidth) == 0);
    }
  }
}

}  // namespace
}  // namespace fastaug
