// An encoded image that is a part of a file.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/archive.h"

namespace fastaug::bind {

struct PyArchive {
  PyArchive(pybind11::str name, uint64_t bytes, int64_t time);

  pybind11::str path;
  uint64_t size;
  int64_t written;
  std::shared_ptr<const Archive> file;
};

struct Member {
  Member(pybind11::object owner, pybind11::str own, uint64_t at, uint64_t bytes);

  static bool is_one(pybind11::handle object) { return Py_TYPE(object.ptr()) == type; }

  // Its bytes. Nothing where reading is Python's to do.
  FileBytes read() const { return size <= kAtOnce ? file->read(offset, static_cast<size_t>(size)) : FileBytes{}; }

  pybind11::object archive;
  std::shared_ptr<const Archive> file;
  pybind11::str name;
  uint64_t offset, size;

  static PyTypeObject* type;  // of the module's lifetime
};

void register_member(pybind11::module_& m);

}  // namespace fastaug::bind
