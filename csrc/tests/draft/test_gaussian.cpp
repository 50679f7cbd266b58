#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "draft/gaussian.h"

namespace fastaug {
namespace {

TEST_CASE("weights of v2 are torch's, by what torch.softmax gives on AVX2") {
  std::vector<float> weights = {-0x1.6a09e6p+1f, -0x1.0f876cp+1f, -0x1.6a09e6p+0f, -0x1.6a09e6p-1f, 0.0f,
                                0x1.6a09e6p-1f,  0x1.6a09e6p+0f,  0x1.0f876cp+1f,  0x1.6a09e6p+1f};
  as_exponents(weights, 2.3f, true);
  as_weights(weights, true, {8, sleef_exp});
  const float expected[] = {0x1.492d84p-5f, 0x1.3ef6a4p-4f, 0x1.ffa9bap-4f, 0x1.53b412p-3f, 0x1.7560bap-3f};
  for (size_t k = 0; k < 9; ++k) CHECK(weights[k] == expected[k < 5 ? k : 8 - k]);
}

TEST_CASE("sums of v1 are torch.sum's on AVX2") {
  const auto stays = [](std::span<float>) {};
  const auto first_share_of = [&](int count) {
    std::vector<float> numbers;
    for (int k = 0; k < count; ++k) numbers.push_back(1.0f / static_cast<float>(3 + k * k % 11 + k));
    as_weights(numbers, false, {8, stays});
    return numbers[0];
  };
  CHECK(first_share_of(7) == 0x1.605df8p-2f);
  CHECK(first_share_of(9) == 0x1.3a7d8ep-2f);
  CHECK(first_share_of(23) == 0x1.837946p-3f);
  CHECK(first_share_of(31) == 0x1.55a752p-3f);
}

TEST_CASE("exp of what no float32 has") {
  float powers[] = {-INFINITY, -104.5f, 0.0f, 101.0f};
  sleef_exp(powers);
  CHECK(powers[0] == 0.0f);
  CHECK(powers[1] == 0.0f);
  CHECK(powers[2] == 1.0f);
  CHECK(powers[3] == INFINITY);
}

TEST_CASE("a blur keeps the first halves of its kernels, and one where they are equal") {
  const std::vector<float> across = {0.25f, 0.5f, 0.25f}, down = {0.125f, 0.75f, 0.125f};
  const auto square = blur_by(across, across, true);
  REQUIRE(square);
  CHECK(square->flags == kSquare);
  const auto op = blur_by(across, down, false);
  REQUIRE(op);
  CHECK(op->flags == kUnfused);
  CHECK(op->i[0] == 3);
  CHECK(op->i[1] == 3);
  float weights[4];
  std::memcpy(weights, op->f, sizeof(weights));
  CHECK(weights[0] == 0.25f);
  CHECK(weights[1] == 0.5f);
  CHECK(weights[2] == 0.125f);
  CHECK(weights[3] == 0.75f);
  const std::vector<float> longest(31, 0.0f);
  CHECK(blur_by(longest, longest, true));
  CHECK_FALSE(blur_by(longest, across, true));
}

}  // namespace
}  // namespace fastaug
