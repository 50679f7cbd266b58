// Rows into targets of every dtype and layout, against each sample written by itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "execute/store.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

// Rows of random samples.
class RandomRows final : public Stage {
 public:
  RandomRows(int height, int width, int count, Random& random) {
    region = {0, 0, height, width};
    channels = count;
    samples_.resize(static_cast<size_t>(height) * static_cast<size_t>(width) * static_cast<size_t>(count));
    random.fill(samples_.data(), samples_.size());
  }

  void row(int y, const Planes& dst) override {
    for (int c = 0; c < channels; ++c) std::memcpy(dst.row[c], at(y, c), static_cast<size_t>(region.width));
  }

  const uint8_t* at(int y, int c) const {
    return samples_.data() + (static_cast<size_t>(y) * channels + static_cast<size_t>(c)) * region.width;
  }

 private:
  std::vector<uint8_t> samples_;
};

enum class Layout { kPlanar, kChannelsLast, kWidePixels, kUpsideDown, kTransposed };
constexpr Layout kLayouts[] = {Layout::kPlanar, Layout::kChannelsLast, Layout::kWidePixels, Layout::kUpsideDown,
                               Layout::kTransposed};

// A target between inaccessible pages.
struct Image {
  Guarded memory;
  Target target;

  static ptrdiff_t pixels(Layout layout, int channels) {
    return layout == Layout::kWidePixels ? channels + 2 : channels;
  }

  Image(DType dtype, Layout layout, int height, int width, int channels, Side side)
      : memory(static_cast<size_t>(size_of(dtype) * height * width * pixels(layout, channels)), side) {
    std::memset(memory.data(), 0xA5, memory.size());
    const ptrdiff_t size = size_of(dtype);
    target = {memory.data(), dtype, height, width, channels, 0, 0, 0};
    switch (layout) {
      case Layout::kPlanar:
      case Layout::kUpsideDown:
        target.pixel_stride = size;
        target.row_stride = size * width;
        target.channel_stride = size * width * height;
        break;
      case Layout::kTransposed:
        target.pixel_stride = size * height;
        target.row_stride = size;
        target.channel_stride = size * width * height;
        break;
      default:
        target.pixel_stride = size * pixels(layout, channels);
        target.row_stride = target.pixel_stride * width;
        target.channel_stride = size;
    }
    if (layout == Layout::kUpsideDown) {
      target.data = memory.data() + target.row_stride * (height - 1);
      target.row_stride = -target.row_stride;
    }
  }

  uint8_t* at(int y, int x, int c) {
    return static_cast<uint8_t*>(target.data) + y * target.row_stride + x * target.pixel_stride +
           c * target.channel_stride;
  }

  void put(int y, int x, int c, float value) {
    uint16_t half;
    if (target.dtype != DType::kFloat32) kernels("scalar")->narrow(target.dtype, &value, 1, &half);
    if (target.dtype == DType::kFloat32) {
      std::memcpy(at(y, x, c), &value, sizeof value);
    } else {
      std::memcpy(at(y, x, c), &half, sizeof half);
    }
  }
};

StorePlan some_options(Random& random, int height, int width, int channels) {
  StorePlan options;
  options.hflip = random.between(0, 1) == 1;
  options.vflip = random.between(0, 1) == 1;
  options.normalize.normalize = random.between(0, 2) > 0;
  for (int c = 0; c < kMaxChannels; ++c) {
    options.normalize.mean[c] = static_cast<float>(random.unit());
    options.normalize.std[c] = static_cast<float>(0.1 + random.unit());
  }
  for (int left = random.between(0, 3); left > 0; --left) {
    Erase erase;
    erase.region.height = random.between(1, height);
    erase.region.width = random.between(1, width);
    erase.region.y = random.between(0, height - erase.region.height);
    erase.region.x = random.between(0, width - erase.region.width);
    for (int c = 0; c < channels; ++c) erase.value[c] = static_cast<float>(random.unit() * 4.0 - 2.0);
    options.erases.push_back(erase);
  }
  return options;
}

// The rows as floats, sample by sample; of pointwise_store where a run of ops is fused.
void expect_floats(const Kernels& tested, RandomRows& rows, const StorePlan& options, const FusedOps& fused,
                   Image* image) {
  const int height = rows.region.height;
  const int width = rows.region.width;
  Arena arena;
  const Planes planes = make_planes(arena, width);
  std::vector<float> out(static_cast<size_t>(width) * kMaxChannels);
  float* to[kMaxChannels];
  for (int c = 0; c < kMaxChannels; ++c) to[c] = out.data() + c * width;
  for (int y = 0; y < height; ++y) {
    rows.row(y, planes);
    if (fused.count > 0) {
      tested.pointwise_store(options.normalize, fused.ops, fused.means, fused.count, rows.channels, planes.row, width,
                             false, to);
    } else {
      for (int c = 0; c < image->target.channels; ++c)
        kernels("scalar")->store_float(options.normalize, c, planes.row[c], width, false, to[c]);
    }
    for (int c = 0; c < image->target.channels; ++c)
      for (int x = 0; x < width; ++x)
        image->put(options.vflip ? height - 1 - y : y, options.hflip ? width - 1 - x : x, c, to[c][x]);
  }
  for (const Erase& erase : options.erases) {
    const Region region = erase.region;
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x)
        for (int c = 0; c < image->target.channels; ++c) image->put(y, x, c, erase.value[c]);
  }
}

