#include "bind/result.h"

#include <cstddef>

#include "bind/images.h"
#include "bind/incoming.h"

namespace py = pybind11;

namespace fastaug::bind {

Result new_tensor(const Draft& draft, DType dtype, bool side_by_side) {
  const int height = draft.height(), width = draft.width(), channels = draft.channels();
  const py::object tensor =
      side_by_side ? empty_tensor(height, width, channels, dtype) : empty_tensor(channels, height, width, dtype);
  const ptrdiff_t size = size_of(dtype), row = size * width;
  Target target{address_of(tensor), dtype, height, width, channels};
  target.row_stride = side_by_side ? row * channels : row;
  target.pixel_stride = side_by_side ? size * channels : size;
  target.channel_stride = side_by_side ? size : row * height;
  return {side_by_side ? py::object(tensor.attr("permute")(2, 0, 1)) : tensor, target};
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

void keep_info(const Draft& draft, const py::dict& info, const py::object& image) {
  if (draft.info == Info::kNone) return;
  py::dict kept;
  for (const auto& [key, value] : info) {
    if (draft.info == Info::kTransparency && !key.equal(py::str("transparency"))) continue;
    kept[key] = PyList_Check(value.ptr()) ? value.attr("copy")() : py::reinterpret_borrow<py::object>(value);
  }
  image.attr("info") = kept;
}

}  // namespace fastaug::bind
