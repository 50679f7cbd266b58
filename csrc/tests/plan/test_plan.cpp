// Plans: what they say, that equal ones are equal, and that one plan runs many images.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "execute/execute.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::Buffer;
using fastaug::test::is_stored;
using fastaug::test::plan_for;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

namespace {

const Pass& pass_of(const Plan& plan, PassKind kind) {
  const auto found =
      std::find_if(plan.passes.begin(), plan.passes.end(), [&](const Pass& pass) { return pass.kind == kind; });
  REQUIRE(found != plan.passes.end());
  return *found;
}

const Op kCrop{OpId::WINDOW, 0, {}, {8, 8, 32, 32}, {}};
const Op kResize{OpId::RESIZE, 2, {}, {16, 16}, {}};
const Op kFlip{OpId::HFLIP, 0, {}, {}, {}};

}  // namespace

TEST_CASE("a plan holds the passes, and of which ops they are") {
  const std::vector<Op> program = {kCrop, kResize, kFlip};
  const Plan plan = plan_for(program, {64, 64, 3});
  const Pass& read = pass_of(plan, PassKind::kRead);
  CHECK(read.region == Region{0, 0, 32, 32});
  CHECK(read.crop == Region{8, 8, 32, 32});
  CHECK(read.origin == 1);
  const Pass& filter = pass_of(plan, PassKind::kFilter);
  CHECK(filter.origin == 2);
  CHECK(filter.from == 32);
  REQUIRE(filter.taps != nullptr);
  CHECK(filter.taps->taps.out == 16);
  CHECK(plan.store.hflip);
  CHECK(pass_of(plan, PassKind::kStore).origin == 4);
  CHECK(to_string(plan) ==
        "0 read WINDOW from 32x32+0+0 of 32x32+8+8 -> 32x32+0+0x3\n"
        "0 filter RESIZE width 32 taps 5 -> 32x16+0+0x3\n"
        "0 filter RESIZE height 32 taps 5 -> 16x16+0+0x3\n"
        "0 store -> 16x16+0+0x3\n");
}

TEST_CASE("only the rows and columns that a crop keeps are computed") {
  const Op rotate{OpId::AFFINE, 2, {}, {100, 100}, {0.8, 0.6, -20, -0.6, 0.8, 40}};
  const Op crop{OpId::WINDOW, 0, {}, {10, 20, 30, 40}, {}};
  CHECK(pass_of(plan_for(std::vector<Op>{rotate, crop}, {100, 100, 3}), PassKind::kWarp).region ==
        Region{10, 20, 30, 40});
  const Op resize{OpId::RESIZE, 2, {}, {50, 50}, {}};
  const Op centre{OpId::WINDOW, 0, {}, {20, 20, 10, 10}, {}};
  const Region read = pass_of(plan_for(std::vector<Op>{resize, centre}, {100, 100, 3}), PassKind::kRead).region;
  CHECK(read.height == 22);
  CHECK(read.width == 22);
}

TEST_CASE("both passes of torch's resize are one, and see only what a crop keeps") {
  const Op resize{OpId::TORCH_RESIZE, 2, {}, {50, 100}, {}};
  const Op centre{OpId::WINDOW, 0, {}, {20, 20, 10, 10}, {}};
  const Plan plan = plan_for(std::vector<Op>{resize, centre}, {100, 100, 3});
  CHECK(to_string(plan) ==
        "0 read from 22x10+39+20 of 100x100+0+0 -> 22x10+39+20x3\n"
        "0 torch_filter TORCH_RESIZE taps 5x1 -> 10x10+20+20x3\n"
        "0 window WINDOW -> 10x10+0+0x3\n"
        "0 store -> 10x10+0+0x3\n");
  CHECK(plan == plan_for(std::vector<Op>{resize, centre}, {100, 100, 3}));
}

