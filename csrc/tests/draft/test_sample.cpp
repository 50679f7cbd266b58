#include <doctest/doctest.h>

#include "draft/sample.h"
#include "tests/support/torch.h"

namespace fastaug {
namespace {

const AsCore kTorch;
const Fill kBlack{};

// Of an image of 30 rows and 40 columns, with a point at (x, y) of (4, 6).
class Pointed : public SampleDraft {
 public:
  Pointed() : SampleDraft(pillows()) {
    static constexpr float kPlace[] = {4, 6};
    join({Points({kPlace, CoordinateType::kFloat32, 1, 2, 1}, {30, 40})});
  }

  std::array<float, 2> place() const {
    std::array<float, 2> xy{};
    std::get<Points>(places()[0].numbers).write(xy.data());
    return xy;
  }

 private:
  static Outline pillows() {
    Outline outline{Container::kPil, {30, 40, 3}, Mode::kRgb};
    outline.v2 = true;
    return outline;
  }
};

TEST_CASE("places follow each move of an image once") {
  const auto moved = [](auto move) {
    Pointed draft;
    REQUIRE(move(draft) == Reason::kNone);
    REQUIRE_FALSE(draft.declined());
    CHECK(draft.places()[0].moved);
    CHECK(std::get<Points>(draft.places()[0].numbers).canvas() == Canvas{draft.height(), draft.width()});
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

TEST_CASE("a resize to the same size makes another object of the same numbers") {
  Pointed draft;
  draft.resize(30, 40, {2}, kTorch);
  CHECK(draft.places()[0].touched);
  CHECK_FALSE(draft.places()[0].moved);
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
  CHECK_FALSE(declined([](Draft& draft) { draft.append(OpId::INVERT); }));
  SampleDraft alone(Outline{Container::kPil, {30, 40, 3}, Mode::kRgb});
  alone.append(OpId::HFLIP);
  CHECK_FALSE(alone.declined());
}

}  // namespace
}  // namespace fastaug
