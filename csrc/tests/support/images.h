// Images in memory, for the tests that compare executors.
#pragma once

#include <cstring>
#include <vector>

#include "base/image.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "plan/rewrite.h"
#include "program/program.h"

namespace fastaug::test {

// A target with room around it, to see that nothing outside is written.
struct Buffer {
  std::vector<uint8_t> bytes;
  Target target;

  Buffer(Shape shape, bool float32, int layout) {
    const ptrdiff_t sample = float32 ? 4 : 1;
    const ptrdiff_t pixels = ptrdiff_t{shape.height} * shape.width;
    target = {nullptr, float32 ? DType::kFloat32 : DType::kUint8, shape.height, shape.width, shape.channels, 0, 0, 0};
    if (layout == 0) {  // planar
      target.pixel_stride = sample;
      target.row_stride = sample * shape.width;
      target.channel_stride = sample * pixels;
    } else {  // interleaved, tightly or in wider pixels
      const int stored = layout == 1 ? shape.channels : shape.channels + 2;
      target.pixel_stride = sample * stored;
      target.row_stride = target.pixel_stride * shape.width;
      target.channel_stride = sample;
    }
    bytes.assign(static_cast<size_t>(pixels * sample * (shape.channels + 2)) + 2 * kMargin, 0xA5);
    target.data = bytes.data() + kMargin;
  }

  static constexpr size_t kMargin = 64;
};

// `pixels` has room for four channels.
inline View view_of(std::vector<uint8_t>& pixels, Shape shape, int layout) {
  View view{pixels.data(), shape.height, shape.width, shape.channels, 0, 0, 0};
  if (layout == 0) {
    view.pixel_stride = 1;
    view.row_stride = shape.width;
    view.channel_stride = ptrdiff_t{shape.width} * shape.height;
  } else {
    view.pixel_stride = layout == 1 ? shape.channels : 4;
    view.channel_stride = layout == 1 || shape.channels != 2 ? 1 : 3;
    view.row_stride = view.pixel_stride * shape.width;
  }
  if (layout == 3) {  // upside down
    view.data += view.row_stride * (shape.height - 1);
    view.row_stride = -view.row_stride;
  }
  return view;
}

inline bool is_stored(Program program) { return !program.empty() && kind_of(program.back().id) == OpKind::kStore; }

inline std::vector<Op> bare(const OpList& steps) { return {steps.begin(), steps.end()}; }

inline OpList steps_of(Program program) {
  OpList steps;
  for (size_t k = 0; k < program.size(); ++k) steps.push_back({program[k], uint64_t{1} << k});
  return steps;
}

inline bool same_ops(Program a, Program b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

// The plan for interleaved bytes.
inline Plan plan_for(Program program, Shape shape, uint32_t rewrites = kExactRewrites, bool encoded = false) {
  const ptrdiff_t stride = shape.channels;
  const View view{nullptr, shape.height, shape.width, shape.channels, stride * shape.width, stride, 1};
  return make_plan(program, view, usual_target(program, shape), {kernels(), rewrites, encoded});
}

// What the oracle makes of it, planar.
inline std::vector<uint8_t> expected(Program program, const View& view) {
  const Shape out = validate(program, {view.height, view.width, view.channels});
  Buffer buffer(out, is_stored(program), 0);
  execute_reference(program, view, buffer.target);
  return buffer.bytes;
}

// What the streaming executor makes of it, planar.
inline std::vector<uint8_t> executed(Program program, const View& view, uint32_t rewrites) {
  const Shape out = validate(program, {view.height, view.width, view.channels});
  Buffer buffer(out, is_stored(program), 0);
  ExecuteOptions options;
  options.rewrites = rewrites;
  execute({program, {view}, buffer.target}, options);
  return buffer.bytes;
}

}  // namespace fastaug::test
