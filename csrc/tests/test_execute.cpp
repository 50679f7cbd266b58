// The streaming executor against the oracle: every rewrite, every instruction set, every source and target layout.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "core/execute.h"
#include "core/reference.h"
#include "core/status.h"
#include "random_program.h"

using namespace fastaug;
using fastaug::test::RandomProgram;

namespace {

// An image with room around it, to see that nothing outside is written.
struct Buffer {
  std::vector<uint8_t> bytes;
  Target target;

  Buffer(Shape shape, bool float32, int layout) {
    const ptrdiff_t sample = float32 ? 4 : 1;
    const ptrdiff_t pixels = ptrdiff_t{shape.height} * shape.width;
    target = {nullptr, float32 ? DType::kFloat32 : DType::kUint8, shape.height, shape.width, shape.channels, 0, 0, 0};
    if (layout == 0) {  // planar
      target.pixel_stride = sample;
      target.row_stride = sample * shape.width;
      target.channel_stride = sample * pixels;
    } else {  // interleaved, tightly or in wider pixels
      const int stored = layout == 1 ? shape.channels : shape.channels + 2;
      target.pixel_stride = sample * stored;
      target.row_stride = target.pixel_stride * shape.width;
      target.channel_stride = sample;
    }
    bytes.assign(static_cast<size_t>(pixels * sample * (shape.channels + 2)) + 2 * kMargin, 0xA5);
    target.data = bytes.data() + kMargin;
  }

  static constexpr size_t kMargin = 64;
};

View view_of(std::vector<uint8_t>& pixels, Shape shape, int layout) {
  View view{pixels.data(), shape.height, shape.width, shape.channels, 0, 0, 0};
  if (layout == 0) {
    view.pixel_stride = 1;
    view.row_stride = shape.width;
    view.channel_stride = ptrdiff_t{shape.width} * shape.height;
  } else {
    view.pixel_stride = layout == 1 ? shape.channels : 4;
    view.channel_stride = layout == 1 || shape.channels != 2 ? 1 : 3;
    view.row_stride = view.pixel_stride * shape.width;
  }
  if (layout == 3) {  // upside down
    view.data += view.row_stride * (shape.height - 1);
    view.row_stride = -view.row_stride;
  }
  return view;
}

bool is_float(const OpList& ops) { return !ops.empty() && kind_of(ops.back().id) == OpKind::kStore; }

}  // namespace

TEST_CASE("optimised, streamed programs give the oracle's bits") {
  const auto isas = available_isas();
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomProgram random(seed);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const OpList program = random(shape, random.integer(0, 8), random.chance(0.3));
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    const Shape out = validate(program, shape);
    const int layout = random.integer(0, 2);
    Buffer expected(out, is_float(program), layout);
    execute_reference(program, view, expected.target);
    ExecuteOptions options;
    options.rewrites = random.chance(0.5) ? kAllRewrites : static_cast<uint32_t>(random.integer(0, kAllRewrites));
    options.kernels = kernels(isas[static_cast<size_t>(random.integer(0, static_cast<int>(isas.size()) - 1))]);
    Buffer got(out, is_float(program), layout);
    execute(program, view, got.target, options);
    INFO("seed ", seed, ", isa ", options.kernels->name, ", rewrites ", options.rewrites, ", image ", shape.height, "x",
         shape.width, "x", shape.channels, "\n", to_string(program));
    REQUIRE(got.bytes == expected.bytes);
  }
}

TEST_CASE("each rewrite alone keeps the result and reaches its fixpoint") {
  for (uint32_t rewrite = 1; rewrite < kMovePixels; rewrite *= 2) {  // those that change the list of ops
    for (uint64_t seed = 0; seed < 300; ++seed) {
      RandomProgram random(seed * 31 + rewrite);
      const Shape shape{random.side(), random.side(), random.integer(1, 4)};
      const OpList program = random(shape, random.integer(2, 10));
      const OpList rewritten = optimise(program, shape, rewrite);
      CHECK(optimise(rewritten, shape, rewrite).size() == rewritten.size());
      auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
      const View view = view_of(pixels, shape, 0);
      const Shape out = validate(program, shape);
      REQUIRE(validate(rewritten, shape) == out);
      Buffer expected(out, is_float(program), 0);
      Buffer got(out, is_float(program), 0);
      execute_reference(program, view, expected.target);
      execute_reference(rewritten, view, got.target);
      INFO("rewrite ", rewrite, ", seed ", seed, "\n", to_string(program), "became\n", to_string(rewritten));
      REQUIRE(got.bytes == expected.bytes);
    }
  }
}

TEST_CASE("explain names the passes without touching pixels") {
  Op crop{OpId::WINDOW, 0, {}, {8, 8, 32, 32}, {}};
  Op resize{OpId::RESIZE, 2, {}, {16, 16}, {}};
  Op flip{OpId::HFLIP, 0, {}, {}, {}};
  const OpList ops{crop, resize, flip};
  const std::string text = explain(ops, {64, 64, 3});
  CHECK(text.find("read 32x32") != std::string::npos);
  CHECK(text.find("flipped left to right") != std::string::npos);
}

TEST_CASE("only the rows and columns that a crop keeps are computed") {
  Op rotate{OpId::AFFINE, 2, {}, {100, 100}, {0.8, 0.6, -20, -0.6, 0.8, 40}};
  Op crop{OpId::WINDOW, 0, {}, {10, 20, 30, 40}, {}};
  CHECK(explain(OpList{rotate, crop}, {100, 100, 3}).find("affine, 30x40 of 100x100") != std::string::npos);
  Op resize{OpId::RESIZE, 2, {}, {50, 50}, {}};
  Op centre{OpId::WINDOW, 0, {}, {20, 20, 10, 10}, {}};
  CHECK(explain(OpList{resize, centre}, {100, 100, 3}).find("read 22x22 of 100x100") != std::string::npos);
}

TEST_CASE("programs that make no sense are refused by name and value") {
  auto message = [](OpList ops, Shape shape) -> std::string {
    try {
      validate(ops, shape);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  Op op{};
  op.id = OpId::RESIZE;
  op.flags = 2;
  CHECK(message({op}, {4, 4, 3}).find("RESIZE") == 0);
  op.i[0] = op.i[1] = 1 << 20;
  CHECK(message({op}, {4, 4, 3}).find("2^31") != std::string::npos);
  op.id = OpId::SATURATION;
  CHECK(message({op}, {4, 4, 1}).find("3 or 4 channels, got 1") != std::string::npos);
  op.id = OpId::NORMALIZE;
  CHECK(message({op}, {4, 4, 3}) != "accepted");
  op = {};
  op.id = static_cast<OpId>(999);
  CHECK(message({op}, {4, 4, 3}).find("999") != std::string::npos);
  op = {};
  op.id = OpId::HFLIP;
  CHECK(message(OpList(kMaxOps + 1, op), {4, 4, 3}).find("at most 64") != std::string::npos);
  CHECK(message({op}, {0, 4, 3}) != "accepted");
  CHECK(message({op}, {4, 4, 5}) != "accepted");
}

TEST_CASE("a target of another shape or dtype is refused") {
  std::vector<uint8_t> pixels(4 * 4 * 4);
  const View view = view_of(pixels, {4, 4, 3}, 0);
  Buffer small({3, 4, 3}, false, 0);
  CHECK_THROWS_AS(execute({}, view, small.target), Error);
  Buffer floats({4, 4, 3}, true, 0);
  CHECK_THROWS_AS(execute({}, view, floats.target), Error);
}
