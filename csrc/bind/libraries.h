// Pillow and torch as drafts ask them, by functions of Python's.
#pragma once

#include <pybind11/pybind11.h>

#include "draft/draft.h"

namespace fastaug::bind {

const Torch& libraries();

// What this thread draws from Python's random while there is one of these is taken back at its end, unless it is kept.
class PythonDraws {
 public:
  PythonDraws();
  ~PythonDraws();
  PythonDraws(const PythonDraws&) = delete;
  PythonDraws& operator=(const PythonDraws&) = delete;
  void keep() { kept_ = true; }

 private:
  bool kept_ = false;
};

// Warns as torchvision does when it writes and reads so many files of tensors.
void warn_of_files(int64_t count);

// What Pillow's `info` is of an image of a JPEG file: a new dictionary.
pybind11::object info_of_jpegs();

// A number of another type than Python's own, or NaN; and an int of another type, or None.
double real_of(pybind11::handle value);
pybind11::object whole_of(pybind11::handle value);

void register_libraries(pybind11::module_& m);

}  // namespace fastaug::bind
