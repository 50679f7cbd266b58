#include "bind/twins.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bind/class_version.h"
#include "bind/dictionary.h"
#include "bind/errors.h"
#include "bind/guard.h"
#ifdef Py_GIL_DISABLED
#include <mutex>
#endif

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// How many callers on this thread want the objects' own calls.
thread_local int own_calls = 0;

// An object, which is not kept alive, and its twin, if it has one.
struct Twin {
  py::object reference;
  py::object note;  // Python's, which the core does not read
  py::object twin;
  std::unique_ptr<Guard> guard;
  std::shared_ptr<Guard> modules;
  int64_t left = 0;    // calls before Python is asked again
  bool whole = false;  // in which the objects inside it have no twins either
  int64_t calls = 0, found = 0;
};

// Twins by identity. Objects that are gone are removed by a callback of their reference.
class Twins {
 public:
  explicit Twins(py::object missed) : missed_(std::move(missed)) {}

  // The twin of an object; None where there is none; NotImplemented where those inside it should have none either.
  // `missed` is asked, with the note or None, where there is no twin any longer, or none yet after as many calls as it
  // had asked for.
  py::object find(PyObject* object) {
    if (own_calls > 0) return py::none();
    const auto entry = entry_of(object);
    if (entry == nullptr) return missed(object, py::none());
    ++entry->calls;
    if (entry->twin) {
      if (entry->modules->holds() && entry->guard->holds()) {
        ++entry->found;
        return entry->twin;
      }
    } else if (entry->left > 0) {
      --entry->left;
      return entry->whole ? py::reinterpret_borrow<py::object>(Py_NotImplemented) : py::none();
    }
    return missed(object, entry->note);
  }

  // Sets what the next calls find: the twin while the roots of its guard hold; without one nothing, for so many calls.
  void put(py::handle object, const py::object& reference, const py::object& note, const py::object& twin,
           const py::tuple& roots, int64_t left, bool whole) {
    auto entry = std::make_shared<Twin>();
    if (const auto before = entry_of(object.ptr())) {
      entry->calls = before->calls;
      entry->found = before->found;
    }
    entry->reference = reference;
    entry->note = note;
    entry->left = left;
    entry->whole = whole;
    if (!twin.is_none()) {
      entry->twin = twin;
      entry->guard = std::make_unique<Guard>(roots);
      entry->modules = modules_;
    }
    // The one before goes when the lock has.
    const Lock lock(*this);
    std::swap(twins_[object.ptr()], entry);
  }

  // Watches modules anew, for the twins that are put from now on.
  void watch_modules(const py::tuple& roots) { modules_ = std::make_shared<Guard>(roots); }
  bool modules_hold() { return modules_->holds(); }

  // Removes an object that is gone, and returns how often it was asked for, and how often it had a twin.
  py::object remove(const py::object& reference, uintptr_t object) {
    std::shared_ptr<Twin> entry;
    {
      const Lock lock(*this);
      const auto found = twins_.find(reinterpret_cast<PyObject*>(object));
      if (found == twins_.end() || !found->second->reference.is(reference)) return py::none();
      entry = std::move(found->second);
      twins_.erase(found);
    }
    return counts_of(*entry);
  }

  // Of all that are there: the reference, the note, the number of calls, and of those with a twin.
  py::list counts() {
    // New objects of Python's may have the garbage collector run, which removes twins.
    std::vector<std::shared_ptr<Twin>> entries;
    {
      const Lock lock(*this);
      for (const auto& [object, entry] : twins_) entries.push_back(entry);
    }
    py::list all;
    for (const auto& entry : entries) all.append(counts_of(*entry));
    return all;
  }

  // Of one object; None of one that is not known.
  py::object counts(py::handle object) {
    const auto entry = entry_of(object.ptr());
    return entry == nullptr ? py::object(py::none()) : counts_of(*entry);
  }

  // Counts from nothing again.
  void recount() {
    const Lock lock(*this);
    for (const auto& [object, entry] : twins_) entry->calls = entry->found = 0;
  }

  void clear() {
    std::unordered_map<PyObject*, std::shared_ptr<Twin>> all;
    {
      const Lock lock(*this);
      std::swap(all, twins_);
    }
  }

