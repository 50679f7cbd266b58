#include "bind/source.h"

#include <atomic>
#include <cstring>
#include <string>

#include "base/status.h"
#include "bind/arrow.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

template <class T>
T* from_capsule(const py::handle& capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

// Null when there is none.
py::object attribute(const py::handle& object, const char* name) {
  PyObject* found = PyObject_GetAttrString(object.ptr(), name);
  if (found != nullptr) return py::reinterpret_steal<py::object>(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  PyErr_Clear();
  return {};
}

// Whether images of this mode hold `channels` bands of 8 bits, as bytes or in pixels of four.
void check_layout(const py::object& core, bool bytes, int channels) {
  struct Mode {
    const char* name;
    int channels;
    std::atomic<bool> seen{false};
  };
  static Mode modes[] = {{"L", 1}, {"LA", 2}, {"RGB", 3}, {"YCbCr", 3}, {"HSV", 3}, {"RGBA", 4}, {"CMYK", 4}};
  const auto name = core.attr("mode").cast<std::string>();
  for (Mode& mode : modes) {
    if (name != mode.name || channels != mode.channels || bytes != (channels == 1)) continue;
    if (mode.seen) return;
    const py::object capsule = core.attr("__arrow_c_schema__")();
    const auto* schema = from_capsule<ArrowSchema>(capsule, "arrow_schema");
    const bool pixels = std::strcmp(schema->format, "+w:4") == 0 && std::strcmp(schema->children[0]->format, "C") == 0;
    if (bytes ? std::strcmp(schema->format, "C") != 0 : !pixels) {
      fail(ErrorCode::kRuntime, "Pillow's Arrow export of mode " + name + " has an unexpected layout");
    }
    mode.seen = true;
    return;
  }
  fail(ErrorCode::kValue, "image must hold " + std::to_string(channels) + " bands of 8 bits, got mode " + name);
}

Source from_array(const py::buffer& array) {
  const py::buffer_info info = array.request();
  if (info.itemsize != 1 || info.format != "B")
    fail(ErrorCode::kType, "array must be uint8, got format " + info.format);
  if (info.ndim != 2 && info.ndim != 3) {
    fail(ErrorCode::kValue, "array must be 2 or 3 dimensional, got " + std::to_string(info.ndim) + " dimensions");
  }
  View view;
  view.data = static_cast<const uint8_t*>(info.ptr);
  view.height = static_cast<int>(info.shape[0]);
  view.width = static_cast<int>(info.shape[1]);
  view.channels = info.ndim == 3 ? static_cast<int>(info.shape[2]) : 1;
  view.row_stride = info.strides[0];
  view.pixel_stride = info.strides[1];
  view.channel_stride = info.ndim == 3 ? info.strides[2] : 1;
  return {view, array};
}

Source from_pointer(uintptr_t data, int height, int width, int channels, ptrdiff_t row_stride, ptrdiff_t pixel_stride,
                    ptrdiff_t channel_stride, py::object owner) {
  if (data == 0) fail(ErrorCode::kValue, "data must not be a null pointer");
  const View view{
      reinterpret_cast<const uint8_t*>(data), height, width, channels, row_stride, pixel_stride, channel_stride};
  return {view, std::move(owner)};
}

}  // namespace

// Pillow's Image.__arrow_c_array__ loads the image and asks its core for a schema and the array. Whoever comes here has
// loaded it, and one look at the schema of each mode is enough: that leaves the array.
Source from_pil(const py::object& image, int channels) {
  if (channels < 1 || channels > kMaxChannels) {
    fail(ErrorCode::kValue, "channels must be 1 to 4, got " + std::to_string(channels));
  }
  const py::object core = attribute(image, "im");
  const py::object export_array = core ? attribute(core, "__arrow_c_array__") : py::object();
  if (!export_array) {
    fail(ErrorCode::kType, "image must be a PIL image with an Arrow export, got " +
                               py::str(py::type::handle_of(image)).cast<std::string>());
  }
  const py::object capsule = export_array();
  const auto* array = from_capsule<ArrowArray>(capsule, "arrow_array");
  const bool bytes = array->n_children == 0;
  check_layout(core, bytes, channels);
  const auto [width, height] = core.attr("size").cast<std::pair<int, int>>();
  View view;
  view.width = width;
  view.height = height;
  view.channels = channels;
  view.pixel_stride = bytes ? 1 : 4;
  view.channel_stride = channels == 2 ? 3 : 1;
  view.row_stride = view.pixel_stride * view.width;
  const ArrowArray* data = bytes ? array : array->children[0];
  if (array->length != int64_t{view.width} * view.height || data->n_buffers != 2 || data->buffers[1] == nullptr) {
    fail(ErrorCode::kRuntime, "Pillow's Arrow export has an unexpected layout");
  }
  view.data = static_cast<const uint8_t*>(data->buffers[1]) + data->offset + array->offset * view.pixel_stride;
  return {view, capsule};
}

Target pil_target(const View& image) {
  return {const_cast<uint8_t*>(image.data),
          DType::kUint8,
          image.height,
          image.width,
          image.channels == 2 ? 4 : image.channels,
          image.row_stride,
          image.pixel_stride,
          1,
          true};
}

void register_source(py::module_& m) {
  py::class_<Source>(m, "Source", py::is_final())
      .def_property_readonly("height", [](const Source& s) { return s.view.height; })
      .def_property_readonly("width", [](const Source& s) { return s.view.width; })
      .def_property_readonly("channels", [](const Source& s) { return s.view.channels; });
  m.def("from_pil", &from_pil, py::arg("image"), py::arg("channels"));
  m.def("from_array", &from_array, py::arg("array"));
  m.def("from_pointer", &from_pointer, py::arg("data"), py::arg("height"), py::arg("width"), py::arg("channels"),
        py::arg("row_stride"), py::arg("pixel_stride"), py::arg("channel_stride"), py::arg("owner"));
}

}  // namespace fastaug::bind
