#include <doctest/doctest.h>

#include <vector>

#include "recipe/sketch.h"

namespace fastaug {
namespace {

constexpr Fill kBlack{Fill::Bytes{}, Fill::Bytes{}, true};

Outline outline(Container container, int height = 30, int width = 40, int channels = 3) {
  return {container, {height, width, channels}};
}

std::vector<OpId> ids(const Sketch& sketch) {
  std::vector<OpId> all;
  for (const Op& op : sketch.program()) all.push_back(op.id);
  return all;
}

TEST_CASE("sizes of a shorter side are torchvision's") {
  const auto of = [](Size size, PlaneSize image) {
    const PlaneSize extent = size.of(image);
    return std::vector{extent.height, extent.width};
  };
  CHECK(of({0, 10, 0}, {30, 40}) == std::vector<int64_t>{10, 13});
  CHECK(of({0, 10, 0}, {40, 30}) == std::vector<int64_t>{13, 10});
  CHECK(of({0, 10, 12}, {30, 40}) == std::vector<int64_t>{9, 12});
  CHECK(of({7, 5, 0}, {30, 40}) == std::vector<int64_t>{7, 5});
}

TEST_CASE("moves of floats come before the store, which comes before what erases") {
  Sketch sketch(outline(Container::kPil));
  sketch.to_float();
  sketch.hflip();
  sketch.crop(1, 2, 10, 11);
  sketch.normalize(plain(OpId::NORMALIZE));
  sketch.vflip();
  sketch.erase(0, 0, 2, 2, {});
  REQUIRE_FALSE(sketch.declined());
  CHECK(ids(sketch) ==
        std::vector{OpId::HFLIP, OpId::WINDOW, OpId::VFLIP, OpId::TO_FLOAT, OpId::NORMALIZE, OpId::ERASE});
  CHECK(sketch.height() == 10);
  CHECK(sketch.width() == 11);
  CHECK(sketch.gives_floats());
  // What was erased does not move.
  sketch.hflip();
  CHECK(sketch.declined());
}

TEST_CASE("what one call of Pillow's or torch's does is no job, and neither is nothing") {
  const auto is_job = [](Container container, auto... steps) {
    Sketch sketch(outline(container));
    (steps(sketch), ...);
    REQUIRE_FALSE(sketch.declined());
    return sketch.is_job();
  };
  const auto flip = [](Sketch& sketch) { sketch.hflip(); };
  const auto crop = [](Sketch& sketch) { sketch.crop(1, 1, 9, 9); };
  const auto smaller = [](Sketch& sketch) { sketch.crop(1, 1, 5, 5); };
  const auto whole = [](Sketch& sketch) { sketch.crop(0, 0, 30, 40); };
  const auto dim = [](Sketch& sketch) { sketch.adjust_brightness(0.5); };
  const auto to_pil = [](Sketch& sketch) { sketch.to_pil(); };
  CHECK_FALSE(is_job(Container::kPil));
  CHECK_FALSE(is_job(Container::kPil, whole));
  CHECK_FALSE(is_job(Container::kPil, flip));
  CHECK_FALSE(is_job(Container::kPil, crop));
  CHECK(is_job(Container::kPil, flip, crop));
  CHECK(is_job(Container::kPil, dim));
  CHECK_FALSE(is_job(Container::kTensor, flip));
  CHECK_FALSE(is_job(Container::kTensor, crop, smaller));
  CHECK(is_job(Container::kTensor, crop, crop));  // the second one shows what lies outside
  CHECK(is_job(Container::kTensor, crop, flip));
  CHECK_FALSE(is_job(Container::kArray, to_pil));
  CHECK_FALSE(is_job(Container::kTensor, crop, to_pil));
  CHECK(is_job(Container::kArray, crop, to_pil));
  CHECK(is_job(Container::kArray, dim, to_pil));
  CHECK(is_job(Container::kPil, [](Sketch& sketch) { sketch.to_float(); }));
}

TEST_CASE("uint8 tensors have torch's arithmetic, or Pillow's by name") {
  for (const bool pillow : {false, true}) {
    Outline given = outline(Container::kTensor);
    given.pillow = pillow;
    Sketch sketch(given);
    sketch.adjust_contrast(0.5);
    sketch.adjust_hue(-0.25);
    sketch.grayscale(3);
    REQUIRE(sketch.program().size() == 4);
    CHECK(ids(sketch) == (pillow
                              ? std::vector{OpId::CONTRAST, OpId::HUE, OpId::LUMA, OpId::REPLICATE}
                              : std::vector{OpId::TORCH_CONTRAST, OpId::TORCH_HUE, OpId::TORCH_LUMA, OpId::REPLICATE}));
    CHECK(sketch.program()[1].i[0] == (pillow ? 256 - 63 : 0));
  }
}

TEST_CASE("tensors of v2 have v2's arithmetic") {
  Outline given = outline(Container::kTensor);
  given.v2 = true;
  Sketch sketch(given);
  sketch.adjust_contrast(0.5);
  sketch.adjust_saturation(0.5);
  sketch.adjust_hue(-0.25);
  sketch.adjust_sharpness(0.5);
  sketch.autocontrast();
  sketch.posterize(8);
  sketch.resize({20, 1, 0}, {2, 0, false, true, false});
  sketch.grayscale(3);
  sketch.convert_dtype(true);
  REQUIRE_FALSE(sketch.declined());
  CHECK(ids(sketch) == std::vector{OpId::V2_CONTRAST, OpId::V2_SATURATION, OpId::V2_HUE, OpId::V2_SHARPNESS,
                                   OpId::V2_AUTOCONTRAST, OpId::RESIZE, OpId::V2_LUMA, OpId::REPLICATE,
                                   OpId::V2_TO_FLOAT});
  CHECK(sketch.program()[5].flags == (2 | kShortWeights | kWidthFirst));
  CHECK_FALSE(sketch.tagged());
  sketch.to_image();
  CHECK(sketch.tagged());
  sketch.to_pure_tensor();
  CHECK_FALSE(sketch.tagged());
}

TEST_CASE("v2 keeps the channels of a pixel together where torch does") {
  const auto stay = [](auto... steps) {
    Outline given = outline(Container::kPil);
    given.v2 = true;
    Sketch sketch(given);
    sketch.to_image();
    (steps(sketch), ...);
    REQUIRE_FALSE(sketch.declined());
    return sketch.channel_last();
  };
  const auto part = [](Sketch& sketch) { sketch.crop(1, 1, 9, 9); };
  const auto rows = [](Sketch& sketch) { sketch.crop(1, 0, 9, 40); };
  const auto row = [](Sketch& sketch) { sketch.crop(1, 1, 1, 9); };
  const auto flip = [](Sketch& sketch) { sketch.hflip(); };
  const auto smaller = [](Sketch& sketch) { sketch.resize({5, 6, 0}, {2, 0, false, true, false}); };
  const auto border = [](Sketch& sketch) { sketch.pad({1, 1, 1, 1}, kBlack, std::nullopt); };
  CHECK(stay());
  CHECK(stay(smaller));
  CHECK(stay(part, flip, smaller));
  CHECK_FALSE(stay(part, smaller));
  CHECK_FALSE(stay(part, rows, smaller));
  CHECK(stay(rows, smaller));
  CHECK(stay(row, smaller));
  CHECK_FALSE(stay(border));
}

TEST_CASE("what may be an error, or is Python's, is declined") {
  const auto declines = [](Container container, auto step) {
    Sketch sketch(outline(container));
    step(sketch);
    return sketch.declined();
  };
  CHECK(declines(Container::kTensor, [](Sketch& sketch) { sketch.to_float(); }));
  CHECK(declines(Container::kArray, [](Sketch& sketch) { sketch.to_uint8_tensor(); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.to_pil(); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.normalize(plain(OpId::NORMALIZE)); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.adjust_hue(0.6); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.posterize(9); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.crop(0, 0, 0, 5); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.pad({-40, 0, 0, 0}, kBlack, std::nullopt); }));
  CHECK(declines(Container::kTensor, [](Sketch& sketch) { sketch.pad({40, 0, 0, 0}, kBlack, PadMode::kReflect); }));
  CHECK_FALSE(
      declines(Container::kTensor, [](Sketch& sketch) { sketch.pad({39, 0, 0, 0}, kBlack, PadMode::kReflect); }));
  CHECK(declines(Container::kTensor, [](Sketch& sketch) { sketch.rotate(30, 0, false, std::nullopt, kBlack); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.rotate(30, 1, false, std::nullopt, kBlack); }));
  CHECK(declines(Container::kPil, [](Sketch& sketch) { sketch.rotate(30, 0, false, std::nullopt, Fill{}); }));
}

TEST_CASE("a program stays below where a draft would be done so far, and the longest one still fits") {
  Sketch sketch(outline(Container::kPil));
  for (int k = 0; k < kMaxOps / 2; ++k) sketch.hflip();
  REQUIRE_FALSE(sketch.declined());
  sketch.to_float();
  for (int k = 1; k < kMaxOps / 2; ++k) sketch.erase(0, 0, 1, 1, {});
  REQUIRE_FALSE(sketch.declined());
  CHECK(sketch.program().size() == kMaxOps);
  sketch.erase(0, 0, 1, 1, {});
  CHECK(sketch.declined());

  Sketch other(outline(Container::kPil));
  for (int k = 0; k <= kMaxOps / 2; ++k) other.hflip();
  CHECK(other.declined());
}

}  // namespace
}  // namespace fastaug