 private:
  // Python's lock, where there is one, is enough.
  struct Lock {
#ifdef Py_GIL_DISABLED
    explicit Lock(Twins& twins) : held(twins.mutex_) {}
    const std::lock_guard<std::mutex> held;
#else
    explicit Lock(Twins&) {}
    ~Lock() {}
#endif
  };

  py::object missed(PyObject* object, const py::object& note) {
    py::object twin = missed_(py::handle(object), note);
    if (const auto entry = entry_of(object)) {
      if (note.is_none()) ++entry->calls;
      if (!twin.is_none() && !twin.is(py::reinterpret_borrow<py::object>(Py_NotImplemented))) ++entry->found;
    }
    return twin;
  }

  std::shared_ptr<Twin> entry_of(PyObject* object) {
    const Lock lock(*this);
    const auto found = twins_.find(object);
    if (found == twins_.end() || referent_of(found->second->reference.ptr()).get() != object) return nullptr;
    return found->second;
  }

  static py::object counts_of(const Twin& entry) {
    return py::make_tuple(entry.reference, entry.note, entry.calls, entry.found);
  }

  py::object missed_;
  std::shared_ptr<Guard> modules_ = std::make_shared<Guard>(py::tuple());
  std::unordered_map<PyObject*, std::shared_ptr<Twin>> twins_;
#ifdef Py_GIL_DISABLED
  std::mutex mutex_;
#endif
};

constexpr char kTwinsCapsule[] = "fastaug._C.Twins";

// A plain function of Python's: a call of one that pybind11 makes takes as long as what it asks.
PyObject* find_twin(PyObject* capsule, PyObject* object) {
  auto* const twins = static_cast<std::shared_ptr<Twins>*>(PyCapsule_GetPointer(capsule, kTwinsCapsule));
  if (twins == nullptr) return nullptr;
  return guarded([=] { return (*twins)->find(object); });
}

py::object finder(const std::shared_ptr<Twins>& twins) {
  static PyMethodDef method = {"find", find_twin, METH_O, nullptr};
  const auto destroy = [](PyObject* capsule) {
    delete static_cast<std::shared_ptr<Twins>*>(PyCapsule_GetPointer(capsule, kTwinsCapsule));
  };
  auto held = std::make_unique<std::shared_ptr<Twins>>(twins);
  const auto capsule = py::reinterpret_steal<py::object>(PyCapsule_New(held.get(), kTwinsCapsule, destroy));
  if (!capsule) throw py::error_already_set();
  held.release();  // NOLINT(bugprone-unused-return-value): the capsule's now
  return py::reinterpret_steal<py::object>(PyCFunction_New(&method, capsule.ptr()));
}

}  // namespace

void register_twins(py::module_& m) {
  m.def("want_own_calls", [](bool wanted) { own_calls += wanted ? 1 : -1; }, py::arg("wanted"));
  m.def(
      "version_of",
      [](const py::type& cls) {
        py::getattr(cls, "__call__", py::none());  // a class has a version from when one of its attributes is looked up
        return version_of(reinterpret_cast<PyTypeObject*>(cls.ptr()));
      },
      py::arg("cls"));
  py::class_<Twins, std::shared_ptr<Twins>>(m, "Twins", py::is_final())
      .def(py::init<py::object>(), py::arg("missed"))
      .def_property_readonly("find", &finder)
      .def("put", &Twins::put, py::arg("object"), py::arg("reference"), py::arg("note"), py::arg("twin"),
           py::arg("roots"), py::arg("left"), py::arg("whole"))
      .def("watch_modules", &Twins::watch_modules, py::arg("roots"))
      .def("modules_hold", &Twins::modules_hold)
      .def("remove", &Twins::remove, py::arg("reference"), py::arg("object"))
      .def("counts", py::overload_cast<>(&Twins::counts))
      .def("counts_of", py::overload_cast<py::handle>(&Twins::counts), py::arg("object"))
      .def("recount", &Twins::recount)
      .def("clear", &Twins::clear);
}

}  // namespace fastaug::bind
