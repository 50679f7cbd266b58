// Bags of random images and programs, what the executor makes of them, and what a device's bodies make of them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/bag.h"
#include "cuda/emulate.h"
#include "execute/execute.h"
#include "tests/support/guard.h"
#include "tests/support/images.h"
#include "tests/support/random_program.h"

namespace fastaug::test {

// Where samples lie: strides in samples, and the bytes in front of sample (0, 0, 0), which are not 0 where a stride is
// negative.
struct Placement {
  ptrdiff_t row = 0;
  ptrdiff_t pixel = 0;
  ptrdiff_t channel = 0;
  ptrdiff_t start = 0;
  size_t samples = 0;
};

// Planes, interleaved, pixels of four, planes with gaps between rows, channels that lie backwards; each of them also
// upside down, mirrored or both.
constexpr int kPlacements = 5 * 4;
inline Placement placement(Shape shape, int kind) {
  const ptrdiff_t height = shape.height;
  const ptrdiff_t width = shape.width;
  const ptrdiff_t channels = shape.channels;
  Placement p;
  switch (kind % 5) {
    case 0:
      p = {width, 1, width * height};
      break;
    case 1:
      p = {width * channels, channels, 1};
      break;
    case 2:
      p = {width * 4, 4, 1};
      break;
    case 3:
      p = {width + 5, 1, (width + 5) * height + 3};
      break;
    default:
      p = {width * channels, channels, -1, channels - 1};
  }
  const int turned = kind / 5;
  if (turned % 2 != 0) {
    p.start += p.row * (height - 1);
    p.row = -p.row;
  }
  if (turned / 2 != 0) {
    p.start += p.pixel * (width - 1);
    p.pixel = -p.pixel;
  }
  const auto span = [](ptrdiff_t stride, ptrdiff_t count) { return (stride < 0 ? -stride : stride) * (count - 1); };
  p.samples = static_cast<size_t>(span(p.row, height) + span(p.pixel, width) + span(p.channel, channels) + 1);
  return p;
}

// A source in memory that ends or begins where there is none.
class Picture8 {
 public:
  Picture8(RandomProgram& random, Shape shape) {
    const Placement p = placement(shape, random.integer(0, kPlacements - 1));
    memory_.emplace(p.samples, random.chance(0.5) ? Side::kBack : Side::kFront);
    const std::vector<uint8_t> pixels = random.pixels(p.samples);
    std::copy(pixels.begin(), pixels.end(), memory_->data());
    view_ = {memory_->data() + p.start, shape.height, shape.width, shape.channels, p.row, p.pixel, p.channel};
  }
  const View& view() const { return view_; }

 private:
  std::optional<Guarded> memory_;
  View view_;
};

// A result, with room around it that nothing writes to.
class Result {
 public:
  Result(Shape shape, DType dtype, int kind) {
    const Placement p = placement(shape, kind);
    const ptrdiff_t size = size_of(dtype);
    bytes_.resize(p.samples * static_cast<size_t>(size) + 2 * kMargin);
    target_ = {bytes_.data() + kMargin + p.start * size,
               dtype,
               shape.height,
               shape.width,
               shape.channels,
               p.row * size,
               p.pixel * size,
               p.channel * size};
    clear();
  }
  void clear() { std::fill(bytes_.begin(), bytes_.end(), uint8_t{0xA5}); }
  const Target& target() const { return target_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  static constexpr size_t kMargin = 64;
  std::vector<uint8_t> bytes_;
  Target target_;
};

// An image of a bag.
struct Member {
  std::vector<Op> program;
  Picture8 source;
  Result expected;
  Result got;

  Member(RandomProgram& random, Shape shape, std::vector<Op> ops)
      : Member(random, shape, std::move(ops), random.integer(0, kPlacements - 1), random.integer(1, 3)) {}

  Job job() { return {program, {source.view()}, got.target()}; }
  std::string text() const {
    const View& view = source.view();
    return "image " + std::to_string(view.height) + "x" + std::to_string(view.width) + "x" +
           std::to_string(view.channels) + " of strides " + std::to_string(view.row_stride) + " " +
           std::to_string(view.pixel_stride) + " " + std::to_string(view.channel_stride) + "\n" + to_string(program);
  }

 private:
  Member(RandomProgram& random, Shape shape, std::vector<Op> ops, int kind, int dtype)
      : program(std::move(ops)),
        source(random, shape),
        expected(validate(program, shape), is_stored(program) ? static_cast<DType>(dtype) : DType::kUint8, kind),
        got(validate(program, shape), is_stored(program) ? static_cast<DType>(dtype) : DType::kUint8, kind) {}
};

using Members = std::vector<std::unique_ptr<Member>>;

// The members that a device does are in the bag; the others are taken out.
inline cuda::Bag bag_of(Members* members, const cuda::BagOptions& options) {
  cuda::Bag bag(options);
  Members fit;
  for (auto& member : *members) {
    if (bag.add(member->job())) fit.push_back(std::move(member));
  }
  bag.finish();
  *members = std::move(fit);
  return bag;
}

// Of a member whose results differ.
inline std::string difference(const Member& member) {
  const std::vector<uint8_t>& got = member.got.bytes();
  const std::vector<uint8_t>& expected = member.expected.bytes();
  int count = 0;
  std::string text;
  for (size_t k = 0; k < got.size(); ++k) {
    if (got[k] != expected[k] && ++count <= 8) {
      text +=
          " byte " + std::to_string(k) + ": " + std::to_string(got[k]) + ", expected " + std::to_string(expected[k]);
    }
  }
  return std::to_string(count) + " of " + std::to_string(got.size()) + " bytes differ:" + text + "\n" + member.text();
}

inline void execute_all(Members& members, const ExecuteOptions& options) {
  for (auto& member : members) {
    execute({member->program, {member->source.view()}, member->expected.target()}, options);
  }
}

// The first member whose result is not the expected one, in every byte of its memory and around it.
inline Member* first_difference(Members& members) {
  for (auto& member : members) {
    if (member->got.bytes() != member->expected.bytes()) return member.get();
  }
  return nullptr;
}

using Ops = std::vector<Op>;

// An op, with zeros for operands that are left out.
inline Op op(OpId id, std::array<int, 6> i = {}, std::array<double, 8> f = {}, int flags = 0) {
  Op made{};
  made.id = id;
  made.flags = static_cast<uint16_t>(flags);
  std::copy(i.begin(), i.end(), made.i);
  std::copy(f.begin(), f.end(), made.f);
  return made;
}

inline Op resize(int height, int width, Filter filter = Filter::kBilinear, int flags = 0) {
  return op(OpId::RESIZE, {height, width}, {}, static_cast<int>(filter) | flags);
}

}  // namespace fastaug::test
