#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "execute/stages/stages.h"
#include "plan/warp_region.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;

Op random_warp(Random& random, int height, int width) {
  Op op{};
  const int kind = random.between(0, 4);
  op.id = kind >= 3 ? OpId::PERSPECTIVE : OpId::AFFINE;
  op.i[0] = random.between(1, height);
  op.i[1] = random.between(1, width);
  op.flags = static_cast<uint16_t>(random.between(0, 2));
  if (op.flags == 1) op.flags = 3;
  const double angle = random.unit() * 6.3;
  const double scale = 0.2 + random.unit() * 2.0;
  const double c = std::cos(angle) * scale;
  const double s = std::sin(angle) * scale;
  const double m[] = {c, s, (random.unit() - 0.2) * width, -s, c, (random.unit() - 0.2) * height};
  std::copy(m, m + 6, op.f);
  if (kind == 2) {
    op.id = OpId::TORCH_AFFINE;
    op.flags = static_cast<uint16_t>((op.flags == 3 ? 2 : op.flags) | (random.next() % 2 ? kFilled | kV2Fill : 0));
    op.f[2] = (random.unit() - 0.5) * width;
    op.f[5] = (random.unit() - 0.5) * height;
  }
  if (kind == 4) {
    op.id = OpId::TORCH_PERSPECTIVE;
    op.flags = static_cast<uint16_t>((op.flags == 3 ? 2 : op.flags) | (random.next() % 2 ? kFilled | kV2Fill : 0));
  }
  if (kind >= 3) {
    // Now and then the denominator crosses zero.
    const double bend = random.next() % 3 == 0 ? 0.1 : 0.001;
    op.f[6] = (random.unit() - 0.5) * bend;
    op.f[7] = (random.unit() - 0.5) * bend;
  }
  if (random.next() % 20 == 0) op.f[random.between(0, 5)] *= 1e7;
  if (random.next() % 20 == 0) op.f[0] = op.f[1] = op.f[3] = op.f[4] = 0.0;
  for (uint8_t& v : op.fill) v = 77;
  return op;
}

std::vector<uint8_t> rows_of(const Kernels& kernels, const View& view, const Op& op, Region region, Region needs,
                             bool rounded) {
  Arena arena;
  Context context{kernels, arena};
  Stage* stage = warp_stage(context, view, op, region, needs, rounded);
  const Planes planes = make_planes(arena, region.width);
  std::vector<uint8_t> all;
  for (int y = region.y; y < region.y + region.height; ++y) {
    stage->row(y, planes);
    for (int c = 0; c < view.channels; ++c) all.insert(all.end(), planes.row[c], planes.row[c] + region.width);
  }
  return all;
}

TEST_CASE("a warp reads nothing but what it needs") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int trial = 0; trial < test::cases(300); ++trial) {
      CAPTURE(trial);
      const bool large = trial % 10 == 0;  // large enough to be prefetched
      const int height = large ? random.between(300, 500) : random.between(1, 80);
      const int width = large ? random.between(300, 500) : random.between(1, 80);
      const int channels = random.between(1, 4);
      const int stride = channels == 1 ? 1 : 4;
      Guarded image(static_cast<size_t>(height) * static_cast<size_t>(width * stride));
      random.fill(image.data(), image.size());
      const View view{image.data(), height, width, channels, ptrdiff_t{width} * stride, stride, 1};
      const Op op = random_warp(random, large ? 400 : 100, large ? 400 : 100);
      Region out;
      out.y = random.between(0, op.i[0] - 1);
      out.x = random.between(0, op.i[1] - 1);
      out.height = random.between(1, op.i[0] - out.y);
      out.width = random.between(1, op.i[1] - out.x);
      const Shape shape{height, width, channels};
      const Region needs = warp_region(op, shape, out);
      REQUIRE(needs.height >= 1);
      REQUIRE(needs.width >= 1);
      REQUIRE(needs.y >= 0);
      REQUIRE(needs.x >= 0);
      REQUIRE(needs.y + needs.height <= height);
      REQUIRE(needs.x + needs.width <= width);
      // Only that rectangle, in memory that ends with it.
      for (const test::Side side : {test::Side::kFront, test::Side::kBack}) {
        const ptrdiff_t row_bytes = ptrdiff_t{needs.width} * stride;
        Guarded part(static_cast<size_t>(row_bytes) * static_cast<size_t>(needs.height), side);
        for (int y = 0; y < needs.height; ++y) {
          std::memcpy(part.data() + y * row_bytes, view.at(needs.y + y, needs.x, 0), static_cast<size_t>(row_bytes));
        }
        View sub = view;
        sub.row_stride = row_bytes;
        sub.data = part.data() - needs.y * row_bytes - ptrdiff_t{needs.x} * stride;
        for (const bool rounded : {false, true}) {
          CAPTURE(rounded);
          REQUIRE(rows_of(*kernels(name), sub, op, out, needs, rounded) ==
                  rows_of(*kernels(name), view, op, out, {0, 0, height, width}, rounded));
        }
      }
    }
  }
}

TEST_CASE("what a warp needs is not much more than it reads") {
  Op op{};
  op.id = OpId::AFFINE;
  op.i[0] = op.i[1] = 1000;
  op.f[0] = op.f[4] = 1.0;
  const Region needs = warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400});
  CHECK(needs.y >= 95);
  CHECK(needs.x >= 195);
  CHECK(needs.height <= 310);
  CHECK(needs.width <= 410);
  op.id = OpId::PERSPECTIVE;
  CHECK(warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400}) == needs);
  op.id = OpId::TORCH_PERSPECTIVE;
  CHECK(warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400}) == needs);
  // An input of half the size.
  const Region half = warp_region(op, {500, 500, 3}, {100, 200, 300, 400});
  CHECK(half.y >= 45);
  CHECK(half.height <= 160);
  op.f[6] = -1.0 / 300.0;
  CHECK(warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400}) == Region{0, 0, 1000, 1000});
  op.id = OpId::PERSPECTIVE;
  CHECK(warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400}) == Region{0, 0, 1000, 1000});
  op.f[6] = 0.0;
  op.f[2] = -5000.0;
  CHECK(warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400}).width == 1);
  op.f[2] = std::nan("");
  CHECK(warp_region(op, {1000, 1000, 3}, {100, 200, 300, 400}) == Region{0, 0, 1000, 1000});
}

}  // namespace
}  // namespace fastaug
