// Bags on an emulated device against the executor: the same bits for every op, layout, rewrite and tile, whatever the
// order of blocks and threads. In fast mode too, whose plans the scalar kernels share.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/status.h"
#include "pixel/warp.h"
#include "tests/cuda/bags.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::cuda::Bag;
using fastaug::cuda::BagOptions;
using fastaug::test::bag_of;
using fastaug::test::execute_all;
using fastaug::test::first_difference;
using fastaug::test::Member;
using fastaug::test::Members;
using fastaug::test::op;
using fastaug::test::Ops;
using fastaug::test::RandomProgram;
using fastaug::test::resize;
using fastaug::test::view_of;

namespace {

using Counted = std::array<int, kOpCount>;

const int kOrders[] = {cuda::kForwards, cuda::kBackwards, 2};

bool has_op(const Ops& ops, OpId id) {
  return std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return op.id == id; });
}

bool is_for_host(const Ops& ops) {
  return std::any_of(ops.begin(), ops.end(), [](const Op& op) { return has(op.id, Trait::kHost); });
}

// What the pixels of a part need of the kernel that it is given, worked out from the part alone.
cuda::Features needs(const uint8_t* blob, const cuda::Part& p) {
  cuda::Features f{};
  f.source = p.source;
  f.channels = p.channels;
  f.dtype = p.dtype;
  f.ends = 1u << p.end;
  f.flags = p.direct != 0 ? cuda::kHasDirect : cuda::kHasShared;
  if (p.read_colours > 0) f.steps |= 1u << (cuda::kStepKinds + cuda::kColoured);
  for (int k = 0; k < p.steps; ++k) {
    const auto& step = reinterpret_cast<const cuda::Step*>(blob + p.step)[k];
    f.steps |= 1u << (step.kind + (k == 0 && p.direct != 0 ? cuda::kFromSource : cuda::kOccurs));
    if (step.colours > 0) f.steps |= 1u << (step.kind + cuda::kColoured);
  }
  for (int k = 0; k < p.colours; ++k) {
    const cuda::Colour& colour = reinterpret_cast<const cuda::Colour*>(blob + p.colour)[k];
    const bool is_lane = colour.kind == cuda::Colour::kLane;
    const bool is_float = colour.kind == cuda::Colour::kFloat;
    if (is_float || colour.kind == cuda::Colour::kRound) f.flags |= cuda::kHasFloats;
    if (colour.kind == cuda::Colour::kLookup) f.flags |= cuda::kHasLookups;
    // In float32 only ops that change the number of channels are asked for by name.
    const bool changes = channels_after(colour.op, 1) != 1 || channels_after(colour.op, 3) != 3;
    if (is_lane || (is_float && changes)) f.ops |= uint64_t{1} << static_cast<int>(colour.op.id);
  }
  if (p.erases > 0) f.flags |= cuda::kHasErases;
  if (p.floats != 0) f.flags |= cuda::kHasFloats;
  if (p.end == cuda::kStore && p.dtype != 0 && p.floats == 0) {
    for (int c = 0; c < p.out_channels; ++c) f.flags |= p.form[c].quick ? 0u : uint32_t{cuda::kHasDivision};
  }
  if (p.statistics == cuda::kLumaSum) f.flags |= cuda::kHasLuma;
  if (p.statistics == cuda::kGraySum) f.flags |= cuda::kHasGray;
  if (p.statistics == cuda::kV2GraySum) f.flags |= cuda::kHasV2Gray;
  if (cuda::is_parts(p.statistics)) f.flags |= cuda::kHasGrayParts;
  if (p.statistics == cuda::kExtremes) f.flags |= cuda::kHasExtremes;
  if (p.statistics == cuda::kHistogram) f.flags |= cuda::kHasHistogram;
  return f;
}

