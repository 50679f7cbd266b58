// Looks into Python's containers that are right with and without Python's lock, and whether a dictionary has changed.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace fastaug::bind {

// A reference that is counted where another thread may drop the last one: without Python's lock.
class Strong {
 public:
  // Takes over a reference; null for nothing.
  static Strong stolen(PyObject* object) { return Strong(object, true); }
  // Of what stays alive as long as it is looked at.
  static Strong borrowed(PyObject* object) { return Strong(object, false); }

  Strong(Strong&& other) noexcept : object_(std::exchange(other.object_, nullptr)), counted_(other.counted_) {}
  Strong(const Strong&) = delete;
  Strong& operator=(const Strong&) = delete;
  Strong& operator=(Strong&&) = delete;
  ~Strong() {
    if (counted_) Py_XDECREF(object_);
  }

  PyObject* get() const { return object_; }

 private:
  Strong(PyObject* object, bool counted) : object_(object), counted_(counted) {}

  PyObject* object_;
  bool counted_;
};

// Each returns nothing, and sets no error, where there is nothing.

inline Strong referent_of(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  if (PyWeakref_GetRef(reference, &object) < 0) PyErr_Clear();
  return Strong::stolen(object);
#else
  PyObject* const object = PyWeakref_GET_OBJECT(reference);
  return Strong::borrowed(object == Py_None ? nullptr : object);
#endif
}

inline Strong item_of(PyObject* list, Py_ssize_t index) {
#ifdef Py_GIL_DISABLED
  PyObject* const item = PyList_GetItemRef(list, index);
  if (item == nullptr) PyErr_Clear();  // it became shorter
  return Strong::stolen(item);
#else
  return Strong::borrowed(PyList_GET_ITEM(list, index));
#endif
}

inline Strong value_of(PyObject* dictionary, PyObject* key) {
#ifdef Py_GIL_DISABLED
  PyObject* value = nullptr;
  if (PyDict_GetItemRef(dictionary, key, &value) < 0) PyErr_Clear();
  return Strong::stolen(value);
#else
  PyObject* const value = PyDict_GetItemWithError(dictionary, key);
  if (value == nullptr) PyErr_Clear();
  return Strong::borrowed(value);
#endif
}

inline Strong attributes_of(PyObject* object) {
  PyObject* const dictionary = PyObject_GenericGetDict(object, nullptr);
  if (dictionary == nullptr) PyErr_Clear();
  return Strong::stolen(dictionary);
}

// True from when a look has begun to follow a dictionary's changes: `change` is a number that the next one makes
// another.
//
// Up to 3.12 each dictionary has a version. From 3.13 on Python calls a watcher before it changes a dictionary, but not
// where an attribute of an object is set: the attributes of an object cannot be followed there.
constexpr bool kFollowsAttributes = PY_VERSION_HEX < 0x030D0000;

#ifdef Py_GIL_DISABLED

inline bool is_unchanged(PyObject*, uint64_t) { return false; }
inline bool remember(PyObject*, uint64_t&) { return false; }

#elif PY_VERSION_HEX < 0x030D0000

inline uint64_t change_of(PyObject* dictionary) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return reinterpret_cast<PyDictObject*>(dictionary)->ma_version_tag;
#pragma GCC diagnostic pop
}
inline bool is_unchanged(PyObject* dictionary, uint64_t change) { return change_of(dictionary) == change; }
inline bool remember(PyObject* dictionary, uint64_t& change) {
  change = change_of(dictionary);
  return true;
}

#else

// The number of changes of all watched dictionaries.
inline std::atomic<uint64_t> changes = 1;

inline bool is_unchanged(PyObject*, uint64_t change) { return changes.load(std::memory_order_relaxed) == change; }
inline bool remember(PyObject* dictionary, uint64_t& change) {
  // Negative where others have taken all watchers that Python has.
  static const int watcher = [] {
    const auto count = [](PyDict_WatchEvent, PyObject*, PyObject*, PyObject*) {
      changes.fetch_add(1, std::memory_order_relaxed);
      return 0;
    };
    const int added = PyDict_AddWatcher(count);
    if (added < 0) PyErr_Clear();
    return added;
  }();
  if (watcher < 0) return false;
  if (PyDict_Watch(watcher, dictionary) < 0) {
    PyErr_Clear();
    return false;
  }
  change = changes.load(std::memory_order_relaxed);
  return true;
}

#endif

}  // namespace fastaug::bind
