// Programs on float32 images: every instruction set against the oracle, and against memory that must not be touched.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/status.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

// Numbers of any size, and those that arithmetic treats apart.
void fill_floats(Random& random, uint8_t* data, size_t count) {
  const float special[] = {0.0f,
                           -0.0f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::denorm_min(),
                           -std::numeric_limits<float>::max()};
  for (size_t k = 0; k < count; ++k) {
    const auto plain = static_cast<float>(random.unit() * 4.0 - 2.0);
    const float value = random.between(0, 9) == 0 ? special[random.between(0, 6)] : plain;
    std::memcpy(data + 4 * k, &value, sizeof value);
  }
}

enum class Layout { kPlanar, kInterleaved, kWide, kUpsideDown };

// Memory of an image of samples of `size` bytes in a layout, and its strides.
struct Placed {
  Guarded memory;
  ptrdiff_t row = 0;
  ptrdiff_t pixel = 0;
  ptrdiff_t channel = 0;
  uint8_t* origin = nullptr;

  Placed(Shape shape, ptrdiff_t size, Layout layout, Side side)
      : memory(static_cast<size_t>(size * shape.height * shape.width *
                                   (shape.channels + (layout == Layout::kWide ? 1 : 0))),
               side) {
    const bool planes = layout == Layout::kPlanar || layout == Layout::kUpsideDown;
    pixel = planes ? size : size * (shape.channels + (layout == Layout::kWide ? 1 : 0));
    row = pixel * shape.width;
    channel = planes ? row * shape.height : size;
    origin = memory.data();
    if (layout == Layout::kUpsideDown) {
      origin += row * (shape.height - 1);
      row = -row;
    }
  }

  View view(Shape shape) const {
    return {origin, shape.height, shape.width, shape.channels, row, pixel, channel, DType::kFloat32};
  }
  Target target(Shape shape, DType dtype) const {
    return {origin, dtype, shape.height, shape.width, shape.channels, row, pixel, channel};
  }
};

Op random_move(Random& random, Shape in) {
  Op op{};
  switch (random.between(0, 5)) {
    case 0:
      op.id = OpId::HFLIP;
      return op;
    case 1:
      op.id = OpId::VFLIP;
      return op;
    case 2:  // reaches beyond the image, sometimes wholly
      op.id = OpId::WINDOW;
      op.i[0] = random.between(-in.height - 2, in.height + 2);
      op.i[1] = random.between(-in.width - 2, in.width + 2);
      op.i[2] = random.between(1, in.height + 5);
      op.i[3] = random.between(1, in.width + 5);
      return op;
    case 3:
      op.id = OpId::PAD;
      for (int k = 0; k < 4; ++k) op.i[k] = random.between(0, 3);
      op.flags = static_cast<uint16_t>(random.between(0, 2));
      return op;
    case 4:
      op.id = OpId::NEAREST;
      op.i[0] = random.between(1, 2 * in.height);
      op.i[1] = random.between(1, 2 * in.width);
      op.flags = static_cast<uint16_t>(random.between(0, 2));
      return op;
    default:
      op.id = OpId::WINDOW;
      op.i[2] = random.between(1, in.height);
      op.i[3] = random.between(1, in.width);
      op.i[0] = random.between(0, in.height - op.i[2]);
      op.i[1] = random.between(0, in.width - op.i[3]);
      return op;
  }
}

std::vector<Op> random_floats_program(Random& random, Shape shape) {
  std::vector<Op> program;
  for (int left = random.between(0, 4); left > 0; --left) {
    program.push_back(random_move(random, shape));
    shape = shape_after(program.back(), shape);
  }
  if (random.between(0, 2) > 0) {
    Op op{};
    op.id = OpId::NORMALIZE;
    for (int c = 0; c < 4; ++c) {
      op.f[c] = random.unit() * 2.0 - 1.0;
      op.f[4 + c] = random.unit() + 0.01;
    }
    program.push_back(op);
  }
  for (int left = random.between(0, 2); left > 0; --left) {
    Op op{};
    op.id = OpId::ERASE;
    op.i[2] = random.between(1, shape.height);
    op.i[3] = random.between(1, shape.width);
    op.i[0] = random.between(0, shape.height - op.i[2]);
    op.i[1] = random.between(0, shape.width - op.i[3]);
    for (int c = 0; c < 4; ++c) op.f[c] = random.unit() - 0.5;
    program.push_back(op);
  }
  return program;
}