// Kernels are compiled for the features of a bag, where the emulation has everything: they must have what parts need.
void check_features(const Bag& bag) {
  const uint8_t* blob = bag.blob().data();
  for (const cuda::Launch& launch : bag.launches()) {
    if (launch.kernel < 0) continue;
    const cuda::Features& has = bag.features()[static_cast<size_t>(launch.kernel)];
    for (int k = 0; k < launch.count; ++k) {
      const auto& entry = reinterpret_cast<const cuda::Entry*>(blob + launch.offset)[k];
      const auto& part = *reinterpret_cast<const cuda::Part*>(blob + entry.part);
      const cuda::Features wants = needs(blob, part);
      REQUIRE(part.shared <= launch.shared);
      REQUIRE(has.source == wants.source);
      REQUIRE(has.channels == wants.channels);
      REQUIRE(has.dtype == wants.dtype);
      REQUIRE((wants.steps & ~has.steps) == 0);
      REQUIRE((wants.ends & ~has.ends) == 0);
      REQUIRE((wants.ops & ~has.ops) == 0);
      REQUIRE((wants.flags & ~has.flags) == 0);
    }
  }
}

// Every result of a bag is the executor's in three orders, and a device refuses what it has to refuse alone.
void check_bag(Members members, const BagOptions& options, const ExecuteOptions& how, Counted* counted = nullptr) {
  const size_t all = members.size();
  bool may_be_unfit = false;
  for (const auto& member : members) {
    may_be_unfit |= has_op(member->program, OpId::AFFINE) || is_for_host(member->program);
  }
  const Bag bag = bag_of(&members, options);
  CHECK((may_be_unfit || members.size() == all));
  execute_all(members, how);
  for (const cuda::Launch& launch : bag.launches()) REQUIRE(launch.shared <= options.shared_bytes);
  check_features(bag);
  for (const int order : kOrders) {
    for (auto& member : members) member->got.clear();
    cuda::emulate(bag, order);
    const Member* wrong = first_difference(members);
    INFO("order ", order, ", waves of ", options.wave_bytes, ", shared ", options.shared_bytes, ", rewrites ",
         options.rewrites, "\n", wrong == nullptr ? "" : difference(*wrong));
    REQUIRE(wrong == nullptr);
  }
  if (counted == nullptr) return;
  for (const auto& member : members) {
    for (const Op& op : member->program) ++(*counted)[static_cast<size_t>(op.id)];
  }
}

// Up to `most` images. Half of the bags run one pipeline on images of all sizes, as far as its operands allow; in the
// others each has a program of its own.
Members random_members(RandomProgram& random, int most, int length) {
  Members members;
  const int count = random.integer(1, most);
  const bool alike = random.chance(0.5);
  const Shape first{random.side(), random.side(), random.integer(1, 4)};
  const Ops pipeline = random(first, random.integer(0, length), random.chance(0.2));
  for (int k = 0; k < count; ++k) {
    Shape shape{random.side(), random.side(), random.integer(1, 4)};
    Ops ops;
    if (alike) {
      shape.channels = first.channels;
      if (k == 0) shape = first;
      ops = pipeline;
      try {
        Shape at = shape;
        for (const Op& op : ops) {
          at = shape_after(op, at);
          if (at.height > 200 || at.width > 200) throw Error(ErrorCode::kValue, "large");
        }
        validate(ops, shape);
      } catch (const Error&) {
        continue;
      }
    } else {
      ops = random(shape, random.integer(0, length), random.chance(0.2));
    }
    members.push_back(std::make_unique<Member>(random, shape, std::move(ops)));
  }
  return members;
}

BagOptions random_options(RandomProgram& random, const Members& members, uint32_t rewrites) {
  static constexpr int64_t kWaves[] = {1, 5000, 100'000, int64_t{32} << 20};
  // The bodies of colours and a histogram have to fit, and a little else.
  static constexpr uint32_t kShared[] = {4 << 10, 8 << 10, 12 << 10, 48 << 10, 200 << 10};
  const bool counts =
      std::any_of(members.begin(), members.end(), [](const auto& m) { return has_op(m->program, OpId::EQUALIZE); });
  return {rewrites, kWaves[random.integer(0, 3)], kShared[random.integer(counts ? 1 : 0, 4)]};
}

uint32_t random_rewrites(RandomProgram& random) {
  return random.chance(0.5) ? kExactRewrites : static_cast<uint32_t>(random.integer(0, kExactRewrites));
}

// An image for a program of one's own.
void add(Members* members, RandomProgram& random, Shape shape, Ops ops) {
  members->push_back(std::make_unique<Member>(random, shape, std::move(ops)));
}

Op affine(int height, int width, std::array<double, 8> matrix, Interpolation mode) {
  return op(OpId::AFFINE, {height, width}, matrix, static_cast<int>(mode));
}

constexpr Filter kFilters[] = {Filter::kLanczos, Filter::kBilinear,     Filter::kBicubic,       Filter::kBox,
                               Filter::kHamming, Filter::kShortLanczos, Filter::kShortBilinear, Filter::kShortBicubic};

}  // namespace

