#include <pybind11/pybind11.h>

#include <new>

#include "bind/fields.h"
#include "bind/source.h"
#include "core/execute.h"
#include "core/reference.h"
#include "core/status.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

Program as_program(const py::bytes& bytes) {
  const std::string_view text = bytes;
  if (text.size() % sizeof(Op) != 0) {
    fail(ErrorCode::kValue, "program must be a whole number of " + std::to_string(sizeof(Op)) + "-byte ops, got " +
                                std::to_string(text.size()) + " bytes");
  }
  return {reinterpret_cast<const Op*>(text.data()), text.size() / sizeof(Op)};
}

void execute_released(Program program, const View& view, const Target& target, bool reference) {
  const py::gil_scoped_release released;
  if (reference) {
    execute_reference(program, view, target);
  } else {
    execute(program, view, target);
  }
}

void run(const py::bytes& program, const Source& source, uintptr_t data, bool float32, int height, int width,
         int channels, ptrdiff_t row_stride, ptrdiff_t pixel_stride, ptrdiff_t channel_stride, bool reference) {
  if (data == 0) fail(ErrorCode::kValue, "data must not be a null pointer");
  const Target target{reinterpret_cast<void*>(data),
                      float32 ? DType::kFloat32 : DType::kUint8,
                      height,
                      width,
                      channels,
                      row_stride,
                      pixel_stride,
                      channel_stride};
  execute_released(as_program(program), source.view, target, reference);
}

// Writes into the memory of a PIL image, which nobody else has seen yet.
void run_pil(const py::bytes& program, const Source& source, const py::object& image, int channels, bool reference) {
  const Source into = from_pil(image, channels);
  const Target target = pil_target(into.view);
  execute_released(as_program(program), source.view, target, reference);
}

py::tuple op_table() {
  static const char* const kKinds[] = {"geometry", "pointwise", "reduction", "store", "filter"};
  py::tuple ops(kOpCount);
  for (int k = 0; k < kOpCount; ++k) {
    const auto id = static_cast<OpId>(k);
    ops[static_cast<size_t>(k)] = py::make_tuple(name_of(id), kKinds[static_cast<int>(kind_of(id))]);
  }
  return ops;
}

void translate(std::exception_ptr caught) {
  try {
    if (caught) std::rethrow_exception(caught);
  } catch (const Error& error) {
    PyObject* const types[] = {PyExc_ValueError, PyExc_TypeError, PyExc_MemoryError, PyExc_RuntimeError};
    py::set_error(types[static_cast<int>(error.code())], error.what());
  }
}

}  // namespace
}  // namespace fastaug::bind

PYBIND11_MODULE(_C, m, py::mod_gil_not_used()) {
  using namespace fastaug;
  py::register_exception_translator(bind::translate);
  bind::register_source(m);
  bind::register_fields(m);
  m.attr("OPS") = bind::op_table();
  m.def("isa", [] { return kernels().name; });
  m.def("isas", [] {
    py::list names;
    for (const char* name : available_isas()) names.append(name);
    return names;
  });
  m.def(
      "shape",
      [](const py::bytes& program, int height, int width, int channels) {
        const Shape out = validate(bind::as_program(program), {height, width, channels});
        return py::make_tuple(out.height, out.width, out.channels);
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"));
  m.def("run", &bind::run, py::arg("program"), py::arg("source"), py::arg("data"), py::arg("float32"),
        py::arg("height"), py::arg("width"), py::arg("channels"), py::arg("row_stride"), py::arg("pixel_stride"),
        py::arg("channel_stride"), py::arg("reference") = false);
  m.def("run_pil", &bind::run_pil, py::arg("program"), py::arg("source"), py::arg("image"), py::arg("channels"),
        py::arg("reference") = false);
  m.def("describe", [](const py::bytes& program) { return to_string(bind::as_program(program)); }, py::arg("program"));
  m.def(
      "plan",
      [](const py::bytes& program, int height, int width, int channels) {
        return explain(bind::as_program(program), {height, width, channels});
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"));
}
