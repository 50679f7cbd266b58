// Whether Python objects that something was made of are as they were then.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace fastaug::bind {

// A guard compares objects with what was found when it was made: the classes of objects, which Python marks when an
// attribute of them or of their bases is set; the attributes in the objects' own dictionaries; the items of lists; and
// so on inwards. It keeps none of the objects alive, and reaches each one through what is compared before.
class Guard {
 public:
  // `roots`: tuples of a container, which is kept alive, or None for an object that is not; and of what is expected of
  // it, in the form of fastaug._draft.watch.
  explicit Guard(const pybind11::tuple& roots);

  // False for good from when something has changed.
  bool holds();

  // Python's garbage collector asks what it keeps alive, and has it let go.
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  // In the order of fastaug._draft.watch.
  enum class Kind : uint8_t { kSame, kReferent, kItems, kEntries, kObject, kCalled };

  struct Entry;

  // What an object should be.
  struct Expected {
    Kind kind = Kind::kSame;
    PyObject* value = nullptr;       // the same object, a weak reference, the type of a list, or a function
    PyObject* result = nullptr;      // of the function
    PyTypeObject* type = nullptr;    // of an object
    unsigned version = 0;            // of that type
    Py_ssize_t count = 0;            // of all entries of a dictionary
    std::vector<Entry> entries;      // or items; those with parts of their own come first
    size_t deep = 0;                 // the number of these
    bool followed = true;            // where the changes of a dictionary can be
    PyObject* dictionary = nullptr;  // as it was found last,
    uint64_t change = 0;             // and by which number nothing has been set in it since
  };

  struct Entry {
    PyObject* key;
    Expected expected;
    PyObject* found;  // in the dictionary
  };

  static Expected expected_of(pybind11::handle described);
  static bool is_as(Expected& expected, PyObject* found);
  static bool has_items(Expected& expected, PyObject* found);
  static bool has_entries(Expected& expected, PyObject* found);
  static bool is_object(Expected& expected, PyObject* found);
  bool same();

  pybind11::object held_;
  std::vector<Entry> roots_;  // keys are containers
  std::atomic<bool> holds_ = true;
};

}  // namespace fastaug::bind
