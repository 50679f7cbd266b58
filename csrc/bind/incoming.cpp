#include "bind/incoming.h"

#include <array>
#include <climits>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "bind/errors.h"
#include "bind/once.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

constexpr int64_t kTooManyPixels = int64_t{1} << 31;

py::object interned(const char* name) { return owned(PyUnicode_InternFromString(name)); }

py::object get(py::handle object, const py::object& name) { return owned(PyObject_GetAttr(object.ptr(), name.ptr())); }

py::object call(py::handle object, const py::object& name) {
  return owned(PyObject_CallMethodNoArgs(object.ptr(), name.ptr()));
}

// Attributes of images, looked up once.
struct Known {
  py::object image, array, mapped, tensor;  // types
  py::object uint8, truth, strided;
  // Names.
  py::object im, mode, size, info, transparency, dtype, layout, is_cpu, shape, is_contiguous, data_ptr, as_subclass;
  py::object recording, level, empty, cpu, keywords;
  std::array<py::object, 4> dtypes;

  Known() {
    const auto torch = py::module_::import("torch");
    image = py::module_::import("PIL.Image").attr("Image");
    const auto numpy = py::module_::import("numpy");
    array = numpy.attr("ndarray");
    mapped = numpy.attr("memmap");
    tensor = torch.attr("Tensor");
    uint8 = torch.attr("uint8");
    truth = torch.attr("bool");
    strided = torch.attr("strided");
    const std::pair<py::object*, const char*> names[] = {{&im, "im"},
                                                         {&mode, "mode"},
                                                         {&size, "size"},
                                                         {&info, "info"},
                                                         {&transparency, "transparency"},
                                                         {&dtype, "dtype"},
                                                         {&layout, "layout"},
                                                         {&is_cpu, "is_cpu"},
                                                         {&shape, "shape"},
                                                         {&data_ptr, "data_ptr"},
                                                         {&is_contiguous, "is_contiguous"},
                                                         {&as_subclass, "as_subclass"}};
    for (const auto& [to, name] : names) *to = interned(name);
    recording = torch.attr("_C").attr("_is_tracing");
    level = torch.attr("_C").attr("_functorch").attr("peek_interpreter_stack");
    empty = torch.attr("empty");
    cpu = torch.attr("device")("cpu");
    keywords = py::make_tuple(dtype, interned("device"));
    for (size_t k = 0; k < dtypes.size(); ++k) dtypes[k] = torch.attr(name_of(static_cast<DType>(k)));
  }

  static const Known& known() {
    constinit static Once<Known> names;
    return names.get([] { return Known(); });
  }
};

bool is_few(int64_t height, int64_t width) { return height > 0 && width > 0 && height * width < kTooManyPixels; }

std::optional<Incoming> as_array(py::handle image) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(image.ptr(), &buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  std::optional<Incoming> incoming;
  const bool bytes = buffer.itemsize == 1 && buffer.format != nullptr && std::string_view(buffer.format) == "B";
  if (bytes && buffer.ndim == 3 && buffer.shape[2] > 0 && buffer.shape[2] <= kMaxChannels &&
      is_few(buffer.shape[0], buffer.shape[1])) {
    const Shape shape{static_cast<int>(buffer.shape[0]), static_cast<int>(buffer.shape[1]),
                      static_cast<int>(buffer.shape[2])};
    const View view{static_cast<const uint8_t*>(buffer.buf),
                    shape.height,
                    shape.width,
                    shape.channels,
                    buffer.strides[0],
                    buffer.strides[1],
                    buffer.strides[2]};
    incoming = Incoming{{Container::kArray, shape}, {view, py::reinterpret_borrow<py::object>(image)}};
  }
  PyBuffer_Release(&buffer);
  return incoming;
}

std::optional<Outline> outline_of_pil(py::handle image, const Known& known) {
  auto outline = bind::outline_of_pil(get(image, known.mode), get(image, known.size));
  const py::object info = get(image, known.info);
  if (!outline || !PyDict_Check(info.ptr())) return std::nullopt;
  outline->transparent = PyDict_GET_SIZE(info.ptr()) > 0 && PyDict_Contains(info.ptr(), known.transparency.ptr()) == 1;
  return outline;
}

std::optional<Incoming> as_pil(py::handle image, const Known& known) {
  const auto outline = outline_of_pil(image, known);
  const py::object core = outline ? get(image, known.im) : py::none();
  if (core.is_none()) return std::nullopt;
  try {
    Incoming incoming{*outline, from_core(exportable(image, core), outline->shape.channels)};
    const py::object info = get(image, known.info);
    if (PyDict_GET_SIZE(info.ptr()) > 0) incoming.info = info;
    return incoming;
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    return std::nullopt;  // Pillow splits large images into blocks
  }
}