TEST_CASE("an emulated device gives the executor's bits") {
  Counted counted{};
  int programs = 0;
  for (uint64_t seed = 0; seed < test::cases(2500u); ++seed) {
    INFO("seed ", seed);
    RandomProgram random(seed);
    Members members = random_members(random, 6, 8);
    programs += static_cast<int>(members.size());
    const uint32_t rewrites = random_rewrites(random);
    const BagOptions options = random_options(random, members, rewrites);
    check_bag(std::move(members), options, {nullptr, rewrites}, &counted);
  }
  MESSAGE(programs, " programs");
  for (int k = 0; k < kOpCount; ++k) {
    INFO(name_of(static_cast<OpId>(k)));
    CHECK((counted[static_cast<size_t>(k)] > test::cases(20) || has(static_cast<OpId>(k), Trait::kHost)));
  }
}

TEST_CASE("long programs, too") {
  int longest = 0;
  for (uint64_t seed = 0; seed < test::cases(150u); ++seed) {
    INFO("seed ", seed);
    RandomProgram random(seed, 40);
    Members members = random_members(random, 2, kMaxOps - 5);
    for (const auto& member : members) longest = std::max(longest, static_cast<int>(member->program.size()));
    const uint32_t rewrites = random_rewrites(random);
    const BagOptions options = {rewrites, 1, random.chance(0.5) ? 12u << 10 : 48u << 10};
    check_bag(std::move(members), options, {nullptr, rewrites});
  }
  CHECK(longest > 50);
}

// What kComposeTaps does is left out on a device. All else of fast mode is what the scalar kernels do, in every bit,
// but for rounded affine maps: those kernels walk along a row in fixed point, where a device works each position out.
TEST_CASE("fast mode is that of the scalar kernels without composed taps") {
  const auto is_walked = [](const Op& op) {
    return op.id == OpId::AFFINE && static_cast<Interpolation>(op.flags & kFilterMask) != Interpolation::kNearest;
  };
  Counted counted{};
  for (uint64_t seed = 0; seed < test::cases(1200u); ++seed) {
    INFO("seed ", seed);
    RandomProgram random(seed);
    Members members = random_members(random, 4, 6);
    uint32_t rewrites = kFastRewrites;
    if (random.chance(0.3)) rewrites &= ~kRoundWarps;
    if (random.chance(0.3)) rewrites &= ~kFloatColour;
    if ((rewrites & kRoundWarps) != 0) {
      std::erase_if(members, [&](const auto& member) {
        return std::any_of(member->program.begin(), member->program.end(), is_walked);
      });
    }
    const BagOptions options = random_options(random, members, rewrites);
    check_bag(std::move(members), options, {kernels("scalar"), rewrites & ~uint32_t{kComposeTaps}}, &counted);
  }
  for (const OpId id : {OpId::HUE, OpId::SATURATION, OpId::BRIGHTNESS, OpId::CONTRAST, OpId::PERSPECTIVE}) {
    CHECK(counted[static_cast<size_t>(id)] > test::cases(10));
  }
}

