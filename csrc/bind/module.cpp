#include <pybind11/pybind11.h>

#include "base/status.h"
#include "bind/encoded.h"
#include "bind/fields.h"
#include "bind/images.h"
#include "bind/job.h"
#include "bind/plan.h"
#include "bind/random.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

py::tuple op_table() {
  static const char* const kKinds[] = {"geometry", "pointwise", "reduction", "store", "filter"};
  py::tuple ops(kOpCount);
  for (int k = 0; k < kOpCount; ++k) {
    const auto id = static_cast<OpId>(k);
    ops[static_cast<size_t>(k)] = py::make_tuple(name_of(id), kKinds[static_cast<int>(kind_of(id))]);
  }
  return ops;
}

py::dict rewrite_table() {
  py::dict table;
  for (const auto& [name, bit] : named_rewrites()) table[name] = bit;
  return table;
}

void translate(std::exception_ptr caught) {
  try {
    if (caught) std::rethrow_exception(caught);
  } catch (const Error& error) {
    PyObject* const types[] = {PyExc_ValueError, PyExc_TypeError, PyExc_MemoryError, PyExc_RuntimeError};
    py::set_error(types[static_cast<int>(error.code())], error.what());
  }
}

void register_programs(py::module_& m) {
  m.attr("OPS") = op_table();
  m.attr("REWRITES") = rewrite_table();
  m.attr("EXACT") = uint32_t{kExactRewrites};
  m.attr("FAST") = uint32_t{kFastRewrites};
  m.def("isa", [] { return kernels().name; });
  m.def("isas", [] {
    py::list names;
    for (const char* name : available_isas()) names.append(name);
    return names;
  });
  m.def(
      "shape",
      [](const py::bytes& program, int height, int width, int channels) {
        const Shape out = validate(as_program(program), {height, width, channels});
        return py::make_tuple(out.height, out.width, out.channels);
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"));
  m.def("describe", [](const py::bytes& program) { return to_string(as_program(program)); }, py::arg("program"));
}

}  // namespace
}  // namespace fastaug::bind

PYBIND11_MODULE(_C, m, py::mod_gil_not_used()) {
  using namespace fastaug::bind;
  py::register_exception_translator(translate);
  register_images(m);
  register_encoded(m);
  register_fields(m);
  register_random(m);
  register_job(m);
  register_plan(m);
  register_programs(m);
}
