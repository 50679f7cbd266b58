#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::guarded_row;
using test::GuardedRows;
using test::Random;
using test::Side;

// Every width at which some vector width begins, ends or overlaps, and some long ones.
std::vector<int> widths() {
  std::vector<int> all;
  for (int width = 1; width <= 130; ++width) all.push_back(width);
  for (int width : {191, 224, 255, 256, 257, 1000}) all.push_back(width);
  return all;
}

constexpr Side kSides[] = {Side::kFront, Side::kBack};

TEST_CASE("deinterleave reads its samples and no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int stride = 1; stride <= 4; ++stride) {
      for (int channels = 1; channels <= stride; ++channels) {
        for (int width : widths()) {
          CAPTURE(stride);
          CAPTURE(channels);
          CAPTURE(width);
          for (Side side : kSides) {
            // The last pixel ends with its last channel.
            Guarded foreign(static_cast<size_t>(width - 1) * stride + channels, side);
            random.fill(foreign.data(), foreign.size());
            GuardedRows dst(channels, width, side);
            kernels(name)->deinterleave(foreign.data(), stride, channels, width, dst.get());
            bool same = true;
            for (int x = 0; x < width; ++x)
              for (int c = 0; c < channels; ++c) same &= dst[c][x] == foreign.data()[x * stride + c];
            REQUIRE(same);
            REQUIRE(dst.intact());
          }
        }
      }
    }
  }
}

TEST_CASE("interleave writes its pixels and no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (int stride = 1; stride <= 4; ++stride) {
      for (int channels = 1; channels <= stride; ++channels) {
        for (int width : widths()) {
          CAPTURE(stride);
          CAPTURE(channels);
          CAPTURE(width);
          for (Side side : kSides) {
            Guarded foreign(static_cast<size_t>(width) * stride, side);
            GuardedRows src(channels, width, side);
            for (int c = 0; c < channels; ++c) random.fill(src[c], static_cast<size_t>(width));
            kernels(name)->interleave(src.get_const(), channels, stride, width, foreign.data());
            bool same = true;
            for (int x = 0; x < width; ++x)
              for (int c = 0; c < stride; ++c)
                same &= foreign.data()[x * stride + c] == (c < channels ? src[c][x] : 255);
            REQUIRE(same);
            REQUIRE(foreign.intact());
          }
        }
      }
    }
  }
}

TEST_CASE("take picks samples by index") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(3);
    for (int width : widths()) {
      for (Side side : kSides) {
        const int source_width = random.between(1, random.between(0, 1) == 0 ? 300 : 3000);
        Guarded src = guarded_row(source_width, side), dst = guarded_row(width, side);
        random.fill(src.data(), static_cast<size_t>(source_width));
        std::vector<int32_t> index(static_cast<size_t>(width));
        // Nearby, in order, or anywhere.
        const int reach = random.between(1, 3) == 1 ? source_width : random.between(1, 40);
        for (int x = 0; x < width; ++x) {
          const int from = reach == source_width ? 0 : std::min(x * reach / 2, source_width - 1);
          index[static_cast<size_t>(x)] = std::min(from + random.between(0, reach - 1), source_width - 1);
        }
        kernels(name)->take(TakeTable(index), src.data(), dst.data());
        bool same = true;
        for (int x = 0; x < width; ++x) same &= dst.data()[x] == src.data()[index[x]];
        REQUIRE(same);
        REQUIRE(dst.intact());
      }
    }
  }
}

TEST_CASE("reverse mirrors a row into foreign memory") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(4);
    for (int width : widths()) {
      CAPTURE(width);
      for (Side side : kSides) {
        Guarded src = guarded_row(width, side);
        Guarded dst(static_cast<size_t>(width), side);
        random.fill(src.data(), static_cast<size_t>(width));
        kernels(name)->reverse(src.data(), width, dst.data());
        bool same = true;
        for (int x = 0; x < width; ++x) same &= dst.data()[x] == src.data()[width - 1 - x];
        REQUIRE(same);
        REQUIRE(dst.intact());
      }
    }
  }
}