// The tolerance is FAST_ISA_LEVELS of tests/tables/tolerances.py: what instruction sets may differ by.
TEST_CASE("rounded affine maps are within a level of the executor's") {
  constexpr uint32_t kRounded = kExactRewrites | kRoundWarps;  // of images of few pixels too
  int64_t samples = 0;
  int64_t different = 0;
  for (uint64_t seed = 0; seed < test::cases(400u); ++seed) {
    INFO("seed ", seed);
    RandomProgram random(seed);
    const Shape in{random.side(), random.side(), random.integer(1, 4)};
    Op map = op(OpId::AFFINE);
    while (!random.fill_in(map, in) || (map.flags & kFilterMask) == 0) map.id = OpId::AFFINE;
    Members members;
    add(&members, random, in, {map, op(OpId::HFLIP)});
    const Bag bag = bag_of(&members, {kRounded, 1, 8 << 10});
    REQUIRE(members.size() == 1);
    execute_all(members, {nullptr, kRounded});
    cuda::emulate(bag, static_cast<int>(seed % 3));
    const std::vector<uint8_t>& got = members[0]->got.bytes();
    const std::vector<uint8_t>& expected = members[0]->expected.bytes();
    for (size_t k = 0; k < got.size(); ++k) {
      REQUIRE(std::abs(got[k] - expected[k]) <= 1);
      different += got[k] != expected[k];
    }
    samples += int64_t{map.i[0]} * map.i[1] * in.channels;
  }
  CHECK(samples > test::cases(100'000));
  CHECK(different * 200 < samples);
}

TEST_CASE("filters that shrink an axis two thousand times, and images of one row or column") {
  RandomProgram random(1);
  for (const Filter filter : kFilters) {
    for (const int flags : {0, int{kWidthFirst}}) {
      const uint32_t shared = flags == 0 ? 4u << 10 : 48u << 10;
      Members members;
      add(&members, random, {3, 20000, 3}, {resize(3, 10, filter, flags)});
      add(&members, random, {20000, 3, 4}, {resize(10, 3, filter, flags), op(OpId::INVERT)});
      add(&members, random, {4000, 2, 1}, {resize(9, 12, filter, flags), resize(4000, 5, filter, flags)});
      add(&members, random, {700, 650, 2}, {op(OpId::SOLARIZE, {}, {100}), resize(2, 3, filter, flags)});
      add(&members, random, {1, 1, 3}, {resize(40, 50, filter, flags), resize(1, 1, filter, flags)});
      add(&members, random, {1, 300, 3}, {resize(1, 299, filter, flags), resize(7, 1, filter, flags)});
      add(&members, random, {300, 1, 3}, {resize(299, 1, filter, flags), resize(1, 7, filter, flags)});
      add(&members, random, {90, 80, 3}, {resize(33, 41, filter, flags), op(OpId::WINDOW, {-3, 30, 40, 20})});
      check_bag(std::move(members), {kExactRewrites, 1000, shared}, {});
    }
  }
}

TEST_CASE("nearest samples by every rule, and paddings longer than the image") {
  RandomProgram random(2);
  for (const NearestRule rule : {NearestRule::kPillow, NearestRule::kTorch, NearestRule::kTorchExact}) {
    Members members;
    for (const Shape in : {Shape{1, 1, 3}, {7, 3000, 1}, {3000, 7, 2}, {63, 97, 4}}) {
      for (const Shape out : {Shape{1, 1}, {70, 2}, {2, 900}, {101, 53}}) {
        add(&members, random, in, {op(OpId::NEAREST, {out.height, out.width}, {}, static_cast<int>(rule))});
        add(&members, random, in,
            {op(OpId::NEAREST, {out.height, out.width}, {}, static_cast<int>(rule)), op(OpId::SHARPNESS, {}, {1.5}),
             op(OpId::NEAREST, {33, 44}, {}, static_cast<int>(rule))});
      }
    }
    check_bag(std::move(members), {}, {});
  }
  for (const PadMode mode : {PadMode::kEdge, PadMode::kReflect, PadMode::kSymmetric}) {
    Members members;
    for (const Shape in : {Shape{1, 1, 3}, {2, 3, 1}, {9, 1, 4}, {31, 17, 3}}) {
      const Op pad = op(OpId::PAD, {40, 35, 3, 90}, {}, static_cast<int>(mode));
      add(&members, random, in, {pad});
      add(&members, random, in, {resize(8, 5), pad, op(OpId::VFLIP), resize(20, 30)});
    }
    check_bag(std::move(members), {kExactRewrites, 1, 8 << 10}, {});
  }
}

TEST_CASE("quarter turns and reductions, wherever they stand") {
  RandomProgram random(3);
  const Op blur = op(OpId::SHARPNESS, {}, {2.0});
  for (const uint32_t rewrites : {uint32_t{0}, uint32_t{kExactRewrites}}) {
    for (int turns = 1; turns <= 3; ++turns) {
      const Op turn = op(OpId::ROT90, {}, {}, turns);
      Members members;
      for (int channels = 1; channels <= 4; ++channels) {
        const Shape in{37, 52, channels};
        add(&members, random, in, {turn});
        add(&members, random, in, {turn, blur});
        add(&members, random, in, {blur, turn});
        add(&members, random, in, {blur, turn, blur});
        add(&members, random, in, {turn, resize(20, 30), turn, op(OpId::WINDOW, {3, 4, 9, 8})});
        add(&members, random, in, {op(OpId::HFLIP), turn, op(OpId::TO_FLOAT)});
        add(&members, random, {1, 40, channels}, {turn, blur});
      }
      check_bag(std::move(members), {rewrites, 1, 12 << 10}, {nullptr, rewrites});
    }
  }
  const Ops reductions = {op(OpId::CONTRAST, {}, {1.7}),       op(OpId::AUTOCONTRAST),       op(OpId::EQUALIZE),
                          op(OpId::TORCH_CONTRAST, {}, {0.4}), op(OpId::TORCH_AUTOCONTRAST), op(OpId::V2_AUTOCONTRAST),
                          op(OpId::V2_CONTRAST, {}, {0.4})};
  for (const Op& one : reductions) {
    Members members;
    for (int channels = 1; channels <= 4; ++channels) {
      const Shape in{45, 71, channels};
      add(&members, random, in, {one});
      add(&members, random, in, {one, blur});
      add(&members, random, in, {blur, one});
      add(&members, random, in, {op(OpId::VFLIP), one, op(OpId::TO_FLOAT)});
      add(&members, random, {1, 1, channels}, {one});
      for (const Op& other : reductions) {
        add(&members, random, in, {one, other});
        add(&members, random, in, {one, op(OpId::ROT90, {}, {}, 1), other, resize(13, 17), one});
      }
    }
    check_bag(std::move(members), {kExactRewrites, 1, 12 << 10}, {});
  }
}

// In fast mode a contrast by 0 ends in the mean itself.
TEST_CASE("means of so many pixels that their order matters") {
  RandomProgram random(31);
  const Op mean = op(OpId::TORCH_CONTRAST, {}, {0.0});
  const Op v2_mean = op(OpId::V2_CONTRAST, {}, {0.0});
  const Op half = op(OpId::TORCH_CONTRAST, {}, {0.5});
  const Op store = op(OpId::TO_FLOAT);
  const Ops programs[] = {{mean, store},
                          {half, mean, store},
                          {v2_mean, store},
                          {half, v2_mean, store},
                          {op(OpId::HFLIP), mean, store},
                          {op(OpId::VFLIP), mean, op(OpId::HFLIP), store},
                          {op(OpId::ROT90, {}, {}, 1), mean, store},
                          {op(OpId::WINDOW, {1, 3, 450, 461}), mean, store},
                          {resize(440, 463), mean, resize(40, 31), store},
                          {half, op(OpId::INVERT), op(OpId::TORCH_AUTOCONTRAST)}};
  test::Share share;
  for (const uint32_t rewrites : {uint32_t{0}, uint32_t{kExactRewrites}, uint32_t{kFastRewrites}}) {
    Members members;
    const auto add_some = [&](Shape shape, const Ops& program) {
      if (share.next()) add(&members, random, shape, program);
    };
    for (const Ops& program : programs) {
      for (const int channels : {1, 3}) add_some({457, 471, channels}, program);
    }
    add_some({1, 300'011, 3}, {mean, store});
    add_some({270'001, 1, 1}, {mean, store});
    if (members.empty()) continue;
    check_bag(std::move(members), {rewrites, 1, 12 << 10}, {kernels("scalar"), rewrites & ~uint32_t{kComposeTaps}});
  }
}

TEST_CASE("perspective maps whose positions are no numbers") {
  RandomProgram random(8);
  // 0 / 0 in the first column.
  const std::array<double, 8> map = {2, 0, -1, 0, 0, 0, -2, 0};
  CHECK(perspective_at(map.data(), 0, 5).x != perspective_at(map.data(), 0, 5).x);
  for (const uint32_t rewrites : {uint32_t{kExactRewrites}, uint32_t{kFastRewrites}}) {
    Members members;
    for (const Interpolation mode : {Interpolation::kNearest, Interpolation::kBilinear, Interpolation::kBicubic}) {
      for (int channels = 1; channels <= 4; ++channels) {
        Op warp = op(OpId::PERSPECTIVE, {12, 13}, map, static_cast<int>(mode));
        std::fill_n(warp.fill, kMaxChannels, uint8_t{77});
        add(&members, random, {20, 30, channels}, {warp});
        add(&members, random, {20, 30, channels}, {op(OpId::SHARPNESS, {}, {2}), warp, op(OpId::TO_FLOAT)});
      }
    }
    check_bag(std::move(members), {rewrites, 5000, 48 << 10}, {kernels("scalar"), rewrites});
  }
}

TEST_CASE("blurs, fused and not, where sums end at a half") {
  RandomProgram random(9);
  int different = 0;
  for (int repeats = 0; repeats < 10; ++repeats) {
    Members members;
    for (const int flags : {int{kSquare}, kSquare | kUnfused}) {
      // Tenths, of which every other sum of three products is a half off an integer, give or take a rounding.
      Op blur = op(OpId::BLUR, {3, 3}, {}, flags);
      const float half[] = {0.3f, 0.4f};
      std::memcpy(blur.f, half, sizeof(half));
      add(&members, random, {60, 70, 1}, {blur});
      add(&members, random, {60, 70, 3}, {op(OpId::HFLIP), blur, op(OpId::TO_FLOAT)});
      Op other = blur;
      other.flags ^= kUnfused;
      const View& view = members[members.size() - 2]->source.view();
      different += test::executed(Ops{blur}, view, 0) != test::executed(Ops{other}, view, 0);
    }
    check_bag(std::move(members), {}, {});
  }
  CHECK(different > 0);
}

TEST_CASE("boxes are erased where flips leave them") {
  RandomProgram random(4);
  Members members;
  const Op convert = op(OpId::TO_FLOAT);
  const Op normalize = op(OpId::NORMALIZE, {}, {0.5, 0.4, 0.3, 0.2, 0.2, 0.3, 0.25, 0.1});
  for (int flips = 0; flips < 4; ++flips) {
    for (int repeats = 0; repeats < 6; ++repeats) {
      Ops ops = {resize(50, 61)};
      if (flips % 2 != 0) ops.push_back(op(OpId::HFLIP));
      if (flips / 2 != 0) ops.push_back(op(OpId::VFLIP));
      ops.push_back(convert);
      if (repeats % 2 != 0) ops.push_back(normalize);
      ops.push_back(op(OpId::ERASE, {3, 40, 20, 21}, {0.1, 0.2, 0.3, 0.4}));
      ops.push_back(op(OpId::ERASE, {0, 0, 1, 61}, {-1, -2, -3, -4}));
      ops.push_back(op(OpId::ERASE, {10, 30, 20, 15}, {7, 8, 9, 10}));
      add(&members, random, {40, 33, 1 + repeats % 4}, ops);
    }
  }
  check_bag(std::move(members), {}, {});
}

TEST_CASE("nearest affine maps: in fixed point, by accumulation along each axis, and those that no device does") {
  RandomProgram random(5);
  Members members;
  const Op fixed = affine(60, 70, {0.8, 0.6, -20, -0.6, 0.8, 25}, Interpolation::kNearest);
  const Op scaled = affine(55, 66, {0.371, 0, -3.3, 0, -1.9, 60.2}, Interpolation::kNearest);
  const Op scaled_far = affine(20, 30, {3001.7, 0, -40000, 0, 1e9, 0}, Interpolation::kNearest);
  for (int channels = 1; channels <= 4; ++channels) {
    const Shape in{50, 64, channels};
    for (const Op& map : {fixed, scaled, scaled_far}) {
      add(&members, random, in, {map});
      add(&members, random, in,
          {op(OpId::INVERT), map, op(OpId::WINDOW, {7, 9, 11, 12}), op(OpId::SHARPNESS, {}, {2})});
      add(&members, random, in, {map, map, op(OpId::TO_FLOAT)});
    }
  }
  const size_t all = members.size();
  const Op accumulated = affine(60, 70, {0.8, 40000, -20, -0.6, 0.8, 25}, Interpolation::kNearest);
  add(&members, random, {50, 64, 3}, {accumulated});
  add(&members, random, {50, 64, 3}, {op(OpId::INVERT), accumulated, op(OpId::HFLIP)});
  REQUIRE(nearest_route(accumulated.f, 60, 70) == NearestRoute::kAccumulate);
  const Bag bag = bag_of(&members, {});
  CHECK(members.size() == all);
  check_bag(std::move(members), {kExactRewrites, 5000, 8 << 10}, {});
}

TEST_CASE("what is the host's is not taken") {
  std::vector<uint8_t> pixels(size_t{8} * 8 * 4);
  test::Buffer result({8, 8, 3}, false, 2);
  const Ops blur = {op(OpId::BOX_BLUR, {3}, {1.5, 2.5})};
  CHECK_FALSE(Bag({}).add({blur, {view_of(pixels, {8, 8, 3}, 1)}, result.target}));
  const Ops jpeg = {op(OpId::HFLIP), op(OpId::JPEG, {50})};
  CHECK_FALSE(Bag({}).add({jpeg, {view_of(pixels, {8, 8, 3}, 1)}, result.target}));
}

TEST_CASE("what a device does not do is not taken, and too little shared memory is an error") {
  std::vector<uint8_t> pixels(size_t{8} * 8 * 4);
  const View view = view_of(pixels, {8, 8, 3}, 1);
  test::Buffer result({8, 8, 3}, false, 2);
  Target gaps = result.target;
  gaps.fill_gaps = true;
  CHECK_FALSE(Bag({}).add({{}, {view}, gaps}));
  const View gray = view_of(pixels, {8, 8, 2}, 1);
  test::Buffer pillow({8, 8, 4}, false, 1);
  CHECK_FALSE(Bag({}).add({{}, {gray}, pillow.target}));
  const Ops equalize = {op(OpId::EQUALIZE)};
  CHECK(Bag({}).add({equalize, {view}, result.target}));
  std::string said;
  try {
    Bag({kExactRewrites, 1, 4 << 10}).add({equalize, {view}, result.target});
  } catch (const Error& error) {
    said = error.what();
  }
  CHECK(said.find("shared_bytes 4096") != std::string::npos);
  test::Buffer small({3, 8, 3}, false, 1);
  CHECK_THROWS_AS(Bag({}).add({{}, {view}, small.target}), Error);
}

TEST_CASE("nothing is read of an image but what is said to be needed") {
  int64_t needed = 0;
  int64_t all = 0;
  for (uint64_t seed = 0; seed < test::cases(800u); ++seed) {
    INFO("seed ", seed);
    RandomProgram random(seed);
    const Shape in{random.side(), random.side(), random.integer(1, 4)};
    const Ops program = random(in, random.integer(0, 6), random.chance(0.2));
    const uint32_t rewrites = random_rewrites(random);
    Members members;
    add(&members, random, in, program);
    const View& view = members[0]->source.view();
    const Region r = cuda::needed_region(program, in, rewrites);
    REQUIRE(r.y >= 0);
    REQUIRE(r.x >= 0);
    REQUIRE(r.y + r.height <= in.height);
    REQUIRE(r.x + r.width <= in.width);
    const Bag bag = bag_of(&members, {rewrites, 1, 8u << random.integer(10, 13)});
    if (members.empty()) continue;
    execute_all(members, {nullptr, rewrites});
    for (int y = 0; y < in.height; ++y) {
      for (int x = 0; x < in.width; ++x) {
        if (y >= r.y && y < r.y + r.height && x >= r.x && x < r.x + r.width) continue;
        for (int c = 0; c < in.channels; ++c) *const_cast<uint8_t*>(view.at(y, x, c)) ^= 0x5A;
      }
    }
    cuda::emulate(bag, cuda::kForwards);
    const Member* wrong = first_difference(members);
    INFO("needed ", r.y, " ", r.x, " ", r.height, " ", r.width, "\n", wrong == nullptr ? "" : difference(*wrong));
    REQUIRE(wrong == nullptr);
    needed += area(r);
    all += int64_t{in.height} * in.width;
  }
  CHECK(needed * 10 < all * 9);
}

TEST_CASE("a bag without images, and waves") {
  Bag none({});
  none.finish();
  CHECK(none.launches().empty());
  CHECK(none.waves() == 0);
  cuda::emulate(none, cuda::kForwards);
  RandomProgram random(7);
  for (const int64_t bytes : {int64_t{1}, int64_t{1} << 30}) {
    Members members;
    for (int k = 0; k < 5; ++k) add(&members, random, {30, 40, 3}, {resize(10, 10)});
    const Bag bag = bag_of(&members, {kExactRewrites, bytes, 48 << 10});
    CHECK(bag.waves() == (bytes == 1 ? 5 : 1));
    CHECK(bag.launches().size() == 2 * bag.waves());
    check_bag(std::move(members), {kExactRewrites, bytes, 48 << 10}, {});
  }
}
