#include "execute/execute.h"

#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/status.h"
#include "execute/blit.h"
#include "execute/runner.h"
#include "execute/stages/stages.h"
#include "execute/timing.h"

namespace fastaug {
namespace {

Arena& thread_arena() {
  thread_local Arena arena;
  return arena;
}

struct ArenaReset {
  Arena& arena;
  ~ArenaReset() { arena.reset(); }
};

Pass move_pass(const OpList& ops, Shape out, int64_t pixel, int part) {
  const int64_t bytes = area(whole(out)) * pixel;
  Pass pass{"move", "whole pixels", 0, part, out, bytes, bytes, 0.0};
  for (const Step& op : ops) pass.origin |= op.origin;
  return pass;
}

}  // namespace

void check_target(const Target& target, Shape shape, bool stored) {
  const bool pillow_la = shape.channels == 2 && target.channels == 4 && !stored && target.channel_stride == 1;
  if (target.height != shape.height || target.width != shape.width ||
      (target.channels != shape.channels && !pillow_la)) {
    fail(ErrorCode::kValue, "the target is " + std::to_string(target.height) + "x" + std::to_string(target.width) +
                                "x" + std::to_string(target.channels) + ", the program's result " +
                                std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
                                std::to_string(shape.channels));
  }
  if (stored != (target.dtype != DType::kUint8)) {
    fail(ErrorCode::kType, std::string("the program's result is ") + (stored ? "float" : "uint8") + ", the target " +
                               name_of(target.dtype));
  }
}

namespace {

// What a program of moves shows of an image that lies as `layout` does.
Region needed_by_moves(Context& context, const OpList& ops, const View& layout) {
  const Shape in{layout.height, layout.width, layout.channels};
  return ops.empty() ? whole(in) : Runner(context, ops, in, kExactRewrites, nullptr, nullptr).needed(layout);
}

// Either `view` or, if it is not null, what `source` makes.
void execute_on(Program program, View view, PixelSource* source, const Target& target, const ExecuteOptions& options) {
  const Shape in{view.height, view.width, view.channels};
  const Shape out = validate(program, in);
  check_target(target, out, !program.empty() && kind_of(program.back().id) == OpKind::kStore);
  Arena& arena = thread_arena();
  ArenaReset reset{arena};
  Context context{options.kernels != nullptr ? *options.kernels : kernels(), arena};
  OpList ops = optimise(program, in, options.rewrites);
  int part = 0;
  if (options.rewrites & kMovePixels) {
    PassLog log(options.passes);
    if (source != nullptr && only_moves(ops)) {
      bool done = false;
      const Region needed = needed_by_moves(context, ops, view);
      log.sink([&] { return decode_pass(*source, needed); },
               [&] {
                 done = ops.empty() && source->make_all(target, arena);
                 if (!done) view = source->make(needed, arena);
               });
      log.finish();
      if (done) return;
      source = nullptr;
      part = 1;
    }
    if (source == nullptr) {
      bool done = false;
      log.sink([&] { return move_pass(ops, out, pixel_bytes(view), part); },
               [&] {
                 done = execute_moves(ops, view, target, context.kernels) ||
                        execute_nearest_warp(ops, view, target, context.kernels);
               });
      if (done) return log.finish();
    }
  }
  Runner runner(context, std::move(ops), in, options.rewrites, &target, options.passes);
  source != nullptr ? runner.run(*source) : runner.run(view, part);
}

std::vector<Pass> plan_on(Program program, const View& view, PixelSource* source, uint32_t rewrites) {
  const Shape shape{view.height, view.width, view.channels};
  const Shape out = validate(program, shape);
  OpList ops = optimise(program, shape, rewrites);
  Arena arena;
  Context context{kernels(), arena};
  std::vector<Pass> passes;
  if ((rewrites & kMovePixels) && only_moves(ops)) {
    if (source != nullptr) {
      passes.push_back(decode_pass(*source, needed_by_moves(context, ops, view)));
      if (ops.empty()) return passes;
    }
    passes.push_back(move_pass(ops, out, shape.channels, static_cast<int>(passes.size())));
    return passes;
  }
  Runner runner(context, std::move(ops), shape, rewrites, nullptr, &passes);
  source != nullptr ? runner.run(*source) : runner.run(view);
  return passes;
}

}  // namespace

void execute(Program program, const View& source, const Target& target, const ExecuteOptions& options) {
  execute_on(program, source, nullptr, target, options);
}

void execute(Program program, PixelSource& source, const Target& target, const ExecuteOptions& options) {
  execute_on(program, source.layout(), &source, target, options);
}

std::vector<Pass> plan(Program program, Shape shape, uint32_t rewrites) {
  const ptrdiff_t stride = shape.channels;
  return plan_on(program, {nullptr, shape.height, shape.width, shape.channels, stride * shape.width, stride, 1},
                 nullptr, rewrites);
}

std::vector<Pass> plan(Program program, PixelSource& source, uint32_t rewrites) {
  return plan_on(program, source.layout(), &source, rewrites);
}

}  // namespace fastaug
