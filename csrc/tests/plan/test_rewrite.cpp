// Rewrites of programs: each by itself and all together keep every bit, and each does what it is there for.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "plan/rewrite.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::bare;
using fastaug::test::executed;
using fastaug::test::expected;
using fastaug::test::RandomProgram;
using fastaug::test::same_ops;
using fastaug::test::steps_of;
using fastaug::test::view_of;

namespace {

using Ops = std::vector<Op>;

Op op(OpId id, std::initializer_list<int> integers = {}, int flags = 0) {
  Op result{};
  result.id = id;
  result.flags = static_cast<uint16_t>(flags);
  std::copy(integers.begin(), integers.end(), result.i);
  return result;
}

Op factor(OpId id, double value) {
  Op result = op(id);
  result.f[0] = value;
  return result;
}

Op window(int top, int left, int height, int width, int fill = 0) {
  Op result = op(OpId::WINDOW, {top, left, height, width});
  std::fill_n(result.fill, kMaxChannels, static_cast<uint8_t>(fill));
  return result;
}

Op affine(int height, int width, double right, double down, int flags = 0) {
  Op result = op(OpId::AFFINE, {height, width}, flags);
  result.f[0] = result.f[4] = 1.0;
  result.f[2] = right;
  result.f[5] = down;
  return result;
}

const Op kHflip = op(OpId::HFLIP);
const Op kVflip = op(OpId::VFLIP);
const Op kLuma = op(OpId::LUMA);

std::string rewritten(const Ops& program, Shape shape, uint32_t rewrites) {
  return to_string(bare(optimise(program, shape, rewrites)));
}

std::vector<uint8_t> ramp(Shape shape) {
  std::vector<uint8_t> pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
  for (size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<uint8_t>(37 * k + 11);
  return pixels;
}

// A rewrite, and what chains of ops give it something to do.
struct Trigger {
  uint32_t bit;
  int (*apply)(OpList&, Shape);
  std::vector<OpId> likely;
};

const std::vector<Trigger>& triggers() {
  using enum OpId;
  static const std::vector<Trigger> all = {
      {kDropNoOps, drop_no_ops, {HFLIP, VFLIP, GAMMA, POSTERIZE, BRIGHTNESS, RESIZE, TORCH_RESIZE, SOLARIZE}},
      {kMergeWindows, merge_windows, {WINDOW}},
      {kSinkFlips, sink_flips, {HFLIP, VFLIP, ROT90, WINDOW, PAD, SHARPNESS, RESIZE, TORCH_RESIZE, CONTRAST, EQUALIZE}},
      {kMergeTurns, merge_turns, {HFLIP, VFLIP, ROT90}},
      {kHoistWindows, hoist_windows, {WINDOW, PAD, ROT90, HUE, BRIGHTNESS, HFLIP}},
      {kStraightenWarps, straighten_warps, {AFFINE, TORCH_AFFINE}},
      {kMergeColours, merge_colours, {INVERT, SOLARIZE, POSTERIZE, LUMA, REPLICATE, SATURATION, HUE}},
      {kSinkReplicas, sink_replicas, {LUMA, REPLICATE, BLUR, SHARPNESS, TORCH_CONTRAST, WINDOW, AFFINE, HFLIP, RESIZE}},
      {kShrinkPointwise, shrink_pointwise, {NEAREST, ROT90, LUMA, BRIGHTNESS, INVERT, SATURATION}},
  };
  return all;
}

}  // namespace

TEST_CASE("each rewrite alone keeps every bit, ends, and has something to do") {
  const int programs = test::cases(1500);
  for (const Trigger& trigger : triggers()) {
    int fired = 0;
    for (uint64_t seed = 0; seed < static_cast<uint64_t>(programs); ++seed) {
      RandomProgram random(seed * 64 + trigger.bit, 40);
      const Shape shape{random.side(), random.side(), std::max(random.integer(-1, 4), 1)};
      const Ops program = random(shape, random.integer(2, 8), trigger.likely);
      const Ops before = bare(optimise(program, shape, 0));
      const Ops after = bare(optimise(program, shape, trigger.bit));
      OpList again = steps_of(after);
      CHECK(trigger.apply(again, shape) == 0);
      CHECK(same_ops(bare(again), after));
      fired += same_ops(before, after) ? 0 : 1;
      auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
      const View view = view_of(pixels, shape, random.integer(0, 3));
      INFO("rewrite ", trigger.bit, ", seed ", seed, ", image ", shape.height, "x", shape.width, "x", shape.channels,
           "\n", to_string(program), "became\n", to_string(after));
      const auto wanted = expected(program, view);
      REQUIRE(expected(after, view) == wanted);
      REQUIRE(executed(program, view, trigger.bit) == wanted);
    }
    INFO("rewrite ", trigger.bit);
    CHECK(fired > programs / 10);
  }
}

TEST_CASE("all rewrites together keep every bit") {
  for (uint64_t seed = 0; seed < test::cases(6000u); ++seed) {
    RandomProgram random(seed * 7 + 3, seed % 2 == 0 ? 40 : 6);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const Trigger& trigger = triggers()[seed % triggers().size()];
    const int length = random.integer(0, 10);
    const Ops program = random.chance(0.5) ? random(shape, length) : random(shape, length, trigger.likely);
    const Ops after = bare(optimise(program, shape));
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    INFO("seed ", seed, ", image ", shape.height, "x", shape.width, "x", shape.channels, "\n", to_string(program),
         "became\n", to_string(after));
    const auto wanted = expected(program, view);
    REQUIRE(expected(after, view) == wanted);
    REQUIRE(executed(program, view, kExactRewrites) == wanted);
  }
}

TEST_CASE("any set of rewrites ends, and does nothing more the second time") {
  for (uint64_t seed = 0; seed < test::cases(40000u); ++seed) {
    RandomProgram random(seed, 40);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const Trigger& trigger = triggers()[seed % triggers().size()];
    const Ops program = random(shape, random.integer(0, 25), trigger.likely);
    const uint32_t rewrites =
        random.chance(0.3) ? uint32_t{kExactRewrites} : static_cast<uint32_t>(random.integer(0, kExactRewrites));
    const OpList once = optimise(program, shape, rewrites);
    INFO("seed ", seed, ", rewrites ", rewrites, "\n", to_string(program), "became\n", to_string(bare(once)));
    REQUIRE(same_ops(bare(optimise(bare(once), shape, rewrites)), bare(once)));
    REQUIRE(validate(bare(once), shape) == validate(program, shape));
    // Half turns that stay are two flips.
    const auto half_turns = std::count_if(program.begin(), program.end(),
                                          [](const Op& op) { return op.id == OpId::ROT90 && op.flags == 2; });
    CHECK(once.size() <= program.size() + static_cast<size_t>(half_turns));
    const uint64_t all = (uint64_t{1} << program.size()) - 1;
    for (const Step& step : once) REQUIRE((step.origin != 0 && (step.origin & ~all) == 0));
  }
}

TEST_CASE("every rewrite has a name and a bit of its own") {
  uint32_t seen = 0;
  for (const NamedRewrite& rewrite : named_rewrites()) {
    CHECK((seen & rewrite.bit) == 0);
    CHECK(std::string(rewrite.name).find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
    seen |= rewrite.bit;
  }
  CHECK(seen == kFastRewrites);
}

TEST_CASE("what does nothing goes away") {
  const Shape shape{6, 8, 3};
  const Ops nothing = {window(0, 0, 6, 8),
                       op(OpId::PAD),
                       op(OpId::RESIZE, {6, 8}, 2),
                       op(OpId::NEAREST, {6, 8}),
                       factor(OpId::BRIGHTNESS, 1),
                       factor(OpId::CONTRAST, 1),
                       factor(OpId::SATURATION, 1),
                       factor(OpId::SHARPNESS, 1),
                       op(OpId::POSTERIZE, {8}),
                       factor(OpId::SOLARIZE, 256),
                       Op{OpId::GAMMA, 0, {}, {}, {1.0, 1.0}},
                       kHflip,
                       kHflip};
  CHECK(rewritten(nothing, shape, kDropNoOps).empty());
  CHECK(rewritten({factor(OpId::SOLARIZE, 255)}, shape, kDropNoOps) == "SOLARIZE 255\n");
  const Shape all{16, 16, 1};
  std::vector<uint8_t> pixels(256 * 4);
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  for (const Op& each : nothing) {
    if (kind_of(each.id) != OpKind::kPointwise || each.id == OpId::SATURATION) continue;
    const View view = view_of(pixels, all, 0);
    CHECK(expected(Ops{each}, view) == expected({}, view));
  }
  CHECK(rewritten({op(OpId::REPLICATE, {1})}, {4, 4, 1}, kDropNoOps).empty());
}

TEST_CASE("windows of windows") {
  const Shape shape{6, 8, 3};
  CHECK(rewritten({window(1, 2, 4, 4), window(1, 1, 2, 2)}, shape, kMergeWindows) == "WINDOW top=2 left=3 2x2\n");
  // The padding around what the first shows has its colour, and cuts off no pixel.
  CHECK(rewritten({window(-1, -1, 8, 10, 5), window(-1, -1, 10, 12, 5)}, shape, kMergeWindows) ==
        "WINDOW top=-2 left=-2 10x12\n");
  CHECK(optimise(Ops{window(-1, -1, 8, 10, 5), window(-1, -1, 10, 12, 6)}, shape, kMergeWindows).size() == 2);
  CHECK(optimise(Ops{window(1, 0, 5, 8, 5), window(-1, 0, 6, 8, 5)}, shape, kMergeWindows).size() == 2);
  // Each colour alone: the first fills nothing, or the second does not.
  OpList merged = optimise(Ops{window(0, 0, 6, 8, 5), window(-1, 0, 7, 8, 6)}, shape, kMergeWindows);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].fill[0] == 6);
  CHECK(merged[0].origin == 3);
  merged = optimise(Ops{window(-3, 0, 9, 8, 5), window(1, 2, 7, 6, 6)}, shape, kMergeWindows);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].fill[0] == 5);
  // Too far away for one window.
  const int far = 1 << 29;
  CHECK(optimise(Ops{window(far, 0, 2, 2), window(far, 0, 2, 2)}, shape, kMergeWindows).size() == 2);
}

