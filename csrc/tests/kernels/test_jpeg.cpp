// The JPEG kernels of every instruction set against the scalar ones and the formulas, between inaccessible pages. That
// those are libjpeg's is tested with whole files.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "pixel/jpeg.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::guarded_row;
using test::Random;
using test::Side;

const Kernels& scalar() { return *kernels("scalar"); }

// Coefficients of `blocks` blocks, dequantised of any magnitude, sparse as those of images are or full.
struct Coefficients {
  Guarded memory;
  std::vector<uint8_t> last;
  uint16_t steps[kJpegBlock];

  Coefficients(int blocks, Random& random)
      : memory(static_cast<size_t>(blocks + 1) * kJpegBlock * 2), last(static_cast<size_t>(blocks)) {
    std::memset(memory.data(), 0, memory.size());
    for (uint16_t& step : steps)
      step = static_cast<uint16_t>(random.between(1, random.between(0, 9) == 0 ? 65535 : 90));
    for (int b = 0; b < blocks; ++b) {
      const int kind = random.between(0, 5);
      const int most = kind == 0 ? 0 : random.between(1, 63);
      const int size = kind == 5 ? 32767 : 1 << random.between(1, 10);
      int16_t* block = at(b);
      for (int k = 0; k <= most; ++k) {
        if (kind > 2 || random.between(0, 3) == 0) block[k] = static_cast<int16_t>(random.between(-size, size));
      }
      last[static_cast<size_t>(b)] = most == 0 ? 0 : 63;
    }
  }
  int16_t* at(int block) { return reinterpret_cast<int16_t*>(memory.data()) + ptrdiff_t{block} * kJpegBlock; }
};

TEST_CASE("jpeg kernels: the inverse DCT") {
  for (const char* isa : available_isas()) {
    CAPTURE(isa);
    const Kernels& tested = *kernels(isa);
    Random random(1);
    int certain = 0;
    for (int round = 0; round < test::cases(4000); ++round) {
      const int blocks = random.between(1, 9), gap = random.between(0, 9);
      Coefficients coefs(blocks, random);
      const ptrdiff_t stride = 8 * blocks + gap;
      const size_t size = static_cast<size_t>(stride * 7 + 8 * blocks);
      Guarded expected(size), got(size, round % 2 == 0 ? Side::kBack : Side::kFront);
      std::memset(expected.data(), 7, size);
      std::memset(got.data(), 7, size);
      const bool sure =
          scalar().jpeg_inverse(coefs.at(0), coefs.last.data(), coefs.steps, blocks, expected.data(), stride);
      REQUIRE(tested.jpeg_inverse(coefs.at(0), coefs.last.data(), coefs.steps, blocks, got.data(), stride) == sure);
      CHECK(got.intact());
      certain += sure;
      if (sure) REQUIRE(std::memcmp(expected.data(), got.data(), size) == 0);
    }
    CHECK(certain > test::cases(400));
  }
}

TEST_CASE("jpeg kernels: the inverse DCT is one") {
  Random random(2);
  for (int round = 0; round < test::cases(300); ++round) {
    int16_t coefs[2 * kJpegBlock] = {};
    uint16_t steps[kJpegBlock];
    std::fill(std::begin(steps), std::end(steps), uint16_t{1});
    for (int k = random.between(1, 64); k > 0; --k)
      coefs[random.between(0, 63)] = static_cast<int16_t>(random.between(-60, 60));
    const uint8_t last = 63;
    uint8_t samples[kJpegBlock];
    REQUIRE(scalar().jpeg_inverse(coefs, &last, steps, 1, samples, 8));
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        double sum = 0;
        for (int v = 0; v < 8; ++v) {
          for (int u = 0; u < 8; ++u) {
            const double scale = (u == 0 ? std::sqrt(0.5) : 1) * (v == 0 ? std::sqrt(0.5) : 1) / 4;
            sum += scale * coefs[8 * v + u] * std::cos((2 * x + 1) * u * std::numbers::pi / 16) *
                   std::cos((2 * y + 1) * v * std::numbers::pi / 16);
          }
        }
        const double exact = std::min(std::max(sum + 128, 0.0), 255.0);
        REQUIRE(std::abs(samples[8 * y + x] - exact) <= 1.0);
      }
    }
  }
}

