// The streaming executor against the oracle: every rewrite, every instruction set, every source and target layout.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/status.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::Buffer;
using fastaug::test::is_stored;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

TEST_CASE("optimised, streamed programs give the oracle's bits") {
  const auto isas = available_isas();
  for (uint64_t seed = 0; seed < test::cases(3000u); ++seed) {
    RandomProgram random(seed);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const std::vector<Op> program = random(shape, random.integer(0, 8), random.chance(0.3));
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    const Shape out = validate(program, shape);
    const int layout = random.integer(0, 2);
    Buffer expected(out, is_stored(program), layout);
    execute_reference(program, view, expected.target);
    ExecuteOptions options;
    options.rewrites = random.chance(0.5) ? kExactRewrites : static_cast<uint32_t>(random.integer(0, kExactRewrites));
    options.kernels = kernels(isas[static_cast<size_t>(random.integer(0, static_cast<int>(isas.size()) - 1))]);
    Buffer got(out, is_stored(program), layout);
    execute({program, {view}, got.target}, options);
    INFO("seed ", seed, ", isa ", options.kernels->name, ", rewrites ", options.rewrites, ", image ", shape.height, "x",
         shape.width, "x", shape.channels, "\n", to_string(program));
    REQUIRE(got.bytes == expected.bytes);
  }
}

// Filters of so many taps that some instruction sets read pixels as they are.
TEST_CASE("images that shrink to a part of their size have the oracle's bits") {
  for (const char* isa : available_isas()) {
    RandomProgram random(10);
    for (Filter filter : {Filter::kBilinear, Filter::kBicubic, Filter::kShortBilinear}) {
      for (int k = 0; k < 24; ++k) {
        const Shape shape{random.integer(20, 60), random.integer(300, 900), random.integer(3, 4)};
        std::vector<Op> program;
        if (random.chance(0.5)) {
          Op crop{};
          crop.id = OpId::WINDOW;
          const int side[] = {random.integer(-2, 9), random.integer(-2, 90), 25, 260};
          std::copy(std::begin(side), std::end(side), crop.i);
          program.push_back(crop);
        }
        Op resize{};
        resize.id = OpId::RESIZE;
        resize.i[0] = random.integer(3, 12);
        resize.i[1] = random.integer(3, 50);
        resize.flags = static_cast<uint16_t>(filter);
        program.push_back(resize);
        auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
        for (int layout = 0; layout < 4; ++layout) {
          const View view = view_of(pixels, shape, layout);
          const Shape out = validate(program, shape);
          Buffer expected(out, false, 0), got(out, false, 0);
          execute_reference(program, view, expected.target);
          ExecuteOptions options;
          options.kernels = kernels(isa);
          execute({program, {view}, got.target}, options);
          INFO("isa ", isa, ", layout ", layout, ", image ", shape.height, "x", shape.width, "x", shape.channels, "\n",
               to_string(program));
          REQUIRE(got.bytes == expected.bytes);
        }
      }
    }
  }
}

// Squares of whole tiles, what is left beside and below them, and tiles that are partly fill.
TEST_CASE("turned images of any size have the oracle's bits") {
  Op turn{};
  turn.id = OpId::ROT90;
  Op mirror{};
  mirror.id = OpId::HFLIP;
  Op padded{};
  padded.id = OpId::WINDOW;
  padded.fill[0] = 7;
  for (const char* isa : available_isas()) {
    RandomProgram random(9);
    for (const int height : {1, 15, 16, 33, 64, 81, 130}) {
      for (const int width : {1, 16, 17, 63, 80, 129}) {
        const Shape shape{height, width, random.integer(1, 4)};
        turn.flags = static_cast<uint16_t>(random.chance(0.5) ? 1 : 3);
        std::vector<Op> program = {turn};
        if (random.chance(0.5)) program.push_back(mirror);
        if (random.chance(0.3)) {
          const int side[] = {-3, -5, width + 9, height + 4};
          std::copy(std::begin(side), std::end(side), padded.i);
          program.push_back(padded);
        }
        auto pixels = random.pixels(static_cast<size_t>(height) * static_cast<size_t>(width) * 4);
        for (int layout = 0; layout < 4; ++layout) {
          const View view = view_of(pixels, shape, layout);
          const Shape out = validate(program, shape);
          Buffer expected(out, false, std::min(layout, 1)), got(out, false, std::min(layout, 1));
          execute_reference(program, view, expected.target);
          ExecuteOptions options;
          options.kernels = kernels(isa);
          execute({program, {view}, got.target}, options);
          INFO("isa ", isa, ", layout ", layout, ", image ", height, "x", width, "x", shape.channels, "\n",
               to_string(program));
          REQUIRE(got.bytes == expected.bytes);
        }
      }
    }
  }
}

TEST_CASE("programs that make no sense are refused by name and value") {
  auto message = [](std::vector<Op> ops, Shape shape) -> std::string {
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
  op.id = OpId::CONTRAST;
  op.f[0] = -7.24601e+169;
  CHECK(message({op}, {4, 4, 3}).find("1e30") != std::string::npos);
  op.f[0] = 0.0;
  op.id = OpId::SATURATION;
  CHECK(message({op}, {4, 4, 1}).find("3 or 4 channels, got 1") != std::string::npos);
  op.id = OpId::NORMALIZE;
  CHECK(message({op}, {4, 4, 3}) != "accepted");
  op = {};
  op.id = static_cast<OpId>(999);
  CHECK(message({op}, {4, 4, 3}).find("999") != std::string::npos);
  op = {};
  op.id = OpId::HFLIP;
  CHECK(message(std::vector<Op>(kMaxOps + 1, op), {4, 4, 3}).find("at most 64") != std::string::npos);
  CHECK(message({op}, {0, 4, 3}) != "accepted");
  CHECK(message({op}, {4, 4, 5}) != "accepted");
}

TEST_CASE("a target of another shape or dtype is refused") {
  std::vector<uint8_t> pixels(4 * 4 * 4);
  const View view = view_of(pixels, {4, 4, 3}, 0);
  Buffer small({3, 4, 3}, false, 0);
  CHECK_THROWS_AS(execute({{}, {view}, small.target}), Error);
  Buffer floats({4, 4, 3}, true, 0);
  CHECK_THROWS_AS(execute({{}, {view}, floats.target}), Error);
}