TEST_CASE("programs on floats give the oracle's bits on every instruction set, and touch nothing else") {
  const int sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70};
  const DType dtypes[] = {DType::kFloat32, DType::kFloat16, DType::kBfloat16};
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(7);
    for (int trial = 0; trial < test::cases(2500); ++trial) {
      CAPTURE(trial);
      const Shape in{sides[random.between(0, 14)], sides[random.between(0, 14)], random.between(1, 4)};
      const std::vector<Op> program = random_floats_program(random, in);
      const Shape out = validate(program, in, DType::kFloat32);
      const DType dtype = dtypes[random.between(0, 2)];
      const Side side = random.between(0, 1) == 0 ? Side::kFront : Side::kBack;
      const Placed source(in, 4, static_cast<Layout>(random.between(0, 3)), side);
      fill_floats(random, const_cast<uint8_t*>(source.memory.data()), source.memory.size() / 4);
      const auto layout = static_cast<Layout>(random.between(0, 3));
      Placed wanted(out, size_of(dtype), layout, side);
      Placed got(out, size_of(dtype), layout, side);
      execute_reference(program, source.view(in), wanted.target(out, dtype));
      ExecuteOptions options;
      options.kernels = kernels(name);
      options.rewrites = random.between(0, 1) == 0 ? uint32_t{kExactRewrites} : 0u;
      execute({program, {source.view(in)}, got.target(out, dtype)}, options);
      INFO(in.height, "x", in.width, "x", in.channels, " to ", name_of(dtype), "\n", to_string(program));
      REQUIRE(got.memory.intact());
      REQUIRE(source.memory.intact());
      // Which NaN comes of one in fewer bits is a matter of the instruction: all that count are NaNs.
      bool same = true;
      const size_t size = static_cast<size_t>(size_of(dtype));
      for (size_t k = 0; k < got.memory.size(); k += size) {
        if (std::memcmp(got.memory.data() + k, wanted.memory.data() + k, size) == 0) continue;
        uint16_t a = 0;
        uint16_t b = 0;
        std::memcpy(&a, got.memory.data() + k, 2);
        std::memcpy(&b, wanted.memory.data() + k, 2);
        const int infinite = dtype == DType::kFloat16 ? 0x7c00 : 0x7f80;
        same = same && dtype != DType::kFloat32 && (a & 0x7fff) > infinite && (b & 0x7fff) > infinite;
      }
      REQUIRE(same);
    }
  }
}

std::string refusal(std::vector<Op> program, Shape shape) {
  try {
    validate(program, shape, DType::kFloat32);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("what floats cannot go through is refused by name") {
  const Shape shape{4, 5, 3};
  Op op{};
  op.id = OpId::WINDOW;
  op.i[0] = -1;
  op.i[2] = op.i[3] = 6;
  CHECK(refusal({op}, shape) == "accepted");
  op.fill[3] = 7;
  CHECK(refusal({op}, shape) == "WINDOW: the fill of float32 must be zero, got 7");
  for (const OpId id : {OpId::TO_FLOAT, OpId::INVERT, OpId::ROT90, OpId::RESIZE}) {
    Op other{};
    other.id = id;
    other.flags = 1;
    other.i[0] = other.i[1] = 3;
    CHECK(refusal({other}, shape) == std::string(name_of(id)) + ": is not done to float32");
  }
  Op normalize{};
  normalize.id = OpId::NORMALIZE;
  std::fill_n(normalize.f + 4, 4, 1.0);
  Op erase{};
  erase.id = OpId::ERASE;
  erase.i[2] = erase.i[3] = 1;
  Op flip{};
  flip.id = OpId::HFLIP;
  CHECK(refusal({flip, normalize, erase, erase}, shape) == "accepted");
  CHECK(refusal({normalize, normalize}, shape) == "NORMALIZE: must be the first of the store ops");
  CHECK(refusal({erase, normalize}, shape) == "NORMALIZE: must be the first of the store ops");
  CHECK(refusal({normalize, flip}, shape) == "NORMALIZE: must end the program");
}

TEST_CASE("the result of floats is float, and its plan is one pass") {
  const Shape shape{4, 5, 3};
  const Placed source(shape, 4, Layout::kPlanar, Side::kBack);
  const Placed bytes(shape, 1, Layout::kPlanar, Side::kBack);
  CHECK_THROWS_AS(execute({{}, {source.view(shape)}, bytes.target(shape, DType::kUint8)}), Error);
  CHECK_THROWS_AS(execute_reference({}, source.view(shape), bytes.target(shape, DType::kUint8)), Error);
  Op flip{};
  flip.id = OpId::HFLIP;
  const std::vector<Op> program = {flip, flip};
  const View view = source.view(shape);
  const Plan plan = make_plan(program, view, usual_target(program, shape, view.dtype), {kernels()});
  REQUIRE(plan.passes.size() == 1);
  CHECK(to_string(plan) == "0 store HFLIP HFLIP -> 4x5+0+0x3\n");
  CHECK(plan.passes[0].origin == 3);
  CHECK(plan.passes[0].bytes_read == 4 * 5 * 3 * 4);
  CHECK(plan.passes[0].bytes_written == 4 * 5 * 3 * 4);
}

}  // namespace
}  // namespace fastaug
