// Ops on samples, and luma, straight from the source to a target that lies alike.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "execute/execute.h"
#include "tests/support/guard.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::bare;
using fastaug::test::Guarded;
using fastaug::test::RandomProgram;
using fastaug::test::Side;

namespace {

// An image that ends with its last sample, at a page that is not there; for targets with the gaps of its pixels.
struct Image {
  Guarded memory;
  View view;

  // Pixels of `stride` bytes, 1 for planes; `apart`: bytes between rows.
  Image(Shape shape, int stride, int apart, bool gaps)
      : memory(size_of(shape, stride, apart, gaps)), view{memory.data(), shape.height, shape.width, shape.channels} {
    view.pixel_stride = stride;
    view.row_stride = ptrdiff_t{stride} * shape.width + apart;
    view.channel_stride = stride == 1 ? view.row_stride * shape.height : 1;
  }

  Target target(bool gaps) {
    return {memory.data(),   DType::kUint8,     view.height,         view.width, view.channels,
            view.row_stride, view.pixel_stride, view.channel_stride, gaps};
  }

  static size_t size_of(Shape shape, int stride, int apart, bool gaps) {
    const int planes = stride == 1 ? shape.channels : 1;
    const ptrdiff_t row = ptrdiff_t{stride} * shape.width + apart;
    const int cut = stride > shape.channels && !gaps ? stride - shape.channels : 0;
    return static_cast<size_t>(row * shape.height * planes - apart - cut);
  }
};

bool goes_straight(const Plan& plan) {
  return std::any_of(plan.passes.begin(), plan.passes.end(),
                     [](const Pass& pass) { return pass.kind == PassKind::kRecolour; });
}

}  // namespace

TEST_CASE("what goes straight gives the bits of the way through planes, and writes no more") {
  using enum OpId;
  const std::vector<OpId> samples = {BRIGHTNESS,   CONTRAST, GAMMA,  INVERT, SOLARIZE,      POSTERIZE,
                                     AUTOCONTRAST, EQUALIZE, WINDOW, VFLIP,  TORCH_CONTRAST};
  const std::vector<OpId> grays = {LUMA, REPLICATE, VFLIP};
  for (const char* name : available_isas()) {
    CAPTURE(name);
    int straight = 0;
    for (uint64_t seed = 0; seed < test::cases(3000u); ++seed) {
      RandomProgram random(seed * 5 + 1, 40);
      const bool gray = seed % 5 == 0;
      const Shape shape{random.integer(1, 20), random.integer(1, 90), gray ? 3 : random.integer(1, 4)};
      std::vector<Op> program = random(shape, random.integer(1, gray ? 2 : 4), gray ? grays : samples);
      while (fastaug::test::is_stored(program)) program.pop_back();
      if (gray) {
        Op luma{};
        luma.id = LUMA;
        program.assign(1, luma);
        luma.id = REPLICATE;
        luma.i[0] = 3;
        if (random.chance(0.5)) program.push_back(luma);
      }
      const Shape out = validate(program, {shape.height, shape.width, shape.channels});
      const bool planes = !gray && random.chance(0.3);
      const bool gaps = gray || (shape.channels == 3 && random.chance(0.6));
      const int stride = planes ? 1 : gaps ? 4 : shape.channels;
      Image source(shape, stride, random.chance(0.5) ? 0 : 7, false);
      const auto pixels = random.pixels(source.memory.size());
      std::memcpy(source.memory.data(), pixels.data(), pixels.size());
      const int apart = random.chance(0.5) ? 0 : 5;
      const int out_stride = out.channels == 1 || planes ? 1 : std::max(stride, out.channels);
      std::vector<std::vector<uint8_t>> results;
      for (const bool recolours : {true, false}) {
        // Moves copy whole pixels.
        const uint32_t rewrites = kExactRewrites & ~uint32_t{kMovePixels} & ~uint32_t{recolours ? 0u : kRecolourPixels};
        Image result(out, out_stride, apart, true);
        Report report;
        execute({program, {source.view}, result.target(out_stride > out.channels)}, {kernels(name), rewrites}, &report);
        straight += goes_straight(report.plan) ? 1 : 0;
        if (!recolours) CHECK_FALSE(goes_straight(report.plan));
        CHECK(result.memory.intact());
        results.emplace_back(result.memory.data(), result.memory.data() + result.memory.size());
      }
      INFO("seed ", seed, ", image ", shape.height, "x", shape.width, "x", shape.channels, ", stride ", stride, "\n",
           to_string(program));
      REQUIRE(results[0] == results[1]);
    }
    CHECK(straight > test::cases(900));
  }
}
