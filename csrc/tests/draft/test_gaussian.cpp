#include <doctest/doctest.h>

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

}  // namespace
}  // namespace fastaug
