// Jobs on several threads: each is run once, and failures and errands come back to whoever met them.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "execute/job_queue.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"

using namespace fastaug;
using fastaug::test::Buffer;
using fastaug::test::is_stored;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

namespace {

constexpr int64_t kAll = 1 << 20;

// A random program on a random image, and the bytes that it makes of it.
struct Work {
  explicit Work(uint64_t seed) {
    RandomProgram random(seed);
    const Shape shape{random.side(), random.side(), random.integer(1, 4)};
    program = random(shape, random.integer(0, 5), random.chance(0.5));
    pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    view = view_of(pixels, shape, 0);
    const Shape out = validate(program, shape);
    expected.emplace(out, is_stored(program), 0);
    got.emplace(out, is_stored(program), 0);
    execute({program, {view}, expected->target});
  }

  Job job() const { return {program, {view}, got->target}; }

  std::vector<Op> program;
  std::vector<uint8_t> pixels;
  View view;
  std::optional<Buffer> expected, got;
};

}  // namespace

TEST_CASE("threads that take jobs from a queue give the bits of one thread") {
  std::vector<Work> works;
  for (uint64_t seed = 0; seed < 120; ++seed) works.emplace_back(seed);
  JobQueue queue;
  std::atomic<int> errands = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) {
    threads.emplace_back([&] {
      while (const auto number = queue.work(true, kAll)) {
        ++errands;
        queue.done(*number);
      }
    });
  }
  for (size_t k = 0; k < works.size(); ++k) {
    CHECK(queue.push({works[k].job()}) == static_cast<int64_t>(2 * k));
    queue.push({});
  }
  std::vector<bool> taken(2 * works.size());
  for (size_t count = 0; count < taken.size(); ++count) {
    const auto number = queue.take(60);
    REQUIRE(number);
    CHECK_FALSE(taken[static_cast<size_t>(*number)]);
    taken[static_cast<size_t>(*number)] = true;
  }
  CHECK(queue.take(0) == std::nullopt);
  queue.close();
  for (std::thread& thread : threads) thread.join();
  CHECK(errands == static_cast<int>(works.size()));
  for (const Work& work : works) CHECK(work.got->bytes == work.expected->bytes);
}

TEST_CASE("jobs that fail come back by their numbers, and the others are run") {
  Work good(1);
  Op resize{};
  resize.id = OpId::RESIZE;
  resize.i[0] = -1;
  Job bad = good.job();
  bad.program = {&resize, 1};
  JobQueue queue;
  queue.push({bad});
  queue.push({good.job()});
  CHECK(queue.work(false, kAll) == 0);
  queue.done(0);
  CHECK(queue.work(false, kAll) == std::nullopt);
  CHECK(queue.take(0) == 0);
  CHECK(queue.take(0) == 1);
  CHECK(queue.take(0) == std::nullopt);
  CHECK(good.got->bytes == good.expected->bytes);
}

TEST_CASE("no more jobs are run than were asked for, and none after a queue was cancelled") {
  std::vector<Work> works;
  for (uint64_t seed = 0; seed < 4; ++seed) works.emplace_back(seed);
  JobQueue queue;
  for (const Work& work : works) queue.push({work.job()});
  CHECK(queue.work(false, 2) == std::nullopt);
  CHECK(queue.take(0) == 0);
  CHECK(queue.take(0) == 1);
  CHECK(queue.left() == 2);
  queue.cancel();
  CHECK(queue.left() == 0);
  CHECK(queue.work(true, kAll) == std::nullopt);
  CHECK(queue.take(0) == std::nullopt);
}

TEST_CASE("what is urgent comes first, in its order") {
  JobQueue queue;
  std::vector<JobQueue::Number> pushed;
  for (const bool urgent : {false, true, false, true}) pushed.push_back(queue.push({}, {}, urgent));
  std::vector<JobQueue::Number> met;
  while (const auto number = queue.work(false, kAll)) met.push_back(*number);
  CHECK(met == std::vector{pushed[1], pushed[3], pushed[0], pushed[2]});
  pushed = {queue.push({}, {}, true), queue.push({})};
  queue.cancel();
  CHECK(queue.left() == 0);
  CHECK_FALSE(queue.work(false, kAll));
}

TEST_CASE("a queue adds up what its jobs took") {
  const Work work(3);
  JobQueue queue;
  CHECK(queue.seconds().jobs == 0.0);
  queue.push({work.job()});
  CHECK_FALSE(queue.work(false, kAll));
  CHECK(queue.seconds().jobs > 0.0);
  CHECK(queue.seconds().decoding == 0.0);
}

TEST_CASE("works of one entry are done once each, by any threads, and the entry with the last of them") {
  JobQueue queue;
  constexpr size_t kCount = 500;
  std::vector<std::atomic<int>> done(kCount);
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) threads.emplace_back([&] { CHECK_FALSE(queue.work(true, kAll)); });
  const auto number = queue.push_all(kCount, [&](size_t which, JobQueue::Seconds&) { return ++done[which] == 1; });
  while (!queue.take(1.0)) {
  }
  CHECK(number == 0);
  CHECK(std::ranges::all_of(done, [](const auto& one) { return one == 1; }));
  queue.close();
  for (auto& thread : threads) thread.join();
  CHECK_FALSE(queue.take(0.0));
}

TEST_CASE("an entry of which a work failed is an errand of whoever does the last one") {
  JobQueue queue;
  const auto number = queue.push_all(3, [](size_t which, JobQueue::Seconds&) { return which != 1; });
  CHECK(queue.left() == 3);
  CHECK(queue.work(false, 2) == std::nullopt);
  CHECK(queue.left() == 1);
  CHECK(queue.work(false, 1) == number);
  CHECK_FALSE(queue.take(0.0));
  queue.done(number);
  CHECK(queue.take(0.0) == number);
}

TEST_CASE("an urgent entry comes between the works of another") {
  JobQueue queue;
  std::vector<int> order;
  queue.push_all(2, [&](size_t which, JobQueue::Seconds&) {
    order.push_back(static_cast<int>(which));
    if (which == 0) {
      const auto urgent = [&](size_t, JobQueue::Seconds&) {
        order.push_back(-1);
        return true;
      };
      queue.push_all(1, urgent, true);
    }
    return true;
  });
  CHECK(queue.work(false, kAll) == std::nullopt);
  CHECK(order == std::vector<int>{0, -1, 1});
}

TEST_CASE("works that have not begun are dropped with their entry") {
  JobQueue queue;
  int done = 0;
  queue.push_all(5, [&](size_t, JobQueue::Seconds&) { return ++done > 0; });
  CHECK(queue.work(false, 1) == std::nullopt);
  queue.cancel();
  CHECK(queue.left() == 0);
  CHECK(queue.work(true, kAll) == std::nullopt);
  CHECK(done == 1);
  CHECK_FALSE(queue.take(0.0));
}