TEST_CASE("a plan says which part of an encoded image is decoded") {
  const Op crop{OpId::WINDOW, 0, {}, {10, 20, 30, 40}, {}};
  const Plan plan = plan_for(std::vector<Op>{crop, kResize}, {100, 80, 3}, kExactRewrites, true);
  CHECK(plan.decoded);
  CHECK_FALSE(plan.in_place);
  CHECK(plan.passes[0].kind == PassKind::kDecode);
  CHECK(plan.passes[0].region == Region{10, 20, 30, 40});
  CHECK(plan.passes[0].part == 0);
  CHECK(plan.passes[1].kind == PassKind::kRead);
  CHECK(plan.passes[1].part == 1);
  CHECK(plan_for(std::vector<Op>{}, {100, 80, 3}, kExactRewrites, true).in_place);
  const Plan moves = plan_for(std::vector<Op>{crop}, {100, 80, 3}, kExactRewrites, true);
  CHECK(moves.passes[0].region == Region{10, 20, 30, 40});
  CHECK(moves.passes[1].kind == PassKind::kMove);
}

TEST_CASE("a plan says why an image is kept") {
  const Op contrast{OpId::CONTRAST, 0, {}, {}, {1.5}};
  const Op equalize{OpId::EQUALIZE, 0, {}, {}, {}};
  const Op turn{OpId::ROT90, 1, {}, {}, {}};
  const Op flip{OpId::VFLIP, 0, {}, {}, {}};
  const Op rotate{OpId::AFFINE, 2, {}, {50, 50}, {0.8, 0.6, -20, -0.6, 0.8, 40}};
  const Op bright{OpId::BRIGHTNESS, 0, {}, {}, {1.5}};
  const Op pad{OpId::PAD, 1, {}, {3, 3, 3, 3}, {}};
  const auto reason = [](std::vector<Op> ops, PassKind kind) {
    return pass_of(plan_for(ops, {60, 60, 3}), kind).reason;
  };
  CHECK(reason({contrast}, PassKind::kStatistics) == WholeInput::kMean);
  CHECK(reason({bright, contrast}, PassKind::kKeep) == WholeInput::kMean);
  CHECK(reason({bright, equalize}, PassKind::kKeep) == WholeInput::kHistogram);
  CHECK(reason({bright, turn, flip, bright}, PassKind::kTurn) == WholeInput::kTurn);
  CHECK(reason({bright, rotate}, PassKind::kKeep) == WholeInput::kAnyOrder);
  CHECK(reason({kResize, pad}, PassKind::kKeep) == WholeInput::kRowOrder);
}

TEST_CASE("plans of the same program are equal, and run images that they were not made with") {
  for (uint64_t seed = 0; seed < test::cases(400u); ++seed) {
    RandomProgram random(seed * 7 + 2, 40);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const std::vector<Op> program = random(shape, random.integer(0, 6), random.chance(0.3));
    const int layout = random.integer(0, 3);
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    View view = view_of(pixels, shape, layout);
    const uint8_t* data = view.data;
    view.data = nullptr;
    Buffer buffer(validate(program, shape), is_stored(program), 0);
    Target target = buffer.target;
    target.data = nullptr;
    const Plan plan = make_plan(program, view, target, {kernels()});
    CHECK(plan == make_plan(program, view, target, {kernels()}));
    CHECK(to_string(plan).find("?") == std::string::npos);
    view.data = data;
    for (int image = 0; image < 2; ++image) {
      CAPTURE(seed);
      execute(plan, {view}, buffer.target, kernels());
      REQUIRE(buffer.bytes == fastaug::test::expected(program, view));
      for (uint8_t& sample : pixels) sample = static_cast<uint8_t>(random.integer(0, 255));
    }
  }
  CHECK_FALSE(plan_for(std::vector<Op>{kResize}, {64, 64, 3}) == plan_for(std::vector<Op>{kResize}, {64, 65, 3}));
  CHECK_FALSE(plan_for(std::vector<Op>{kFlip}, {64, 64, 3}) == plan_for(std::vector<Op>{}, {64, 64, 3}));
}