TEST_CASE("windows of windows, all small ones") {
  const Shape shape{2, 3, 1};
  auto pixels = ramp(shape);
  const View view = view_of(pixels, shape, 0);
  int merged = 0;
  int kept = 0;
  for (int code = 0; code < 4 * 3 * 5 * 3 * 4 * 3; ++code) {
    int rest = code;
    const auto next = [&](int low, int count) {
      const int value = low + rest % count;
      rest /= count;
      return value;
    };
    const Op first = window(next(-1, 4), next(-1, 3), next(1, 3), 2, 7);
    for (const int fill : {7, 9}) {
      const int keep = rest;
      for (int left = -2; left <= 2; ++left) {
        for (int height = 1; height <= 3; ++height) {
          rest = keep;
          const Op second = window(next(-2, 5), left, height, next(1, 4), fill);
          const Ops program = {first, second};
          const Ops after = bare(optimise(program, shape, kMergeWindows));
          ++(after.size() == 1 ? merged : kept);
          INFO(to_string(program), "became\n", to_string(after));
          REQUIRE(expected(after, view) == expected(program, view));
          if (after.size() == 1) continue;
          // One window would have to show the same pixels of the image in the same place.
          for (const int colour : {7, 9}) {
            const Op both = window(first.i[0] + second.i[0], first.i[1] + left, height, second.i[3], colour);
            CHECK(expected(Ops{both}, view) != expected(program, view));
          }
        }
      }
    }
  }
  CHECK(merged > 1000);
  CHECK(kept > 1000);
}

