#include "bind/written.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/status.h"
#include "bind/class_version.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

constexpr char kCapsule[] = "fastaug._C.as_written";

struct Written {
  py::object cls;
  py::tuple names;      // of attributes of the class, and the values that it was written with
  py::tuple values;     //
  py::tuple forbidden;  // that an object has none of by itself
  py::tuple empty;      // containers that an object has by itself, with nothing in them
  // The version of the class by which its attributes are known to be these.
  std::atomic<unsigned> version{0};
};

// As `bool`, or -1 with an error set.
int has_values(Written& written, PyTypeObject* type) {
  if (const unsigned version = version_of(type); version != 0 && version == written.version) return 1;
  // A look at an attribute gives a version to a class that has none.
  unsigned version = 0;
  for (size_t k = 0; k < written.names.size(); ++k) {
    PyObject* const name = PyTuple_GET_ITEM(written.names.ptr(), static_cast<Py_ssize_t>(k));
    PyObject* const found = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name);
    if (found == nullptr) return -1;
    PyObject* const value = PyTuple_GET_ITEM(written.values.ptr(), static_cast<Py_ssize_t>(k));
    const int same = PyObject_RichCompareBool(found, value, Py_EQ);
    Py_DECREF(found);
    if (same != 1) return same;
    if (k == 0) version = version_of(type);
  }
  if (version != 0 && version == version_of(type)) written.version = version;
  return 1;
}

int has_nothing_of_its_own(const Written& written, PyObject* object) {
  const py::object own = py::reinterpret_steal<py::object>(PyObject_GenericGetDict(object, nullptr));
  if (!own) return -1;
  for (const py::handle& name : written.empty) {
    PyObject* const found = PyDict_GetItemWithError(own.ptr(), name.ptr());
    if (found == nullptr) {
      if (PyErr_Occurred() == nullptr) PyErr_SetObject(PyExc_KeyError, name.ptr());
      return -1;
    }
    const py::object container = py::reinterpret_borrow<py::object>(found);
    const int filled = PyObject_IsTrue(container.ptr());
    if (filled != 0) return filled < 0 ? -1 : 0;
  }
  for (const py::handle& name : written.forbidden) {
    const int there = PyDict_Contains(own.ptr(), name.ptr());
    if (there != 0) return there < 0 ? -1 : 0;
  }
  return 1;
}

PyObject* holds(PyObject* capsule, PyObject* object) {
  auto* const written = static_cast<Written*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (written == nullptr) return nullptr;
  int same = reinterpret_cast<PyObject*>(Py_TYPE(object)) == written->cls.ptr() ? 1 : 0;
  if (same == 1) same = has_values(*written, Py_TYPE(object));
  if (same == 1) same = has_nothing_of_its_own(*written, object);
  return same < 0 ? nullptr : PyBool_FromLong(same);
}

// A plain function of Python's: a call of one that pybind11 makes takes longer than what it asks.
py::object as_written(const py::type& cls, const py::tuple& names, const py::tuple& values, const py::tuple& forbidden,
                      const py::tuple& empty) {
  if (names.size() != values.size()) fail(ErrorCode::kValue, "there must be as many values as names");
  static PyMethodDef method = {"as_written", holds, METH_O, nullptr};
  auto written = std::unique_ptr<Written>(new Written{cls, names, values, forbidden, empty});
  const py::object capsule =
      py::reinterpret_steal<py::object>(PyCapsule_New(written.get(), kCapsule, [](PyObject* one) {
        delete static_cast<Written*>(PyCapsule_GetPointer(one, kCapsule));
      }));
  if (!capsule) throw py::error_already_set();
  written.release();  // NOLINT(bugprone-unused-return-value): the capsule's now
  PyObject* const function = PyCFunction_New(&method, capsule.ptr());
  if (function == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(function);
}

}  // namespace

void register_written(py::module_& m) {
  m.def("as_written", &as_written, py::arg("cls"), py::arg("names"), py::arg("values"), py::arg("forbidden"),
        py::arg("empty"));
}

}  // namespace fastaug::bind
