#include "bind/tensors.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "bind/once.h"

namespace py = pybind11;
using py::literals::operator""_a;

namespace fastaug::bind {
namespace {

TorchNames found_names() {
  TorchNames names;
  const auto torch = py::module_::import("torch");
  names.tensor = torch.attr("Tensor");
  names.uint8 = torch.attr("uint8");
  names.float32 = torch.attr("float32");
  names.strided = torch.attr("strided");
  for (size_t k = 0; k < names.masks.size(); ++k) names.masks[k] = torch.attr(kMaskSamples[k].name);
  names.coordinates = {names.float32, torch.attr("float64"), torch.attr("int64")};
  for (size_t k = 0; k < names.dtypes.size(); ++k) names.dtypes[k] = torch.attr(name_of(static_cast<DType>(k)));
  const std::pair<py::object*, const char*> attributes[] = {{&names.dtype, "dtype"},
                                                            {&names.layout, "layout"},
                                                            {&names.is_cpu, "is_cpu"},
                                                            {&names.shape, "shape"},
                                                            {&names.is_contiguous, "is_contiguous"},
                                                            {&names.data_ptr, "data_ptr"},
                                                            {&names.as_subclass, "as_subclass"},
                                                            {&names.stride, "stride"},
                                                            {&names.requires_grad, "requires_grad"},
                                                            {&names.is_neg, "is_neg"},
                                                            {&names.current_level, "_current_level"},
                                                            {&names.new_empty, "new_empty"}};
  for (const auto& [to, name] : attributes) *to = interned(name);
  names.recording = torch.attr("_C").attr("_is_tracing");
  names.level = torch.attr("_C").attr("_functorch").attr("peek_interpreter_stack");
  names.forward = py::module_::import("torch.autograd.forward_ad");
  names.empty = torch.attr("empty");
  names.cpu = torch.attr("device")("cpu");
  names.keywords = py::make_tuple(names.dtype, interned("device"));
  return names;
}

// The arguments of a function that takes sides one by one, which torch parses faster than a tuple.
class Sides {
 public:
  explicit Sides(std::span<const int64_t> sides) {
    held_.reserve(sides.size());
    for (const int64_t side : sides) add(py::int_(side));
  }

  void add(py::object argument) { arguments_.push_back(held_.emplace_back(std::move(argument)).ptr()); }
  PyObject* const* data() const { return arguments_.data(); }

 private:
  std::vector<py::object> held_;
  std::vector<PyObject*> arguments_;
};

// Null where that is torch's to do.
py::object rows_copied(const py::object& tensor, std::span<const uint8_t> kept) {
  const TorchNames& names = TorchNames::known();
  const py::object dtype = get(tensor, names.dtype);
  const auto type = std::ranges::find_if(names.masks, [&](const py::object& one) { return dtype.is(one); });
  if (!py::type::handle_of(tensor).is(names.tensor) || type == names.masks.end() ||
      !get(tensor, names.layout).is(names.strided) || get(tensor, names.is_cpu).ptr() != Py_True ||
      call(tensor, names.is_contiguous).ptr() != Py_True || !is_plain_memory(tensor)) {
    return {};
  }
  std::vector<int64_t> sides = sides_of(tensor);
  if (sides.empty() || sides.front() != std::ssize(kept)) return {};
  sides.front() = std::ranges::count_if(kept, std::identity());
  py::object result = empty_like(tensor, sides);
  const auto bytes = static_cast<size_t>(samples_of(static_cast<MaskType>(type - names.masks.begin())).bytes);
  const size_t row = std::accumulate(sides.begin() + 1, sides.end(), bytes, std::multiplies<size_t>());
  const auto* from = static_cast<const uint8_t*>(address_of(tensor));
  auto* to = static_cast<uint8_t*>(address_of(result));
  if (row == 0) return result;
  for (size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] == 0) continue;
    std::memcpy(to, from + k * row, row);
    to += row;
  }
  return result;
}

}  // namespace

py::object interned(const char* name) { return owned(PyUnicode_InternFromString(name)); }

