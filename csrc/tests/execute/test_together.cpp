// Views of one image: what they read is made once, and each has the bits that it has alone.
#include <doctest/doctest.h>

#include <list>
#include <vector>

#include "base/status.h"
#include "execute/job_queue.h"
#include "execute/reference.h"
#include "execute/together.h"
#include "tests/support/guard.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"
#include "tests/support/scale.h"

using namespace fastaug;
using fastaug::test::Buffer;
using fastaug::test::is_stored;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

namespace {

// An image that is copied, in parts, between inaccessible pages, and counts how often.
class Counted final : public PixelSource {
 public:
  explicit Counted(const View& image) : image_(image) {}

  View layout() const override {
    const ptrdiff_t stride = image_.channels;
    return {nullptr, image_.height, image_.width, image_.channels, stride * image_.width, stride, 1};
  }

  View make(Region wanted, Arena&, int) override {
    ++count;
    if (fails) fail(ErrorCode::kRuntime, "these pixels cannot be made");
    made_last = wanted;
    View view = layout();
    view.row_stride = wanted.width * view.pixel_stride;
    kept_.emplace_back(static_cast<size_t>(wanted.height * view.row_stride), test::Side::kBack);
    uint8_t* data = kept_.back().data();
    for (int y = 0; y < wanted.height; ++y) {
      for (int x = 0; x < wanted.width; ++x) {
        for (int c = 0; c < image_.channels; ++c) {
          data[y * view.row_stride + x * view.pixel_stride + c] = *image_.at(wanted.y + y, wanted.x + x, c);
        }
      }
    }
    view.data = data - (wanted.y * view.row_stride + wanted.x * view.pixel_stride);
    return view;
  }

  void make_all(const Target& target, Arena&) override {
    ++count;
    execute_reference({}, image_, target);
  }

  Region made(Region wanted) const override { return wanted; }
  int64_t bytes() const override { return 1; }
  const char* name() const override { return "fake"; }

  int count = 0;
  bool fails = false;
  Region made_last{};

 private:
  View image_;
  std::list<test::Guarded> kept_;
};

Op window(int top, int left, int height, int width) {
  Op op{};
  op.id = OpId::WINDOW;
  op.i[0] = top;
  op.i[1] = left;
  op.i[2] = height;
  op.i[3] = width;
  return op;
}

}  // namespace

TEST_CASE("programs on one source have it made once, and give the oracle's bits") {
  for (uint64_t seed = 0; seed < test::cases(600u); ++seed) {
    RandomProgram random(seed);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    auto pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    const View view = view_of(pixels, shape, random.integer(0, 3));
    Counted one(view), two(view);
    const int count = random.integer(2, 6);
    std::list<std::vector<Op>> programs;
    std::list<Buffer> expected, got;
    std::vector<Job> jobs;
    int of_one = 0;
    for (int k = 0; k < count; ++k) {
      programs.push_back(random.chance(0.2) ? std::vector<Op>()
                                            : random(shape, random.integer(0, 4), random.chance(0.3)));
      const std::vector<Op>& program = programs.back();
      const Shape out = validate(program, shape);
      const int layout = random.integer(0, 2);
      expected.emplace_back(out, is_stored(program), layout);
      got.emplace_back(out, is_stored(program), layout);
      execute_reference(program, view, expected.back().target);
      Job job{program, {view}, got.back().target};
      if (random.chance(0.8)) {
        Counted& source = random.chance(0.7) ? one : two;
        job.source = {source.layout(), &source};
        of_one += &source == &one;
      }
      jobs.push_back(job);
    }
    INFO("seed ", seed, ", ", count, " views of ", shape.height, "x", shape.width, "x", shape.channels);
    std::vector<Report> reports(random.chance(0.5) ? jobs.size() : 0);
    execute_all(jobs, {}, reports);
    auto right = expected.begin();
    for (const Buffer& result : got) REQUIRE(result.bytes == (right++)->bytes);
    CHECK(one.count <= 1);
    CHECK(two.count <= 1);
    if (of_one == 0) CHECK(one.count == 0);
    for (const Report& report : reports) CHECK(report.seconds.size() == report.plan.passes.size());
  }
}

TEST_CASE("what is made for several is the rectangle around what each of them reads") {
  std::vector<uint8_t> pixels(40 * 60 * 4);
  const View view = view_of(pixels, {40, 60, 3}, 0);
  Counted source(view);
  const std::vector<Op> first{window(3, 30, 10, 20)}, second{window(20, 5, 7, 9)};
  Buffer a({10, 20, 3}, false, 0), b({7, 9, 3}, false, 0);
  const Input input{source.layout(), &source};
  execute_all(std::vector<Job>{{first, input, a.target}, {second, input, b.target}});
  CHECK(source.count == 1);
  CHECK(source.made_last == Region{3, 5, 24, 45});
}

TEST_CASE("pixels that cannot be made fail all jobs of theirs, and an entry of a queue as one") {
  std::vector<uint8_t> pixels(8 * 8 * 4);
  const View view = view_of(pixels, {8, 8, 3}, 0);
  Counted source(view);
  source.fails = true;
  const std::vector<Op> program{window(0, 0, 4, 4)};
  Buffer a({4, 4, 3}, false, 0), b({4, 4, 3}, false, 0);
  const Input input{source.layout(), &source};
  const std::vector<Job> jobs{{program, input, a.target}, {program, input, b.target}};
  CHECK_THROWS_AS(execute_all(jobs), Error);
  CHECK(source.count == 1);
  JobQueue queue;
  const auto failed = queue.push(jobs);
  source.fails = false;
  CHECK(queue.work(false, 1) == std::nullopt);  // it is sound by now
  CHECK(queue.take(0) == failed);
  CHECK(source.count == 2);
  source.fails = true;
  const auto again = queue.push(jobs);
  CHECK(queue.work(false, 1) == again);
  CHECK(source.count == 3);
}
