// Numbers of Python's that torch and the core take alike.
#pragma once

#include <pybind11/pybind11.h>

#include <cfloat>
#include <cstdint>
#include <optional>
#include <utility>

namespace fastaug::bind {

// Plain numbers. Of anything else torch says what it means.
inline std::optional<int64_t> as_integer(pybind11::handle value) {
  if (!PyLong_CheckExact(value.ptr())) return std::nullopt;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return number;
}

// A whole number that is a double, too.
inline std::optional<double> as_whole(pybind11::handle value) {
  constexpr int64_t kMax = int64_t{1} << 53;
  const auto integer = as_integer(value);
  if (!integer || *integer > kMax || *integer < -kMax) return std::nullopt;
  return static_cast<double>(*integer);
}

inline std::optional<double> as_number(pybind11::handle value) {
  return PyFloat_Check(value.ptr()) ? PyFloat_AS_DOUBLE(value.ptr()) : as_whole(value);
}

// The limits of a uniform draw, as torch checks them.
inline std::optional<std::pair<float, float>> as_range(pybind11::handle low, pybind11::handle high) {
  const auto from = as_number(low), to = as_number(high);
  // These are false for NaN, too.
  if (!from || !to || !(*from <= *to) || !(*from >= -FLT_MAX) || !(*to <= FLT_MAX) || !(*to - *from <= FLT_MAX)) {
    return std::nullopt;
  }
  const auto first = static_cast<float>(*from), last = static_cast<float>(*to);
  if (!(last - first <= FLT_MAX)) return std::nullopt;
  return std::pair(first, last);
}

inline std::optional<std::pair<pybind11::handle, pybind11::handle>> as_pair(pybind11::handle value) {
  if (!PyTuple_CheckExact(value.ptr()) || PyTuple_GET_SIZE(value.ptr()) != 2) return std::nullopt;
  return std::pair(pybind11::handle(PyTuple_GET_ITEM(value.ptr(), 0)),
                   pybind11::handle(PyTuple_GET_ITEM(value.ptr(), 1)));
}

inline std::optional<std::pair<float, float>> as_range(pybind11::handle value) {
  const auto pair = as_pair(value);
  return pair ? as_range(pair->first, pair->second) : std::nullopt;
}

}  // namespace fastaug::bind