const TorchNames& TorchNames::known() {
  constinit static Once<TorchNames> names;
  return names.get(found_names);
}

py::object as_class(const py::object& tensor, py::handle cls) {
  return call(tensor, TorchNames::known().as_subclass, py::reinterpret_borrow<py::object>(cls));
}

bool is_recording() { return owned(PyObject_CallNoArgs(TorchNames::known().recording.ptr())).ptr() != Py_False; }

bool is_transforming() { return !owned(PyObject_CallNoArgs(TorchNames::known().level.ptr())).is_none(); }

py::object empty_tensor(std::span<const int64_t> sides, DType dtype) {
  const TorchNames& names = TorchNames::known();
  Sides arguments(sides);
  arguments.add(names.dtypes[static_cast<size_t>(dtype)]);
  arguments.add(names.cpu);
  return owned(PyObject_Vectorcall(names.empty.ptr(), arguments.data(), sides.size(), names.keywords.ptr()));
}

py::object empty_like(const py::object& tensor, std::span<const int64_t> sides) {
  py::tuple all(sides.size());
  for (size_t k = 0; k < sides.size(); ++k) all[k] = sides[k];
  return call(tensor, TorchNames::known().new_empty, all);
}

void* address_of(const py::object& tensor) {
  return PyLong_AsVoidPtr(call(tensor, TorchNames::known().data_ptr).ptr());
}

std::optional<std::vector<int64_t>> integers(const py::object& tuple) {
  if (!PyTuple_Check(tuple.ptr())) return std::nullopt;
  std::vector<int64_t> all(static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr())));
  for (size_t k = 0; k < all.size(); ++k) {
    PyObject* const number = PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(k));
    if (!PyLong_Check(number)) return std::nullopt;
    all[k] = PyLong_AsLongLong(number);
  }
  return all;
}

std::vector<int64_t> sides_of(const py::object& tensor) {
  auto sides = integers(get(tensor, TorchNames::known().shape));
  if (!sides) throw py::type_error("a tensor's sides must be integers");
  return *std::move(sides);
}

bool is_plain_memory(py::handle tensor) {
  const TorchNames& names = TorchNames::known();
  return get(tensor, names.requires_grad).ptr() == Py_False && call(tensor, names.is_neg).ptr() == Py_False &&
         PyLong_AsLongLong(get(names.forward, names.current_level).ptr()) < 0;
}

std::optional<CoordinateRows> rows_of(const py::object& tensor, int64_t columns) {
  const TorchNames& names = TorchNames::known();
  const py::object dtype = get(tensor, names.dtype);
  const auto type = std::ranges::find_if(names.coordinates, [&](const py::object& one) { return dtype.is(one); });
  const std::vector<int64_t> sides = sides_of(tensor);
  if (type == names.coordinates.end() || sides.empty() || sides.back() != columns ||
      get(tensor, names.is_cpu).ptr() != Py_True || !is_plain_memory(tensor) ||
      (sides.size() != 2 && call(tensor, names.is_contiguous).ptr() != Py_True)) {
    return std::nullopt;
  }
  // An error, of a tensor that is not strided.
  const auto strides = integers(call(tensor, names.stride));
  if (!strides) return std::nullopt;
  const int64_t count = std::accumulate(sides.begin(), sides.end() - 1, int64_t{1}, std::multiplies());
  return CoordinateRows{address_of(tensor), static_cast<CoordinateType>(type - names.coordinates.begin()), count,
                        sides.size() == 2 ? strides->front() : columns, strides->back()};
}

py::object rows_kept(const py::object& tensor, std::span<const uint8_t> kept) {
  if (py::object rows = rows_copied(tensor, kept)) return rows;
  const auto torch = py::module_::import("torch");
  const py::object chosen = torch.attr("empty")(kept.size(), "dtype"_a = torch.attr("bool"), "device"_a = "cpu");
  std::ranges::copy(kept, static_cast<uint8_t*>(address_of(chosen)));
  return tensor[chosen];
}

}  // namespace fastaug::bind
