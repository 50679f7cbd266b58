#include <doctest/doctest.h>

#include "draft/sample.h"
#include "tests/support/torch.h"

namespace fastaug {
namespace {

const AsCore kTorch;
const Fill kBlack{};

Outline outline(Container container, int channels) {
  Outline given{container, {30, 40, channels}, container == Container::kPil ? Mode::kRgb : Mode::kNone};
  given.v2 = true;
  return given;
}

// With a point at (x, y) of (4, 6).
class Pointed : public SampleDraft {
 public:
  Pointed() : SampleDraft(outline(Container::kPil, 3)) {
    static constexpr float kPlace[] = {4, 6};
    join({Points({kPlace, CoordinateType::kFloat32, 1, 2, 1}, {30, 40})});
  }

  std::array<float, 2> place() const {
    std::array<float, 2> xy{};
    std::get<Points>(following()[0].leaf).write(xy.data());
    return xy;
  }
};

TEST_CASE("places follow each move of an image once") {
  const auto moved = [](auto move) {
    Pointed draft;
    REQUIRE(move(draft) == Reason::kNone);
    REQUIRE_FALSE(draft.declined());
    CHECK(draft.following()[0].moved);
    CHECK(std::get<Points>(draft.following()[0].leaf).canvas() == Canvas{draft.height(), draft.width()});
    return draft.place();
  };
  using Place = std::array<float, 2>;
  CHECK(moved([](Draft& draft) { return draft.hflip(); }) == Place{35, 6});
  CHECK(moved([](Draft& draft) { return draft.vflip(); }) == Place{4, 23});
  CHECK(moved([](Draft& draft) { return draft.crop(1, 2, 9, 9); }) == Place{2, 5});
  // Padded and cropped.
  CHECK(moved([](Draft& draft) { return draft.center_crop(40, 20); }) == Place{-6, 11});
  CHECK(moved([](Draft& draft) { return draft.pad({1, 2, 3, 4}, kBlack, std::nullopt); }) == Place{5, 8});
  CHECK(moved([](Draft& draft) { return draft.resize(15, 80, {2}, kTorch); }) == Place{8, 3});
  CHECK(moved([](Draft& draft) { return draft.affine(0, {3, -2}, 1, {}, {0}, Vec2{}, kBlack, kTorch); }) ==
        Place{7, 4});
  const Coefficients shift{1, 0, -3, 0, 1, 2, 0, 0};
  CHECK(moved([&](Draft& draft) { return draft.perspective(shift, {0}, kBlack, kTorch); }) == Place{7, 4});
  // The image is turned by quarters.
  CHECK(moved([](Draft& draft) { return draft.rotate(180, {0}, false, std::nullopt, kBlack, kTorch); })[0] ==
        doctest::Approx(36));
}

TEST_CASE("what nothing follows is declined where something should") {
  const auto declined = [](auto step) {
    Pointed draft;
    step(draft);
    return draft.declined();
  };
  CHECK(declined([](Draft& draft) { draft.append(OpId::HFLIP); }));
  CHECK(declined([](Draft& draft) { draft.rot90(2); }));
  CHECK(declined([](Draft& draft) { draft.transpose(); }));
  CHECK(declined([](Draft& draft) { draft.pad({1, 1, 1, 1}, kBlack, PadMode::kEdge); }));
  CHECK(declined([](Draft& draft) {
    static constexpr double kZero = 0;
    draft.to_float(kTorch);
    REQUIRE_FALSE(draft.declined());
    draft.erase(0, 0, 2, 2, &kZero, 1);
  }));
  CHECK_FALSE(declined([](Draft& draft) { draft.append(OpId::INVERT); }));
}

// An image with a mask.
struct Masked {
  std::unique_ptr<SampleDraft> image = std::make_unique<SampleDraft>(outline(Container::kPil, 3));