std::optional<Outline> outline_of_tensor(py::handle image, const Known& known, bool is_mask = false) {
  const py::object dtype = get(image, known.dtype);
  const bool bools = is_mask && dtype.is(known.truth);
  if (!(bools || dtype.is(known.uint8)) || !get(image, known.layout).is(known.strided) ||
      get(image, known.is_cpu).ptr() != Py_True || is_transforming()) {
    return std::nullopt;
  }
  const py::object sides = get(image, known.shape);
  const Py_ssize_t rank = PyTuple_Check(sides.ptr()) ? PyTuple_GET_SIZE(sides.ptr()) : 0;
  if (rank != 3 && !(is_mask && rank == 2)) return std::nullopt;
  int64_t side[3] = {1};
  for (Py_ssize_t k = 0; k < rank; ++k) side[3 - rank + k] = PyLong_AsLongLong(PyTuple_GET_ITEM(sides.ptr(), k));
  const auto [channels, height, width] = side;
  if (channels <= 0 || channels > INT_MAX || !is_few(height, width)) return std::nullopt;
  if (call(image, known.is_contiguous).ptr() != Py_True) return std::nullopt;
  Outline outline;
  outline.container = Container::kTensor;
  outline.shape = {static_cast<int>(height), static_cast<int>(width), static_cast<int>(channels)};
  outline.bools = bools;
  return outline;
}

std::optional<Incoming> as_tensor(py::handle image, const Known& known) {
  const auto outline = outline_of_tensor(image, known);
  if (!outline || outline->shape.channels > kMaxChannels) return std::nullopt;
  const auto tensor = py::reinterpret_borrow<py::object>(image);
  const auto [height, width, channels] = outline->shape;
  const ptrdiff_t plane = ptrdiff_t{height} * width;
  const View view{static_cast<const uint8_t*>(address_of(tensor)), height, width, channels, width, 1, plane};
  return Incoming{*outline, {view, tensor}};
}

}  // namespace

std::optional<Outline> as_outline(py::handle image) {
  const Known& known = Known::known();
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(image.ptr()));
  if (type == known.image.ptr()) return outline_of_pil(image, known);
  if (type == known.tensor.ptr()) return outline_of_tensor(image, known);
  return std::nullopt;
}

std::optional<Outline> outline_of_mask(py::handle tensor) { return outline_of_tensor(tensor, Known::known(), true); }

std::optional<Outline> outline_of_pil(py::handle mode, py::handle size) {
  const char* const text = PyUnicode_AsUTF8(mode.ptr());
  if (text == nullptr) throw py::error_already_set();
  Outline outline;
  outline.mode = mode_of(text);
  const auto [width, height] = size.cast<std::pair<int, int>>();
  outline.shape = {height, width, channels_of(outline.mode)};
  if (outline.shape.channels == 0 || !is_few(height, width)) return std::nullopt;
  return outline;
}

std::optional<Incoming> as_incoming(py::handle image, py::handle tag) {
  const Known& known = Known::known();
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(image.ptr()));
  if (type == known.image.ptr()) return as_pil(image, known);
  if (type == known.tensor.ptr()) return as_tensor(image, known);
  if (type == known.array.ptr() || type == known.mapped.ptr()) return as_array(image);
  if (type == tag.ptr()) {
    // A tagged one takes long to answer.
    auto incoming = as_tensor(as_class(py::reinterpret_borrow<py::object>(image), known.tensor), known);
    if (incoming) incoming->outline.tagged = true;
    return incoming;
  }
  return std::nullopt;
}

py::object as_class(const py::object& tensor, py::handle cls) {
  return owned(PyObject_CallMethodOneArg(tensor.ptr(), Known::known().as_subclass.ptr(), cls.ptr()));
}

bool is_recording() { return owned(PyObject_CallNoArgs(Known::known().recording.ptr())).ptr() != Py_False; }

bool is_transforming() { return !owned(PyObject_CallNoArgs(Known::known().level.ptr())).is_none(); }

py::object empty_tensor(int first, int second, int third, DType dtype) {
  const Known& known = Known::known();
  const py::object sides[] = {py::int_(first), py::int_(second), py::int_(third)};
  PyObject* const arguments[] = {sides[0].ptr(), sides[1].ptr(), sides[2].ptr(),
                                 known.dtypes[static_cast<size_t>(dtype)].ptr(), known.cpu.ptr()};
  return owned(PyObject_Vectorcall(known.empty.ptr(), arguments, 3, known.keywords.ptr()));
}

void* address_of(const py::object& tensor) {
  const py::object address = call(tensor, Known::known().data_ptr);
  return PyLong_AsVoidPtr(address.ptr());
}

}  // namespace fastaug::bind
