#include "bind/images.h"

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/scattered.h"
#include "base/status.h"
#include "bind/arrow.h"
#include "bind/errors.h"
#include "bind/once.h"
#include "bind/pillow_rows.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

template <class T>
T* from_capsule(const py::handle& capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (pointer == nullptr) throw py::error_already_set();
  return pointer;
}

// Names that every call looks up, made once.
struct Names {
  py::str im = interned("im");
  py::str readonly = interned("readonly");
  py::str mode = interned("mode");
  py::str size = interned("size");
  py::str array = interned("__arrow_c_array__");

  static const Names& get() {
    // Never freed: it may outlive the interpreter.
    static const Names* const names = new Names;
    return *names;
  }

 private:
  static py::str interned(const char* name) { return py::reinterpret_steal<py::str>(PyUnicode_InternFromString(name)); }
};

// Null when there is none.
py::object attribute(const py::handle& object, const py::str& name) {
  PyObject* found = PyObject_GetAttr(object.ptr(), name.ptr());
  if (found != nullptr) return py::reinterpret_steal<py::object>(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  PyErr_Clear();
  return {};
}

struct Mode {
  const char* name;
  int channels;
  std::atomic<bool> seen{false};  // in a schema
};

// The mode of an image, which holds `channels` bands of 8 bits.
Mode& banded_mode(const py::object& core, int channels) {
  static Mode modes[] = {{"L", 1}, {"LA", 2}, {"RGB", 3}, {"YCbCr", 3}, {"HSV", 3}, {"RGBA", 4}, {"CMYK", 4}};
  const py::object named = owned(PyObject_GetAttr(core.ptr(), Names::get().mode.ptr()));
  const char* const text = PyUnicode_AsUTF8(named.ptr());
  if (text == nullptr) throw py::error_already_set();
  const std::string_view name = text;
  for (Mode& mode : modes) {
    if (name == mode.name && channels == mode.channels) return mode;
  }
  fail(ErrorCode::kValue,
       "image must hold " + std::to_string(channels) + " bands of 8 bits, got mode " + std::string(name));
}

// One band is bytes, others are pixels of four.
void check_layout(const py::object& core, bool bytes, int channels) {
  Mode& mode = banded_mode(core, channels);
  if (mode.seen) return;
  const py::object capsule = core.attr("__arrow_c_schema__")();
  const auto* schema = from_capsule<ArrowSchema>(capsule, "arrow_schema");
  const bool pixels = std::strcmp(schema->format, "+w:4") == 0 && std::strcmp(schema->children[0]->format, "C") == 0;
  if (bytes != (channels == 1) || (bytes ? std::strcmp(schema->format, "C") != 0 : !pixels)) {
    fail(ErrorCode::kRuntime, std::string("Pillow's Arrow export of mode ") + mode.name + " has an unexpected layout");
  }
  mode.seen = true;
}

std::pair<int, int> sides_of(const py::object& core) {
  return owned(PyObject_GetAttr(core.ptr(), Names::get().size.ptr())).cast<std::pair<int, int>>();
}

// Pixels of an image of Pillow's, as its own memory has them.
View pillow_layout(const py::object& core, int channels) {
  const auto [width, height] = sides_of(core);
  View view;
  view.width = width;
  view.height = height;
  view.channels = channels;
  view.pixel_stride = channels == 1 ? 1 : 4;
  view.channel_stride = channels == 2 ? 3 : 1;
  view.row_stride = view.pixel_stride * view.width;
  return view;
}

py::object pillow_core(const py::object& image) {
  py::object core = attribute(image, Names::get().im);
  if (!core) {
    fail(ErrorCode::kType, "image must be a PIL image with an Arrow export, got " +
                               py::str(py::type::handle_of(image)).cast<std::string>());
  }
  return core;
}

Source from_array(const Array& array) {
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
                    ptrdiff_t channel_stride, py::object owner, int dtype) {
  if (data == 0) fail(ErrorCode::kValue, "data must not be a null pointer");
  if (dtype != static_cast<int>(DType::kUint8) && dtype != static_cast<int>(DType::kFloat32)) {
    fail(ErrorCode::kValue, "dtype must be 0 (uint8) or 1 (float32), got " + std::to_string(dtype));
  }
  const View view{reinterpret_cast<const uint8_t*>(data),
                  height,
                  width,
                  channels,
                  row_stride,
                  pixel_stride,
                  channel_stride,
                  static_cast<DType>(dtype)};
  const auto size = static_cast<uintptr_t>(size_of(view.dtype));
  for (const uintptr_t place : {data, static_cast<uintptr_t>(row_stride), static_cast<uintptr_t>(pixel_stride),
                                static_cast<uintptr_t>(channel_stride)}) {
    if (place % size != 0) fail(ErrorCode::kValue, "floats must lie at multiples of four bytes");
  }
  return {view, std::move(owner)};
}

}  // namespace

py::object exportable(const py::handle& image, const py::object& core) {
  constinit static Once<bool> all_are;
  const bool newest =
      all_are.get([] { return std::stoi(py::module_::import("PIL").attr("__version__").cast<std::string>()) >= 13; });
  if (newest) return core;
  const py::object borrowed = attribute(image, Names::get().readonly);
  return borrowed && py::cast<bool>(py::bool_(borrowed)) ? py::object(core.attr("copy")()) : core;
}