  const MaskDraft* operator->() const { return std::get<std::unique_ptr<MaskDraft>>(image->following()[0].leaf).get(); }
};

TEST_CASE("masks take the nearest pixels, and the fill of their kind") {
  SampleDraft image(outline(Container::kPil, 3));
  image.join({std::make_unique<MaskDraft>(outline(Container::kTensor, 6))});
  const MaskDraft& mask = *std::get<std::unique_ptr<MaskDraft>>(image.following()[0].leaf);
  // To the same size: another object of the same samples.
  image.resize(30, 40, {2}, kTorch);
  CHECK(image.following()[0].touched);
  CHECK_FALSE(image.following()[0].moved);
  Fill fill;
  for (const double value : {1, 2, 3, 4, 255}) fill.kinds.push_back({{value}, false, true});
  image.resize(10, 20, {2}, kTorch);
  image.pad({1, 1, 1, 1}, fill, std::nullopt);
  image.cast_masks("int64");
  REQUIRE_FALSE(image.declined());
  CHECK(image.program()[0].id == OpId::RESIZE);
  CHECK(mask.program()[0].id == OpId::NEAREST);
  CHECK(image.program()[1].fill[0] == 1);
  CHECK(mask.program_of(1)[1].fill[1] == 255);
  CHECK(image.hflip() != Reason::kNone);
}

TEST_CASE("the bytes of larger samples of masks are channels") {
  const auto moved = [](MaskType type, auto move) {
    Masked masked;
    Outline given = outline(Container::kTensor, samples_of(type).bytes);
    given.mask = type;
    masked.image->join({std::make_unique<MaskDraft>(given)});
    move(*masked.image);
    return masked;
  };
  const auto filled = [](double value) { return Fill{{value}, false, true}; };
  const auto padded = [&](MaskType type, double value) {
    return moved(type, [&](Draft& image) { image.pad({1, 1, 1, 1}, filled(value), std::nullopt); });
  };
  const auto ignored = padded(MaskType::kInt64, -2);
  CHECK(ignored->program_of(0)[0].fill[0] == 0xfe);
  CHECK(ignored->program_of(1)[0].fill[3] == 0xff);
  CHECK(ignored->fill_bytes() == 4);
  CHECK_FALSE(ignored->is_rounded());
  CHECK(padded(MaskType::kInt16, 255)->fill_bytes() == 1);
  const auto one = padded(MaskType::kFloat32, 1);
  CHECK(one->program()[0].fill[2] == 0x80);
  CHECK(one->program()[0].fill[3] == 0x3f);
  // torch may convert these.
  CHECK(padded(MaskType::kInt32, 0.5)->program().empty());
  CHECK(padded(MaskType::kInt16, 40000)->program().empty());
  CHECK(padded(MaskType::kInt64, 0x1p25)->program().empty());
  CHECK(padded(MaskType::kFloat32, 1e39)->program().empty());
  const auto resized = [](Draft& image) { image.resize(10, 20, {2}, kTorch); };
  CHECK(moved(MaskType::kInt64, resized)->is_rounded());
  CHECK_FALSE(moved(MaskType::kFloat32, resized)->is_rounded());
  CHECK_FALSE(moved(MaskType::kUint8, resized)->is_rounded());
  const auto turned = [](double angle) {
    return [=](Draft& image) { image.rotate(angle, {0}, true, std::nullopt, kBlack, kTorch); };
  };
  CHECK_FALSE(moved(MaskType::kInt32, turned(90))->is_rounded());
  CHECK(moved(MaskType::kInt32, turned(91))->is_rounded());
}

TEST_CASE("boxes that are too small are removed, once") {
  static constexpr float kBoxes[] = {1, 1, 9, 9, 2, 2, 2.5, 9, 30, 1, 45, 9};
  const auto sanitized = [](bool listed, int height, int64_t labels = 3) {
    auto image = std::make_unique<SampleDraft>(outline(Container::kPil, 3));
    Following boxes{Boxes({kBoxes, CoordinateType::kFloat32, 3, 4, 1}, BoxFormat::kXyxy, {30, 40})};
    boxes.listed = listed;
    image->join(std::move(boxes));
    Outline plane = outline(Container::kTensor, 1);
    plane.shape.height = height;
    Following mask{std::make_unique<MaskDraft>(plane)};
    mask.listed = false;
    image->join(std::move(mask));
    image->labels = labels;
    image->sanitize_boxes({true, 1, 0}, {true, 1, 0}, true);
    return image;
  };
  const auto image = sanitized(true, 30);
  REQUIRE_FALSE(image->declined());
  REQUIRE(image->boxes() != nullptr);
  CHECK(image->boxes()->count() == 1);
  CHECK(image->sanitized()->kept == std::vector<uint8_t>{1, 0, 0});
  image->sanitize_boxes({true, 1, 0}, {true, 1, 0}, true);
  CHECK(image->declined());
  CHECK(sanitized(false, 30)->declined());
  // torch would take pixels for boxes.
  CHECK(sanitized(true, 3)->declined());
  CHECK(sanitized(true, 30, 2)->declined());
  CHECK(sanitized(true, 30, -1)->declined());
}

TEST_CASE("points outside of the canvas are removed, and masks stay") {
  static constexpr int64_t kPoints[] = {1, 1, -1, 5, 39, 29, 40, 29};
  SampleDraft image(outline(Container::kPil, 3));
  image.join({Points({kPoints, CoordinateType::kInt64, 4, 2, 1}, {30, 40})});
  image.sanitize_boxes({true, 1, 0}, {true, 1, 0}, false);
  CHECK(image.declined());  // there are none
  image.resume();
  image.sanitize_points(false);
  REQUIRE(image.sanitized().has_value());
  CHECK(image.sanitized()->kept == std::vector<uint8_t>{1, 0, 1, 0});
  CHECK_FALSE(image.sanitized()->masks);
  CHECK_FALSE(image.sanitized()->labels);
  int64_t rest[4];
  std::get<Points>(image.following().front().leaf).write(rest);
  CHECK(std::ranges::equal(rest, std::array<int64_t, 4>{1, 1, 39, 29}));
}

TEST_CASE("boxes become others where their transforms have the numbers copied") {
  static constexpr float kBoxes[] = {-4, 2, 50, 8};
  const auto boxes_in = [](ClampingMode clamping) {
    auto image = std::make_unique<SampleDraft>(outline(Container::kPil, 3));
    image->join({Boxes({kBoxes, CoordinateType::kFloat32, 1, 4, 1}, BoxFormat::kXyxy, {30, 40}), clamping});
    return image;
  };
  const auto numbers_of = [](SampleDraft& image) {
    std::array<float, 4> numbers;
    image.boxes()->write(numbers.data());
    return numbers;
  };
  const auto image = boxes_in(ClampingMode::kNone);
  const Following& boxes = image->following().front();
  image->convert_boxes(BoxFormat::kXyxy);
  CHECK((boxes.touched && !boxes.moved));
  image->clamp_boxes(std::nullopt);
  CHECK(boxes.moved);
  CHECK(numbers_of(*image) == std::array<float, 4>{-4, 2, 50, 8});
  image->convert_boxes(BoxFormat::kXywh);
  CHECK(numbers_of(*image) == std::array<float, 4>{-4, 2, 54, 6});
  image->clamp_boxes(ClampingMode::kHard);
  CHECK(numbers_of(*image) == std::array<float, 4>{0, 2, 40, 6});
  CHECK(boxes.clamping == ClampingMode::kNone);
  image->set_clamping_mode(ClampingMode::kSoft);
  CHECK(boxes.clamping == ClampingMode::kSoft);
  const auto other = boxes_in(ClampingMode::kSoft);
  other->clamp_boxes(std::nullopt);
  CHECK(numbers_of(*other) == std::array<float, 4>{0, 2, 40, 8});
}

}  // namespace
}  // namespace fastaug
