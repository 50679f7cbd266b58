// Whether Python objects that something was made of are as they were then.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <vector>

namespace fastaug::bind {

// What it looks at are the classes of objects, which Python marks when one of their attributes, or of their bases', is
// set; attributes in the objects' own dictionaries, by identity; the items of lists; and dictionaries that were empty.
// Any thread may ask at any time: without Python's lock, too, it compares references and follows none that is not its
// own.
class Guard {
 public:
  // `objects`: tuples of an object, how many attributes it has, names and values, or the same of a dictionary; `lists`:
  // tuples of a list and a tuple of its items; `empty`: dictionaries.
  Guard(const pybind11::tuple& objects, const pybind11::tuple& lists, const pybind11::tuple& empty);

  // False for good from when something has changed.
  bool holds();

  // Python's garbage collector asks what it keeps alive, and has it let go.
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  struct Class {
    PyTypeObject* type;
    unsigned int version;
  };
  struct Entry {
    PyObject* name;
    PyObject* value;
  };
  struct Object {
    PyObject* object;
    PyTypeObject* type;
    PyObject* attributes;  // its dictionary, or itself
    Py_ssize_t count;
    std::vector<Entry> entries;
  };
  struct List {
    PyObject* list;
    PyObject* items;
  };

  bool same() const;

  pybind11::object held_;
  std::vector<Class> classes_;
  std::vector<Object> objects_;
  std::vector<List> lists_;
  std::vector<PyObject*> empty_;
  std::atomic<bool> holds_ = true;
};

}  // namespace fastaug::bind
