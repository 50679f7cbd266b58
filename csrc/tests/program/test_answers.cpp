// Both executors against answers that are not ours: what Pillow, torchvision and numpy make of small images, every op.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "execute/execute.h"
#include "execute/reference.h"
#include "tests/support/images.h"
#include "tests/support/tables.h"

using namespace fastaug;
using fastaug::test::Answer;
using fastaug::test::Buffer;

namespace {

View view_of(const test::Picture& picture) {
  const Shape shape = picture.shape;
  return {picture.samples.data(),
          shape.height,
          shape.width,
          shape.channels,
          ptrdiff_t{shape.width} * shape.channels,
          shape.channels,
          1};
}

bool is_answer(const Buffer& buffer, const Answer& answer) {
  return std::memcmp(buffer.target.data, answer.bytes.data(), answer.bytes.size()) == 0;
}

}  // namespace

TEST_CASE("answers: every op of the registry has some") {
  std::set<OpId> ids;
  for (const Answer& answer : test::answers()) ids.insert(answer.program.back().id);
  for (int id = 0; id < kOpCount; ++id) {
    CAPTURE(name_of(static_cast<OpId>(id)));
    CHECK(ids.count(static_cast<OpId>(id)) == 1);
  }
}

TEST_CASE("answers: both executors give the bits of Pillow, torchvision and numpy") {
  for (const Answer& answer : test::answers()) {
    const Shape shape = answer.picture->shape;
    const bool stored = test::is_stored(answer.program);
    INFO("image ", shape.height, "x", shape.width, "x", shape.channels, "\n", to_string(answer.program));
    REQUIRE(validate(answer.program, shape) == answer.shape);
    const size_t samples = static_cast<size_t>(answer.shape.height) * static_cast<size_t>(answer.shape.width) *
                           static_cast<size_t>(answer.shape.channels);
    REQUIRE(answer.bytes.size() == samples * (stored ? sizeof(float) : 1));
    const View view = view_of(*answer.picture);
    Buffer plain(answer.shape, stored, 1);
    execute_reference(answer.program, view, plain.target);
    CHECK_MESSAGE(is_answer(plain, answer), "the op-by-op executor");
    for (const uint32_t rewrites : {uint32_t{kExactRewrites}, uint32_t{0}}) {
      Buffer streamed(answer.shape, stored, 1);
      ExecuteOptions options;
      options.rewrites = rewrites;
      execute({answer.program, {view}, streamed.target}, options);
      CHECK_MESSAGE(is_answer(streamed, answer), "the streaming executor, rewrites ", rewrites);
    }
  }
}
