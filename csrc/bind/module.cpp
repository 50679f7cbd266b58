#include <pybind11/pybind11.h>

#include <new>
#include <vector>

#include "base/status.h"
#include "bind/encoded.h"
#include "bind/fields.h"
#include "bind/random.h"
#include "bind/source.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "pixel/table.h"

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

// What a run is to do besides: one argument of the Python functions each.
struct Wishes {
  uint32_t rewrites;
  bool reference;
  py::object passes;  // None, or a list that is appended to
};

// The plain executor knows only pixels that are there.
void execute_plainly(Program program, const Source& source, const Target& target) {
  View view = source.view;
  Arena arena;
  if (source.pixels) view = source.pixels->make({0, 0, view.height, view.width}, arena);
  execute_reference(program, view, target);
}

void execute_released(Program program, const Source& source, const Target& target, const Wishes& wishes) {
  std::vector<Pass> passes;
  const bool counted = !wishes.passes.is_none();
  {
    const py::gil_scoped_release released;
    const ExecuteOptions options{nullptr, wishes.rewrites, counted ? &passes : nullptr};
    if (wishes.reference) {
      execute_plainly(program, source, target);
    } else if (source.pixels) {
      execute(program, *source.pixels, target, options);
    } else {
      execute(program, source.view, target, options);
    }
  }
  if (!counted) return;
  auto list = wishes.passes.cast<py::list>();
  for (Pass& pass : passes) list.append(std::move(pass));
}

void run(const py::bytes& program, const Source& source, uintptr_t data, int dtype, int height, int width, int channels,
         ptrdiff_t row_stride, ptrdiff_t pixel_stride, ptrdiff_t channel_stride, uint32_t rewrites, bool reference,
         const py::object& passes) {
  if (data == 0) fail(ErrorCode::kValue, "data must not be a null pointer");
  if (dtype < 0 || dtype > static_cast<int>(DType::kBfloat16)) {
    fail(ErrorCode::kValue, "dtype must be 0 to 3, got " + std::to_string(dtype));
  }
  const Target target{reinterpret_cast<void*>(data),
                      static_cast<DType>(dtype),
                      height,
                      width,
                      channels,
                      row_stride,
                      pixel_stride,
                      channel_stride};
  execute_released(as_program(program), source, target, {rewrites, reference, passes});
}

// Writes into the memory of a PIL image, which nobody else has seen yet.
void run_pil(const py::bytes& program, const Source& source, const py::object& image, int channels, uint32_t rewrites,
             bool reference, const py::object& passes) {
  const Source into = from_pil(image, channels);
  const Target target = pil_target(into.view);
  execute_released(as_program(program), source, target, {rewrites, reference, passes});
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

// The numbers that Python writes into ops and asks runs for.
void register_numbers(py::module_& m) {
  const auto number = [](auto value) { return py::int_(static_cast<int>(value)); };
  py::dict flags;
  flags["WIDTH_FIRST"] = number(kWidthFirst);
  flags["HAS_ALPHA"] = number(kHasAlpha);
  flags["SQUARE"] = number(kSquare);
  flags["UNFUSED"] = number(kUnfused);
  flags["FILLED"] = number(kFilled);
  flags["FUSED"] = number(kFused);
  m.attr("FLAGS") = flags;
  py::dict modes;
  modes["edge"] = number(PadMode::kEdge);
  modes["reflect"] = number(PadMode::kReflect);
  modes["symmetric"] = number(PadMode::kSymmetric);
  m.attr("PAD_MODES") = modes;
  py::dict rules;
  rules["pillow"] = number(NearestRule::kPillow);
  rules["torch"] = number(NearestRule::kTorch);
  rules["torch_exact"] = number(NearestRule::kTorchExact);
  m.attr("NEAREST_RULES") = rules;
  py::dict dtypes;
  for (const DType dtype : {DType::kUint8, DType::kFloat32, DType::kFloat16, DType::kBfloat16}) {
    dtypes[name_of(dtype)] = number(dtype);
  }
  m.attr("DTYPES") = dtypes;
  py::tuple masks(9);
  for (int bits = 0; bits <= 8; ++bits) masks[static_cast<size_t>(bits)] = number(posterize_mask(bits));
  m.attr("POSTERIZE_MASKS") = masks;
  m.attr("OP_BYTES") = number(sizeof(Op));
  m.attr("MAX_OPS") = number(kMaxOps);
  m.attr("BLUR_WEIGHTS") = number(kBlurWeights);
}

py::dict rewrite_table() {
  py::dict table;
  for (const auto& [name, bit] : named_rewrites()) table[name] = bit;
  return table;
}

py::list listed(std::vector<Pass> passes) {
  py::list list;
  for (Pass& pass : passes) list.append(std::move(pass));
  return list;
}

void register_passes(py::module_& m) {
  py::class_<Pass>(m, "Pass", py::is_final())
      .def_readonly("name", &Pass::name)
      .def_readonly("detail", &Pass::detail)
      .def_readonly("origin", &Pass::origin)
      .def_readonly("part", &Pass::part)
      .def_property_readonly("height", [](const Pass& pass) { return pass.out.height; })
      .def_property_readonly("width", [](const Pass& pass) { return pass.out.width; })
      .def_property_readonly("channels", [](const Pass& pass) { return pass.out.channels; })
      .def_readonly("bytes_read", &Pass::bytes_read)
      .def_readonly("bytes_written", &Pass::bytes_written)
      .def_readonly("seconds", &Pass::seconds);
  m.def(
      "plan",
      [](const py::bytes& program, const Source& source, uint32_t rewrites) {
        if (source.pixels) return listed(plan(as_program(program), *source.pixels, rewrites));
        const View& view = source.view;
        return listed(plan(as_program(program), {view.height, view.width, view.channels}, rewrites));
      },
      py::arg("program"), py::arg("source"), py::arg("rewrites") = uint32_t{kExactRewrites});
  m.def(
      "plan",
      [](const py::bytes& program, int height, int width, int channels, uint32_t rewrites) {
        return listed(plan(as_program(program), {height, width, channels}, rewrites));
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"),
      py::arg("rewrites") = uint32_t{kExactRewrites});
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
  bind::register_encoded(m);
  bind::register_fields(m);
  bind::register_random(m);
  bind::register_passes(m);
  m.attr("OPS") = bind::op_table();
  bind::register_numbers(m);
  m.attr("REWRITES") = bind::rewrite_table();
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
        const Shape out = validate(bind::as_program(program), {height, width, channels});
        return py::make_tuple(out.height, out.width, out.channels);
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"));
  m.def("run", &bind::run, py::arg("program"), py::arg("source"), py::arg("data"), py::arg("dtype"), py::arg("height"),
        py::arg("width"), py::arg("channels"), py::arg("row_stride"), py::arg("pixel_stride"),
        py::arg("channel_stride"), py::arg("rewrites") = uint32_t{kExactRewrites}, py::arg("reference") = false,
        py::arg("passes") = py::none());
  m.def("run_pil", &bind::run_pil, py::arg("program"), py::arg("source"), py::arg("image"), py::arg("channels"),
        py::arg("rewrites") = uint32_t{kExactRewrites}, py::arg("reference") = false, py::arg("passes") = py::none());
  m.def("describe", [](const py::bytes& program) { return to_string(bind::as_program(program)); }, py::arg("program"));
}
