#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "draft/recipe.h"
#include "tests/support/torch.h"

namespace fastaug {
namespace {

constexpr Fill kBlack{Fill::Bytes{}, Fill::Bytes{}, true};

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

Result drafted(const Steps& steps, uint32_t seed, Container container = Container::kPil, int height = 30,
               int width = 40) {
  GeneratorState state = seeded(seed);
  Random random(&state);
  SampleDraft image({container, {height, width, 3}, container == Container::kPil ? Mode::kRgb : Mode::kNone});
  draft(steps, image, random, {true, true}, AsCore());
  const Program program = image.program();
  return {{program.begin(), program.end()}, random.drawn(), image.declined()};
}

TEST_CASE("a flip takes one word, and happens below its probability") {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 words(seed);
    const float draw = static_cast<float>(words() & 0xffffff) * 0x1p-24f;
    const Result result = drafted({steps::RandomFlip{true, 0.3f}}, seed);
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
    const Steps inner{steps::RandomFlip{false, 2.0f}};
    // Of exactly its probability it is done.
    for (const float p : {draw, std::nextafter(draw, -1.0f)}) {
      const Result result = drafted({steps::Group{p, inner}}, seed);
      CHECK(result.drawn == (p == draw ? 2 : 1));
      CHECK(result.ops.size() == (p == draw ? 1 : 0));
    }
    CHECK(drafted({steps::Group{std::nullopt, inner}}, seed).drawn == 1);
  }
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
  const steps::RandomResizedCrop crop{{8, 8, 0}, {2, 0, false, true, false}, {2, 3}, {0, 0}, 1, 1};
  const Result result = drafted({crop}, 4);
  CHECK(result.drawn == 20);
  REQUIRE(result.ops.size() == 2);
  CHECK(result.ops[0].id == OpId::WINDOW);
  CHECK(result.ops[0].i[0] == 0);
  CHECK(result.ops[0].i[1] == 5);
  CHECK(result.ops[0].i[2] == 30);
  CHECK(result.ops[0].i[3] == 30);
}

TEST_CASE("who draws is known without a draw") {
  CHECK_FALSE(draws({steps::ToTensor{}, steps::Grayscale{1}, steps::Pad{{1, 1, 1, 1}, kBlack, PadMode::kEdge}}));
  CHECK_FALSE(draws({steps::Group{std::nullopt, {steps::CenterCrop{3, 3}}}}));
  CHECK(draws({steps::Group{0.5f, {}}}));
  CHECK(draws({steps::Group{std::nullopt, {steps::RandomFlip{false, 0}}}}));
  CHECK(draws({steps::RandomRotation{}}));
  CHECK(draws({steps::RandomAffine{}}));
  CHECK(draws({steps::RandomResizedCrop{}}));
  CHECK(draws({steps::RandomCrop{}}));
  CHECK(draws({steps::ColorJitter{}}));
  CHECK(draws({steps::GaussianBlur{}}));
  CHECK(draws({steps::RandomErasing{}}));
  CHECK(draws({steps::RandomAdjustment{}}));
}

}  // namespace
}  // namespace fastaug
