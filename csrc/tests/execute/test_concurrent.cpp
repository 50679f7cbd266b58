// Several threads that execute different programs at a time, from the first use of every kernel, table and decoder on.
// By its name it comes before the other tests of threads, so that nothing of that has been used before.
#include <doctest/doctest.h>

#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "codec/jpeg_sequential.h"
#include "codec/source.h"
#include "execute/execute.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/png_file.h"
#include "tests/support/random_program.h"

using namespace fastaug;
using fastaug::test::Buffer;
using fastaug::test::is_stored;
using fastaug::test::RandomProgram;
using fastaug::test::view_of;

namespace {

// A program, and an image in memory or an encoded one, which all threads read.
struct Task {
  Shape shape;
  std::vector<Op> program;
  std::vector<uint8_t> pixels, file;
  View view;                                                                       // of the pixels
  std::shared_ptr<codec::ScanIndex> index = std::make_shared<codec::ScanIndex>();  // of the file

  Buffer result() const { return {validate(program, shape), is_stored(program), 0}; }

  void run(const Target& target) const {
    if (file.empty()) {
      execute({program, {view}, target});
      return;
    }
    const codec::Bytes bytes{file.data(), file.size()};
    codec::EncodedSource source(bytes, codec::read_header(bytes), shape.channels, {}, index);
    execute({program, {source.layout(), &source}, target});
  }
};

Task task_of(RandomProgram& random, std::optional<OpId> first) {
  Task task;
  do {
    task.shape = {random.side(), random.side(), random.integer(1, 4)};
    task.program.clear();
    if (first) {
      Op op{};
      op.id = *first;
      if (!random.fill_in(op, task.shape)) continue;
      task.program = {op};
    }
    const Shape in = first ? shape_after(task.program[0], task.shape) : task.shape;
    for (const Op& op : random(in, random.integer(first ? 0 : 1, 4))) task.program.push_back(op);
  } while (task.program.empty());
  const Shape shape = task.shape;
  const int kind = random.integer(0, 2);
  if (kind == 0 && shape.channels % 2 == 1) {
    test::JpegOptions options;
    options.channels = shape.channels;
    if (shape.channels == 1) options.sampling = {1, 1};
    options.progressive = random.chance(0.3);
    task.file = test::write_jpeg(shape.height, shape.width, options);
  } else if (kind == 1) {
    test::Random bits(static_cast<uint32_t>(random.integer(0, 1 << 20)));
    const std::string bytes = test::PngFile(shape.height, shape.width, shape.channels, 8, bits).bytes();
    task.file.assign(bytes.begin(), bytes.end());
  } else {
    task.pixels = random.pixels(static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width) * 4);
    task.view = view_of(task.pixels, shape, 0);
  }
  return task;
}

}  // namespace

TEST_CASE("programs that several threads execute at a time give the bits of one thread") {
  constexpr size_t kThreads = 4;
  RandomProgram random(7);
  std::vector<Task> tasks;
  for (int id = 0; id < kOpCount; ++id) {
    const OpId op = static_cast<OpId>(id);
    if (kind_of(op) != OpKind::kStore) tasks.push_back(task_of(random, op));
  }
  for (int k = 0; k < 60; ++k) tasks.push_back(task_of(random, {}));

  std::vector<std::vector<Buffer>> results(kThreads);
  for (auto& buffers : results) {
    for (const Task& task : tasks) buffers.push_back(task.result());
  }
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (size_t k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      start.arrive_and_wait();
      // Two begin with the same task, and two elsewhere.
      const size_t first = k / 2 * tasks.size() / 2;
      for (size_t n = 0; n < tasks.size(); ++n) {
        const size_t at = (first + n) % tasks.size();
        tasks[at].run(results[k][at].target);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  size_t encoded = 0;
  for (size_t at = 0; at < tasks.size(); ++at) {
    encoded += !tasks[at].file.empty();
    Buffer expected = tasks[at].result();
    tasks[at].run(expected.target);
    for (const auto& buffers : results) CHECK(buffers[at].bytes == expected.bytes);
  }
  CHECK(encoded > 20);
}

TEST_CASE("regions that several threads decode by one index are those of the whole") {
  constexpr int kThreads = 4, kRegions = 40;
  const int height = 300, width = 400;
  const std::vector<uint8_t> file = test::write_jpeg(height, width, test::JpegOptions());
  const codec::Bytes bytes{file.data(), file.size()};
  const auto decoded = [&](Region region, codec::ScanIndex* index) {
    std::vector<uint8_t> pixels(static_cast<size_t>(region.height * region.width * 3));
    Arena arena;
    codec::Beside beside;
    beside.index = index;
    const codec::jpeg::Part part = {region, 3, pixels.data(), ptrdiff_t{region.width} * 3};
    CHECK(codec::jpeg::run_sequential(bytes, beside, part, arena));
    return pixels;
  };
  const auto region_of = [&](int thread, int number) {
    test::Random random(static_cast<uint32_t>(thread * kRegions + number));
    return Region{random.between(0, height - 20), random.between(0, width - 30), 20, 30};
  };
  codec::ScanIndex index;
  CHECK(index.is_of(bytes));
  std::vector<std::vector<uint8_t>> results(kThreads * kRegions);
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      start.arrive_and_wait();
      for (int n = 0; n < kRegions; ++n) {
        if (n % 8 == 0) index.drop();
        results[static_cast<size_t>(k * kRegions + n)] = decoded(region_of(k, n), &index);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int k = 0; k < kThreads; ++k) {
    for (int n = 0; n < kRegions; ++n) {
      CHECK(results[static_cast<size_t>(k * kRegions + n)] == decoded(region_of(k, n), nullptr));
    }
  }
}