TEST_CASE("jpeg kernels: upsampling") {
  for (const char* isa : available_isas()) {
    CAPTURE(isa);
    const Kernels& tested = *kernels(isa);
    Random random(3);
    for (int width = 1; width <= 1100; width += width < 140 ? 1 : 97) {
      for (const Side side : {Side::kFront, Side::kBack}) {
        Guarded near = guarded_row(width + 2, side), far = guarded_row(width + 2, side);
        random.fill(near.data(), near.size());
        random.fill(far.data(), far.size());
        for (const uint8_t* other :
             {static_cast<const uint8_t*>(nullptr), static_cast<const uint8_t*>(far.data() + 1)}) {
          Guarded dst = guarded_row(2 * width, side);
          tested.jpeg_upsample(near.data() + 1, other, width, dst.data());
          CHECK(dst.intact());
          for (int x = 0; x < width; ++x) {
            const auto column = [&](int k) {
              return other == nullptr ? 4 * near.data()[1 + k] : 3 * near.data()[1 + k] + other[k];
            };
            // In sixteenths; halves go up, down, up, down.
            const int left = 3 * column(x) + column(x - 1), right = 3 * column(x) + column(x + 1);
            REQUIRE(dst.data()[2 * x] == (left + (other == nullptr ? 4 : 8)) / 16);
            REQUIRE(dst.data()[2 * x + 1] == (right + (other == nullptr ? 8 : 7)) / 16);
          }
        }
      }
    }
  }
}

TEST_CASE("jpeg kernels: colours") {
  std::vector<uint8_t> luma(65536 + kRowPad), blue(luma.size()), red(luma.size());
  for (const char* isa : available_isas()) {
    CAPTURE(isa);
    const Kernels& tested = *kernels(isa);
    for (int y = 0; y < 256; y += 5) {
      for (int k = 0; k < 65536; ++k) {
        luma[static_cast<size_t>(k)] = static_cast<uint8_t>(y);
        blue[static_cast<size_t>(k)] = static_cast<uint8_t>(k >> 8);
        red[static_cast<size_t>(k)] = static_cast<uint8_t>(k);
      }
      std::vector<uint8_t> got(3 * 65536);
      tested.jpeg_colours(luma.data(), blue.data(), red.data(), 65536, 3, got.data());
      bool same = true;
      for (int k = 0; k < 65536; ++k) {
        uint8_t rgb[3];
        jpeg_rgb(y, (k >> 8) - 128, (k & 255) - 128, rgb);
        same &= std::memcmp(rgb, got.data() + 3 * k, 3) == 0;
        const auto clipped = [](double v) { return std::min(std::max(v, 0.0), 255.0); };
        same &= std::abs(rgb[0] - clipped(y + 1.402 * ((k & 255) - 128))) <= 0.51;
      }
      REQUIRE(same);
    }
    Random random(4);
    for (int width = 1; width < 200; ++width) {
      for (const int stride : {3, 4}) {
        Guarded rows[] = {guarded_row(width), guarded_row(width), guarded_row(width)};
        for (Guarded& row : rows) random.fill(row.data(), row.size());
        Guarded dst(static_cast<size_t>(stride * width), width % 2 == 0 ? Side::kBack : Side::kFront);
        tested.jpeg_colours(rows[0].data(), rows[1].data(), rows[2].data(), width, stride, dst.data());
        CHECK(dst.intact());
        for (int x = 0; x < width; ++x) {
          uint8_t rgb[4] = {0, 0, 0, 255};
          jpeg_rgb(rows[0].data()[x], rows[1].data()[x] - 128, rows[2].data()[x] - 128, rgb);
          REQUIRE(std::memcmp(rgb, dst.data() + stride * x, static_cast<size_t>(stride)) == 0);
        }
      }
    }
  }
}

TEST_CASE("jpeg kernels: YCbCr of all colours") {
  constexpr int kCount = 65536;
  std::vector<uint8_t> planes[6];
  for (auto& plane : planes) plane.resize(kCount + kRowPad);
  for (const char* isa : available_isas()) {
    CAPTURE(isa);
    for (int red = 0; red < 256; ++red) {
      for (size_t k = 0; k < kCount; ++k) {
        planes[0][k] = static_cast<uint8_t>(red);
        planes[1][k] = static_cast<uint8_t>(k >> 8);
        planes[2][k] = static_cast<uint8_t>(k);
      }
      const uint8_t* const rgb[] = {planes[0].data(), planes[1].data(), planes[2].data()};
      uint8_t* const ycc[] = {planes[3].data(), planes[4].data(), planes[5].data()};
      kernels(isa)->jpeg_ycc(rgb, kCount, ycc);
      bool same = true;
      for (int k = 0; k < kCount; ++k) {
        uint8_t expected[3];
        jpeg_ycc(red, k >> 8, k & 255, expected);
        for (int c = 0; c < 3; ++c) same &= ycc[c][k] == expected[c];
      }
      REQUIRE(same);
    }
  }
}

