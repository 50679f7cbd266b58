// A program, its image and the memory of its result, as Python hands them in.
#pragma once

#include <pybind11/pybind11.h>

#include "bind/images.h"
#include "execute/execute.h"

namespace fastaug::bind {

// The ops that lie in `bytes`, which stay Python's.
Program as_program(const pybind11::bytes& bytes);

class PyJob {
 public:
  PyJob(pybind11::bytes program, pybind11::object source, pybind11::object target);

  Program program() const { return as_program(program_); }
  const Source& source() const { return *source_; }
  const Target& target() const { return sink_->target; }
  Job job() const { return {program(), {source_->view, source_->pixels.get()}, target()}; }

  const pybind11::bytes& program_object() const { return program_; }
  const pybind11::object& source_object() const { return source_object_; }
  const pybind11::object& target_object() const { return target_object_; }

 private:
  pybind11::bytes program_;
  pybind11::object source_object_;
  pybind11::object target_object_;
  const Source* source_;
  const Sink* sink_;
};

void register_job(pybind11::module_& m);

}  // namespace fastaug::bind
