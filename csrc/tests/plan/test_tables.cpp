// Which ops on samples go into one table, and that they keep every bit there.
#include <doctest/doctest.h>

#include <string>

#include "plan/colour_run.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::executed;
using fastaug::test::expected;
using fastaug::test::RandomProgram;
using fastaug::test::steps_of;
using fastaug::test::view_of;

namespace {

Op factor(OpId id, double value) {
  Op op{};
  op.id = id;
  op.f[0] = value;
  return op;
}

const Op kBright = factor(OpId::BRIGHTNESS, 0.8);
const Op kContrast = factor(OpId::CONTRAST, 0.8);
const Op kSaturate = factor(OpId::SATURATION, 0.8);
const Op kGamma = Op{OpId::GAMMA, 0, {}, {}, {0.7, 1.0}};
const Op kInvert = factor(OpId::INVERT, 0);
const Op kHue = Op{OpId::HUE, 0, {}, {5}, {}};

// The runs that stages are made of: "2t 1" is a table of two ops, then another op.
std::string runs_of(const std::vector<Op>& program, int64_t samples = 100'000, uint32_t rewrites = kExactRewrites,
                    const ColourCosts& costs = {}) {
  const OpList steps = steps_of(program);
  std::string text;
  for (size_t begin = 0; begin < steps.size();) {
    const ColourRun run = colour_run(&steps[begin], static_cast<int>(steps.size() - begin), samples, rewrites, costs);
    REQUIRE(run.count > 0);
    if (begin != 0) text += ' ';
    text += std::to_string(run.count);
    if (run.tables) text += 't';
    begin += static_cast<size_t>(run.count);
    REQUIRE(begin <= steps.size());
  }
  return text;
}

}  // namespace

TEST_CASE("tables become one, and blends join them where that is cheaper") {
  CHECK(runs_of({kBright}) == "1");
  CHECK(runs_of({kInvert, kGamma, kInvert}) == "3t");
  CHECK(runs_of({kBright, kGamma}) == "2t");
  CHECK(runs_of({kContrast, kBright}) == "2t");
  // The mean of a later contrast is not known yet.
  CHECK(runs_of({kBright, kContrast}) == "1 1");
  CHECK(runs_of({kBright, kGamma, kContrast, kBright}) == "2t 2t");
  // Next to ops that are no tables in any case, blends cost less.
  CHECK(runs_of({kBright, kSaturate, kGamma}) == "2 1t");
  CHECK(runs_of({kSaturate, kBright, kGamma, kBright}) == "1 3t");
  CHECK(runs_of({kSaturate, kBright, kBright, kHue}) == "4");
  CHECK(runs_of({kSaturate, kBright, kBright, kBright, kBright, kHue}) == "1 4t 1");
  CHECK(runs_of({kSaturate, kBright, kInvert}) == "2 1t");
  // A table costs as much as many samples.
  CHECK(runs_of({kBright, kGamma}, 256) == "1 1t");
  CHECK(runs_of({kBright, kGamma}, 100'000, kExactRewrites & ~kComposeTables) == "1 1t");
  // Where lookups are quick, a blend is one.
  const ColourCosts quick{.lookup = 2, .conversion = 1};
  CHECK(runs_of({kBright}, 100'000, kExactRewrites, quick) == "1t");
  CHECK(runs_of({kBright}, 128, kExactRewrites, quick) == "1");
  CHECK(runs_of({kSaturate, kBright, kHue}, 100'000, kExactRewrites, quick) == "1 1t 1");
  // Fast mode blends in float32 instead.
  CHECK(runs_of({kBright, kGamma}, 100'000, kFastRewrites) == "1 1t");
}

TEST_CASE("composed tables keep every bit") {
  using enum OpId;
  const std::vector<OpId> likely = {BRIGHTNESS, CONTRAST, GAMMA, INVERT, SOLARIZE, POSTERIZE, AUTOCONTRAST, EQUALIZE};
  int composed = 0;
  for (uint64_t seed = 0; seed < test::cases(2000u); ++seed) {
    RandomProgram random(seed * 3 + 1, 40);
    const Shape shape{random.side(), random.integer(30, 40), random.integer(1, 4)};
    const std::vector<Op> program = random(shape, random.integer(2, 8), likely);
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    const OpList steps = steps_of(program);
    for (size_t k = 0; k < steps.size(); ++k) {
      if (steps[k].id != BRIGHTNESS && steps[k].id != CONTRAST) continue;
      const int64_t samples = int64_t{shape.height} * shape.width * shape.channels;
      composed += colour_run(&steps[k], static_cast<int>(steps.size() - k), samples, kComposeTables, {}).tables ? 1 : 0;
    }
    INFO("seed ", seed, ", image ", shape.height, "x", shape.width, "x", shape.channels, "\n", to_string(program));
    const auto wanted = expected(program, view);
    REQUIRE(executed(program, view, 0) == wanted);
    REQUIRE(executed(program, view, kComposeTables) == wanted);
  }
  CHECK(composed > test::cases(200));
}
