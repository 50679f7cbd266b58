#include "bind/incoming.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "bind/errors.h"
#include "bind/once.h"
#include "bind/tensors.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

constexpr int64_t kTooManyPixels = int64_t{1} << 31;

// Attributes of images that are no tensors, looked up once.
struct Known {
  py::object image, array, mapped;  // types
  // Names.
  py::object im, mode, size, info, transparency, comment;

  Known() {
    image = py::module_::import("PIL.Image").attr("Image");
    const auto numpy = py::module_::import("numpy");
    array = numpy.attr("ndarray");
    mapped = numpy.attr("memmap");
    const std::pair<py::object*, const char*> names[] = {
        {&im, "im"},          {&mode, "mode"}, {&size, "size"}, {&info, "info"}, {&transparency, "transparency"},
        {&comment, "comment"}};
    for (const auto& [to, name] : names) *to = interned(name);
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
  if (PyDict_GET_SIZE(info.ptr()) > 0) {
    outline->transparent = PyDict_Contains(info.ptr(), known.transparency.ptr()) == 1;
    outline->commented = PyDict_Contains(info.ptr(), known.comment.ptr()) == 1;
  }
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

enum class Reading { kImage, kMask, kOnDevice };

// That of a tensor whose samples, if it is contiguous, lie in the order of its axes.
std::vector<int64_t> dense_strides(const std::vector<int64_t>& sides) {
  std::vector<int64_t> strides(sides.size(), 1);
  for (size_t k = sides.size() - 1; k > 0; --k) strides[k - 1] = strides[k] * sides[k];
  return strides;
}

// All but the address of the samples.
std::optional<Incoming> layout_of(py::handle image, bool v2, Reading as) {
  const TorchNames& known = TorchNames::known();
  const py::object dtype = get(image, known.dtype);
  const auto mask = std::ranges::find_if(known.masks, [&](const py::object& one) { return dtype.is(one); });
  const bool masks = as == Reading::kMask && mask != known.masks.end();
  const bool floats = as == Reading::kImage && dtype.is(known.float32);
  if (!(masks || floats || dtype.is(known.uint8)) || !get(image, known.layout).is(known.strided) ||
      (as != Reading::kOnDevice && get(image, known.is_cpu).ptr() != Py_True) || is_transforming()) {
    return std::nullopt;
  }
  const auto sides = integers(get(image, known.shape));
  const size_t rank = sides ? sides->size() : 0;
  if (rank < 2 || (rank > 3 && as != Reading::kImage) || (rank != 3 && floats)) return std::nullopt;
  if (std::ranges::any_of(*sides, [](int64_t side) { return side <= 0; })) return std::nullopt;
  const int64_t channels = rank == 2 ? 1 : (*sides)[rank - 3], height = (*sides)[rank - 2], width = (*sides)[rank - 1];
  const bool many = channels > kMaxChannels;
  if (channels > INT_MAX || !is_few(height, width) || (many && (floats || as == Reading::kOnDevice))) {
    return std::nullopt;
  }
  Incoming incoming{{}, {}};
  Outline& outline = incoming.outline;
  outline.container = Container::kTensor;
  outline.shape = {static_cast<int>(height), static_cast<int>(width), static_cast<int>(channels)};
  if (masks) outline.mask = static_cast<MaskType>(mask - known.masks.begin());
  outline.floats = floats;
  outline.native = !floats;
  outline.flat = rank == 2 && as != Reading::kMask;
  const bool contiguous = call(image, known.is_contiguous).ptr() == Py_True;
  // A single pixel is contiguous in any order, so v2's functions go by its strides.
  const bool told = !contiguous || floats || (v2 && height * width == 1);
  const auto strides = told ? integers(call(image, known.stride)) : dense_strides(*sides);
  if (!strides || strides->size() != rank) return std::nullopt;
  const int64_t plane = rank == 2 ? 1 : (*strides)[rank - 3], row = (*strides)[rank - 2], pixel = (*strides)[rank - 1];
  if (floats) {
    // If a side is one sample long, its stride means nothing, so only the order of axes is certain.
    const bool together = plane == 1 && row == width * channels && pixel == channels;
    outline.channel_last = together && std::min({channels, height, width}) > 1;
    if (v2 && (outline.channel_last || height * width == 1)) return std::nullopt;
    if (!outline.channel_last && (plane != height * width || row != width || pixel != 1)) return std::nullopt;
    if (!is_plain_memory(image)) return std::nullopt;
  } else if (told) {
    outline.contiguous = contiguous;
    outline.channel_last = rank > 2 && channels > 1 && 0 < plane && plane < pixel && pixel <= row;
    outline.wide_pixels = pixel != channels;
    outline.gaps = (row != channels * width && height > 1) || (outline.wide_pixels && width > 1);
  }
  const ptrdiff_t size = floats ? static_cast<ptrdiff_t>(sizeof(float)) : 1;
  outline.leading = static_cast<int>(rank) - 3;
  if (rank == 2) outline.leading = 0;
  for (size_t k = 0; k + 3 < rank; ++k) {
    incoming.leading.push_back({(*sides)[k], (*strides)[k]});
    outline.images *= (*sides)[k];
  }
  View& view = incoming.source.view;
  view = {nullptr,
          static_cast<int>(height),
          static_cast<int>(width),
          static_cast<int>(channels),
          row * size,
          pixel * size,
          plane * size};
  if (floats) view.dtype = DType::kFloat32;
  return incoming;
}

std::optional<Incoming> as_tensor(const py::object& tensor, bool v2) {
  auto incoming = layout_of(tensor, v2, Reading::kImage);
  if (!incoming) return std::nullopt;
  const void* const address = address_of(tensor);
  // Memory may have been taken away, and that of a foreign buffer may begin anywhere.
  if (address == nullptr || (incoming->outline.floats && reinterpret_cast<uintptr_t>(address) % sizeof(float) != 0)) {
    return std::nullopt;
  }
  incoming->source.view.data = static_cast<const uint8_t*>(address);
  incoming->source.owner = tensor;
  return incoming;
}

}  // namespace

std::optional<Incoming> before_samples(py::handle image, bool v2) {
  const Known& known = Known::known();
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(image.ptr()));
  if (type == known.image.ptr()) {
    const auto outline = outline_of_pil(image, known);
    return outline ? std::optional(Incoming{*outline, {}}) : std::nullopt;
  }
  if (type == TorchNames::known().tensor.ptr()) return layout_of(image, v2, Reading::kImage);
  return std::nullopt;
}

std::optional<Incoming> on_device(py::handle tensor, bool v2) { return layout_of(tensor, v2, Reading::kOnDevice); }

std::optional<Outline> outline_of_mask(py::handle tensor) {
  const auto layout = layout_of(tensor, false, Reading::kMask);
  if (!layout || !layout->outline.contiguous) return std::nullopt;
  Outline outline = layout->outline;
  if (outline.mask == MaskType::kFloat32 && !is_plain_memory(tensor)) return std::nullopt;
  const int bytes = samples_of(outline.mask).bytes;
  if (bytes > 1) {
    outline.leading = 1;
    outline.images = std::exchange(outline.shape.channels, bytes);
  }
  return outline;
}

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

std::optional<Incoming> as_incoming(py::handle image, bool v2) {
  const Known& known = Known::known();
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(image.ptr()));
  if (type == known.image.ptr()) return as_pil(image, known);
  if (type == TorchNames::known().tensor.ptr()) return as_tensor(py::reinterpret_borrow<py::object>(image), v2);
  if (type == known.array.ptr() || type == known.mapped.ptr()) return as_array(image);
  return std::nullopt;
}

}  // namespace fastaug::bind
