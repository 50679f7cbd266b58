// Images that come in, as a view or as pixels that are yet to be made, and memory that results go to; each with
// whatever Python object keeps its memory alive.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "base/image.h"
#include "base/pixel_source.h"

namespace fastaug::bind {

// A buffer that signatures call an array.
class Array : public pybind11::buffer {
 public:
  PYBIND11_OBJECT_DEFAULT(Array, pybind11::buffer, PyObject_CheckBuffer)
};

struct Source {
  View view;
  pybind11::object owner;
  std::shared_ptr<PixelSource> pixels{};  // where they are made; the view is then its layout
};

// Python's Target.
struct Sink {
  Target target;
  pybind11::object owner;
};

// Pillow's own memory of an image: L in bytes, every multi-band 8-bit mode in 4-byte pixels, LA as L, L, L, A. Its
// Arrow export shares that memory, and raises ValueError when the rows do not lie in one block. They are then read
// where they are, if rows_of_pillow() knows that; else the ValueError is the caller's.
Source from_pil(const pybind11::object& image, int channels);

// What an image keeps as its `im`, or a copy of that. Before Pillow 13 the export of images in the memory of others
// reads through a null pointer: those of Image.frombuffer, fromarray and fromarrow, and files that are mapped.
pybind11::object exportable(const pybind11::handle& image, const pybind11::object& core);

// The same of what `exportable` gave.
Source from_core(const pybind11::object& core, int channels);

// The same memory to write to; only for an image that no other code has seen yet.
Sink into_pil(const pybind11::object& image, int channels);

void register_images(pybind11::module_& m);

}  // namespace fastaug::bind

template <>
struct pybind11::detail::handle_type_name<fastaug::bind::Array> {
  static constexpr auto name = const_name("numpy.ndarray[typing.Any, typing.Any]");
};
