// A bag whose samples lie gigabytes apart: offsets take 64 bits.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "tests/cuda/bags.h"

using namespace fastaug;
using fastaug::cuda::Bag;
using fastaug::test::op;
using fastaug::test::Ops;
using fastaug::test::RandomProgram;
using fastaug::test::resize;
using fastaug::test::view_of;

namespace {

// Addresses that are nobody's until they are touched.
class Reserved {
 public:
  explicit Reserved(size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(memory_ != MAP_FAILED);
  }
  ~Reserved() { munmap(memory_, bytes_); }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  uint8_t* data() { return static_cast<uint8_t*>(memory_); }

 private:
  void* memory_;
  size_t bytes_;
};

struct Strides {
  ptrdiff_t row;
  ptrdiff_t pixel;
  ptrdiff_t channel;

  size_t bytes(Shape shape) const {
    return static_cast<size_t>(std::abs(row) * shape.height + pixel * shape.width + channel * shape.channels);
  }
  // Of pixel (0, 0).
  ptrdiff_t start(Shape shape) const { return row < 0 ? -row * (shape.height - 1) : 0; }
  ptrdiff_t at(int y, int x, int c) const { return y * row + x * pixel + c * channel; }
};

}  // namespace

TEST_CASE("samples lie gigabytes apart") {
  constexpr ptrdiff_t kFar = (ptrdiff_t{3} << 30) + 8;  // past 2^31 from one to the next
  constexpr Strides kFarStrides[] = {{kFar, 12, 4}, {-kFar, 12, 4}, {400, kFar, 4}, {400, 4, kFar}};
  const Shape in{6, 9, 3};
  RandomProgram random(6);
  std::vector<uint8_t> pixels = random.pixels(size_t{6} * 9 * 4);
  const View near = view_of(pixels, in, 1);
  const std::array<double, 8> turned = {0.8, 0.6, -2, -0.6, 0.8, 3, 0.01, 0.02};
  const auto warp = [&](OpId id, Interpolation mode, int flags = 0) {
    return op(id, {7, 8}, turned, static_cast<int>(mode) | flags);
  };
  const Ops programs[] = {
      {},
      {op(OpId::WINDOW, {-1, 2, 7, 5}), op(OpId::VFLIP)},
      {resize(4, 5), op(OpId::INVERT)},
      {resize(11, 12, Filter::kLanczos), op(OpId::TO_FLOAT), op(OpId::ERASE, {1, 2, 3, 4}, {1, 2, 3})},
      {op(OpId::PAD, {3, 4, 5, 6}, {}, 1), op(OpId::SHARPNESS, {}, {2})},
      {op(OpId::ROT90, {}, {}, 1), op(OpId::HFLIP), op(OpId::TO_FLOAT)},
      {op(OpId::EQUALIZE)},
      {op(OpId::CONTRAST, {}, {0.4}), op(OpId::NEAREST, {3, 3})},
      {warp(OpId::AFFINE, Interpolation::kNearest)},
      {warp(OpId::AFFINE, Interpolation::kBilinear), op(OpId::TO_FLOAT)},
      {warp(OpId::AFFINE, Interpolation::kBicubic)},
      {warp(OpId::PERSPECTIVE, Interpolation::kNearest)},
      {warp(OpId::PERSPECTIVE, Interpolation::kBilinear)},
      {warp(OpId::PERSPECTIVE, Interpolation::kBicubic)},
      {warp(OpId::TORCH_AFFINE, Interpolation::kNearest)},
      {warp(OpId::TORCH_AFFINE, Interpolation::kBilinear, kFilled)},
      {warp(OpId::TORCH_AFFINE, Interpolation::kBilinear, kFilled | kV2Fill)},
      {warp(OpId::TORCH_PERSPECTIVE, Interpolation::kNearest, kFilled)},
      {warp(OpId::TORCH_PERSPECTIVE, Interpolation::kBilinear)},
  };
  for (const Strides& far : kFarStrides) {
    Reserved source(far.bytes(in));
    uint8_t* first = source.data() + far.start(in);
    for (int y = 0; y < in.height; ++y) {
      for (int x = 0; x < in.width; ++x) {
        for (int c = 0; c < in.channels; ++c) first[far.at(y, x, c)] = *near.at(y, x, c);
      }
    }
    const View view{first, in.height, in.width, in.channels, far.row, far.pixel, far.channel};
    for (const Ops& program : programs) {
      INFO("strides ", far.row, " ", far.pixel, " ", far.channel, "\n", to_string(program));
      const Shape out = validate(program, in);
      test::Buffer expected(out, test::is_stored(program), 1);
      execute({program, {near}, expected.target});
      Reserved result(far.bytes(out));
      Target target = expected.target;
      const ptrdiff_t size = size_of(target.dtype);
      uint8_t* to = result.data() + far.start(out);
      target.data = to;
      target.row_stride = far.row;
      target.pixel_stride = far.pixel;
      target.channel_stride = far.channel;
      Bag bag({});
      REQUIRE(bag.add({program, {view}, target}));
      bag.finish();
      cuda::emulate(bag, 2);
      const auto* wanted = static_cast<const uint8_t*>(expected.target.data);
      for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x) {
          for (int c = 0; c < out.channels; ++c) {
            REQUIRE(std::equal(to + far.at(y, x, c), to + far.at(y, x, c) + size, wanted));
            wanted += size;
          }
        }
      }
    }
  }
}
