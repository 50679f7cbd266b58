#include "bind/queue.h"

#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "bind/job.h"
#include "bind/without_gil.h"
#include "bind/works.h"
#include "execute/job_queue.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// A JobQueue that keeps the memory of its jobs until they are taken, or until it ends.
class Queue {
 public:
  using Number = JobQueue::Number;

  Number push(const py::object& job, uint32_t rewrites, bool urgent) {
    std::vector<Job> jobs;
    const bool several = py::isinstance<Works>(job);
    if (!job.is_none() && !several) jobs = as_jobs(job);
    // The order matters: as soon as it is pushed, some thread may run it.
    const py::int_ number(pushed_++);
    if (!jobs.empty() || several) held_[number] = job;
    if (several) {
      const auto& works = job.cast<const Works&>();
      return queue_.push_all(works.count, works.work, urgent);
    }
    return queue_.push(std::move(jobs), {nullptr, rewrites}, urgent);
  }

  std::optional<Number> work(bool wait, int64_t limit, double seconds) {
    return without_gil([&] { return queue_.work(wait, limit, seconds); });
  }

  std::optional<Number> take(double seconds, size_t least) {
    if (!taken_) taken_ = without_gil([&] { return queue_.take(seconds, least); });
    if (taken_) held_.attr("pop")(*taken_, py::none());
    return taken_;
  }

  py::tuple seconds() {
    const auto [reading, decoding, jobs] = queue_.seconds();
    return py::make_tuple(reading, decoding, jobs);
  }

  void heard() { taken_.reset(); }

  int64_t left() { return queue_.left(); }
  void done(Number number) { queue_.done(number); }
  void close() { queue_.close(); }
  void cancel() { queue_.cancel(); }

 private:
  JobQueue queue_;
  Number pushed_ = 0;            // by one thread alone
  std::optional<Number> taken_;  // and this, until that thread has heard of it
  py::dict held_;
};

// Works that take so many seconds each and do nothing, to find out what more processors than there are would gain. The
// system's sleeps are too long for one of them.
Works waiting(size_t count, double seconds) {
  constexpr double kSleep = 1e-3;
  return {py::none(), count, [seconds](size_t, JobQueue::Seconds& spent) {
            thread_local double owed = 0.0;
            owed += seconds;
            spent.jobs += seconds;
            if (owed < kSleep) return true;
            const double start = now();
            std::this_thread::sleep_for(std::chrono::duration<double>(owed));
            owed -= now() - start;
            return true;
          }};
}

}  // namespace

void register_queue(py::module_& m) {
  py::class_<Works>(m, "Works", py::is_final()).def("__len__", [](const Works& works) { return works.count; });
  m.def("waiting", waiting, py::arg("count"), py::arg("seconds"));
  py::class_<Queue>(m, "Queue")
      .def(py::init<>())
      .def("push", &Queue::push, py::arg("job"), py::arg("rewrites") = uint32_t{kExactRewrites},
           py::arg("urgent") = false)
      .def("work", &Queue::work, py::arg("wait"), py::arg("limit"), py::arg("seconds") = 0.0)
      .def("seconds", &Queue::seconds)
      .def("left", &Queue::left)
      .def("done", &Queue::done, py::arg("number"))
      .def("take", &Queue::take, py::arg("seconds"), py::arg("least") = 1)
      .def("heard", &Queue::heard)
      .def("close", &Queue::close)
      .def("cancel", &Queue::cancel);
}

}  // namespace fastaug::bind
