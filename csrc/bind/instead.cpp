#include "bind/instead.h"

#include <utility>

#include "bind/stream.h"

namespace py = pybind11;

namespace fastaug::bind {

thread_local Instead* Instead::top = nullptr;

Instead::Instead(py::object draws_, py::object others_) : draws(std::move(draws_)), others(std::move(others_)) {
  if (!py::type::handle_of(draws).is(py::module_::import("fastaug._C").attr("Draws"))) {
    throw py::type_error("draws should be of fastaug._C.Draws");
  }
}

Instead* Instead::here() {
  while (top != nullptr && top->over_) {
    const auto done = std::move(top->self_);
    top = done->below_;
  }
  return top;
}

void Instead::enter() {
  if (self_) throw py::value_error("this context is entered already");
  Stream::release_here();
  below_ = here();
  self_ = shared_from_this();
  over_ = false;
  top = this;
}

void Instead::exit() {
  over_ = true;
  here();
  Stream::release_here();
}

void register_instead(py::module_& m) {
  py::class_<Instead, std::shared_ptr<Instead>>(m, "Instead")
      .def(py::init<py::object, py::object>(), py::arg("draws"), py::arg("others"))
      .def("__enter__", &Instead::enter)
      .def("__exit__", [](Instead& self, const py::args&) { self.exit(); });
  m.def("others", [] {
    const Instead* const here = Instead::here();
    return here == nullptr ? py::object(py::none()) : here->others;
  });
}

}  // namespace fastaug::bind
