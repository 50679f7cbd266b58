// Works of one entry of a queue, as Python hands them on.
#pragma once

#include <pybind11/pybind11.h>

#include "execute/job_queue.h"

namespace fastaug::bind {

struct Works {
  pybind11::object owner;  // of all that they need
  size_t count = 0;
  JobQueue::Work work;
};

}  // namespace fastaug::bind
