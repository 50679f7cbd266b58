#include "bind/arguments.h"

#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "bind/libraries.h"
#include "bind/numbers.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

bool is_sequence(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

}  // namespace

void refuse(const std::string& what) { fail(ErrorCode::kType, what); }

int64_t as_int(PyObject* value) {
  const int64_t number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

bool as_bool(PyObject* value) {
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

Op as_op(PyObject* bytes) {
  if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) != sizeof(Op)) refuse("an op is bytes of one op");
  Op op;
  std::memcpy(&op, PyBytes_AS_STRING(bytes), sizeof(op));
  return op;
}

std::vector<Op> as_ops(PyObject* value) {
  if (!PyTuple_Check(value)) return {as_op(value)};
  std::vector<Op> ops;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value); ++k) ops.push_back(as_op(PyTuple_GET_ITEM(value, k)));
  if (ops.empty()) refuse("an op is bytes, or a tuple of them for every four channels");
  return ops;
}

Number as_any_number(PyObject* value) {
  if (PyFloat_Check(value)) return {PyFloat_AS_DOUBLE(value), true, PyFloat_CheckExact(value) != 0};
  if (PyLong_Check(value)) {
    const double number = PyLong_AsDouble(value);
    if (number != -1 || PyErr_Occurred() == nullptr) return {number, false, PyLong_CheckExact(value) != 0};
    PyErr_Clear();
    return {std::numeric_limits<double>::quiet_NaN(), false, false};
  }
  return {real_of(value), false, false};
}

std::optional<int64_t> as_any_whole(PyObject* value) {
  py::object number = py::reinterpret_borrow<py::object>(value);
  if (!PyLong_CheckExact(value)) {
    number = whole_of(number);
    if (number.is_none()) return std::nullopt;
  }
  int overflow = 0;
  const int64_t whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow == 0 ? std::optional(whole) : std::nullopt;
}

std::optional<Vec2> as_point(PyObject* value) {
  if (!is_sequence(value) || PySequence_Fast_GET_SIZE(value) != 2) return std::nullopt;
  const auto x = as_number(PySequence_Fast_GET_ITEM(value, 0)), y = as_number(PySequence_Fast_GET_ITEM(value, 1));
  return x && y ? std::optional(Vec2{*x, *y}) : std::nullopt;
}

Fill as_fill(PyObject* value) {
  Fill fill;
  const auto add = [&fill](PyObject* one) {
    const bool plain = PyLong_Check(one) || PyFloat_Check(one);
    fill.is_plain = fill.is_plain && plain;
    // A tensor of one number is none of Pillow's.
    if (!plain && std::string_view(Py_TYPE(one)->tp_name).substr(0, 6) != "numpy.") fill.is_readable = false;
    fill.values.push_back(as_any_number(one).value);
  };
  if (value == Py_None) return fill;
  fill.is_sequence = is_sequence(value);
  if (fill.is_sequence) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k) add(PySequence_Fast_GET_ITEM(value, k));
  } else {
    add(value);
    fill.is_integer = PyLong_Check(value) != 0;
    fill.is_readable = fill.is_plain;
  }
  return fill;
}

BoxFormat as_box_format(int format) {
  if (format < 0 || format > static_cast<int>(BoxFormat::kCxcywh)) {
    fail(ErrorCode::kValue, "format must be a value of BOX_FORMATS");
  }
  return static_cast<BoxFormat>(format);
}

Limit as_limit(py::handle value) {
  if (PyLong_Check(value.ptr())) {
    const long long integer = PyLong_AsLongLong(value.ptr());
    if (integer == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return {true, integer, 0.0};
  }
  const double real = PyFloat_AsDouble(value.ptr());
  if (real == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return {false, 0, real};
}

std::optional<Paddings> as_paddings(PyObject* value) {
  Paddings paddings;
  paddings.is_listed = is_sequence(value);
  const Py_ssize_t count = paddings.is_listed ? PySequence_Fast_GET_SIZE(value) : 1;
  if (count != 1 && count != 2 && count != 4) return std::nullopt;
  int given[4] = {};
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* const one = paddings.is_listed ? PySequence_Fast_GET_ITEM(value, k) : value;
    const auto side = as_any_whole(one);
    if (!side || *side < std::numeric_limits<int>::min() || *side > std::numeric_limits<int>::max()) {
      return std::nullopt;
    }
    given[k] = static_cast<int>(*side);
    paddings.is_plain = paddings.is_plain && PyLong_Check(one);
  }
  paddings.is_one = count == 1;
  const auto number = static_cast<size_t>(count);
  paddings.sides = {given[0], given[1 % number], given[2 % number], given[3 % number]};
  return paddings;
}

bool read_padding_mode(PyObject* value, Padding& mode) {
  static constexpr std::pair<const char*, PadMode> kModes[] = {
      {"edge", PadMode::kEdge}, {"reflect", PadMode::kReflect}, {"symmetric", PadMode::kSymmetric}};
  mode = std::nullopt;
  if (!PyUnicode_Check(value)) return false;
  for (const auto& [name, number] : kModes) {
    if (PyUnicode_CompareWithASCIIString(value, name) == 0) mode = number;
  }
  return mode || PyUnicode_CompareWithASCIIString(value, "constant") == 0;
}

}  // namespace fastaug::bind
