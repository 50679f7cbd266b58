// Results in patches: the executor against the oracle, and the oracle against the order that models write down.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "base/status.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

namespace {

Op op_of(OpId id) {
  Op op{};
  op.id = id;
  return op;
}

// A target of whole patches, one after the other, in `bytes`.
Target patches_of(std::vector<uint8_t>& bytes, Shape shape, DType dtype, int side, int merge, int copies, bool packed) {
  const int size = size_of(dtype);
  const int square = side * side * size;
  bytes.assign(static_cast<size_t>(shape.height * shape.width * shape.channels * copies * size), 0xa5);
  Target target{bytes.data(), dtype, shape.height, shape.width, shape.channels};
  target.pixel_stride = packed ? shape.channels * size : size;
  target.row_stride = side * target.pixel_stride;
  target.channel_stride = packed ? size : copies * square;
  target.patches = {side, merge, copies, shape.channels * copies * square, packed ? shape.channels * square : square};
  return target;
}

}  // namespace

TEST_CASE("patches have the oracle's bits, on every instruction set") {
  const auto isas = available_isas();
  for (uint64_t seed = 0; seed < test::cases(600u); ++seed) {
    RandomProgram random(seed);
    const int side = std::vector<int>{1, 3, 14, 16, 20}[static_cast<size_t>(random.integer(0, 4))];
    const int merge = random.integer(1, 3), copies = random.integer(1, 3);
    const Shape in{random.side(), random.side(), random.integer(1, 4)};
    const Shape out{side * merge * random.integer(1, 3), side * merge * random.integer(1, 3), in.channels};
    std::vector<Op> program = {op_of(OpId::RESIZE), op_of(random.chance(0.5) ? OpId::SCALE : OpId::TO_FLOAT)};
    program[0].flags = static_cast<uint16_t>(Filter::kBicubic);
    program[0].i[0] = out.height;
    program[0].i[1] = out.width;
    program[1].f[0] = 1;
    if (random.chance(0.3)) program.insert(program.begin() + 1, op_of(OpId::HFLIP));
    if (random.chance(0.3)) program.insert(program.begin() + 1, op_of(OpId::VFLIP));
    const auto dtype = static_cast<DType>(random.integer(1, 3));
    const bool packed = random.chance(0.5);
    auto pixels = random.pixels(static_cast<size_t>(in.height) * static_cast<size_t>(in.width) * 4);
    const View view = view_of(pixels, in, random.integer(0, 3));
    std::vector<uint8_t> expected, got;
    execute_reference(program, view, patches_of(expected, out, dtype, side, merge, copies, packed));
    ExecuteOptions options;
    options.kernels = kernels(isas[static_cast<size_t>(random.integer(0, static_cast<int>(isas.size()) - 1))]);
    execute({program, {view}, patches_of(got, out, dtype, side, merge, copies, packed)}, options);
    INFO("seed ", seed, ", isa ", options.kernels->name, ", side ", side, ", merge ", merge, ", copies ", copies);
    REQUIRE(got == expected);
  }
}

TEST_CASE("patches follow one another in blocks") {
  // Patches of one pixel in blocks of two by two, of an image of two by four.
  std::vector<uint8_t> pixels = {0, 1, 2, 3, 4, 5, 6, 7};
  const View view = view_of(pixels, {2, 4, 1}, 0);
  const std::vector<Op> program = {[] {
    Op op = op_of(OpId::SCALE);
    op.f[0] = 1;
    return op;
  }()};
  std::vector<uint8_t> bytes;
  execute({program, {view}, patches_of(bytes, {2, 4, 1}, DType::kFloat32, 1, 2, 1, false)}, {});
  const float expected[] = {0, 1, 4, 5, 2, 3, 6, 7};
  REQUIRE(bytes.size() == sizeof expected);
  CHECK(std::memcmp(bytes.data(), expected, sizeof expected) == 0);
}

TEST_CASE("patches that do not fit, bytes, other strides and boxes are refused") {
  std::vector<uint8_t> pixels(64), bytes;
  const View view = view_of(pixels, {4, 4, 1}, 0);
  std::vector<Op> program = {op_of(OpId::TO_FLOAT)};
  const auto runs = [&](const Target& target) { execute({program, {view}, target}, {}); };
  CHECK_THROWS_AS(runs(patches_of(bytes, {4, 4, 1}, DType::kFloat32, 3, 1, 1, false)), Error);
  CHECK_THROWS_AS(runs(patches_of(bytes, {4, 4, 1}, DType::kFloat32, 2, 4, 1, false)), Error);
  CHECK_THROWS_AS(runs(patches_of(bytes, {4, 4, 1}, DType::kFloat32, 2, 1, 0, false)), Error);
  Target wide = patches_of(bytes, {4, 4, 1}, DType::kFloat32, 2, 1, 1, false);
  wide.pixel_stride *= 2;
  CHECK_THROWS_AS(runs(wide), Error);
  program.push_back(op_of(OpId::ERASE));
  CHECK_THROWS_AS(runs(patches_of(bytes, {4, 4, 1}, DType::kFloat32, 2, 1, 1, false)), Error);
  program.clear();
  CHECK_THROWS_AS(runs(patches_of(bytes, {4, 4, 1}, DType::kUint8, 2, 1, 1, false)), Error);
}
