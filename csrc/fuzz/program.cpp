// Bytes as programs: valid ones, in part with operands at the ends of their ranges, run by the streaming executor, by
// an emulated device and by the oracle, which must give the same bits; and ops as they are, which validate() must
// accept or refuse.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cuda/bag.h"
#include "cuda/emulate.h"
#include "fuzz/fuzz.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"

using namespace fastaug;
using fuzz::Bits;
using fuzz::require;
using RandomProgram = test::BasicRandomProgram<Bits>;

namespace {

// No image of a program that is run is larger.
constexpr int64_t kMostPixels = int64_t{1} << 15;
constexpr int kMostSide = 48;

int extreme_integer(RandomProgram& random) {
  static constexpr int kExtreme[] = {0, 1, -1, 2, 255, 256, 32767, 65536, 1 << 29, (1 << 29) + 1};
  if (random.chance(0.1)) return random.chance(0.5) ? std::numeric_limits<int>::max() : std::numeric_limits<int>::min();
  return random.chance(0.5) ? kExtreme[random.integer(0, 9)] : random.integer(-70, 70);
}

double extreme_real(RandomProgram& random) {
  using Limits = std::numeric_limits<double>;
  static constexpr double kExtreme[] = {0.0,  -0.0,  1e-30, -1e-30, 1e9,   -1e9,          2147483648.0,
                                        1e30, 1e300, 0.5,   255.0,  256.0, Limits::max(), Limits::denorm_min()};
  if (random.chance(0.05)) return random.chance(0.5) ? Limits::infinity() : Limits::quiet_NaN();
  return random.chance(0.7) ? kExtreme[random.integer(0, 13)] : random.real(-1e6, 1e6);
}

// Changes one operand of an op.
void distort(Op* op, RandomProgram& random) {
  switch (random.integer(0, 5)) {
    case 0:
      op->flags = static_cast<uint16_t>(random.integer(0, 0x1fff));
      break;
    case 1:
      op->fill[random.integer(0, kMaxChannels - 1)] = static_cast<uint8_t>(random.integer(0, 255));
      break;
    case 2:
      op->i[random.integer(0, 5)] = extreme_integer(random);
      break;
    default:
      op->f[random.integer(0, 7)] = extreme_real(random);
  }
}

// The final shape; nothing when the program is refused or makes more pixels than a fuzzer has time for.
std::optional<Shape> accepted(Program program, Shape shape) {
  try {
    const Shape out = validate(program, shape);
    for (const Op& op : program) {
      shape = shape_after(op, shape);
      if (int64_t{shape.height} * shape.width > kMostPixels) return {};
    }
    return out;
  } catch (const Error& error) {
    require(*error.what() != '\0', "an error says what is wrong");
    return {};
  }
}

void run(Program program, Shape shape, Shape out, RandomProgram& random) {
  auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
  const View view = test::view_of(pixels, shape, random.integer(0, 3));
  const bool stored = test::is_stored(program);
  const int layout = random.integer(0, 2);
  test::Buffer expected(out, stored, layout);
  test::Buffer got(out, stored, layout);
  static const std::vector<const char*> isas = available_isas();
  ExecuteOptions options;
  options.kernels = kernels(isas[static_cast<size_t>(random.integer(0, static_cast<int>(isas.size()) - 1))]);
  if (random.chance(0.3)) options.rewrites = static_cast<uint32_t>(random.integer(0, kExactRewrites));
  execute_reference(program, view, expected.target);
  execute({program, {view}, got.target}, options);
  const auto tell = [&] {
    std::fprintf(stderr, "isa %s, rewrites %u, image %dx%dx%d\n%s", options.kernels->name, options.rewrites,
                 shape.height, shape.width, shape.channels, to_string(program).c_str());
  };
  if (got.bytes != expected.bytes) tell();
  require(got.bytes == expected.bytes, "the streaming executor gives the oracle's bits");
  test::Buffer emulated(out, stored, layout);
  cuda::Bag bag({options.rewrites, 1, random.chance(0.5) ? 12u << 10 : 48u << 10});
  if (!bag.add({program, {view}, emulated.target})) return;
  bag.finish();
  cuda::emulate(bag, random.integer(0, 3));
  if (emulated.bytes != expected.bytes) tell();
  require(emulated.bytes == expected.bytes, "an emulated device gives the oracle's bits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A byte says which; in raw inputs eight more are left for the image.
  constexpr size_t kBegin = 9;
  if (size < kBegin) return 0;
  const bool raw = *data % 4 == 0;
  RandomProgram random(Bits(data + 1, raw ? kBegin - 1 : size - 1), kMostSide);
  const Shape shape{random.side(), random.side(), random.integer(1, 4)};
  std::vector<Op> program;
  if (raw) {
    program.resize(std::min<size_t>((size - kBegin) / sizeof(Op), kMaxOps + 1));
    if (!program.empty()) std::memcpy(program.data(), data + kBegin, program.size() * sizeof(Op));
  } else {
    program = random(shape, random.integer(0, 6), random.chance(0.2));
    while (!program.empty() && random.chance(0.4)) {
      distort(&program[static_cast<size_t>(random.integer(0, static_cast<int>(program.size()) - 1))], random);
    }
  }
  static_cast<void>(to_string(program));
  if (const auto out = accepted(program, shape)) {
    static_cast<void>(to_string(test::plan_for(program, shape)));
    run(program, shape, *out, random);
  }
  return 0;
}
