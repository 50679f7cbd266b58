#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "draft/recipe.h"
#include "tests/support/torch.h"

namespace fastaug {
namespace {

const Fill kBlack{};

// As torch.Generator().manual_seed(seed) leaves it.
GeneratorState seeded(uint32_t seed) {
  GeneratorState state{};
  state.left = 1;
  state.seeded = 1;
  uint32_t word = seed;
  state.words[0] = word;
  for (uint32_t i = 1; i < kGeneratorWords; ++i) {
    word = 1812433253u * (word ^ (word >> 30)) + i;
    state.words[i] = word;
  }
  return state;
}

struct Result {
  std::vector<Op> ops;
  uint64_t drawn = 0;
  bool declined = false;
};

Result drafted(const Steps& steps, uint32_t seed, bool v2 = false, int height = 30, int width = 40) {
  GeneratorState state = seeded(seed);
  Random random(&state);
  Outline outline{Container::kPil, {height, width, 3}, Mode::kRgb};
  outline.v2 = v2;
  SampleDraft image(outline);
  draft(steps, image, random, {true, true}, AsCore());
  const Program program = image.program();
  return {{program.begin(), program.end()}, random.drawn(), image.declined()};
}

TEST_CASE("a flip with a probability takes one word, and happens below it") {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 words(seed);
    const float draw = static_cast<float>(words() & 0xffffff) * 0x1p-24f;
    const Result result = drafted({steps::Group{0.3f, false, {steps::Flip{true}}}}, seed);
    CHECK(result.drawn == 1);
    CHECK(result.ops.size() == (draw < 0.3f ? 1 : 0));
    if (!result.ops.empty()) CHECK(result.ops[0].id == OpId::VFLIP);
  }
}

TEST_CASE("a group is done if a draw is at most its probability, and else draws no more") {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 words(seed);
    const float draw = static_cast<float>(words() & 0xffffff) * 0x1p-24f;
    const Steps inner{steps::Group{2.0, false, {steps::Flip{false}}}};
    // Of exactly its probability it is done.
    for (const float p : {draw, std::nextafter(draw, -1.0f)}) {
      const Result result = drafted({steps::Group{p, true, inner}}, seed);
      CHECK(result.drawn == (p == draw ? 2 : 1));
      CHECK(result.ops.size() == (p == draw ? 1 : 0));
    }
    CHECK(drafted({steps::Group{std::nullopt, false, inner}}, seed).drawn == 1);
  }
}

TEST_CASE("an op of colours is taken by images of three of them") {
  const Op op = plain(OpId::HED);
  const Result result = drafted({steps::Recolour{op}}, 1);
  REQUIRE(result.ops.size() == 1);
  CHECK(result.ops[0] == op);
  CHECK_FALSE(result.declined);
  Draft ycbcr({Container::kPil, {3, 4, 3}, Mode::kYcbcr});
  CHECK(ycbcr.recolour(op) == Reason::kMode);
}

TEST_CASE("a crop of the whole image takes no words, and one that is too large is declined before any") {
  const auto crop = [](int height, int width) {
    return Steps{steps::RandomCrop{height, width, std::nullopt, false, kBlack, std::nullopt}};
  };
  CHECK(drafted(crop(30, 40), 1).drawn == 0);
  CHECK(drafted(crop(30, 39), 1).drawn == 2);
  const Result large = drafted(crop(31, 40), 1);
  CHECK(large.declined);
  CHECK(large.drawn == 0);
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 words(seed);
    const auto top = static_cast<int>(words() % 21), left = static_cast<int>(words() % 29);
    const Result result = drafted(crop(10, 12), seed);
    REQUIRE(result.ops.size() == 1);
    CHECK(result.ops[0].i[0] == top);
    CHECK(result.ops[0].i[1] == left);
  }
}

