// Programs on pixels that are made on demand: the same bits from only the region that they ask for.
#include <doctest/doctest.h>

#include <list>
#include <string>
#include <vector>

#include "base/scattered.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "tests/support/guard.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::Buffer;
using fastaug::test::is_stored;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

namespace {

// An image of which each make() copies a region, or a few rows and columns more, between inaccessible pages.
class Piecemeal final : public PixelSource {
 public:
  Piecemeal(const View& image, RandomProgram& random) : image_(image), random_(random) {}

  View layout() const override {
    const ptrdiff_t stride = image_.channels;
    return {nullptr, image_.height, image_.width, image_.channels, stride * image_.width, stride, 1};
  }

  View make(Region wanted, Arena&, int scale) override {
    CHECK(scale == 1);
    const Region all = {0, 0, image_.height, image_.width};
    const int above = random_.integer(0, std::min(wanted.y, 2));
    const int before = random_.integer(0, std::min(wanted.x, 2));
    const Region made = {wanted.y - above, wanted.x - before, wanted.height + above, wanted.width + before};
    CHECK(wanted.height > 0);
    CHECK(wanted.width > 0);
    CHECK(wanted.y + wanted.height <= all.height);
    CHECK(wanted.x + wanted.width <= all.width);
    asked += int64_t{wanted.height} * wanted.width;
    View view = layout();
    view.row_stride = made.width * view.pixel_stride;
    kept_.emplace_back(static_cast<size_t>(made.height * view.row_stride),
                       random_.chance(0.5) ? test::Side::kFront : test::Side::kBack);
    uint8_t* data = kept_.back().data();
    for (int y = 0; y < made.height; ++y) {
      for (int x = 0; x < made.width; ++x) {
        for (int c = 0; c < image_.channels; ++c) {
          data[y * view.row_stride + x * view.pixel_stride + c] = *image_.at(made.y + y, made.x + x, c);
        }
      }
    }
    view.data = data - (made.y * view.row_stride + made.x * view.pixel_stride);
    return view;
  }

  void make_all(const Target& target, Arena&) override {
    CHECK(is_decoder_target(target, image_.channels));
    execute_reference({}, image_, target);
    asked += int64_t{image_.height} * image_.width;
  }

  Region made(Region wanted) const override { return wanted; }
  int64_t bytes() const override { return 1; }
  const char* name() const override { return "fake"; }

  int64_t asked = 0;

 private:
  View image_;
  RandomProgram& random_;
  std::list<test::Guarded> kept_;
};

}  // namespace

TEST_CASE("programs ask a pixel source for no more than they need, and give the oracle's bits") {
  const auto isas = available_isas();
  int64_t asked = 0, whole = 0;
  for (uint64_t seed = 0; seed < test::cases(3000u); ++seed) {
    RandomProgram random(seed);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const std::vector<Op> program = random(shape, random.integer(0, 6), random.chance(0.3));
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    const Shape out = validate(program, shape);
    const int layout = random.integer(0, 2);
    Buffer expected(out, is_stored(program), layout);
    execute_reference(program, view, expected.target);
    ExecuteOptions options;
    options.rewrites = random.chance(0.5) ? kExactRewrites : static_cast<uint32_t>(random.integer(0, kExactRewrites));
    options.kernels = kernels(isas[static_cast<size_t>(random.integer(0, static_cast<int>(isas.size()) - 1))]);
    Report report;
    const bool reported = random.chance(0.5);
    Piecemeal source(view, random);
    Buffer got(out, is_stored(program), layout);
    INFO("seed ", seed, ", isa ", options.kernels->name, ", rewrites ", options.rewrites, ", image ", shape.height, "x",
         shape.width, "x", shape.channels, "\n", to_string(program));
    execute({program, {source.layout(), &source}, got.target}, options, reported ? &report : nullptr);
    REQUIRE(got.bytes == expected.bytes);
    if (reported) CHECK(report.plan.passes.front().kind == PassKind::kDecode);
    asked += source.asked;
    whole += int64_t{shape.height} * shape.width;
  }
  CHECK(asked < whole * 4 / 5);
}

TEST_CASE("rows of several blocks are read where they are, and give the oracle's bits") {
  const auto isas = available_isas();
  int streamed = 0;
  for (uint64_t seed = 0; seed < test::cases(3000u); ++seed) {
    RandomProgram random(seed);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    const std::vector<Op> program = random(shape, random.integer(0, 6), random.chance(0.3));
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    const Shape out = validate(program, shape);
    const int form = random.integer(0, 2);
    Buffer expected(out, is_stored(program), form);
    execute_reference(program, view, expected.target);
    // As Pillow has them: bytes, pixels of four, and LA as L, L, L, A.
    View layout{nullptr, shape.height, shape.width, shape.channels};
    layout.pixel_stride = shape.channels == 1 ? 1 : 4;
    layout.channel_stride = shape.channels == 2 ? 3 : 1;
    layout.row_stride = layout.pixel_stride * shape.width;
    const int in_block = random.integer(1, shape.height);
    std::list<test::Guarded> blocks;
    std::vector<const uint8_t*> rows;
    for (int y = 0; y < shape.height; ++y) {
      if (y % in_block == 0) {
        const int count = std::min(in_block, shape.height - y);
        const auto side = random.chance(0.5) ? test::Side::kFront : test::Side::kBack;
        blocks.emplace_back(static_cast<size_t>(count * layout.row_stride), side);
      }
      uint8_t* const row = blocks.back().data() + y % in_block * layout.row_stride;
      rows.push_back(row);
      for (int x = 0; x < shape.width; ++x) {
        for (int c = 0; c < shape.channels; ++c) {
          row[x * layout.pixel_stride + c * layout.channel_stride] = *view.at(y, x, c);
        }
      }
    }
    ExecuteOptions options;
    options.rewrites = random.chance(0.5) ? kExactRewrites : static_cast<uint32_t>(random.integer(0, kExactRewrites));
    options.kernels = kernels(isas[static_cast<size_t>(random.integer(0, static_cast<int>(isas.size()) - 1))]);
    Scattered source(layout, rows.data());
    Buffer got(out, is_stored(program), form);
    Report report;
    INFO("seed ", seed, ", isa ", options.kernels->name, ", rewrites ", options.rewrites, ", image ", shape.height, "x",
         shape.width, "x", shape.channels, "\n", to_string(program));
    execute({program, {source.layout(), &source}, got.target}, options, &report);
    REQUIRE(got.bytes == expected.bytes);
    const auto& passes = report.plan.passes;
    streamed += passes.size() > 1 && passes[1].kind == PassKind::kRead;
  }
  CHECK(streamed > static_cast<int>(test::cases(3000u)) / 2);
}
