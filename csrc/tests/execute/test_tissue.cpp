#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "execute/tissue.h"
#include "pixel/tissue.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

// Where a border mirrors all but the last pixel; of one pixel, that.
int mirrored(int at, int side) {
  if (side == 1) return 0;
  return at < 0 ? -at : at >= side ? 2 * side - 2 - at : at;
}

struct Image {
  int height, width;
  std::vector<uint8_t> samples;

  Image(int rows, int columns, uint32_t seed)
      : height(rows), width(columns), samples(static_cast<size_t>(3 * rows * columns)) {
    Random random(seed);
    random.fill(samples.data(), samples.size());
    for (uint8_t& v : samples) v = v < 64 ? static_cast<uint8_t>(v / 8) : v > 160 ? static_cast<uint8_t>(v | 0xe0) : v;
  }
  int at(int y, int x, int c) const { return samples[static_cast<size_t>((y * width + x) * 3 + c)]; }
  int gray(int y, int x) const {
    y = mirrored(y, height);
    x = mirrored(x, width);
    return cv_gray(at(y, x, 0), at(y, x, 1), at(y, x, 2));
  }
};

TissueStats expected(const Image& image, int white, int black) {
  TissueStats made;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      int low = 255, high = 0;
      for (int c = 0; c < 3; ++c) {
        const int v = image.at(y, x, c);
        made.sums.colour[c] += static_cast<uint64_t>(v);
        low = std::min(low, v);
        high = std::max(high, v);
      }
      made.sums.white += low > white ? 1 : 0;
      made.sums.black += high < black ? 1 : 0;
      ++made.saturation[cv_saturation(low, high)];
      ++made.gray[image.gray(y, x)];
      const int around = image.gray(y - 1, x) + image.gray(y + 1, x) + image.gray(y, x - 1) + image.gray(y, x + 1);
      const int v = around - 4 * image.gray(y, x);
      made.laplacian.sum += v;
      made.laplacian.squares += static_cast<uint64_t>(v * v);
    }
  }
  return made;
}

TEST_CASE("tissue: an image is counted in every order of samples, and nothing beside it") {
  constexpr int kSizes[][2] = {{1, 1}, {1, 2}, {2, 1}, {1, 70}, {70, 1}, {2, 2}, {3, 3}, {4, 65}, {17, 130}};
  for (const auto& [height, width] : kSizes) {
    CAPTURE(height);
    CAPTURE(width);
    const Image image(height, width, static_cast<uint32_t>(height * 1000 + width));
    const TissueStats wanted = expected(image, 220, 20);
    struct Order {
      int row, pixel, channel, size;
    };
    const int pixels = height * width;
    const Order orders[] = {{3 * width, 3, 1, 3 * pixels},
                            {4 * width, 4, 1, 4 * pixels},
                            {width, 1, pixels, 3 * pixels},
                            {6 * width, 6, 2, 6 * pixels}};
    for (const Order& order : orders) {
      CAPTURE(order.pixel);
      for (const Side side : {Side::kFront, Side::kBack}) {
        Guarded memory(static_cast<size_t>(order.size), side);
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x)
            for (int c = 0; c < 3; ++c)
              memory.data()[y * order.row + x * order.pixel + c * order.channel] =
                  static_cast<uint8_t>(image.at(y, x, c));
        Arena arena;
        const View view = {memory.data(), height, width, 3, order.row, order.pixel, order.channel};
        const TissueStats made = tissue_stats(view, 220, 20, kernels(), arena);
        for (int c = 0; c < 3; ++c) CHECK(made.sums.colour[c] == wanted.sums.colour[c]);
        CHECK(made.sums.white == wanted.sums.white);
        CHECK(made.sums.black == wanted.sums.black);
        CHECK(made.laplacian.sum == wanted.laplacian.sum);
        CHECK(made.laplacian.squares == wanted.laplacian.squares);
        CHECK(std::equal(made.saturation, made.saturation + 256, wanted.saturation));
        CHECK(std::equal(made.gray, made.gray + 256, wanted.gray));
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
