// What the core asks of torch and its tensors, by names that are looked up once.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/image.h"
#include "bind/errors.h"
#include "draft/draft.h"
#include "places/coordinates.h"

namespace fastaug::bind {

pybind11::object interned(const char* name);

inline pybind11::object get(pybind11::handle object, const pybind11::object& name) {
  return owned(PyObject_GetAttr(object.ptr(), name.ptr()));
}

inline pybind11::object call(pybind11::handle object, const pybind11::object& name) {
  return owned(PyObject_CallMethodNoArgs(object.ptr(), name.ptr()));
}

// Those of one argument.
inline pybind11::object call(pybind11::handle object, const pybind11::object& name, const pybind11::object& argument) {
  return owned(PyObject_CallMethodOneArg(object.ptr(), name.ptr(), argument.ptr()));
}

struct TorchNames {
  pybind11::object tensor;  // the class
  pybind11::object uint8, float32, strided;
  std::array<pybind11::object, kMaskSamples.size()> masks;  // dtypes in the order of MaskType,
  std::array<pybind11::object, 3> coordinates;              // of CoordinateType,
  std::array<pybind11::object, 4> dtypes;                   // and of DType
  // Attributes and methods.
  pybind11::object dtype, layout, is_cpu, shape, is_contiguous, data_ptr, as_subclass, stride, requires_grad, is_neg,
      current_level, new_empty;
  pybind11::object recording, level, forward, empty, cpu, keywords;

  static const TorchNames& known();
};

// A tensor as one of a class.
pybind11::object as_class(const pybind11::object& tensor, pybind11::handle cls);

// True if torch records what is done to tensors, or is inside a transform of torch.func.
bool is_recording();
bool is_transforming();

// A tensor on the CPU of these sides and one of the dtypes that the core writes.
pybind11::object empty_tensor(std::span<const int64_t> sides, DType dtype);

// Another one of a tensor's dtype, on its device.
pybind11::object empty_like(const pybind11::object& tensor, std::span<const int64_t> sides);

// Where its samples are.
void* address_of(const pybind11::object& tensor);

// The numbers of a tuple of ints; nothing where one of them is something else.
std::optional<std::vector<int64_t>> integers(const pybind11::object& tuple);

std::vector<int64_t> sides_of(const pybind11::object& tensor);

// False where samples are more than numbers in memory, or are differentiated.
bool is_plain_memory(pybind11::handle tensor);

// The numbers of a plain tensor, `columns` in a row. Those of more or fewer dimensions than two have no gaps.
std::optional<CoordinateRows> rows_of(const pybind11::object& tensor, int64_t columns);

// The rows of a tensor that are kept, a byte for each, in memory of their own.
pybind11::object rows_kept(const pybind11::object& tensor, std::span<const uint8_t> kept);

}  // namespace fastaug::bind
