#include "bind/mask.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "bind/result.h"
#include "bind/tensors.h"
#include "bind/without_gil.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

int64_t count_of(const MaskDraft& mask, int height, int width) { return mask.images * height * width; }

// Runs the ops on samples of so many bytes without gaps: on planes as channels, or on the bytes of large samples.
void run_on(const MaskDraft& mask, const void* from, int bytes, void* to, uint32_t rewrites) {
  const auto [rows, columns, planes] = mask.source.shape;
  const int height = mask.height(), width = mask.width();
  const int channels = mask.is_wide() ? bytes : planes;
  const auto distance = [&](int down, int across) { return mask.is_wide() ? 1 : ptrdiff_t{down} * across; };
  const View view{static_cast<const uint8_t*>(from),
                  rows,
                  columns,
                  channels,
                  ptrdiff_t{columns} * bytes,
                  bytes,
                  distance(rows, columns)};
  Target target{to, DType::kUint8, height, width, channels};
  target.row_stride = ptrdiff_t{width} * bytes;
  target.pixel_stride = bytes;
  target.channel_stride = distance(height, width);
  std::vector<Leading> images;
  if (mask.is_wide()) images.push_back({mask.images, ptrdiff_t{rows} * columns * bytes});
  run(mask, view, images, target, rewrites);
}

// False where a sample is lost.
template <class NarrowT>
bool narrow(const int64_t* from, int64_t count, NarrowT* to) {
  uint64_t lost = 0;
  for (int64_t k = 0; k < count; ++k) {
    to[k] = static_cast<NarrowT>(from[k]);
    lost |= static_cast<uint64_t>(from[k] ^ int64_t{to[k]});
  }
  return lost == 0;
}

// Does the same by samples that take fewer bytes to move. False, with nothing done, where they do not hold all.
template <class NarrowT>
bool run_narrowed(const MaskDraft& mask, const int64_t* from, int64_t* to, uint32_t rewrites) {
  if (mask.fill_bytes() > static_cast<int>(sizeof(NarrowT))) return false;
  const int64_t before = count_of(mask, mask.source.shape.height, mask.source.shape.width);
  const int64_t after = count_of(mask, mask.height(), mask.width());
  const auto given = std::make_unique_for_overwrite<NarrowT[]>(static_cast<size_t>(before));
  if (!without_gil([&] { return narrow(from, before, given.get()); })) return false;
  const auto moved = std::make_unique_for_overwrite<NarrowT[]>(static_cast<size_t>(after));
  run_on(mask, given.get(), sizeof(NarrowT), moved.get(), rewrites);
  without_gil([&] { std::copy_n(moved.get(), after, to); });
  return true;
}

template <class SampleT>
bool has_all(const void* samples, int64_t count) {
  const auto* const first = static_cast<const SampleT*>(samples);
  // Without branches, for the compiler.
  return std::transform_reduce(first, first + count, true, std::logical_and(),
                               [](int64_t sample) { return -kMostOfFloat32 <= sample && sample <= kMostOfFloat32; });
}

// Writes the result's samples. True if float32 has all of them, where torch computes in it.
bool write(const MaskDraft& mask, const void* from, void* to, uint32_t rewrites) {
  const int64_t count = count_of(mask, mask.height(), mask.width());
  if (mask.source.mask == MaskType::kInt64) {
    const auto* const given = static_cast<const int64_t*>(from);
    auto* const made = static_cast<int64_t*>(to);
    if (run_narrowed<uint8_t>(mask, given, made, rewrites)) return true;
    if (!run_narrowed<int32_t>(mask, given, made, rewrites)) run_on(mask, from, sizeof(int64_t), to, rewrites);
    return !mask.is_rounded() || has_all<int64_t>(to, count);
  }
  run_on(mask, from, mask.samples().bytes, to, rewrites);
  return !mask.is_rounded() || mask.source.mask != MaskType::kInt32 || has_all<int32_t>(to, count);
}

}  // namespace

py::object result_of(const MaskDraft& mask, const py::object& plain, uint32_t rewrites) {
  const Ending ending = mask.ending();
  if (ending == Ending::kUntouched) return mask.copied ? plain.attr("clone")() : plain;
  if (ending == Ending::kLibrary && !mask.copied) {
    const Op op = mask.program()[0];
    if (op.id == OpId::ROT90) return plain.attr("rot90")(op.flags, py::make_tuple(-2, -1));
    const bool crops = mask.first == First::kCrop;
    const auto [top, left, height, width] = crops ? mask.view : Box{op.i[0], op.i[1], op.i[2], op.i[3]};
    const auto [rows, columns, planes] = mask.source.shape;
    if (op.id == OpId::WINDOW && top >= 0 && left >= 0 && top + height <= rows && left + width <= columns) {
      const py::object part = plain.attr("narrow")(-2, top, height).attr("narrow")(-1, left, width);
      return crops ? part : part.attr("clone")();
    }
  }
  std::vector<int64_t> sides = sides_of(plain);
  sides[sides.size() - 2] = mask.height();
  sides[sides.size() - 1] = mask.width();
  const py::object result = empty_like(plain, sides);
  if (write(mask, address_of(plain), address_of(result), rewrites)) return result;
  const py::object torch = py::module_::import("torch");
  return result.attr("to")(torch.attr("float32")).attr("to")(torch.attr(mask.samples().name));
}

}  // namespace fastaug::bind
