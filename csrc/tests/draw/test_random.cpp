#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "draw/iou_crop.h"
#include "draw/random.h"

namespace fastaug {
namespace {

// As torch.Generator().manual_seed(seed) and numpy's RandomState(seed) leave it.
GeneratorState seeded(uint64_t seed) {
  GeneratorState state{};
  state.start(seed);
  std::ranges::fill(state.normals, uint8_t{0xa5});
  return state;
}

constexpr UniformForm kFused{true, true};

// The part of the range that a word stands for.
double part(uint32_t word) { return (word & 0xffffff) / 16777216.0; }

TEST_CASE("words are the standard library's, whatever draws them") {
  for (const uint64_t seed : {0ull, 20ull, 5489ull, 0xffffffffull, 0x123456789abcdefull}) {
    CAPTURE(seed);
    GeneratorState state = seeded(seed);
    Random random(&state);
    std::mt19937 words(static_cast<uint32_t>(seed));
    for (int i = 0; i < 3000; ++i) {
      CHECK(random.rand() == static_cast<float>(part(words())));
      const int64_t range = 1 + i * 89478;
      CHECK(random.randint(-i, range) == -i + static_cast<int64_t>(words() % range));
    }
    CHECK(random.drawn() == 6000);
    CHECK(std::ranges::all_of(state.normals, [](uint8_t byte) { return byte == 0xa5; }));
    CHECK(state.seed == seed);
    CHECK(state.valid());
  }
}

TEST_CASE("draws are torch's") {
  GeneratorState state = seeded(20);
  Random random(&state);
  for (const float value : {0x1.897eacp+1f, -0x1.021536p+4f, 0x1.f78a9ep+3f}) {
    CHECK(random.uniform(-25.0f, 25.0f, kFused) == value);
  }
  int64_t order[8];
  random.randperm(order, 8);
  CHECK(std::ranges::equal(order, std::vector<int64_t>{7, 6, 4, 1, 2, 5, 3, 0}));
  for (const int64_t value : {692, 504, 585, 195}) CHECK(random.randint(-5, 1005) == value);
  CHECK(random.rand() == 0x1.7a445p-1f);
}

TEST_CASE("choices are torch's, and take two words for each category") {
  GeneratorState state = seeded(20);
  Random random(&state);
  const float weights[] = {0.1f, 0.2f, 0.3f, 0.4f};
  for (const int64_t index : {1, 2, 1, 3, 3, 3, 3, 2, 3, 0, 2, 2}) CHECK(random.choice(weights, 4) == index);
  CHECK(random.drawn() == 12 * 4 * 2);
  CHECK(random.rand() == 0x1.a4b228p-2f);
  const float certain[] = {0.0f, 0.0f, 3.0f};
  for (int i = 0; i < 100; ++i) CHECK(random.choice(certain, 3) == 2);
}

TEST_CASE("crops that overlap with boxes are torchvision's") {
  GeneratorState state = seeded(20);
  Random random(&state);
  const float values[] = {50, 60, 200, 220, 300, 100, 420, 300};
  const Boxes boxes({values, CoordinateType::kFloat32, 2, 4, 1}, BoxFormat::kXyxy, {480, 640});
  const IouCropLimits limits{480, 640, {0.3, 1.0}, {0.5, 2.0}, {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0}, 40};
  const int64_t expected[][4] = {{36, 189, 236, 247}, {136, 154, 252, 446}, {51, 153, 212, 261}, {50, 141, 363, 289}};
  for (const auto& [top, left, height, width] : expected) {
    const IouCrop crop = draw_iou_crop(random, boxes, limits, [] {});
    CHECK(crop.outcome == IouCrop::Outcome::kCrop);
    CHECK((crop.top == top && crop.left == left && crop.height == height && crop.width == width));
    CHECK(crop.within == std::vector<uint8_t>{0, 1});
  }
  CHECK(random.rand() == 0x1.7a3dcp-5f);
}

TEST_CASE("crops that nothing accepts are drawn until somebody interrupts") {
  GeneratorState state = seeded(20);
  Random random(&state);
  const float outside[] = {700, 700, 800, 800};
  const Boxes boxes({outside, CoordinateType::kFloat32, 1, 4, 1}, BoxFormat::kXyxy, {480, 640});
  for (const int64_t trials : {40, 0}) {
    int calls = 0;
    const auto interrupted = [&calls] {
      if (++calls == 3) throw std::runtime_error("enough");
    };
    const IouCropLimits limits{480, 640, {0.3, 1.0}, {0.5, 2.0}, {0.5}, trials};
    CHECK_THROWS_AS(draw_iou_crop(random, boxes, limits, interrupted), std::runtime_error);
  }
  const Boxes none({outside, CoordinateType::kFloat32, 0, 4, 1}, BoxFormat::kXyxy, {480, 640});
  const auto never = [] { FAIL("waited"); };
  CHECK(draw_iou_crop(random, none, {480, 640, {0.3, 1.0}, {0.5, 2.0}, {1.0}, 40}, never).outcome ==
        IouCrop::Outcome::kNone);
  CHECK(draw_iou_crop(random, none, {1, 1, {0.3, 0.9}, {0.5, 2.0}, {0.0}, 40}, never).outcome ==
        IouCrop::Outcome::kDivisionByZero);
}

TEST_CASE("words are made anew when 624 are drawn, and not before") {
  GeneratorState state = seeded(7);
  CHECK(state.valid());
  Random random(&state);
  random.skip(1);
  for (int next = 1; next <= kGeneratorWords; ++next) {
    CHECK(state.next == static_cast<uint64_t>(next));
    CHECK(state.left == kGeneratorWords + 1 - next);
    CHECK(state.valid());
    const uint64_t first = state.words[0];
    random.skip(1);
    CHECK((state.words[0] == first) == (next < kGeneratorWords));
  }
  CHECK(state.next == 1);
}

TEST_CASE("states that would be read past their end, or were never seeded, are not valid") {
  GeneratorState state = seeded(7);
  state.next = 5000;
  CHECK(state.valid());  // nothing is read there
  state.left = 600;
  CHECK_FALSE(state.valid());
  state.next = 26;
  CHECK_FALSE(state.valid());
  state.next = 25;
  CHECK(state.valid());
  for (const int left : {0, -3, kGeneratorWords + 1}) {
    state.left = left;
    CHECK_FALSE(state.valid());
  }
  state = seeded(7);
  state.seeded = 0;
  CHECK_FALSE(state.valid());
}

TEST_CASE("uniform draws: each way of rounding") {
  for (const bool fused : {true, false}) {
    for (const bool half_open : {true, false}) {
      GeneratorState state = seeded(3);
      Random random(&state);
      std::mt19937 words(3);
      int rounded_up = 0, differ = 0;
      for (int i = 0; i < 4000; ++i) {
        const float low = i % 2 != 0 ? 1.0f : -0.3f, high = i % 2 != 0 ? 1.0f + 0x1p-23f : 0.4f;
        const auto x = static_cast<float>(part(words()));
        const float range = high - low;
        const float apart = x * range;
        float value = fused ? std::fma(x, range, low) : apart + low;
        differ += std::fma(x, range, low) != apart + low;
        if (value == high) {
          ++rounded_up;
          if (half_open) value = low;
        }
        CHECK(random.uniform(low, high, {fused, half_open}) == value);
      }
      CHECK(rounded_up > 500);
      CHECK(differ > 100);
    }
  }
  GeneratorState state = seeded(3);
  Random random(&state);
  CHECK(random.uniform(2.5f, 2.5f, kFused) == 2.5f);
  CHECK(random.drawn() == 1);
}

TEST_CASE("permutations take one word less than they have elements") {
  for (const int count : {0, 1, 2, 3, 4, 17, 1000}) {
    CAPTURE(count);
    GeneratorState state = seeded(11);
    Random random(&state);
    std::vector<int64_t> order(static_cast<size_t>(count) + 1, -1);
    random.randperm(order.data(), count);
    CHECK(random.drawn() == static_cast<uint64_t>(std::max(count - 1, 0)));
    CHECK(order.back() == -1);
    order.pop_back();
    std::ranges::sort(order);
    for (int i = 0; i < count; ++i) CHECK(order[i] == i);
  }
}

// As Python says it: round(math.sqrt(...)) of the aspect that `exp` gives.
template <class Exp>
bool plain_sides(Random& random, const SidesLimits& of, Exp exp, int64_t sides[2]) {
  for (int i = 0; i < 10; ++i) {
    const double target = of.area * random.uniform(of.scale[0], of.scale[1], kFused);
    const double aspect = exp(random.uniform(of.log_ratio[0], of.log_ratio[1], kFused));
    const double found[] = {std::rint(std::sqrt(target * aspect)), std::rint(std::sqrt(target / aspect))};
    const bool accepted = of.strict
                              ? found[0] < of.limits[0] && found[1] < of.limits[1]
                              : 0 < found[0] && found[0] <= of.limits[0] && 0 < found[1] && found[1] <= of.limits[1];
    if (!accepted) continue;
    for (int k = 0; k < 2; ++k) sides[k] = static_cast<int64_t>(found[k]);
    return true;
  }
  return false;
}

TEST_CASE("sides follow any exp of float32, and ask for it only where it matters") {
  const SidesLimits cases[] = {
      {512.0 * 512, {512, 512}, {0.08f, 1.0f}, {-0.2876821f, 0.2876821f}, false},
      {224.0 * 200, {224, 200}, {0.02f, 0.33f}, {-1.2039728f, 1.1939225f}, true},
      {1e7 * 1e7, {1e7, 1e7}, {0.5f, 1.5f}, {-0.2231436f, 0.1823216f}, false},
      {3 * 5, {3, 5}, {0.0f, 1.0f}, {-80.0f, 80.0f}, false},
      {3 * 5, {3, 5}, {0.0f, 1.0f}, {-80.0f, 80.0f}, true},
      {10.0 * 10, {10, 10}, {2.0f, 3.0f}, {0.0f, 0.0f}, false},
      {0.0, {10, 10}, {0.0f, 1.0f}, {-1.0f, 1.0f}, true},
  };
  for (const SidesLimits& of : cases) {
    CAPTURE(of.area);
    // A little above and a little below the true exp.
    for (const double error : {-3e-7, 0.0, 3e-7}) {
      GeneratorState state = seeded(5), again = state;
      Random random(&state), plain(&again);
      int asked = 0, accepted = 0;
      const auto exp = [error](float power) {
        return static_cast<double>(static_cast<float>(std::exp(static_cast<double>(power)) * (1 + error)));
      };
      const auto counted = [&](float power) {
        ++asked;
        return exp(power);
      };
      for (int i = 0; i < 5000; ++i) {
        int64_t found[2] = {-1, -1}, wanted[2] = {-1, -1};
        const bool some = random.sides(of, kFused, counted, found);
        CHECK(some == plain_sides(plain, of, exp, wanted));
        CHECK(std::ranges::equal(found, wanted));
        accepted += some;
      }
      CHECK(random.drawn() == plain.drawn());
      CHECK(std::memcmp(&state, &again, sizeof(state)) == 0);
      if (of.area == 512.0 * 512) CHECK(accepted > 4900);
      if (of.area == 512.0 * 512) CHECK((asked > 0 && asked < 100));
      if (of.area == 100.0) CHECK(accepted == 0);
    }
  }
}

}  // namespace

TEST_CASE("a generator starts from a seed as a Mersenne twister does") {
  GeneratorState state;
  state.start(5489);
  CHECK(state.valid());
  Random random(&state);
  std::mt19937 reference(5489);
  for (int k = 0; k < 2000; ++k) CHECK(random.rand() == static_cast<float>(reference() & 0xffffff) * 0x1p-24f);
  // Of a seed, torch keeps 64 bits, and starts from the lower 32.
  state.start((uint64_t{7} << 32) + 5489);
  CHECK(state.seed == (uint64_t{7} << 32) + 5489);
  CHECK(Random(&state).rand() == static_cast<float>(std::mt19937(5489)() & 0xffffff) * 0x1p-24f);
}

TEST_CASE("generators that start together are those that start alone") {
  const uint64_t seeds[] = {0, 5489, UINT64_MAX, uint64_t{1} << 40, 7};
  GeneratorState together[5], alone;
  GeneratorState::start(together, seeds);
  for (size_t k = 0; k < std::size(seeds); ++k) {
    alone.start(seeds[k]);
    CHECK(std::memcmp(&together[k], &alone, sizeof(alone)) == 0);
  }
}

TEST_CASE("states are mixed as by splitmix64") {
  // The first numbers of the reference implementation from state 1234567.
  CHECK(mixed(1234567) == 6457827717110365317u);
  CHECK(mixed(1234567 + 0x9e3779b97f4a7c15u) == 3203168211198807973u);
}

}  // namespace fastaug
