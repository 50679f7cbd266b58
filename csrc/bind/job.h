// A program, its image and the memory of its result, as Python hands them in: (bytes, Source, Target).
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "execute/execute.h"

namespace fastaug::bind {

// The ops that lie in `bytes`, which stay Python's.
Program as_program(const pybind11::handle& bytes);

// The tuple's memory stays Python's. Throws Error when it is no such tuple.
Job as_job(const pybind11::handle& tuple);

// Those of a tuple of such tuples, or the only one.
std::vector<Job> as_jobs(const pybind11::handle& tuple);

void register_job(pybind11::module_& m);

}  // namespace fastaug::bind
