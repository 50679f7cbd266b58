// Checks of layouts, comparison and print of plans.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include "base/status.h"
#include "plan/plan.h"

namespace fastaug {

int64_t pixel_bytes(const View& view) {
  if (view.dtype != DType::kUint8) return int64_t{view.channels} * size_of(view.dtype);
  const bool packed = view.pixel_stride > view.channels && view.pixel_stride <= kMaxChannels;
  return packed ? view.pixel_stride : view.channels;
}

bool is_warp_source(const View& view) {
  if (view.channels == 1 && view.pixel_stride == 1) return true;
  return view.channel_stride == 1 && (view.pixel_stride == 3 || view.pixel_stride == 4) &&
         view.channels <= view.pixel_stride;
}

bool is_in_reach(const View& view) {
  return std::abs(view.row_stride) * static_cast<ptrdiff_t>(view.height) < (ptrdiff_t{1} << 31) - 64;
}

Target usual_target(Program program, Shape in, DType source) {
  const Shape out = validate(program, in, source);
  const bool floats = gives_floats(program, source);
  const ptrdiff_t pixel = floats ? 4 : out.channels;
  return {nullptr, floats ? DType::kFloat32 : DType::kUint8,   out.height, out.width, out.channels, pixel * out.width,
          pixel,   floats ? pixel * out.width * out.height : 1};
}

namespace {

void check_patches(const Target& target) {
  const auto& [side, merge, copies, stride, copy_stride] = target.patches;
  if (side < 1 || merge < 1 || copies < 1 || target.height % (side * merge) != 0 ||
      target.width % (side * merge) != 0) {
    fail(ErrorCode::kValue, "a target of " + std::to_string(target.height) + "x" + std::to_string(target.width) +
                                " has no patches of " + std::to_string(side) + " in blocks of " +
                                std::to_string(merge));
  }
  const int size = size_of(target.dtype);
  const bool packed = target.channel_stride == size && target.pixel_stride == target.channels * size;
  const bool dense = target.row_stride == side * target.pixel_stride;
  if (target.dtype == DType::kUint8 || !dense || (target.pixel_stride != size && !packed)) {
    fail(ErrorCode::kValue, "patches hold rows of floats without gaps, plane by plane or pixel by pixel");
  }
}

}  // namespace

void check_target(const Target& target, Shape shape, bool stored) {
  if (target.patches.side != 0) check_patches(target);
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

bool operator==(const Pass& a, const Pass& b) {
  const auto fields = [](const Pass& p) {
    return std::tie(p.kind, p.part, p.begin, p.end, p.origin, p.region, p.channels, p.crop, p.read, p.vertical, p.from,
                    p.composed, p.rows, p.columns, p.reason, p.statistics, p.interleaved, p.floats, p.bytes_read,
                    p.bytes_written);
  };
  if (fields(a) != fields(b)) return false;
  const auto same = [](const auto& one, const auto& other) {
    return one == other || (one != nullptr && other != nullptr && *one == *other);
  };
  return same(a.taps, b.taps) && same(a.down, b.down) && same(a.across, b.across);
}

const char* name_of(PassKind kind) {
  static constexpr const char* kNames[] = {
      "decode",  "move", "move",     "recolour", "read",   "warp",   "window", "index", "filter",     "torch_filter",
      "sharpen", "blur", "box_blur", "jpeg",     "tables", "colour", "keep",   "turn",  "statistics", "store"};
  return kNames[static_cast<int>(kind)];
}

std::string to_string(const Plan& plan) {
  std::string text;
  const auto size = [](Region r) {
    return std::to_string(r.height) + "x" + std::to_string(r.width) + "+" + std::to_string(r.y) + "+" +
           std::to_string(r.x);
  };
  for (const Pass& pass : plan.passes) {
    text += std::to_string(pass.part) + " " + name_of(pass.kind);
    for (int k = pass.begin; k < pass.end; ++k) text += std::string(" ") + name_of(plan.ops[static_cast<size_t>(k)].id);
    if (pass.kind == PassKind::kRead || pass.kind == PassKind::kRecolour || pass.kind == PassKind::kWarp) {
      text += " from " + size(pass.read) + " of " + size(pass.crop);
    }
    if (pass.taps != nullptr) {
      text += std::string(pass.vertical ? " height " : " width ") + std::to_string(pass.from) + " taps " +
              std::to_string(pass.taps->taps.stride);
    }
    if (pass.down != nullptr) {
      text += " taps " + std::to_string(pass.down->taps.stride) + "x" + std::to_string(pass.across->taps.stride);
    }
    text += " -> " + size(pass.region) + "x" + std::to_string(pass.channels) + "\n";
  }
  return text;
}

}  // namespace fastaug
