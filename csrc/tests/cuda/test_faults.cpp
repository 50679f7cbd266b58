// Faults that are planted into a bag while it runs: the comparison of test_bag.cpp finds every one of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "cuda/prepare.h"
#include "cuda/tile.h"
#include "tests/cuda/bags.h"

using namespace fastaug;
using fastaug::cuda::Bag;
using fastaug::cuda::Launch;
using fastaug::cuda::Part;
using fastaug::test::bag_of;
using fastaug::test::execute_all;
using fastaug::test::first_difference;
using fastaug::test::Member;
using fastaug::test::Members;
using fastaug::test::RandomProgram;

namespace {

using Ops = std::vector<Op>;

Op op(OpId id, std::vector<int> i = {}, std::vector<double> f = {}, int flags = 0) {
  Op made{};
  made.id = id;
  made.flags = static_cast<uint16_t>(flags);
  std::copy(i.begin(), i.end(), made.i);
  std::copy(f.begin(), f.end(), made.f);
  return made;
}

// A blob and a scratch of one's own, so that both can be changed before a launch.
class Device {
 public:
  explicit Device(const Bag& bag)
      : bag_(bag),
        blob_((bag.blob().size() + 15) / 16),
        scratch_((static_cast<size_t>(bag.scratch_bytes()) + 255) / 256) {
    std::copy(bag.blob().begin(), bag.blob().end(), blob());
    std::memset(scratch(), 0xA5, scratch_.size() * sizeof(Line));
  }

  uint8_t* blob() { return reinterpret_cast<uint8_t*>(blob_.data()); }
  uint8_t* scratch() { return reinterpret_cast<uint8_t*>(scratch_.data()); }
  const std::vector<Launch>& launches() const { return bag_.launches(); }

  // Part `number` of a launch of tiles.
  Part& part(const Launch& launch, int number = 0) { return at<Part>(at<cuda::Entry>(launch.offset, number).part); }
  cuda::Step& step(const Part& part, int number) { return at<cuda::Step>(part.step, number); }
  cuda::Colour& colour(const Part& part, int number) { return at<cuda::Colour>(part.colour, number); }
  template <class T>
  T& at(uint32_t offset, int number = 0) {
    return reinterpret_cast<T*>(blob() + offset)[number];
  }
  template <class T>
  T& made(uint32_t offset, int number = 0) {
    return reinterpret_cast<T*>(scratch() + offset)[number];
  }