TEST_CASE("flips move to the end") {
  const Shape shape{6, 8, 3};
  CHECK(rewritten({kHflip, window(1, 2, 3, 4)}, shape, kSinkFlips) == "WINDOW top=1 left=2 3x4\nHFLIP\n");
  CHECK(rewritten({kVflip, window(1, 2, 3, 4)}, shape, kSinkFlips) == "WINDOW top=2 left=2 3x4\nVFLIP\n");
  CHECK(rewritten({kHflip, op(OpId::PAD, {1, 2, 3, 4}, 1)}, shape, kSinkFlips) ==
        "PAD left=3 top=2 right=1 bottom=4 reflect\nHFLIP\n");
  CHECK(rewritten({kVflip, op(OpId::PAD, {1, 2, 3, 4}, 1)}, shape, kSinkFlips) ==
        "PAD left=1 top=4 right=3 bottom=2 reflect\nVFLIP\n");
  CHECK(rewritten({kHflip, op(OpId::ROT90, {}, 1)}, shape, kSinkFlips) == "ROT90 90\nVFLIP\n");
  CHECK(rewritten({kHflip, factor(OpId::SHARPNESS, 0.5)}, shape, kSinkFlips) == "SHARPNESS 0.5\nHFLIP\n");
  CHECK(rewritten({kHflip, op(OpId::RESIZE, {3, 8}, 2)}, shape, kSinkFlips) == "RESIZE 3x8 bilinear\nHFLIP\n");
  CHECK(rewritten({kHflip, op(OpId::TORCH_RESIZE, {3, 8}, 2)}, shape, kSinkFlips) ==
        "TORCH_RESIZE 3x8 bilinear\nHFLIP\n");
  CHECK(rewritten({kVflip, op(OpId::RESIZE, {3, 8}, 2)}, shape, kSinkFlips) == "VFLIP\nRESIZE 3x8 bilinear\n");
  CHECK(rewritten({kVflip, op(OpId::NEAREST, {6, 4})}, shape, kSinkFlips) == "NEAREST 6x4 pillow\nVFLIP\n");
  CHECK(rewritten({kVflip, kHflip, factor(OpId::CONTRAST, 2), op(OpId::TO_FLOAT)}, shape, kSinkFlips) ==
        "CONTRAST 2\nHFLIP\nVFLIP\nTO_FLOAT\n");
}

