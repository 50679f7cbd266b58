// Kernels that are compiled for a few features alone give what the one for everything does: the bodies with fewer
// channels, sources and flags, which an emulation of everything never sees.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "cuda/tile.h"
#include "tests/cuda/bags.h"

using namespace fastaug;
using fastaug::cuda::Bag;
using fastaug::cuda::Features;
using fastaug::cuda::Launch;
using fastaug::test::bag_of;
using fastaug::test::execute_all;
using fastaug::test::first_difference;
using fastaug::test::Member;
using fastaug::test::Members;
using fastaug::test::RandomProgram;

namespace {

constexpr uint64_t kKeepChannels = ~(cuda::bit(OpId::REPLICATE) | cuda::bit(OpId::LUMA) | cuda::bit(OpId::TORCH_LUMA));
constexpr uint32_t kStatistics =
    cuda::kHasLuma | cuda::kHasGray | cuda::kHasV2Gray | cuda::kHasGrayParts | cuda::kHasExtremes | cuda::kHasHistogram;

template <int source, int channels, int dtype, uint64_t ops, uint32_t flags>
struct Some : cuda::Anything {
  static constexpr int kSource = source;
  static constexpr int kChannels = channels;
  static constexpr int kDType = dtype;
  static constexpr uint64_t kOps = ops;
  static constexpr uint32_t kFlags = flags;
};

template <class Spec>
bool serves(const Features& f) {
  const auto is = [](int has, int wants, int any) { return has == any || has == wants; };
  return is(Spec::kSource, f.source, -1) && is(Spec::kChannels, f.channels, 0) && is(Spec::kDType, f.dtype, -1) &&
         (f.steps & ~Spec::kSteps) == 0 && (f.ends & ~Spec::kEnds) == 0 && (f.ops & ~Spec::kOps) == 0 &&
         (f.flags & ~Spec::kFlags) == 0;
}

template <class Spec>
void run(const Launch& launch, const uint8_t* blob, uint8_t* scratch) {
  for (int64_t block = 0; block < launch.blocks; ++block) {
    const auto* entries = reinterpret_cast<const cuda::Entry*>(blob + launch.offset);
    const cuda::Entry& entry = cuda::entry_of(entries, launch.count, block);
    const auto& part = *reinterpret_cast<const cuda::Part*>(blob + entry.part);
    std::vector<uint64_t> shared((part.shared + 7) / 8, 0xA5A5A5A5A5A5A5A5u);
    cuda::Tile<Spec> tile(blob, scratch, part, static_cast<int>(block - entry.first_block),
                          reinterpret_cast<uint8_t*>(shared.data()));
    for (int phase = 0; phase < tile.phases(); ++phase) {
      for (int thread = 0; thread < cuda::kThreads; ++thread) tile.run(phase, thread, cuda::kThreads);
    }
  }
}

struct alignas(256) Line {
  uint8_t bytes[256];
};

// Launches that Spec served, of random bags whose other launches are emulated as ever.
template <class Spec>
int served(uint64_t first_seed, int channels, uint64_t bags = 150) {
  int count = 0;
  for (uint64_t seed = first_seed; seed < first_seed + bags; ++seed) {
    INFO("seed ", seed);
    RandomProgram random(seed, 40);
    Members members;
    for (int k = random.integer(1, 3); k > 0; --k) {
      const Shape in{random.side(), random.side(), channels};
      members.push_back(std::make_unique<Member>(random, in, random(in, random.integer(0, 5))));
    }
    const uint32_t rewrites = random.chance(0.5) ? kExactRewrites : kFastRewrites & ~uint32_t{kRoundWarps};
    const Bag bag = bag_of(&members, {rewrites, 100'000, random.chance(0.5) ? 12u << 10 : 48u << 10});
    execute_all(members, {kernels("scalar"), rewrites & ~uint32_t{kComposeTaps}});
    std::vector<Line> blob(bag.blob().size() / sizeof(Line) + 1);
    std::vector<Line> scratch(static_cast<size_t>(bag.scratch_bytes()) / sizeof(Line) + 1);
    std::copy(bag.blob().begin(), bag.blob().end(), blob[0].bytes);
    for (const Launch& launch : bag.launches()) {
      if (launch.kernel < 0 || !serves<Spec>(bag.features()[static_cast<size_t>(launch.kernel)])) {
        cuda::emulate(launch, blob[0].bytes, scratch[0].bytes, cuda::kForwards);
      } else {
        run<Spec>(launch, blob[0].bytes, scratch[0].bytes);
        ++count;
      }
    }
    const Member* wrong = first_difference(members);
    INFO("", wrong == nullptr ? "" : difference(*wrong));
    REQUIRE(wrong == nullptr);
  }
  return count;
}

}  // namespace

TEST_CASE("kernels for a number of channels that stays") {
  CHECK(served<Some<cuda::kRead, 1, -1, kKeepChannels, ~0u>>(0, 1) > 50);
  CHECK(served<Some<cuda::kRead, 2, -1, kKeepChannels, ~0u>>(1000, 2) > 50);
  CHECK(served<Some<cuda::kRead, 3, -1, kKeepChannels, ~0u>>(2000, 3) > 50);
  CHECK(served<Some<cuda::kRead, 4, -1, kKeepChannels, ~0u>>(3000, 4) > 50);
}

TEST_CASE("kernels for a number of channels that changes") {
  CHECK(served<Some<cuda::kRead, 1, -1, ~uint64_t{0}, ~0u>>(4000, 1) > 50);
  CHECK(served<Some<cuda::kRead, 3, -1, ~uint64_t{0}, ~0u>>(5000, 3) > 50);
}

TEST_CASE("kernels without statistics, for direct steps or for others, for one dtype, and for warps") {
  CHECK(served<Some<cuda::kRead, 3, 0, kKeepChannels, ~(kStatistics | cuda::kHasDirect)>>(6000, 3) > 20);
  CHECK(served<Some<cuda::kRead, 3, 0, kKeepChannels, ~(kStatistics | cuda::kHasShared)>>(7000, 3, 500) > 3);
  CHECK(served<Some<cuda::kAffineLinear, 3, -1, kKeepChannels, ~0u>>(8000, 3, 400) > 3);
}