 private:
  struct alignas(16) Word {
    uint8_t bytes[16];
  };
  struct alignas(256) Line {
    uint8_t bytes[256];
  };
  const Bag& bag_;
  std::vector<Word> blob_;
  std::vector<Line> scratch_;
};

// Something that is done to a device before a launch of tiles; true where it found what it is for.
using Fault = std::function<bool(Device&, const Launch&)>;

// True if a bag of one image tells a run with a fault, planted before the first launch that has what it needs, from one
// without. The fault is planted once.
bool is_found(const Ops& program, Shape in, const Fault& fault) {
  RandomProgram random(11);
  Members members;
  // Noise everywhere: in a flat image faults do not show.
  while (members.empty()) {
    members.push_back(std::make_unique<Member>(random, in, program));
    const View& view = members[0]->source.view();
    bool noisy = false;
    for (int x = 0; x < view.width; ++x) noisy |= *view.at(0, x, 0) % 255 != 0 && *view.at(0, x, 0) != 128;
    if (!noisy) members.clear();
  }
  const Bag bag = bag_of(&members, {});
  REQUIRE(members.size() == 1);
  execute_all(members, {});
  const auto run = [&](const Fault& planted) {
    members[0]->got.clear();
    Device device(bag);
    bool is_planted = false;
    for (const Launch& launch : device.launches()) {
      if (launch.kernel >= 0 && !is_planted) is_planted = planted(device, launch);
      cuda::emulate(launch, device.blob(), device.scratch(), cuda::kForwards);
    }
    REQUIRE(is_planted);
    return first_difference(members) != nullptr;
  };
  REQUIRE_FALSE(run([](Device&, const Launch&) { return true; }));
  return run(fault);
}

// The first step of a kind.
Fault in_step(int kind, std::function<void(Device&, Part&, cuda::Step&)> change) {
  return [=](Device& device, const Launch& launch) {
    Part& part = device.part(launch);
    for (int k = 0; k < part.steps; ++k) {
      if (device.step(part, k).kind != kind) continue;
      change(device, part, device.step(part, k));
      return true;
    }
    return false;
  };
}

Fault in_part(std::function<bool(Device&, Part&)> change) {
  return [=](Device& device, const Launch& launch) { return change(device, device.part(launch)); };
}

Fault in_last(std::function<void(Device&, Part&)> change) {
  return in_part([=](Device& device, Part& part) {
    if (part.end != cuda::kStore) return false;
    change(device, part);
    return true;
  });
}

const Op kSmaller = op(OpId::RESIZE, {40, 50}, {}, static_cast<int>(Filter::kBicubic));
const Op kSharper = op(OpId::SHARPNESS, {}, {2.0});
const Op kNearer = op(OpId::NEAREST, {33, 44}, {}, static_cast<int>(NearestRule::kPillow));
const Op kConverted = op(OpId::TO_FLOAT);
const Op kNormalized = op(OpId::NORMALIZE, {}, {0.5, 0.4, 0.3, 0.2, 0.2, 0.3, 0.25, 0.1});
const Op kRotated =
    op(OpId::AFFINE, {60, 70}, {0.8, 0.6, -20, -0.6, 0.8, 25}, static_cast<int>(Interpolation::kBilinear));
constexpr Shape kImage{75, 90, 3};

// A block whose threads do not wait for one another, or of which one is missing.
struct Threads {
  int missing = -1;
  bool wait = true;
};

// True if a launch by hand gives other pixels than the executor.
bool is_found(const Ops& program, Threads threads) {
  RandomProgram random(12);
  Members members;
  members.push_back(std::make_unique<Member>(random, kImage, program));
  const Bag bag = bag_of(&members, {});
  execute_all(members, {});
  Device device(bag);
  for (const Launch& launch : bag.launches()) {
    if (launch.kernel < 0) {
      cuda::emulate(launch, device.blob(), device.scratch(), cuda::kForwards);
      continue;
    }
    const Part& part = device.part(launch);
    REQUIRE(launch.count == 1);
    for (int block = 0; block < launch.blocks; ++block) {
      std::vector<uint64_t> shared(part.shared / 8 + 1);
      cuda::Tile<cuda::Anything> tile(device.blob(), device.scratch(), part, block,
                                      reinterpret_cast<uint8_t*>(shared.data()));
      const int phases = tile.phases();
      for (int k = 0; k < phases * cuda::kThreads; ++k) {
        const int phase = threads.wait ? k / cuda::kThreads : k % phases;
        const int thread = threads.wait ? k % cuda::kThreads : k / phases;
        if (thread != threads.missing) tile.run(phase, thread, cuda::kThreads);
      }
    }
  }
  return first_difference(members) != nullptr;
}

}  // namespace

TEST_CASE("a wrong number in the blob is found") {
  const Ops filter = {kSmaller};
  for (const int kind : {int{cuda::kAcross}, int{cuda::kDown}}) {
    INFO("step ", kind);
    CHECK(is_found(filter, kImage, in_step(kind, [](Device&, Part&, cuda::Step& s) { s.weights += 4; })));
    CHECK(is_found(filter, kImage, in_step(kind, [](Device&, Part&, cuda::Step& s) { ++s.bits; })));
  }
  CHECK(is_found(filter, kImage, in_step(cuda::kAcross, [](Device& device, Part&, cuda::Step& s) {
                   ++device.made<TapRange>(s.columns, 3).first;
                 })));
  CHECK(is_found(filter, kImage, in_step(cuda::kDown, [](Device& device, Part&, cuda::Step& s) {
                   ++device.made<TapRange>(s.rows, 3).first;
                 })));
  CHECK(is_found({kSharper}, kImage, in_step(cuda::kSharpen, [](Device&, Part&, cuda::Step& s) { s.op.f[0] = 1.99; })));
  CHECK(is_found({kSharper}, kImage, in_step(cuda::kSharpen, [](Device&, Part&, cuda::Step& s) { --s.in_width; })));
  CHECK(is_found({op(OpId::WINDOW, {-2, -3, 80, 85}), kSharper}, kImage,
                 in_step(cuda::kTake, [](Device&, Part&, cuda::Step& s) { s.op.fill[1] ^= 1; })));
  CHECK(is_found({kSmaller}, kImage, in_last([](Device&, Part& p) { ++p.from.address; })));
  CHECK(is_found({kSmaller}, kImage, in_last([](Device&, Part& p) { --p.to.address; })));
  CHECK(is_found({kSmaller}, kImage, in_last([](Device&, Part& p) { p.row_extents += sizeof(Extent); })));
  CHECK(is_found({kRotated}, kImage, in_last([](Device&, Part& p) { p.warp.f[2] += 0.01; })));
  CHECK(is_found({kRotated}, kImage, in_last([](Device&, Part& p) { p.warp.fill[2] ^= 1; })));
  CHECK(is_found({kRotated}, kImage, in_last([](Device&, Part& p) { p.source = cuda::kAffineCubic; })));
  CHECK(is_found({kConverted}, kImage, in_last([](Device&, Part& p) { p.form[1] = store_form(true, 0.0f, 0.999f); })));
  CHECK(is_found({kConverted, kNormalized}, kImage, in_last([](Device&, Part& p) { p.form[2] = p.form[0]; })));
  CHECK(is_found({op(OpId::BRIGHTNESS, {}, {1.3})}, kImage,
                 in_last([](Device& device, Part& p) { device.colour(p, 0).op.f[0] = 1.29; })));
  CHECK(is_found({kConverted, op(OpId::ERASE, {5, 6, 7, 8}, {1, 2, 3})}, kImage,
                 in_last([](Device& device, Part& p) { ++device.at<cuda::Erased>(p.erase).region.x; })));
  CHECK(is_found({op(OpId::HUE, {40}, {40.0 / 256}), op(OpId::SATURATION, {}, {0.3})}, kImage,
                 in_last([](Device& device, Part& p) { std::swap(device.colour(p, 0), device.colour(p, 1)); })));
}