TEST_CASE("turns and flips, all words of up to five") {
  const Shape shape{3, 5, 1};
  auto pixels = ramp(shape);
  const View view = view_of(pixels, shape, 0);
  const Op letters[] = {kHflip, kVflip, op(OpId::ROT90, {}, 1), op(OpId::ROT90, {}, 2), op(OpId::ROT90, {}, 3)};
  for (int length = 1; length <= 5; ++length) {
    for (int code = 0; code < static_cast<int>(std::pow(5, length)); ++code) {
      Ops program;
      for (int k = 0, rest = code; k < length; ++k, rest /= 5) program.push_back(letters[rest % 5]);
      const OpList after = optimise(program, shape, kMergeTurns);
      INFO(to_string(program), "became\n", to_string(bare(after)));
      CHECK(after.size() <= 2);
      int turns = 0;
      for (const Op& each : after) turns += each.id == OpId::ROT90 ? 1 : 0;
      CHECK(turns <= 1);
      if (turns == 1 && after.size() == 2) CHECK(after[1].id == OpId::VFLIP);
      REQUIRE(expected(bare(after), view) == expected(program, view));
    }
  }
}

TEST_CASE("a run of turns stands for all of its ops") {
  const OpList after =
      optimise(Ops{op(OpId::ROT90, {}, 1), kHflip, op(OpId::ROT90, {}, 1), kVflip, kVflip}, {3, 5, 1}, kMergeTurns);
  REQUIRE(after.size() == 1);
  CHECK(after[0].id == OpId::HFLIP);
  CHECK(after[0].origin == 31);
}

TEST_CASE("windows inside move to the front") {
  const Shape shape{6, 8, 3};
  CHECK(rewritten({factor(OpId::BRIGHTNESS, 2), op(OpId::HUE, {9}), window(1, 2, 3, 4)}, shape, kHoistWindows) ==
        "WINDOW top=1 left=2 3x4\nBRIGHTNESS 2\nHUE 9\n");
  CHECK(rewritten({kHflip, window(1, 2, 3, 5)}, shape, kHoistWindows) == "WINDOW top=1 left=1 3x5\nHFLIP\n");
  CHECK(rewritten({op(OpId::ROT90, {}, 1), window(1, 2, 3, 4)}, shape, kHoistWindows) ==
        "WINDOW top=2 left=4 4x3\nROT90 90\n");
  CHECK(rewritten({op(OpId::ROT90, {}, 3), window(1, 2, 4, 3)}, shape, kHoistWindows) ==
        "WINDOW top=1 left=1 3x4\nROT90 270\n");
  // Statistics need the whole image, and a window that reaches outside stays.
  CHECK(rewritten({factor(OpId::CONTRAST, 2), window(1, 2, 3, 4)}, shape, kHoistWindows) ==
        "CONTRAST 2\nWINDOW top=1 left=2 3x4\n");
  CHECK(rewritten({factor(OpId::BRIGHTNESS, 2), window(-1, 2, 3, 4)}, shape, kHoistWindows) ==
        "BRIGHTNESS 2\nWINDOW top=-1 left=2 3x4\n");
  // A random crop of a padded image: what is left of the padding is what shows.
  const Op pad = op(OpId::PAD, {4, 4, 4, 4}, static_cast<int>(PadMode::kReflect));
  CHECK(rewritten({pad, window(4, 4, 6, 8)}, shape, kHoistWindows | kDropNoOps).empty());
  CHECK(rewritten({pad, window(5, 2, 6, 8)}, shape, kHoistWindows) ==
        "WINDOW top=1 left=0 5x6\nPAD left=2 top=0 right=0 bottom=1 reflect\n");
  // The padding below mirrors rows that the window does not show.
  const Op far = op(OpId::PAD, {0, 0, 0, 4}, static_cast<int>(PadMode::kReflect));
  CHECK(rewritten({far, window(4, 0, 6, 8)}, shape, kHoistWindows) ==
        "PAD left=0 top=0 right=0 bottom=4 reflect\nWINDOW top=4 left=0 6x8\n");
}

