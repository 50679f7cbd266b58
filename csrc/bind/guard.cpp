#include "bind/guard.h"

#include <algorithm>

#include "bind/class_version.h"
#include "bind/dictionary.h"

namespace py = pybind11;

namespace fastaug::bind {

Guard::Guard(const py::tuple& roots) : held_(roots) {
  for (const py::handle& root : roots) {
    const auto pair = root.cast<py::tuple>();
    const py::handle container = pair[0];
    roots_.push_back({container.is_none() ? nullptr : container.ptr(), expected_of(pair[1]), nullptr});
  }
}

Guard::Expected Guard::expected_of(py::handle described) {
  const auto parts = described.cast<py::tuple>();
  Expected expected;
  expected.kind = static_cast<Kind>(parts[0].cast<int>());
  expected.value = py::handle(parts[1]).ptr();
  switch (expected.kind) {
    case Kind::kSame:
    case Kind::kReferent:
      break;
    case Kind::kCalled:
      expected.result = py::handle(parts[2]).ptr();
      break;
    case Kind::kItems:
      for (const py::handle& item : parts[2]) expected.entries.push_back({nullptr, expected_of(item), nullptr});
      break;
    case Kind::kEntries: {
      expected.count = parts[2].cast<Py_ssize_t>();
      const auto keys = parts[1].cast<py::tuple>();
      const auto values = parts[3].cast<py::tuple>();
      for (size_t k = 0; k < keys.size(); ++k) {
        expected.entries.push_back({py::handle(keys[k]).ptr(), expected_of(values[k]), nullptr});
      }
      const auto shallow = std::stable_partition(
          expected.entries.begin(), expected.entries.end(),
          [](const Entry& one) { return one.expected.kind != Kind::kSame && one.expected.kind != Kind::kReferent; });
      expected.deep = static_cast<size_t>(shallow - expected.entries.begin());
      break;
    }
    case Kind::kObject: {
      const Strong object = referent_of(expected.value);
      if (object.get() == nullptr) throw py::value_error("an object is gone that is to be watched");
      expected.type = Py_TYPE(object.get());
      // A class has a version from when an attribute of it is first looked up.
      py::getattr(py::handle(reinterpret_cast<PyObject*>(expected.type)), "__call__", py::none());
      expected.version = version_of(expected.type);
      expected.entries.push_back({nullptr, expected_of(parts[2]), nullptr});
      expected.entries.front().expected.followed = kFollowsAttributes;
      break;
    }
  }
  return expected;
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
  roots_.clear();
  held_ = py::object();
}

bool Guard::same() {
  return std::ranges::all_of(roots_, [](Entry& root) {
    if (root.key != nullptr) return is_as(root.expected, root.key);
    const Strong object = referent_of(root.expected.value);
    return object.get() != nullptr && is_as(root.expected, object.get());
  });
}

bool Guard::is_as(Expected& expected, PyObject* found) {
  switch (expected.kind) {
    case Kind::kSame:
      return found == expected.value;
    case Kind::kReferent:
      return referent_of(expected.value).get() == found;
    case Kind::kItems:
      return has_items(expected, found);
    case Kind::kEntries:
      return has_entries(expected, found);
    case Kind::kObject:
      return is_object(expected, found);
    case Kind::kCalled: {
      const auto result = py::reinterpret_steal<py::object>(PyObject_CallOneArg(expected.value, found));
      const int same = result ? PyObject_RichCompareBool(result.ptr(), expected.result, Py_EQ) : -1;
      if (same < 0) PyErr_Clear();
      return same == 1;
    }
  }
  return false;
}

bool Guard::has_items(Expected& expected, PyObject* found) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(found)) != expected.value) return false;
  const bool is_list = PyList_CheckExact(found);
  const auto count = static_cast<Py_ssize_t>(expected.entries.size());
  if (count != (is_list ? PyList_GET_SIZE(found) : PyTuple_GET_SIZE(found))) return false;
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Strong item = is_list ? item_of(found, k) : Strong::borrowed(PyTuple_GET_ITEM(found, k));
    if (item.get() == nullptr || !is_as(expected.entries[static_cast<size_t>(k)].expected, item.get())) return false;
  }
  return true;
}

bool Guard::has_entries(Expected& expected, PyObject* found) {
  if (!PyDict_Check(found) || PyDict_GET_SIZE(found) != expected.count) return false;
  if (expected.dictionary == found && is_unchanged(found, expected.change)) {
    for (size_t k = 0; k < expected.deep; ++k) {
      Entry& entry = expected.entries[k];
      if (!is_as(entry.expected, entry.found)) return false;
    }
    return true;
  }
  // What changes while it is compared is a change of later.
  const bool remembered = expected.followed && remember(found, expected.change);
  for (Entry& entry : expected.entries) {
    const Strong value = value_of(found, entry.key);
    if (value.get() == nullptr || !is_as(entry.expected, value.get())) return false;
    if (remembered) entry.found = value.get();
  }
  if (remembered) expected.dictionary = found;
  return true;
}

bool Guard::is_object(Expected& expected, PyObject* found) {
  if (referent_of(expected.value).get() != found || Py_TYPE(found) != expected.type || expected.version == 0 ||
      version_of(expected.type) != expected.version) {
    return false;
  }
  const Strong attributes = attributes_of(found);
  return attributes.get() != nullptr && is_as(expected.entries.front().expected, attributes.get());
}

}  // namespace fastaug::bind
