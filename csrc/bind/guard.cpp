#include "bind/guard.h"

#include <algorithm>

#include "bind/class_version.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

bool is_item(PyObject* list, Py_ssize_t index, PyObject* item) {
#ifdef Py_GIL_DISABLED
  const auto found = py::reinterpret_steal<py::object>(PyList_GetItemRef(list, index));
  if (!found) PyErr_Clear();  // it became shorter
  return found.ptr() == item;
#else
  return PyList_GET_ITEM(list, index) == item;
#endif
}

// Whether an object has this very dictionary.
bool has_dictionary(PyObject* object, PyObject* attributes) {
  const auto found = py::reinterpret_steal<py::object>(PyObject_GenericGetDict(object, nullptr));
  if (!found) PyErr_Clear();
  return found.ptr() == attributes;
}

}  // namespace

Guard::Guard(const py::tuple& objects, const py::tuple& lists, const py::tuple& empty) {
  py::list dictionaries;
  for (const py::handle& one : objects) {
    const auto entry = one.cast<py::tuple>();
    const py::object object = entry[0], names = entry[2], values = entry[3];
    PyTypeObject* const type = Py_TYPE(object.ptr());
    const bool is_dictionary = PyDict_CheckExact(object.ptr());
    if (!is_dictionary && std::ranges::none_of(classes_, [&](const Class& known) { return known.type == type; })) {
      // A class has a version from when an attribute of it is first looked up.
      py::getattr(py::handle(reinterpret_cast<PyObject*>(type)), "__call__", py::none());
      classes_.push_back({type, version_of(type)});
    }
    const py::object attributes = is_dictionary ? object : object.attr("__dict__");
    dictionaries.append(attributes);
    Object watched{object.ptr(), type, attributes.ptr(), entry[1].cast<Py_ssize_t>(), {}};
    for (size_t k = 0; k < py::len(names); ++k) {
      watched.entries.push_back({PyTuple_GET_ITEM(names.ptr(), static_cast<Py_ssize_t>(k)),
                                 PyTuple_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(k))});
    }
    objects_.push_back(std::move(watched));
  }
  for (const py::handle& one : lists) {
    lists_.push_back({PyTuple_GET_ITEM(one.ptr(), 0), PyTuple_GET_ITEM(one.ptr(), 1)});
  }
  for (const py::handle& one : empty) empty_.push_back(one.ptr());
  held_ = py::make_tuple(objects, lists, empty, dictionaries);
}

bool Guard::holds() {
  if (holds_ && !same()) holds_ = false;
  return holds_;
}

int Guard::traverse(visitproc visit, void* arg) const {
  Py_VISIT(held_.ptr());
  return 0;
}

void Guard::clear() {
  holds_ = false;
  held_ = py::object();
}

bool Guard::same() const {
  for (const Class& one : classes_) {
    if (one.version == 0 || version_of(one.type) != one.version) return false;
  }
  for (PyObject* const one : empty_) {
    if (PyDict_GET_SIZE(one) != 0) return false;
  }
  for (const Object& one : objects_) {
    const bool is_dictionary = one.object == one.attributes;
    if (Py_TYPE(one.object) != one.type || !(is_dictionary || has_dictionary(one.object, one.attributes)) ||
        PyDict_GET_SIZE(one.attributes) != one.count) {
      return false;
    }
    for (const Entry& entry : one.entries) {
      if (PyDict_GetItemWithError(one.attributes, entry.name) != entry.value) return false;
    }
  }
  for (const List& one : lists_) {
    const Py_ssize_t count = PyList_GET_SIZE(one.list);
    if (count != PyTuple_GET_SIZE(one.items)) return false;
    for (Py_ssize_t k = 0; k < count; ++k) {
      if (!is_item(one.list, k, PyTuple_GET_ITEM(one.items, k))) return false;
    }
  }
  return true;
}

}  // namespace fastaug::bind
