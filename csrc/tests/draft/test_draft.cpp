#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "draft/draft.h"
#include "tests/support/torch.h"

namespace fastaug {
namespace {

const AsCore kTorch;
constexpr double kZero = 0;
const Fill kBlack{};

Outline outline(Container container, int height = 30, int width = 40, int channels = 3) {
  const Mode mode = channels == 3 ? Mode::kRgb : Mode::kL;
  return {container, {height, width, channels}, container == Container::kPil ? mode : Mode::kNone};
}

std::vector<OpId> ids(const Draft& draft) {
  std::vector<OpId> all;
  for (const Op& op : draft.program()) all.push_back(op.id);
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
  Draft draft(outline(Container::kPil));
  draft.to_float(kTorch);
  draft.hflip();
  draft.crop(1, 2, 10, 11);
  draft.normalize({plain(OpId::NORMALIZE)}, false);
  draft.vflip();
  draft.erase(0, 0, 2, 2, &kZero, 1);
  REQUIRE_FALSE(draft.declined());
  CHECK(ids(draft) ==
        std::vector{OpId::HFLIP, OpId::WINDOW, OpId::VFLIP, OpId::TO_FLOAT, OpId::NORMALIZE, OpId::ERASE});
  CHECK(draft.height() == 10);
  CHECK(draft.width() == 11);
  CHECK(draft.gives_floats());
  // What was erased does not move.
  draft.hflip();
  CHECK(draft.declined());
}

TEST_CASE("what one call of Pillow's or torch's does is no job, and neither is nothing") {
  const auto is_job = [](Container container, auto... steps) {
    Draft draft(outline(container));
    (steps(draft), ...);
    REQUIRE_FALSE(draft.declined());
    return draft.ending() == Ending::kJob;
  };
  const auto flip = [](Draft& draft) { draft.hflip(); };
  const auto crop = [](Draft& draft) { draft.crop(1, 1, 9, 9); };
  const auto smaller = [](Draft& draft) { draft.crop(1, 1, 5, 5); };
  const auto whole = [](Draft& draft) { draft.crop(0, 0, 30, 40); };
  const auto dim = [](Draft& draft) { draft.adjust_brightness({0.5}, kTorch); };
  const auto to_pil = [](Draft& draft) { draft.to_pil(std::nullopt); };
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
  CHECK(is_job(Container::kArray, to_pil));
  CHECK(is_job(Container::kTensor, crop, to_pil));
  CHECK(is_job(Container::kArray, crop, to_pil));
  CHECK(is_job(Container::kArray, dim, to_pil));
  CHECK(is_job(Container::kPil, [](Draft& draft) { draft.to_float(kTorch); }));
}

TEST_CASE("Pillow may map the memory of what becomes an image of one channel, or of four") {
  const auto ending = [](int channels, auto... steps) {
    Draft draft(outline(Container::kTensor, 30, 40, channels));
    (steps(draft), ...);
    draft.to_pil(std::nullopt);
    REQUIRE_FALSE(draft.declined());
    return draft.ending();
  };
  const auto crop = [](Draft& draft) { draft.crop(1, 1, 9, 9); };
  CHECK(ending(1) == Ending::kMapped);
  CHECK(ending(4, crop) == Ending::kMapped);
  CHECK(ending(3) == Ending::kJob);
  CHECK(ending(1, crop, [](Draft& draft) { draft.hflip(); }) == Ending::kJob);
}

TEST_CASE("uint8 tensors have torch's arithmetic, or Pillow's by name") {
  for (const bool pillow : {false, true}) {
    Outline given = outline(Container::kTensor);
    given.pillow = pillow;
    Draft draft(given);
    draft.adjust_contrast({0.5}, kTorch);
    draft.adjust_hue({-0.25}, 256 - 63, kTorch);
    draft.grayscale(3);
    REQUIRE(draft.program().size() == 4);
    CHECK(ids(draft) == (pillow
                             ? std::vector{OpId::CONTRAST, OpId::HUE, OpId::LUMA, OpId::REPLICATE}
                             : std::vector{OpId::TORCH_CONTRAST, OpId::TORCH_HUE, OpId::TORCH_LUMA, OpId::REPLICATE}));
    CHECK(draft.program()[1].i[0] == (pillow ? 256 - 63 : 0));
  }
}

TEST_CASE("alpha stays where Pillow keeps it, and goes where Pillow drops it") {
  Outline given = outline(Container::kPil, 30, 40, 4);
  given.mode = Mode::kRgba;
  Draft draft(given);
  draft.adjust_brightness({0.5}, kTorch);
  draft.adjust_sharpness({0.5}, kTorch);
  draft.adjust_saturation({0.5}, kTorch);
  REQUIRE_FALSE(draft.declined());
  CHECK(draft.program()[0].flags == kHasAlpha);
  CHECK(draft.program()[1].flags == kHasAlpha);
  CHECK(draft.program()[2].flags == 0);
  CHECK(draft.invert() == Reason::kMode);
  draft.grayscale(1);
  CHECK(draft.mode == Mode::kL);
  CHECK(draft.channels() == 1);
}

TEST_CASE("each four channels have a program of their own where an op differs") {
  Draft draft(outline(Container::kTensor, 30, 40, 9));
  CHECK(draft.groups() == 3);
  draft.hflip();
  std::vector<Op> bordered(3, plain(OpId::WINDOW));
  for (size_t group = 0; group < 3; ++group) bordered[group].fill[0] = static_cast<uint8_t>(group);
  draft.append(bordered);
  draft.vflip();
  draft.convert_dtype(true);
  std::vector<Op> normalized(3, plain(OpId::NORMALIZE));
  for (size_t group = 0; group < 3; ++group) normalized[group].f[0] = static_cast<double>(group);
  CHECK(draft.normalize(normalized, false) == Reason::kNone);
  draft.hflip();
  REQUIRE_FALSE(draft.declined());
  CHECK(ids(draft) ==
        std::vector{OpId::HFLIP, OpId::WINDOW, OpId::VFLIP, OpId::HFLIP, OpId::TO_FLOAT, OpId::NORMALIZE});
  for (int group = 0; group < 3; ++group) {
    const std::vector<Op> program = draft.program_of(group);
    CHECK(program[1].fill[0] == group);
    CHECK(program[5].f[0] == group);
    CHECK(program[3] == plain(OpId::HFLIP));
  }
  draft.keep_channels(5);
  CHECK(draft.op(1).size() == 2);
  draft.forget();
  CHECK(ids(draft) == std::vector{OpId::TO_FLOAT, OpId::NORMALIZE});
  CHECK(draft.op(1).size() == 2);
}

TEST_CASE("reasons name what is left to Python") {
  const auto reason = [](const Outline& given, auto step) {
    Draft draft(given);
    step(draft);
    return draft.reason();
  };
  Outline batches = outline(Container::kTensor);
  batches.leading = 2;
  batches.images = 6;
  CHECK(reason(batches, [](Draft& draft) { draft.equalize(); }) == Reason::kShape);
  CHECK(reason(batches, [](Draft& draft) { draft.invert(); }) == Reason::kNone);
  Outline plane = outline(Container::kTensor, 30, 40, 1);
  plane.flat = true;
  CHECK(reason(plane, [](Draft& draft) { draft.adjust_contrast({0.5}, kTorch); }) == Reason::kShape);
  Outline unread = outline(Container::kTensor);
  unread.native = false;
  CHECK(reason(unread, [](Draft& draft) { draft.hflip(); }) == Reason::kSamples);
  unread.floats = true;
  CHECK(reason(unread, [](Draft& draft) { draft.hflip(); }) == Reason::kNone);
  CHECK(reason(unread, [](Draft& draft) { draft.rot90(1); }) == Reason::kSamples);
  CHECK(reason(outline(Container::kTensor, 30, 40, 2), [](Draft& draft) { draft.adjust_hue({0.1}, 25, kTorch); }) ==
        Reason::kSamples);
  Outline transparent = outline(Container::kPil);
  transparent.transparent = true;
  CHECK(reason(transparent, [](Draft& draft) { draft.adjust_saturation({0.5}, kTorch); }) == Reason::kMode);
  // A contrast drops the transparent colour first.
  CHECK(reason(transparent, [](Draft& draft) {
          draft.adjust_contrast({0.5}, kTorch);
          draft.adjust_saturation({0.5}, kTorch);
        }) == Reason::kNone);
}

TEST_CASE("tensors of v2 have v2's arithmetic") {
  Outline given = outline(Container::kTensor);
  given.v2 = true;
  Draft draft(given);
  draft.adjust_contrast({0.5}, kTorch);
  draft.adjust_saturation({0.5}, kTorch);
  draft.adjust_hue({-0.25}, 256 - 63, kTorch);
  draft.adjust_sharpness({0.5}, kTorch);
  draft.autocontrast(kTorch);
  draft.posterize(8);
  draft.resize({20, 1, 0}, {2}, kTorch);
  draft.grayscale(3);
  draft.to_dtype(true);
  REQUIRE_FALSE(draft.declined());
  CHECK(ids(draft) == std::vector{OpId::V2_CONTRAST, OpId::V2_SATURATION, OpId::V2_HUE, OpId::V2_SHARPNESS,
                                  OpId::V2_AUTOCONTRAST, OpId::RESIZE, OpId::V2_LUMA, OpId::REPLICATE,
                                  OpId::V2_TO_FLOAT});
  CHECK(draft.program()[5].flags == (2 | kShortWeights | kWidthFirst));
  CHECK_FALSE(draft.tagged);
  draft.to_image();
  CHECK(draft.tagged);
  draft.to_pure_tensor();
  CHECK_FALSE(draft.tagged);
}

TEST_CASE("v2 keeps the channels of a pixel together where torch does") {
  const auto stay = [](auto... steps) {
    Outline given = outline(Container::kPil);
    given.v2 = true;
    Draft draft(given);
    draft.to_image();
    (steps(draft), ...);
    REQUIRE_FALSE(draft.declined());
    return draft.channel_last;
  };
  const auto part = [](Draft& draft) { draft.crop(1, 1, 9, 9); };
  const auto rows = [](Draft& draft) { draft.crop(1, 0, 9, 40); };
  const auto row = [](Draft& draft) { draft.crop(1, 1, 1, 9); };
  const auto flip = [](Draft& draft) { draft.hflip(); };
  const auto smaller = [](Draft& draft) { draft.resize({5, 6, 0}, {2}, kTorch); };
  const auto border = [](Draft& draft) { draft.pad({1, 1, 1, 1}, kBlack, std::nullopt); };
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
    Draft draft(outline(container));
    step(draft);
    return draft.declined();
  };
  CHECK(declines(Container::kTensor, [](Draft& draft) { draft.to_float(kTorch); }));
  CHECK(declines(Container::kArray, [](Draft& draft) { draft.to_uint8_tensor(); }));
  CHECK(declines(Container::kPil, [](Draft& draft) { draft.to_pil(std::nullopt); }));
  CHECK(declines(Container::kPil, [](Draft& draft) { draft.normalize({plain(OpId::NORMALIZE)}, false); }));
  CHECK(declines(Container::kPil, [](Draft& draft) { draft.adjust_hue({0.6}, 153, kTorch); }));
  CHECK(declines(Container::kPil, [](Draft& draft) { draft.posterize(9); }));
  CHECK(declines(Container::kPil, [](Draft& draft) { draft.crop(0, 0, 0, 5); }));
  CHECK(declines(Container::kPil, [](Draft& draft) { draft.pad({-40, 0, 0, 0}, kBlack, std::nullopt); }));
  CHECK(declines(Container::kTensor, [](Draft& draft) { draft.pad({40, 0, 0, 0}, kBlack, PadMode::kReflect); }));
  CHECK_FALSE(declines(Container::kTensor, [](Draft& draft) { draft.pad({39, 0, 0, 0}, kBlack, PadMode::kReflect); }));
  const auto turn = [](int filter, const Fill& fill) {
    return [=](Draft& draft) { draft.rotate(30, {filter}, false, std::nullopt, fill, kTorch); };
  };
  Fill red;
  red.is_readable = false;
  CHECK_FALSE(declines(Container::kTensor, turn(2, kBlack)));
  CHECK(declines(Container::kTensor, turn(3, kBlack)));
  CHECK_FALSE(declines(Container::kPil, turn(3, kBlack)));
  CHECK(declines(Container::kPil, turn(1, kBlack)));
  CHECK(declines(Container::kPil, turn(0, red)));
}

TEST_CASE("a fill is bytes for Pillow, and numbers for torch where they are no bytes") {
  Fill fill;
  CHECK(fill.bytes(3)->bytes == std::vector<uint8_t>{0, 0, 0, 0});
  fill.values = {-3.5, 12.75, 300};
  fill.is_sequence = true;
  CHECK(fill.bytes(3)->bytes == std::vector<uint8_t>{0, 12, 255, 0});
  CHECK_FALSE(fill.bytes(4));
  CHECK_FALSE(fill.samples(3));
  fill.values = {1, 2, 255};
  CHECK(fill.samples(3)->bytes == std::vector<uint8_t>{1, 2, 255, 0});
  fill.values = {1.5};
  CHECK(fill.samples(5)->numbers == std::vector<float>{1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 0, 0, 0});
  Op op = plain(OpId::TORCH_AFFINE);
  fill.samples(5)->paint(op, 1);
  CHECK(op.flags == kFloatFill);
  CHECK(fill_of(op, 0) == 1.5f);
  fill.values = {1e10};
  CHECK_FALSE(fill.bytes(3));
}

TEST_CASE("warps premultiply colours where there is alpha, and differ between groups of channels") {
  Outline given = outline(Container::kPil, 30, 40, 4);
  given.mode = Mode::kRgba;
  Draft draft(given);
  draft.rotate(30, {2}, false, std::nullopt, kBlack, kTorch);
  draft.resize({5, 6, 0}, {2}, kTorch);
  CHECK(ids(draft) == std::vector{OpId::PREMULTIPLY, OpId::AFFINE, OpId::UNPREMULTIPLY, OpId::PREMULTIPLY, OpId::RESIZE,
                                  OpId::UNPREMULTIPLY});
  Draft many(outline(Container::kTensor, 30, 40, 6));
  Fill fill;
  fill.values = {1, 2, 3, 4, 5, 6};
  fill.is_sequence = true;
  many.affine(10, {}, 1, {}, {2}, std::nullopt, fill, kTorch);
  REQUIRE(many.op(0).size() == 2);
  CHECK(many.op(0)[1].fill[1] == 6);
  CHECK(many.op(0)[1].flags == (2 | kFilled));
}

TEST_CASE("the longest program still fits") {
  Draft draft(outline(Container::kPil));
  for (int k = 0; k < kMaxOps / 2; ++k) draft.hflip();
  REQUIRE_FALSE(draft.declined());
  draft.to_float(kTorch);
  for (int k = 1; k < kMaxOps / 2; ++k) draft.erase(0, 0, 1, 1, &kZero, 1);
  REQUIRE_FALSE(draft.declined());
  CHECK(draft.program().size() == kMaxOps);
  draft.erase(0, 0, 1, 1, &kZero, 1);
  CHECK(draft.declined());
}

}  // namespace
}  // namespace fastaug
