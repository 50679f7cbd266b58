#include "bind/job.h"

#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/status.h"
#include "bind/images.h"
#include "bind/plan.h"
#include "bind/without_gil.h"
#include "execute/reference.h"
#include "execute/together.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

std::string type_of(const py::handle& object) { return py::str(py::type::handle_of(object)).cast<std::string>(); }

template <class T>
const T& argument(const py::handle& object, const char* name) {
  py::detail::make_caster<T> caster;
  if (!caster.load(object, false)) {
    fail(ErrorCode::kType, std::string("a job is (bytes, Source, Target), got as its ") + name + " " + type_of(object));
  }
  return py::detail::cast_op<const T&>(caster);
}

// The plain executor reads only pixels in memory.
void execute_plainly(const Job& job) {
  View view = job.source.view;
  Arena arena;
  if (job.source.pixels != nullptr) view = job.source.pixels->make({0, 0, view.height, view.width}, arena);
  execute_reference(job.program, view, job.target);
}

// On this thread, without Python's lock.
void run(const py::sequence& jobs, uint32_t rewrites, bool reference, const py::object& reports) {
  const bool reported = !reports.is_none();
  const py::tuple held(jobs);  // whatever becomes of the caller's sequence meanwhile
  std::vector<Job> all;
  all.reserve(held.size());
  for (const py::handle& job : held) all.push_back(as_job(job));
  std::vector<Report> done(reported && !reference ? all.size() : 0);
  without_gil([&] {
    if (reference) {
      for (const Job& job : all) execute_plainly(job);
    } else {
      execute_all(all, {nullptr, rewrites}, done);
    }
  });
  if (!reported) return;
  auto list = reports.cast<py::list>();
  for (size_t k = 0; k < done.size(); ++k) list.append(listed(std::move(done[k]), all[k].source.pixels));
}

}  // namespace

Program as_program(const py::handle& bytes) {
  if (!PyBytes_Check(bytes.ptr())) {
    fail(ErrorCode::kType, "program must be bytes, got " + type_of(bytes));
  }
  const auto size = static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()));
  if (size % sizeof(Op) != 0) {
    fail(ErrorCode::kValue, "program must be a whole number of " + std::to_string(sizeof(Op)) + "-byte ops, got " +
                                std::to_string(size) + " bytes");
  }
  return {reinterpret_cast<const Op*>(PyBytes_AS_STRING(bytes.ptr())), size / sizeof(Op)};
}

Job as_job(const py::handle& tuple) {
  if (!PyTuple_Check(tuple.ptr()) || PyTuple_GET_SIZE(tuple.ptr()) != 3) {
    fail(ErrorCode::kType, "a job is (bytes, Source, Target), got " + type_of(tuple));
  }
  const auto& source = argument<Source>(PyTuple_GET_ITEM(tuple.ptr(), 1), "source");
  const auto& sink = argument<Sink>(PyTuple_GET_ITEM(tuple.ptr(), 2), "target");
  return {as_program(PyTuple_GET_ITEM(tuple.ptr(), 0)), {source.view, source.pixels.get()}, sink.target};
}

std::vector<Job> as_jobs(const py::handle& object) {
  std::vector<Job> jobs;
  const bool several = PyTuple_Check(object.ptr()) && PyTuple_GET_SIZE(object.ptr()) > 0 &&
                       PyTuple_Check(PyTuple_GET_ITEM(object.ptr(), 0));
  if (!several) {
    jobs.push_back(as_job(object));
    return jobs;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(object.ptr());
  jobs.reserve(static_cast<size_t>(count));
  for (Py_ssize_t k = 0; k < count; ++k) jobs.push_back(as_job(PyTuple_GET_ITEM(object.ptr(), k)));
  return jobs;
}

void register_job(py::module_& m) {
  m.def("run", &run, py::arg("jobs"), py::arg("rewrites") = uint32_t{kExactRewrites}, py::arg("reference") = false,
        py::arg("reports") = py::none());
}

}  // namespace fastaug::bind