TEST_CASE("a crop by axis pads at once, and takes a word for each axis that has room") {
  const auto cropped = [](int height, int width, std::optional<Sides> padding, bool pads) {
    return drafted({steps::RandomCropByAxis{{height, width, padding, pads, kBlack, std::nullopt}}}, 1);
  };
  CHECK(cropped(30, 40, std::nullopt, false).ops.empty());
  CHECK(cropped(30, 40, std::nullopt, false).drawn == 0);
  CHECK(cropped(20, 40, std::nullopt, false).drawn == 1);
  CHECK(cropped(20, 30, std::nullopt, false).drawn == 2);
  CHECK(cropped(31, 40, std::nullopt, false).declined);
  // 4 rows are missing, and added on both sides.
  const Result padded = cropped(36, 42, Sides{1, 1, 1, 1}, true);
  CHECK(padded.drawn == 1);
  REQUIRE(padded.ops.size() == 2);
  CHECK(padded.ops[0].i[0] == -5);
  CHECK(padded.ops[0].i[2] == 40);
  CHECK(padded.ops[0].i[3] == 42);
  CHECK(padded.ops[1].i[2] == 36);
  CHECK(padded.ops[1].i[3] == 42);
}

TEST_CASE("a jitter draws its order and each factor that it has, in the order of its arguments") {
  const steps::ColorJitter jitter{Range{0.5f, 0.5f}, std::nullopt, Range{2, 2}, Range{0.25f, 0.25f}};
  for (uint32_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const Result result = drafted({jitter}, seed);
    CHECK(result.drawn == 3 + 3);
    CHECK(result.ops.size() == 3);
    for (const Op& op : result.ops) {
      const double factor = op.id == OpId::BRIGHTNESS ? 0.5 : op.id == OpId::SATURATION ? 2 : 0.25;
      CHECK(op.f[0] == factor);
    }
  }
}

TEST_CASE("a box that never fits is the middle of the image, in its limits") {
  // All areas are greater than the image, so ten draws of two words fail.
  const steps::RandomResizedCrop crop{{8, 8, 0}, {2}, {2, 3}, {0, 0}, 1, 1};
  const Result result = drafted({crop}, 4);
  CHECK(result.drawn == 20);
  REQUIRE(result.ops.size() == 2);
  CHECK(result.ops[0].id == OpId::WINDOW);
  CHECK(result.ops[0].i[0] == 0);
  CHECK(result.ops[0].i[1] == 5);
  CHECK(result.ops[0].i[2] == 30);
  CHECK(result.ops[0].i[3] == 30);
}

TEST_CASE("any of the ops of a space is done, with a sign that v1 and v2 draw in their ways") {
  using steps::Effect;
  const steps::RandomOps ops{{{Effect::kIdentity, false, {}},
                              {Effect::kShearX, true, {0.25}},
                              {Effect::kTranslateY, true, {9}, 31},
                              {Effect::kColor, true, {0.25, 0.5, 0.75}},
                              {Effect::kSolarize, false, {0.5}}},
                             2,
                             {},
                             kBlack};
  for (uint32_t seed = 0; seed < 200; ++seed) {
    for (const bool v2 : {false, true}) {
      CAPTURE(seed);
      CAPTURE(v2);
      std::mt19937 words(seed);
      std::vector<Op> expected;
      uint64_t drawn = 0;
      const auto word = [&] {
        ++drawn;
        return words();
      };
      for (int k = 0; k < 2; ++k) {
        const auto which = word() % 5;
        const auto strength = which == 3 ? word() % 3 : 0;
        const auto signs = [&] {
          const auto drawn_sign = word();
          const bool low = static_cast<float>(drawn_sign & 0xffffff) * 0x1p-24f <= 0.5f;
          return (v2 ? low : drawn_sign % 2 == 1) ? -1.0 : 1.0;
        };
        const double sign = 1 <= which && which <= 3 ? signs() : 1.0;
        Op op = plain(OpId::AFFINE);
        if (which == 0) continue;
        if (which == 1) op.f[1] = sign * 0.25;
        // 150 / 331 * 30 * 9 / 30 is 4.08.
        if (which == 2) op = plain(OpId::WINDOW), op.i[0] = static_cast<int>(-4 * sign);
        if (which == 3) op = plain(OpId::SATURATION), op.f[0] = 1 + sign * 0.25 * (static_cast<double>(strength) + 1);
        if (which == 4) op = plain(OpId::SOLARIZE), op.f[0] = v2 ? 127.5 : 0.5;
        expected.push_back(op);
      }
      const Result result = drafted({ops}, seed, v2);
      CHECK(result.drawn == drawn);
      REQUIRE(result.ops.size() == expected.size());
      for (size_t k = 0; k < expected.size(); ++k) {
        CHECK(result.ops[k].id == expected[k].id);
        if (expected[k].id == OpId::WINDOW) CHECK(result.ops[k].i[0] == expected[k].i[0]);
        const int number = expected[k].id == OpId::AFFINE ? 1 : 0;
        CHECK(result.ops[k].f[number] == doctest::Approx(expected[k].f[number]).epsilon(1e-15));
      }
    }
  }
}

