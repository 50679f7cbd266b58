#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

constexpr Side kSides[] = {Side::kFront, Side::kBack};

TEST_CASE("reverse_pixels mirrors a row and touches no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int width = 1; width <= 130; ++width) {
      CAPTURE(width);
      for (Side side : kSides) {
        const size_t size = static_cast<size_t>(width) * 4;
        Guarded src(size, side), dst(size, side);
        random.fill(src.data(), size);
        kernels(name)->reverse_pixels(src.data(), width, dst.data());
        bool same = true;
        for (int x = 0; x < width; ++x)
          same &= std::memcmp(dst.data() + 4 * x, src.data() + 4 * (width - 1 - x), 4) == 0;
        REQUIRE(same);
        REQUIRE(dst.intact());
      }
    }
  }
}

TEST_CASE("turn_square makes columns of rows and touches no more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (const int bytes : {1, 3, 4}) {
      for (const int offset : {0, 5}) {
        for (const bool upwards : {false, true}) {
          CAPTURE(bytes);
          CAPTURE(offset);
          CAPTURE(upwards);
          for (Side side : kSides) {
            const size_t row = static_cast<size_t>(kSquareSide * bytes);
            std::vector<Guarded> src, dst;
            const uint8_t* rows[kSquareSide];
            for (int x = 0; x < kSquareSide; ++x) {
              src.emplace_back(row + static_cast<size_t>(offset), side);
              random.fill(src.back().data(), src.back().size());
              rows[x] = src.back().data();
            }
            // Rows of a target have a gap that is not to be written.
            const size_t stride = row + 3;
            Guarded target(stride * (kSquareSide - 1) + row, side);
            random.fill(target.data(), target.size());
            std::vector<uint8_t> expected(target.data(), target.data() + target.size());
            const auto at = [&](int y) { return stride * static_cast<size_t>(upwards ? kSquareSide - 1 - y : y); };
            for (int y = 0; y < kSquareSide; ++y)
              for (int x = 0; x < kSquareSide; ++x)
                std::memcpy(expected.data() + at(y) + x * bytes, rows[x] + offset + y * bytes,
                            static_cast<size_t>(bytes));
            const auto step = static_cast<ptrdiff_t>(stride);
            kernels(name)->turn_square(rows, offset, bytes, target.data() + at(0), upwards ? -step : step);
            REQUIRE(std::equal(expected.begin(), expected.end(), target.data()));
            REQUIRE(target.intact());
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
