#include "bind/member.h"

#include <utility>

#include "bind/errors.h"

namespace py = pybind11;

namespace fastaug::bind {

PyTypeObject* Member::type = nullptr;

PyArchive::PyArchive(py::str name, uint64_t bytes, int64_t time) : path(std::move(name)), size(bytes), written(time) {
  const auto encoded = owned(PyUnicode_EncodeFSDefault(path.ptr())).cast<std::string>();
  if (encoded.find('\0') != std::string::npos) throw py::value_error("embedded null byte");
  file = std::make_shared<const Archive>(encoded, size, written);
}

Member::Member(py::object owner, py::str own, uint64_t at, uint64_t bytes)
    : archive(std::move(owner)),
      file(archive.cast<const PyArchive&>().file),
      name(std::move(own)),
      offset(at),
      size(bytes) {}

void register_member(py::module_& m) {
  py::class_<PyArchive>(m, "Archive", py::is_final())
      .def(py::init<py::str, uint64_t, int64_t>(), py::arg("path"), py::arg("size"), py::arg("written"))
      .def_readonly("path", &PyArchive::path)
      .def_readonly("size", &PyArchive::size)
      .def_readonly("written", &PyArchive::written)
      .def("__reduce__", [](const py::object& self) {
        const auto& own = self.cast<const PyArchive&>();
        return py::make_tuple(py::type::of(self), py::make_tuple(own.path, own.size, own.written));
      });
  const auto member =
      py::class_<Member>(m, "Member", py::is_final())
          .def(py::init<py::object, py::str, uint64_t, uint64_t>(), py::arg("archive"), py::arg("name"),
               py::arg("offset"), py::arg("size"))
          .def_readonly("archive", &Member::archive)
          .def_readonly("name", &Member::name)
          .def_readonly("offset", &Member::offset)
          .def_readonly("size", &Member::size)
          .def("__reduce__", [](const py::object& self) {
            const auto& own = self.cast<const Member&>();
            return py::make_tuple(py::type::of(self), py::make_tuple(own.archive, own.name, own.offset, own.size));
          });
  Member::type = reinterpret_cast<PyTypeObject*>(member.ptr());
}

}  // namespace fastaug::bind