// What torch computes, one correctly rounded float32 operation after the other.
float expected_float(const FloatStore& store, int channel, uint8_t sample) {
  const auto value = static_cast<float>(sample);
  const float unit = store.multiplied ? value * store.factor : value / 255.0f;
  return store.normalize ? (unit - store.mean[channel]) / store.std[channel] : unit;
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

void check_store(const Kernels& tested, const FloatStore& store, const uint8_t* samples, int width, bool reversed,
                 Side side) {
  Guarded src = guarded_row(width, side);
  std::memcpy(src.data(), samples, static_cast<size_t>(width));
  Guarded foreign(static_cast<size_t>(width) * sizeof(float), side);
  for (int channel = 0; channel < kMaxChannels; ++channel) {
    tested.store_float(store, channel, src.data(), width, reversed, reinterpret_cast<float*>(foreign.data()));
    for (int x = 0; x < width; ++x) {
      float value;
      std::memcpy(&value, foreign.data() + static_cast<size_t>(x) * sizeof(float), sizeof(float));
      const float expected = expected_float(store, channel, samples[reversed ? width - 1 - x : x]);
      if (!same_bits(value, expected)) {
        CAPTURE(tested.name);
        CAPTURE(store.mean[channel]);
        CAPTURE(store.std[channel]);
        CAPTURE(static_cast<int>(samples[x]));
        REQUIRE(value == expected);
        REQUIRE(std::signbit(value) == std::signbit(expected));
      }
    }
  }
  REQUIRE(foreign.intact());
}

std::array<uint8_t, 256> all_samples() {
  std::array<uint8_t, 256> samples;
  for (int v = 0; v < 256; ++v) samples[v] = static_cast<uint8_t>(v);
  return samples;
}

FloatStore normalizing(const std::array<float, 4>& mean, const std::array<float, 4>& std) {
  FloatStore store;
  store.normalize = true;
  for (int c = 0; c < kMaxChannels; ++c) {
    store.mean[c] = mean[c];
    store.std[c] = std[c];
  }
  return store;
}

TEST_CASE("store_float writes every width, both ways round, and no more") {
  const FloatStore plain;
  const FloatStore imagenet = normalizing({0.485f, 0.456f, 0.406f, 0.5f}, {0.229f, 0.224f, 0.225f, 0.5f});
  FloatStore multiplied;
  FloatStore both = imagenet;
  multiplied.multiplied = both.multiplied = true;
  FloatStore whole = normalizing({123.675f, 116.28f, 103.53f, 127.5f}, {58.395f, 57.12f, 57.375f, 127.5f});
  whole.multiplied = true;
  whole.factor = 1.0f;
  for (const char* name : available_isas()) {
    Random random(5);
    std::array<uint8_t, 1000> samples;
    random.fill(samples.data(), samples.size());
    for (int width : widths()) {
      for (Side side : kSides) {
        for (bool reversed : {false, true}) {
          check_store(*kernels(name), plain, samples.data(), width, reversed, side);
          check_store(*kernels(name), imagenet, samples.data(), width, reversed, side);
          check_store(*kernels(name), multiplied, samples.data(), width, reversed, side);
          check_store(*kernels(name), both, samples.data(), width, reversed, side);
          check_store(*kernels(name), whole, samples.data(), width, reversed, side);
        }
      }
    }
  }
}

TEST_CASE("store_float rounds as division does, for all samples") {
  const auto samples = all_samples();
  for (const char* name : available_isas()) {
    Random random(6);
    check_store(*kernels(name), FloatStore(), samples.data(), 256, false, Side::kBack);
    const auto value = [&](double low, double high) {
      return static_cast<float>(std::exp2(low + (high - low) * random.unit()));
    };
    for (int i = 0; i < test::cases(1000); ++i) {
      std::array<float, 4> mean, std;
      for (int c = 0; c < 4; ++c) {
        // Mostly what people use, now and then anything.
        const bool usual = c < 3;
        mean[c] = usual ? static_cast<float>(random.unit()) : value(-30, 30);
        std[c] = usual ? static_cast<float>(0.05 + random.unit()) : value(-30, 30);
        if (random.next() % 8 == 0) mean[c] = static_cast<float>(samples[random.next() % 256]) / 255.0f;
        if (random.next() % 16 == 0) mean[c] = 0.0f;
        if (random.next() % 16 == 0) mean[c] = -mean[c];
        if (random.next() % 16 == 0) std[c] = -std[c];
      }
      check_store(*kernels(name), normalizing(mean, std), samples.data(), 256, false, Side::kBack);
    }
  }
}

TEST_CASE("store_float rounds as division does, at the edges of float32") {
  const auto samples = all_samples();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  constexpr float kHuge = std::numeric_limits<float>::max();
  const std::array<float, 12> edges = {0.0f,    kTiny,   1e-40f, 0x1p-126f, 0x1p-11f, 0x1p-10f,
                                       0x1p20f, 0x1p21f, 1e30f,  kHuge,     1.0f,     0x1.fffffep-1f};
  for (const char* name : available_isas())
    for (float mean : edges)
      for (float std : edges)
        if (std != 0.0f)
          check_store(*kernels(name), normalizing({mean, -mean, mean, -mean}, {std, std, -std, -std}), samples.data(),
                      256, false, Side::kBack);
}

TEST_CASE("what prepare_store finds keeps the bits") {
  const auto samples = all_samples();
  for (const char* name : available_isas()) {
    CAPTURE(name);
    const Kernels& tested = *kernels(name);
    Random random(7);
    FloatStore imagenet = normalizing({0.485f, 0.456f, 0.406f, 0.5f}, {0.229f, 0.224f, 0.225f, 0.5f});
    tested.prepare_store(kMaxChannels, &imagenet);
    for (int width : widths())
      for (Side side : kSides)
        for (bool reversed : {false, true})
          check_store(tested, imagenet, samples.data(), std::min(width, 256), reversed, side);
    int quick = 0;
    for (int i = 0; i < test::cases(1000); ++i) {
      std::array<float, 4> mean, std;
      for (int c = 0; c < 4; ++c) {
        mean[c] = static_cast<float>(random.unit());
        std[c] = static_cast<float>(0.05 + random.unit());
        if (random.next() % 8 == 0) mean[c] = static_cast<float>(samples[random.next() % 256]) / 255.0f;
        if (random.next() % 16 == 0) mean[c] = random.next() % 2 == 0 ? 0.0f : -mean[c];
        if (random.next() % 16 == 0) std[c] = random.next() % 2 == 0 ? 1e-42f : -std[c];
      }
      FloatStore store = normalizing(mean, std);
      tested.prepare_store(kMaxChannels, &store);
      for (bool found : store.quick) quick += found;
      check_store(tested, store, samples.data(), 256, random.next() % 2 == 0, Side::kBack);
    }
    // Where there is a short form at all, it is for most.
    if (imagenet.quick[0]) CHECK(quick > test::cases(3000));
  }
}

TEST_CASE("a mean without deviation is not a number, as in torch") {
  const FloatStore store = normalizing({0, 1, 0, 1}, {0, 0, 0, 0});
  const uint8_t samples[2] = {0, 255};
  for (const char* name : available_isas()) {
    std::vector<uint8_t> row(2 + kRowPad);
    row[0] = samples[0];
    row[1] = samples[1];
    float out[2];
    kernels(name)->store_float(store, 0, row.data(), 2, false, out);
    CHECK(std::isnan(out[0]));
    CHECK(out[1] == std::numeric_limits<float>::infinity());
    kernels(name)->store_float(store, 1, row.data(), 2, false, out);
    CHECK(out[0] == -std::numeric_limits<float>::infinity());
    CHECK(std::isnan(out[1]));
  }
}

// The value of a finite float16 or bfloat16; the one after the largest continues the row.
double value_of(DType dtype, uint32_t bits) {
  const int fraction_bits = dtype == DType::kFloat16 ? 10 : 7;
  const int bias = dtype == DType::kFloat16 ? 15 : 127;
  const uint32_t exponent = bits >> fraction_bits;
  const double fraction = bits & ((1u << fraction_bits) - 1);
  const double one = std::ldexp(1.0, fraction_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                       : std::ldexp(one + fraction, static_cast<int>(exponent) - bias - fraction_bits);
}

std::vector<uint16_t> narrowed(const Kernels& tested, DType dtype, const std::vector<float>& values) {
  Guarded to(values.size() * sizeof(uint16_t));
  tested.narrow(dtype, values.data(), static_cast<int>(values.size()), reinterpret_cast<uint16_t*>(to.data()));
  REQUIRE(to.intact());
  std::vector<uint16_t> result(values.size());
  std::memcpy(result.data(), to.data(), to.size());
  return result;
}

TEST_CASE("narrow rounds half to even, between all neighbours") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (DType dtype : {DType::kFloat16, DType::kBfloat16}) {
    const uint32_t infinite = dtype == DType::kFloat16 ? 0x7c00 : 0x7f80;
    std::vector<float> values;
    std::vector<uint16_t> wanted;
    const auto expect = [&](float value, uint32_t bits) {
      values.insert(values.end(), {value, -value});
      wanted.insert(wanted.end(), {static_cast<uint16_t>(bits), static_cast<uint16_t>(bits | 0x8000)});
    };
    for (uint32_t bits = 0; bits < infinite; ++bits) {
      const double value = value_of(dtype, bits);
      const auto middle = static_cast<float>((value + value_of(dtype, bits + 1)) / 2);
      expect(static_cast<float>(value), bits);
      expect(std::nextafter(middle, 0.0f), bits);
      expect(middle, bits + bits % 2);
      expect(std::nextafter(middle, kInfinity), bits + 1);
    }
    expect(kInfinity, infinite);
    expect(std::numeric_limits<float>::max(), infinite);
    for (const char* name : available_isas()) {
      CAPTURE(name);
      CHECK(narrowed(*kernels(name), dtype, values) == wanted);
    }
  }
}

TEST_CASE("narrow keeps what is not a number, and writes every width and no more") {
  Random random(8);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (DType dtype : {DType::kFloat16, DType::kBfloat16}) {
      const uint32_t infinite = dtype == DType::kFloat16 ? 0x7c00 : 0x7f80;
      for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
        float value;
        std::memcpy(&value, &bits, sizeof value);
        for (uint16_t result : narrowed(*kernels(name), dtype, std::vector<float>(17, value)))
          CHECK((result & 0x7fffu) > infinite);
      }
      for (int width : widths()) {
        std::vector<float> values(static_cast<size_t>(width));
        for (float& value : values) {
          uint32_t bits = random.next();
          if ((bits & 0x7f800000u) == 0x7f800000u) bits ^= 0x40000000u;
          std::memcpy(&value, &bits, sizeof value);
        }
        REQUIRE(narrowed(*kernels(name), dtype, values) == narrowed(*kernels("scalar"), dtype, values));
      }
    }
  }
}

TEST_CASE("interleave_float writes its pixels and no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (int channels = 2; channels <= kMaxChannels; ++channels) {
      for (int width : widths()) {
        CAPTURE(width);
        for (Side side : kSides) {
          const size_t count = static_cast<size_t>(width) * static_cast<size_t>(channels);
          Guarded foreign(count * sizeof(float), side);
          std::vector<Guarded> rows;
          const float* src[kMaxChannels] = {};
          for (int c = 0; c < channels; ++c) {
            rows.emplace_back(static_cast<size_t>(width) * sizeof(float), side);
            auto* row = reinterpret_cast<float*>(rows.back().data());
            for (int x = 0; x < width; ++x) row[x] = static_cast<float>(x * kMaxChannels + c);
            src[c] = row;
          }
          auto* to = reinterpret_cast<float*>(foreign.data());
          kernels(name)->interleave_float(src, channels, width, to);
          bool same = true;
          for (int x = 0; x < width; ++x)
            for (int c = 0; c < channels; ++c) same &= to[x * channels + c] == static_cast<float>(x * kMaxChannels + c);
          REQUIRE(same);
          REQUIRE(foreign.intact());
        }
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
