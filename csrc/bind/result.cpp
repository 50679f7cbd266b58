#include "bind/result.h"

#include <algorithm>
#include <cstddef>

#include "bind/images.h"
#include "bind/libraries.h"
#include "bind/tensors.h"
#include "bind/without_gil.h"
#include "execute/execute.h"
#include "kernels/kernels.h"
#include "plan/plan.h"

namespace py = pybind11;

namespace fastaug::bind {

Result new_tensor(const Draft& draft, DType dtype, bool side_by_side, const std::vector<Leading>& leading) {
  const int height = draft.height(), width = draft.width(), channels = draft.channels();
  std::vector<int64_t> sides;
  sides.reserve(leading.size() + 3);
  for (const Leading& one : leading) sides.push_back(one.length);
  if (!side_by_side && !draft.flat) sides.push_back(channels);
  sides.push_back(height);
  sides.push_back(width);
  if (side_by_side) sides.push_back(channels);
  const py::object tensor = empty_tensor(sides, dtype);
  const ptrdiff_t size = size_of(dtype), row = size * width;
  Target target{address_of(tensor), dtype, height, width, channels};
  target.row_stride = side_by_side ? row * channels : row;
  target.pixel_stride = side_by_side ? size * channels : size;
  target.channel_stride = side_by_side ? size : row * height;
  if (!side_by_side) return {tensor, target};
  return {leading.empty() ? tensor.attr("permute")(2, 0, 1) : tensor.attr("movedim")(-1, -3), target};
}

void run(const Draft& draft, const View& first, const std::vector<Leading>& leading, const Target& target,
         uint32_t rewrites) {
  const int groups = (first.channels + kMaxChannels - 1) / kMaxChannels;
  int64_t images = 1;
  for (const Leading& one : leading) images *= one.length;
  const auto sample = static_cast<ptrdiff_t>(size_of(target.dtype));
  const ptrdiff_t whole = sample * target.height * target.width * target.channels;
  const auto work = [&] {
    for (int group = 0; group < groups; ++group) {
      View from = first;
      Target to = target;
      const ptrdiff_t channel = group * kMaxChannels;
      if (groups > 1) from.channels = to.channels = std::min(kMaxChannels, first.channels - group * kMaxChannels);
      from.data += channel * first.channel_stride;
      to.data = static_cast<uint8_t*>(target.data) + channel * target.channel_stride;
      const std::vector<Op> ops = draft.program_of(group);
      // All images have one layout.
      const Plan plan = make_plan(ops, from, to, {kernels(), rewrites, false});
      const View start = from;
      for (int64_t k = 0; k < images; ++k) {
        from.data = start.data;
        int64_t rest = k;
        for (auto one = leading.rbegin(); one != leading.rend(); ++one) {
          from.data += rest % one->length * one->stride;
          rest /= one->length;
        }
        execute(plan, {from}, to, kernels());
        to.data = static_cast<uint8_t*>(to.data) + whole;
      }
    }
  };
  without_gil(work);
}

std::optional<Result> new_pil(const Draft& draft, const py::object& blank) {
  const py::object image = blank(name_of(draft.mode), draft.width(), draft.height());
  try {
    return Result{image, into_pil(image, draft.channels()).target};
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    return std::nullopt;
  }
}

void keep_info(const Draft& draft, const py::object& info, const py::object& image) {
  if (draft.info == Info::kJpeg) {
    image.attr("info") = info_of_jpegs();
    return;
  }
  if (draft.info == Info::kNone || !info || info.is_none()) return;
  py::dict kept;
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(info)) {
    if (draft.info == Info::kTransparency && !key.equal(py::str("transparency"))) continue;
    kept[key] = PyList_Check(value.ptr()) ? value.attr("copy")() : py::reinterpret_borrow<py::object>(value);
  }
  image.attr("info") = kept;
}

}  // namespace fastaug::bind