TEST_CASE("windows of paddings, all small ones") {
  int hoisted = 0;
  int trimmed = 0;
  for (int mode = 0; mode < 3; ++mode) {
    for (int side = 1; side <= 4; ++side) {
      for (int before = 0; before <= 5; ++before) {
        for (int after = 0; after <= 5; ++after) {
          const Shape shape{side, 2, 1};
          auto pixels = ramp(shape);
          const View view = view_of(pixels, shape, 0);
          const int padded = before + side + after;
          for (int begin = 0; begin < padded; ++begin) {
            for (int length = 1; begin + length <= padded; ++length) {
              const Ops program = {op(OpId::PAD, {1, before, 0, after}, mode), window(begin, 0, length, 3)};
              const OpList left = optimise(program, shape, kHoistWindows);
              INFO(to_string(program), "became\n", to_string(bare(left)));
              REQUIRE(expected(bare(left), view) == expected(program, view));
              const bool first = left[0].id == OpId::WINDOW;
              const Op& pad = left[first ? 1 : 0];
              if (!first && pad.i[1] > 0) CHECK(left[1].i[0] == 0);
              if (!first && pad.i[3] > 0) CHECK(left[1].i[0] + length == pad.i[1] + side + pad.i[3]);
              hoisted += first ? 1 : 0;
              trimmed += !first && pad.i[1] + pad.i[3] < before + after ? 1 : 0;
            }
          }
        }
      }
    }
  }
  CHECK(hoisted > 1000);
  CHECK(trimmed > 1000);
}

TEST_CASE("warps by whole pixels become windows") {
  const Shape shape{6, 8, 3};
  for (const int mode : {0, 2, 3}) {
    CHECK(rewritten({affine(6, 8, -2, 3, mode)}, shape, kStraightenWarps) == "WINDOW top=3 left=-2 6x8\n");
    CHECK(rewritten({affine(6, 8, 0, 0, mode)}, shape, kStraightenWarps | kDropNoOps).empty());
    CHECK(optimise(Ops{affine(6, 8, 0.5, 0, mode)}, shape, kStraightenWarps)[0].id == OpId::AFFINE);
    CHECK(optimise(Ops{affine(6, 8, 1e10, 0, mode)}, shape, kStraightenWarps)[0].id == OpId::AFFINE);
    for (const int channels : {1, 3, 4}) {
      const Shape other{11, 37, channels};
      auto pixels = ramp(other);
      const View view = view_of(pixels, other, 2);
      for (int right = -40; right <= 40; ++right) {
        for (const int down : {-12, -11, -3, 0, 1, 10, 11}) {
          Op moved = affine(13, 33, right, down, mode);
          std::iota(moved.fill, moved.fill + kMaxChannels, uint8_t{50});
          const Ops program = {moved};
          const auto wanted = executed(program, view, 0);  // the kernels of this machine, not the oracle's
          REQUIRE(executed(program, view, kStraightenWarps) == wanted);
        }
      }
    }
  }
  Op turned = affine(6, 8, 1, 0);
  turned.f[1] = 1e-9;
  CHECK(optimise(Ops{turned}, shape, kStraightenWarps)[0].id == OpId::AFFINE);
}