Source from_pil(const py::object& image, int channels) {
  const py::object core = pillow_core(image);
  try {
    return from_core(exportable(image, core), channels);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    // It lies in several blocks.
    banded_mode(core, channels);
    const View layout = pillow_layout(core, channels);
    const uint8_t* const* const rows = rows_of_pillow(core, layout);
    if (rows == nullptr) throw;
    return {layout, core, std::make_shared<Scattered>(layout, rows)};
  }
}

// Pillow's Image.__arrow_c_array__ loads the image and asks its core for a schema and the array. Whoever comes here has
// loaded it, and one look at the schema of each mode is enough: that leaves the array.
Source from_core(const py::object& core, int channels) {
  if (channels < 1 || channels > kMaxChannels) {
    fail(ErrorCode::kValue, "channels must be 1 to 4, got " + std::to_string(channels));
  }
  const Names& names = Names::get();
  const py::object export_array = attribute(core, names.array);
  if (!export_array) {
    fail(ErrorCode::kType, "image must be a PIL image with an Arrow export, but holds " +
                               py::str(py::type::handle_of(core)).cast<std::string>());
  }
  const py::object capsule = owned(PyObject_CallNoArgs(export_array.ptr()));
  const auto* array = from_capsule<ArrowArray>(capsule, "arrow_array");
  const bool bytes = array->n_children == 0;
  check_layout(core, bytes, channels);
  View view = pillow_layout(core, channels);
  const ArrowArray* data = bytes ? array : array->children[0];
  if (array->length != int64_t{view.width} * view.height || data->n_buffers != 2 || data->buffers[1] == nullptr) {
    fail(ErrorCode::kRuntime, "Pillow's Arrow export has an unexpected layout");
  }
  view.data = static_cast<const uint8_t*>(data->buffers[1]) + data->offset + array->offset * view.pixel_stride;
  return {view, capsule};
}

Sink into_pil(const py::object& image, int channels) {
  const Source source = from_core(exportable(image, pillow_core(image)), channels);
  const View& view = source.view;
  Target target{const_cast<uint8_t*>(view.data),
                DType::kUint8,
                view.height,
                view.width,
                view.channels,
                view.row_stride,
                view.pixel_stride,
                1,
                true};
  if (view.channels == 2) target.channels = 4;
  return {target, image};
}

namespace {

Sink into_array(const Array& array) {
  const Source source = from_array(array);
  if (array.request().readonly) fail(ErrorCode::kValue, "array must be writable");
  const View& view = source.view;
  return {{const_cast<uint8_t*>(view.data), DType::kUint8, view.height, view.width, view.channels, view.row_stride,
           view.pixel_stride, view.channel_stride},
          array};
}

Sink into_pointer(uintptr_t data, int dtype, int height, int width, int channels, ptrdiff_t row_stride,
                  ptrdiff_t pixel_stride, ptrdiff_t channel_stride, py::object owner) {
  if (data == 0) fail(ErrorCode::kValue, "data must not be a null pointer");
  if (dtype < 0 || dtype > static_cast<int>(DType::kBfloat16)) {
    fail(ErrorCode::kValue, "dtype must be 0 to 3, got " + std::to_string(dtype));
  }
  return {{reinterpret_cast<void*>(data), static_cast<DType>(dtype), height, width, channels, row_stride, pixel_stride,
           channel_stride},
          std::move(owner)};
}

}  // namespace

void register_images(py::module_& m) {
  py::class_<Source>(m, "Source", py::is_final())
      .def_property_readonly("height", [](const Source& s) { return s.view.height; })
      .def_property_readonly("width", [](const Source& s) { return s.view.width; })
      .def_property_readonly("channels", [](const Source& s) { return s.view.channels; })
      .def_property_readonly("floats", [](const Source& s) { return s.view.dtype != DType::kUint8; });
  m.def("from_pil", &from_pil, py::arg("image"), py::arg("channels"));
  m.def("from_array", &from_array, py::arg("array"));
  m.def("from_pointer", &from_pointer, py::arg("data"), py::arg("height"), py::arg("width"), py::arg("channels"),
        py::arg("row_stride"), py::arg("pixel_stride"), py::arg("channel_stride"), py::arg("owner"),
        py::arg("dtype") = static_cast<int>(DType::kUint8));
  py::class_<Sink>(m, "Target", py::is_final())
      .def_property_readonly("height", [](const Sink& s) { return s.target.height; })
      .def_property_readonly("width", [](const Sink& s) { return s.target.width; })
      .def_property_readonly("channels", [](const Sink& s) { return s.target.channels; })
      .def_property_readonly("dtype", [](const Sink& s) { return static_cast<int>(s.target.dtype); })
      .def_property_readonly("address", [](const Sink& s) { return reinterpret_cast<uintptr_t>(s.target.data); })
      .def_property_readonly("owner", [](const Sink& s) { return s.owner; });
  m.def("into_pil", &into_pil, py::arg("image"), py::arg("channels"));
  m.def("into_array", &into_array, py::arg("array"));
  m.def("into_pointer", &into_pointer, py::arg("data"), py::arg("dtype"), py::arg("height"), py::arg("width"),
        py::arg("channels"), py::arg("row_stride"), py::arg("pixel_stride"), py::arg("channel_stride"),
        py::arg("owner"));
}

}  // namespace fastaug::bind