TEST_CASE("a wrong table in the scratch is found") {
  // The centre of a filter that is off by 1 in 500 of its weight: a rounding.
  const auto off = [](Device& device, Part&, cuda::Step& s) {
    device.made<int32_t>(s.weights) += 1 << (kWeightBits - 9);
  };
  CHECK(is_found({kSmaller}, kImage, in_step(cuda::kAcross, off)));
  CHECK(is_found({kSmaller}, kImage, in_step(cuda::kDown, off)));
  CHECK(is_found({kNearer}, kImage, in_step(cuda::kTake, [](Device& device, Part&, cuda::Step& s) {
                   ++device.made<int32_t>(s.rows, 5);
                 })));
  CHECK(is_found({kNearer}, kImage, in_step(cuda::kTake, [](Device& device, Part&, cuda::Step& s) {
                   device.made<int32_t>(s.columns, 7) = -1;
                 })));
  // A tile that ends a row too early leaves that row as it was.
  CHECK(is_found({kSmaller}, kImage, in_last([](Device& device, Part& p) {
                   --device.made<Extent>(p.row_extents, p.steps * p.tiles_y).end;
                 })));
  CHECK(is_found({op(OpId::GAMMA, {}, {2.2, 1.0}), kSharper}, kImage, in_last([](Device& device, Part& p) {
                   uint8_t* table = &device.made<uint8_t>(device.colour(p, 0).table);
                   for (int v = 0; v < 256; v += 8) ++table[v];
                 })));
}

TEST_CASE("wrong statistics are found") {
  const auto counted = [](std::function<void(cuda::Counts&)> change) {
    return in_part([=](Device& device, Part& p) {
      if (p.counted == cuda::kNowhere) return false;
      change(device.made<cuda::Counts>(p.counted));
      return true;
    });
  };
  // The mean is rounded, so that less than a whole level may vanish.
  const auto sum = counted([](cuda::Counts& c) { c.sum += uint64_t{75} * 90 * 2; });
  CHECK(is_found({op(OpId::CONTRAST, {}, {0.4})}, kImage, sum));
  CHECK(is_found({op(OpId::TORCH_CONTRAST, {}, {0.4})}, kImage, sum));
  CHECK(is_found({op(OpId::V2_CONTRAST, {}, {0.4})}, kImage, sum));
  // Tables are made of the others in a launch of their own, before the part that needs them.
  const auto before = [](std::function<void(cuda::Counts&)> change) {
    return [=](Device& device, const Launch& launch) {
      Part& part = device.part(launch);
      if (part.statistics == cuda::kNoStatistics) return false;
      change(device.made<cuda::Counts>(part.counts));
      return true;
    };
  };
  const Op smaller = op(OpId::POSTERIZE, {3});  // to see an extreme that no sample has
  CHECK(is_found({smaller, op(OpId::AUTOCONTRAST)}, kImage, before([](cuda::Counts& c) { c.high[1] = 250; })));
  CHECK(is_found({op(OpId::EQUALIZE)}, kImage, before([](cuda::Counts& c) { c.count[0][100] += 3000; })));
}

TEST_CASE("a thread that is missing, or does not wait, is found") {
  const Ops program = {kSmaller, kSharper};
  CHECK_FALSE(is_found(program, Threads{}));
  for (const int thread : {0, 17, 255}) CHECK(is_found(program, Threads{thread, true}));
  CHECK(is_found(program, Threads{-1, false}));
}