TEST_CASE("torch's warps by whole pixels become windows where no rounding of a position shows") {
  const auto moved = [](int height, int width, double right, double down, int flags) {
    Op op = affine(height, width, right, down, flags);
    op.id = OpId::TORCH_AFFINE;
    std::iota(op.fill, op.fill + kMaxChannels, uint8_t{127});
    return op;
  };
  const Shape shape{6, 8, 3};
  CHECK(rewritten({moved(6, 8, -2, 3, 2)}, shape, kStraightenWarps) == "WINDOW top=3 left=-2 6x8\n");
  CHECK(rewritten({moved(8, 4, 1, 0, 0)}, shape, kStraightenWarps) == "WINDOW top=-1 left=3 8x4\n");
  const auto stays = [](const Op& op, Shape in) {
    return optimise(Ops{op}, in, kStraightenWarps)[0].id == OpId::TORCH_AFFINE;
  };
  CHECK(stays(moved(6, 7, 0, 0, 0), shape));  // between pixels
  CHECK(stays(moved(6, 8, 0.5, 0, 0), shape));
  CHECK(stays(moved(6, 8, 1e7, 0, 0), shape));
  CHECK(stays(moved(6, 3000, 0, 0, 2), {6, 3000, 1}));
  CHECK(stays(moved(6, 8, 1, 0, 2 | kFilled | kFloatFill), shape));
  Op turned = moved(6, 8, 1, 0, 0);
  turned.f[1] = 1e-9;
  CHECK(stays(turned, shape));
  RandomProgram random(11);
  int straightened = 0;
  for (int trial = 0; trial < test::cases(400); ++trial) {
    // One long side: roundings grow with it.
    const int longest = random.integer(1, 1500);
    const int other = random.integer(1, 4);
    const bool wide = random.chance(0.5);
    const Shape in{wide ? other : longest, wide ? longest : other, random.integer(1, 4)};
    auto pixels = random.pixels(static_cast<size_t>(in.height) * static_cast<size_t>(in.width) * 4);
    const View view = view_of(pixels, in, 0);
    const int height = std::max(1, in.height + 2 * random.integer(-3, 3));
    const int width = std::max(1, in.width + 2 * random.integer(-3, 3));
    const auto shift = [&](int side) { return random.integer(-side - 2, side + 2); };
    const int flags = (random.chance(0.7) ? 2 : 0) | (random.chance(0.6) ? kFilled : 0) | (trial % 2 ? kFused : 0) |
                      (trial % 3 ? kV2Fill : 0);
    Op op = moved(height, width, shift(in.width), shift(in.height), flags);
    if (random.chance(0.5)) std::fill_n(op.fill, kMaxChannels, static_cast<uint8_t>(trial % 4 == 0 ? 255 : 0));
    const Ops program = {op};
    INFO(to_string(program), in.height, "x", in.width);
    straightened += optimise(program, in, kStraightenWarps)[0].id == OpId::WINDOW ? 1 : 0;
    REQUIRE(executed(program, view, kStraightenWarps) == executed(program, view, 0));
  }
  CHECK(straightened > test::cases(250));
}

