// Arguments of torchvision's functions, as drafts take them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "draft/draft.h"
#include "places/boxes.h"
#include "places/coordinates.h"

namespace fastaug::bind {

[[noreturn]] void refuse(const std::string& what);

int64_t as_int(PyObject* value);
bool as_bool(PyObject* value);

// An op, or a tuple of one for every four channels.
Op as_op(PyObject* bytes);
std::vector<Op> as_ops(PyObject* value);

// A number of Python's, NumPy's or torch's; NaN for anything else.
Number as_any_number(PyObject* value);

// An int of Python's or NumPy's, but for a bool.
std::optional<int64_t> as_any_whole(PyObject* value);

// Two numbers of Python's in a list or a tuple.
std::optional<Vec2> as_point(PyObject* value);

// What lies outside an image: None, a number, or several.
Fill as_fill(PyObject* value);

// That of BOX_FORMATS.
BoxFormat as_box_format(int format);

// The least of a box's numbers. An error of Python's for what is no number.
Limit as_limit(pybind11::handle value);

// How much to add on the left, above, on the right and below: one number for all, two, or four.
struct Paddings {
  Sides sides;
  bool is_one = false;    // a single number
  bool is_plain = true;   // it is Python's
  bool is_listed = true;  // in a list or tuple
};
std::optional<Paddings> as_paddings(PyObject* value);

// False if it is no mode of torchvision's. "constant" is a colour.
bool read_padding_mode(PyObject* value, Padding& mode);

}  // namespace fastaug::bind