bool same(const Image& a, const Image& b) {
  return a.memory.intact() && std::memcmp(a.memory.data(), b.memory.data(), a.memory.size()) == 0;
}

template <class Check>
void for_every_image(uint32_t seed, Check check) {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(seed);
    for (Layout layout : kLayouts) {
      CAPTURE(static_cast<int>(layout));
      for (int channels = 1; channels <= kMaxChannels; ++channels) {
        CAPTURE(channels);
        for (int trial = 0; trial < 40; ++trial) {
          const int height = random.between(1, 6);
          const int width = trial < 20 ? trial + 1 : random.between(20, 200);
          CAPTURE(width);
          RandomRows rows(height, width, channels, random);
          check(*kernels(name), layout, rows, random);
        }
      }
    }
  }
}

TEST_CASE("float targets hold each sample, in every dtype and layout, and erased regions") {
  for_every_image(1, [](const Kernels& tested, Layout layout, RandomRows& rows, Random& random) {
    const DType dtypes[] = {DType::kFloat32, DType::kFloat16, DType::kBfloat16};
    const DType dtype = dtypes[random.between(0, 2)];
    const int height = rows.region.height;
    const int width = rows.region.width;
    StorePlan options = some_options(random, height, width, rows.channels);
    std::vector<Op> ops(2);
    ops[0].id = OpId::BRIGHTNESS;
    ops[0].f[0] = 0.9;
    ops[1].id = OpId::CONTRAST;
    ops[1].f[0] = 1.2;
    const float means[] = {0.0f, 117.0f};
    const FusedOps fused{ops.data(), means, random.between(0, 2)};
    const Side side = random.between(0, 1) == 0 ? Side::kFront : Side::kBack;
    Image got(dtype, layout, height, width, rows.channels, side);
    Image wanted(dtype, layout, height, width, rows.channels, side);
    expect_floats(tested, rows, options, fused, &wanted);
    Arena arena;
    Context context{tested, arena};
    store_rows(context, &rows, got.target, options, fused);
    CAPTURE(static_cast<int>(dtype));
    CAPTURE(fused.count);
    REQUIRE(same(got, wanted));
  });
}

TEST_CASE("a fused run may change the number of channels") {
  Op op{};
  const float mean = 0.0f;
  Random random(4);
  for (const char* name : available_isas()) {
    CAPTURE(name);
    for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
      for (Layout layout : kLayouts) {
        for (bool gray : {true, false}) {
          CAPTURE(gray);
          op.id = gray ? OpId::LUMA : OpId::REPLICATE;
          op.i[0] = 3;
          RandomRows rows(4, 50, gray ? 3 : 1, random);
          StorePlan options = some_options(random, 4, 50, gray ? 1 : 3);
          const FusedOps fused{&op, &mean, 1};
          Image got(dtype, layout, 4, 50, gray ? 1 : 3, Side::kBack);
          Image wanted(dtype, layout, 4, 50, gray ? 1 : 3, Side::kBack);
          expect_floats(*kernels(name), rows, options, fused, &wanted);
          Arena arena;
          Context context{*kernels(name), arena};
          store_rows(context, &rows, got.target, options, fused);
          CHECK(same(got, wanted));
        }
      }
    }
  }
}

TEST_CASE("byte targets hold each sample, in every layout") {
  for_every_image(2, [](const Kernels& tested, Layout layout, RandomRows& rows, Random& random) {
    const int height = rows.region.height;
    const int width = rows.region.width;
    StorePlan options;
    options.hflip = random.between(0, 1) == 1;
    options.vflip = random.between(0, 1) == 1;
    Image got(DType::kUint8, layout, height, width, rows.channels, Side::kBack);
    Image wanted(DType::kUint8, layout, height, width, rows.channels, Side::kBack);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < rows.channels; ++c)
          *wanted.at(options.vflip ? height - 1 - y : y, options.hflip ? width - 1 - x : x, c) = rows.at(y, c)[x];
    Arena arena;
    Context context{tested, arena};
    store_rows(context, &rows, got.target, options);
    REQUIRE(same(got, wanted));
  });
}

TEST_CASE("gaps between pixels become 255 where they belong to the image") {
  Random random(3);
  RandomRows rows(3, 37, 3, random);
  Image got(DType::kUint8, Layout::kPlanar, 3, 37, 4, Side::kBack);
  got.target.channels = 3;
  got.target.pixel_stride = 4;
  got.target.row_stride = 4 * 37;
  got.target.channel_stride = 1;
  got.target.fill_gaps = true;
  for (const char* name : available_isas()) {
    std::memset(got.memory.data(), 0, got.memory.size());
    Arena arena;
    Context context{*kernels(name), arena};
    store_rows(context, &rows, got.target, {});
    bool right = got.memory.intact();
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 37; ++x) {
        for (int c = 0; c < 3; ++c) right &= *got.at(y, x, c) == rows.at(y, c)[x];
        right &= *got.at(y, x, 3) == 255;
      }
    }
    CHECK(right);
  }
}

}  // namespace
}  // namespace fastaug