TEST_CASE("ops on samples that undo or contain one another") {
  const Shape shape{16, 16, 1};
  const Shape colour{4, 4, 3};
  const Op invert = op(OpId::INVERT);
  CHECK(rewritten({invert, invert}, shape, kMergeColours).empty());
  const Op turned = op(OpId::V2_PERMUTE, {1, 0, 2});
  CHECK(rewritten({op(OpId::REPLICATE, {3}), turned}, shape, kMergeColours) == "REPLICATE 3\n");
  CHECK(rewritten({op(OpId::V2_PERMUTE, {0, 1, 2, 9})}, colour, kDropNoOps).empty());
  CHECK(optimise(Ops{turned}, colour, kDropNoOps).size() == 1);
  CHECK(rewritten({op(OpId::POSTERIZE, {6}), op(OpId::POSTERIZE, {3})}, shape, kMergeColours) == "POSTERIZE 3\n");
  CHECK(optimise(Ops{factor(OpId::SOLARIZE, 9), factor(OpId::SOLARIZE, 10)}, shape, kMergeColours).size() == 2);
  std::vector<uint8_t> pixels(16 * 16 * 4);
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});  // every sample
  const View view = view_of(pixels, shape, 0);
  for (int threshold = -1; threshold <= 257; ++threshold) {
    const Ops twice = {factor(OpId::SOLARIZE, threshold), factor(OpId::SOLARIZE, threshold - 0.5 * (threshold > 0))};
    const Ops after = bare(optimise(twice, shape, kMergeColours));
    CHECK(after.size() == (threshold <= 0 ? 0 : 1));
    REQUIRE(expected(after, view) == expected(twice, view));
  }
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 8; ++b) {
      const Ops twice = {op(OpId::POSTERIZE, {a}), op(OpId::POSTERIZE, {b})};
      REQUIRE(expected(bare(optimise(twice, shape, kMergeColours)), view) == expected(twice, view));
    }
  }
  for (const int copies : {3, 4}) {
    const Op replicate = op(OpId::REPLICATE, {copies});
    CHECK(rewritten({replicate, kLuma}, shape, kMergeColours).empty());
    Ops program = {replicate, kLuma};
    REQUIRE(expected({}, view) == expected(program, view));
    program = {replicate, factor(OpId::SATURATION, 1.7)};
    CHECK(rewritten(program, shape, kMergeColours) == to_string(Ops{replicate}));
    REQUIRE(expected(Ops{replicate}, view) == expected(program, view));
    program = {replicate, op(OpId::HUE, {77})};
    CHECK(optimise(program, shape, kMergeColours).size() == (copies == 3 ? 1 : 2));
    if (copies == 3) REQUIRE(expected(Ops{replicate}, view) == expected(program, view));
    // torchvision's gray of three equal samples may be one less.
    CHECK(optimise(Ops{replicate, factor(OpId::TORCH_SATURATION, 1.7)}, shape, kMergeColours).size() == 2);
  }
  CHECK(rewritten({kLuma, op(OpId::REPLICATE, {3}), kLuma, op(OpId::REPLICATE, {3})}, colour, kMergeColours) ==
        "LUMA\nREPLICATE 3\n");
}

TEST_CASE("one channel becomes several at the end") {
  const Shape shape{6, 8, 3};
  const Op replicate = op(OpId::REPLICATE, {3});
  CHECK(rewritten({kLuma, replicate, op(OpId::RESIZE, {3, 4}, 2), factor(OpId::CONTRAST, 2)}, shape, kSinkReplicas) ==
        "LUMA\nRESIZE 3x4 bilinear\nCONTRAST 2\nREPLICATE 3\n");
  CHECK(rewritten({kLuma, replicate, kHflip, kVflip, op(OpId::RESIZE, {3, 4}, 2)}, shape, kSinkReplicas) ==
        "LUMA\nHFLIP\nVFLIP\nRESIZE 3x4 bilinear\nREPLICATE 3\n");
  CHECK(rewritten({kLuma, replicate, kHflip, op(OpId::TO_FLOAT)}, shape, kSinkReplicas) ==
        "LUMA\nREPLICATE 3\nHFLIP\nTO_FLOAT\n");
  CHECK(rewritten({kLuma, replicate, factor(OpId::TORCH_CONTRAST, 2)}, shape, kSinkReplicas) ==
        "LUMA\nREPLICATE 3\nTORCH_CONTRAST 2\n");
  Op colourful = window(-1, 0, 6, 8);
  CHECK(optimise(Ops{kLuma, replicate, colourful}, shape, kSinkReplicas)[1].id == OpId::WINDOW);
  colourful.fill[2] = 1;
  CHECK(optimise(Ops{kLuma, replicate, colourful}, shape, kSinkReplicas)[1].id == OpId::REPLICATE);
}

TEST_CASE("pointwise ops go where there are fewer pixels") {
  const Shape shape{6, 8, 3};
  const Op bright = factor(OpId::BRIGHTNESS, 2);
  CHECK(rewritten({op(OpId::NEAREST, {12, 8}), bright}, shape, kShrinkPointwise) ==
        "BRIGHTNESS 2\nNEAREST 12x8 pillow\n");
  CHECK(rewritten({bright, op(OpId::NEAREST, {3, 8})}, shape, kShrinkPointwise) ==
        "NEAREST 3x8 pillow\nBRIGHTNESS 2\n");
  CHECK(rewritten({bright, op(OpId::NEAREST, {8, 6})}, shape, kShrinkPointwise) ==
        "BRIGHTNESS 2\nNEAREST 8x6 pillow\n");
  CHECK(rewritten({op(OpId::ROT90, {}, 1), kLuma}, shape, kShrinkPointwise) == "LUMA\nROT90 90\n");
}