TEST_CASE("a shift that depends on how torch fuses is declined") {
  const auto shifted = [](int width, double place) {
    const steps::PolicyOp op{steps::Effect::kTranslateX, false, {place}, 68};
    return drafted({steps::RandomOps{{op}, 1, {}, kBlack}}, 1, false, 30, width);
  };
  CHECK(shifted(2014, 45).declined);
  REQUIRE(shifted(2014, 44).ops.size() == 1);
  CHECK(shifted(2014, 44).ops[0].i[1] == -599);
  CHECK(shifted(2013, 45).ops[0].i[1] == -612);
}

TEST_CASE("of a policy v1 draws everything at once, and v2 only what it needs") {
  using steps::Effect;
  const auto solarized = [](double limit, float p, bool is_signed) {
    return steps::PolicyOp{Effect::kSolarize, is_signed, {limit}, 0, p};
  };
  const steps::RandomPolicy policy{{{solarized(1, 0.5f, false), solarized(2, 0.5f, true)}}, {}, kBlack};
  for (uint32_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 words(seed);
    words();  // which policy
    const auto share = [&] { return static_cast<float>(words() & 0xffffff) * 0x1p-24f; };
    const bool first = share() <= 0.5f, second = share() <= 0.5f;
    const Result v1 = drafted({policy}, seed);
    CHECK(v1.drawn == 5);
    CHECK(v1.ops.size() == size_t{first} + size_t{second});
    const Result v2 = drafted({policy}, seed, true);
    CHECK(v2.drawn == (second ? 4 : 3));
    CHECK(v2.ops.size() == v1.ops.size());
    if (!second) continue;
    words();
    CHECK(v1.ops.back().f[0] == (words() % 2 == 0 ? 0 : 2));
  }
}

TEST_CASE("shuffled steps are done in the order of a permutation, and a chosen one by its weight") {
  const Steps inner{steps::CenterCrop{9, 9}, steps::CenterCrop{8, 8}};
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 words(seed);
    const bool swapped = words() % 2 == 1;
    const Result shuffled = drafted({steps::Shuffled{inner}}, seed);
    CHECK(shuffled.drawn == 1);
    REQUIRE(shuffled.ops.size() == 2);
    CHECK(shuffled.ops[0].i[2] == (swapped ? 8 : 9));
    const Result chosen = drafted({steps::Chosen{{0, 1}, inner}}, seed);
    CHECK(chosen.drawn == 4);
    REQUIRE(chosen.ops.size() == 1);
    CHECK(chosen.ops[0].i[2] == 8);
  }
}

TEST_CASE("who draws is known without a draw") {
  CHECK_FALSE(draws({steps::ToTensor{}, steps::Grayscale{1}, steps::Pad{{1, 1, 1, 1}, kBlack, PadMode::kEdge}}));
  CHECK_FALSE(draws({steps::Group{std::nullopt, false, {steps::CenterCrop{3, 3}}}}));
  CHECK_FALSE(draws({steps::Normalize{}}));
  CHECK(draws({steps::Group{0.5, false, {}}}));
  CHECK(draws({steps::Group{std::nullopt, false, {steps::ColorJitter{}}}}));
  CHECK(draws({steps::RandomOps{}}));
  CHECK(draws({steps::RandomRotation{}}));
  CHECK(draws({steps::RandomAffine{}}));
  CHECK(draws({steps::RandomResizedCrop{}}));
  CHECK(draws({steps::RandomCrop{}}));
  CHECK(draws({steps::ColorJitter{}}));
  CHECK(draws({steps::GaussianBlur{}}));
  CHECK(draws({steps::Erasing{}}));
  CHECK(draws({steps::Perspective{}}));
  CHECK(draws({steps::RandomOps{}}));
  CHECK(draws({steps::RandomPolicy{}}));
  CHECK(draws({steps::Shuffled{}}));
  CHECK(draws({steps::Chosen{}}));
}

}  // namespace
}  // namespace fastaug