TEST_CASE("jpeg kernels: chroma half as wide") {
  for (const char* isa : available_isas()) {
    CAPTURE(isa);
    Random random(4);
    for (int width = 1; width <= 300; width += width < 140 ? 1 : 31) {
      Guarded above = guarded_row(2 * width), below = guarded_row(2 * width), dst = guarded_row(width);
      random.fill(above.data(), above.size());
      random.fill(below.data(), below.size());
      kernels(isa)->jpeg_halve(above.data(), below.data(), width, dst.data());
      CHECK(dst.intact());
      for (int x = 0; x < width; ++x) {
        const int sum = above.data()[2 * x] + above.data()[2 * x + 1] + below.data()[2 * x] + below.data()[2 * x + 1];
        REQUIRE(dst.data()[x] == (sum + (x % 2 == 0 ? 1 : 2)) / 4);
      }
    }
  }
}

TEST_CASE("jpeg kernels: the forward DCT") {
  for (const char* isa : available_isas()) {
    CAPTURE(isa);
    Random random(5);
    for (int round = 0; round < test::cases(4000); ++round) {
      const int blocks = random.between(1, 9), stride = 8 * blocks + 8 + random.between(0, 9);
      std::vector<uint8_t> samples(static_cast<size_t>(8 * stride + 8));
      const int kind = random.between(0, 3);
      for (uint8_t& sample : samples) {
        const int value = random.between(0, 255);
        sample = static_cast<uint8_t>(kind == 0 ? 77 : kind == 1 ? 255 * (value & 1) : value);
      }
      JpegSteps steps;
      for (int k = 0; k < kJpegBlock; ++k) steps.set(k, random.between(1, random.between(0, 3) == 0 ? 255 : 20));
      const auto count = static_cast<size_t>(blocks + 1);
      std::vector<int16_t> expected(count * kJpegBlock), got(count * kJpegBlock);
      std::vector<uint8_t> flat(count), got_flat(count);
      scalar().jpeg_forward(samples.data(), stride, steps, blocks, expected.data(), flat.data());
      kernels(isa)->jpeg_forward(samples.data(), stride, steps, blocks, got.data(), got_flat.data());
      REQUIRE(std::memcmp(expected.data(), got.data(), static_cast<size_t>(blocks) * kJpegBlock * 2) == 0);
      REQUIRE(flat == got_flat);
    }
  }
}

TEST_CASE("jpeg kernels: the forward DCT is one") {
  Random random(6);
  JpegSteps steps;
  for (int k = 0; k < kJpegBlock; ++k) steps.set(k, 1);
  for (int round = 0; round < test::cases(300); ++round) {
    uint8_t samples[2 * kJpegBlock], last = 0;
    int16_t coefs[2 * kJpegBlock];
    random.fill(samples, sizeof(samples));
    scalar().jpeg_forward(samples, 8, steps, 1, coefs, &last);
    for (int v = 0; v < 8; ++v) {
      for (int u = 0; u < 8; ++u) {
        double sum = 0;
        for (int y = 0; y < 8; ++y) {
          for (int x = 0; x < 8; ++x) {
            sum += (samples[8 * y + x] - 128) * std::cos((2 * x + 1) * u * std::numbers::pi / 16) *
                   std::cos((2 * y + 1) * v * std::numbers::pi / 16);
          }
        }
        const double scale = (u == 0 ? std::sqrt(0.5) : 1) * (v == 0 ? std::sqrt(0.5) : 1) / 4;
        REQUIRE(std::abs(coefs[8 * v + u] - scale * sum) <= 0.75);
      }
    }
  }
}

TEST_CASE("jpeg kernels: steps divide") {
  for (int step = 1; step < 256; ++step) {
    JpegSteps steps;
    steps.set(0, step);
    for (int value = 0; value < (1 << 14) - 4 * step; ++value) {
      const int twice = (value + 4 * step) / 8 * 2;
      const int product = twice * steps.factors[0] >> 16;
      const int quotient = 2 * product * steps.shifts[0] >> 16;
      REQUIRE(quotient == jpeg_quantised(value, step));
    }
  }
}

}  // namespace
}  // namespace fastaug
