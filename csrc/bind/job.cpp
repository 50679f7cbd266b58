#include "bind/job.h"

#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/status.h"
#include "bind/plan.h"
#include "execute/reference.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// The plain executor knows only pixels that are there.
void execute_plainly(const Job& job) {
  View view = job.source.view;
  Arena arena;
  if (job.source.pixels != nullptr) view = job.source.pixels->make({0, 0, view.height, view.width}, arena);
  execute_reference(job.program, view, job.target);
}

template <class T>
const T& argument(const py::handle& object, const char* name) {
  if (!py::isinstance<T>(object)) {
    fail(ErrorCode::kType, std::string(name) + " must be a " +
                               py::str(py::type::of<T>().attr("__name__")).cast<std::string>() + ", got " +
                               py::str(py::type::handle_of(object)).cast<std::string>());
  }
  return object.cast<const T&>();
}

// One after the other, on this thread, without Python's lock.
void run(const py::object& jobs, uint32_t rewrites, bool reference, const py::object& reports) {
  const bool reported = !reports.is_none();
  if (py::isinstance<PyJob>(jobs) && !reported) {
    const Job job = jobs.cast<const PyJob&>().job();
    const py::gil_scoped_release released;
    return reference ? execute_plainly(job) : execute(job, {nullptr, rewrites});
  }
  std::vector<Job> all;
  if (py::isinstance<PyJob>(jobs)) {
    all.push_back(jobs.cast<const PyJob&>().job());
  } else {
    for (const py::handle& one : jobs) all.push_back(argument<PyJob>(one, "each of jobs").job());
  }
  std::vector<Report> done(reported && !reference ? all.size() : 0);
  {
    const py::gil_scoped_release released;
    for (size_t k = 0; k < all.size(); ++k) {
      if (reference) {
        execute_plainly(all[k]);
      } else {
        execute(all[k], {nullptr, rewrites}, reported ? &done[k] : nullptr);
      }
    }
  }
  if (!reported) return;
  auto list = reports.cast<py::list>();
  for (size_t k = 0; k < done.size(); ++k) list.append(listed(std::move(done[k]), all[k].source.pixels));
}

}  // namespace

Program as_program(const py::bytes& bytes) {
  const std::string_view text = bytes;
  if (text.size() % sizeof(Op) != 0) {
    fail(ErrorCode::kValue, "program must be a whole number of " + std::to_string(sizeof(Op)) + "-byte ops, got " +
                                std::to_string(text.size()) + " bytes");
  }
  return {reinterpret_cast<const Op*>(text.data()), text.size() / sizeof(Op)};
}

PyJob::PyJob(py::bytes program, py::object source, py::object target)
    : program_(std::move(program)),
      source_object_(std::move(source)),
      target_object_(std::move(target)),
      source_(&argument<Source>(source_object_, "source")),
      sink_(&argument<Sink>(target_object_, "target")) {
  as_program(program_);
}

void register_job(py::module_& m) {
  py::class_<PyJob>(m, "Job", py::is_final())
      .def(py::init<py::bytes, py::object, py::object>(), py::arg("program"), py::arg("source"), py::arg("target"))
      .def_property_readonly("program", &PyJob::program_object)
      .def_property_readonly("source", &PyJob::source_object)
      .def_property_readonly("target", &PyJob::target_object);
  m.def("run", &run, py::arg("jobs"), py::arg("rewrites") = uint32_t{kExactRewrites}, py::arg("reference") = false,
        py::arg("reports") = py::none());
}

}  // namespace fastaug::bind
