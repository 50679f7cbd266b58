#include <pybind11/pybind11.h>

#include "bind/bag.h"
#include "bind/densities.h"
#include "bind/draft.h"
#include "bind/encoded.h"
#include "bind/errors.h"
#include "bind/fields.h"
#include "bind/flight.h"
#include "bind/images.h"
#include "bind/instead.h"
#include "bind/job.h"
#include "bind/libraries.h"
#include "bind/mapped.h"
#include "bind/member.h"
#include "bind/patches.h"
#include "bind/places.h"
#include "bind/plan.h"
#include "bind/queue.h"
#include "bind/random.h"
#include "bind/recipe.h"
#include "bind/tiles.h"
#include "bind/tissue.h"
#include "bind/twins.h"
#include "bind/written.h"
#include "codec/codec.h"
#include "pixel/table.h"

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

// Those that no device does.
py::tuple host_ops() {
  py::list names;
  for (int k = 0; k < kOpCount; ++k) {
    if (has(static_cast<OpId>(k), Trait::kHost)) names.append(name_of(static_cast<OpId>(k)));
  }
  return py::tuple(names);
}

// The numbers that Python writes into ops and passes to runs.
void register_numbers(py::module_& m) {
  const auto number = [](auto value) { return py::int_(static_cast<int>(value)); };
  py::dict flags;
  flags["WIDTH_FIRST"] = number(kWidthFirst);
  flags["SHORT_WEIGHTS"] = number(kShortWeights);
  flags["HAS_ALPHA"] = number(kHasAlpha);
  flags["SQUARE"] = number(kSquare);
  flags["UNFUSED"] = number(kUnfused);
  flags["UNCLIPPED"] = number(kUnclipped);
  flags["ROUNDS_STAINS"] = number(kRoundsStains);
  flags["NEXT_DENSITIES"] = number(kNextDensities);
  flags["KEEPS_BACKGROUND"] = number(kKeepsBackground);
  flags["FILLED"] = number(kFilled);
  flags["FUSED"] = number(kFused);
  flags["FLOAT_FILL"] = number(kFloatFill);
  flags["V2_FILL"] = number(kV2Fill);
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

void translate_error(std::exception_ptr caught) {
  try {
    if (caught) std::rethrow_exception(caught);
  } catch (const Error& error) {
    set_error(error);
  }
}

// At import, not at the first image: a process that is forked while another thread of it chooses would wait for that
// thread, which it does not have.
void choose_kernels() {
  try {
    kernels();
    codec::jpeg_decoder();
    codec::webp_decoder();
  } catch (const Error&) {
    // FASTAUG_ISA names none. The first image says so.
  }
}

void register_programs(py::module_& m) {
  choose_kernels();
  m.attr("OPS") = op_table();
  m.attr("HOST_OPS") = host_ops();
  register_numbers(m);
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
      [](const py::bytes& program, int height, int width, int channels, bool floats) {
        const DType source = floats ? DType::kFloat32 : DType::kUint8;
        const Shape out = validate(as_program(program), {height, width, channels}, source);
        return py::make_tuple(out.height, out.width, out.channels);
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"), py::arg("floats") = false);
  m.def("torch_gamma_is_certain", &torch_gamma_is_certain, py::arg("exponent"), py::arg("gain"));
  m.def("v2_gamma_is_certain", &v2_gamma_is_certain, py::arg("exponent"), py::arg("gain"));
  m.def("describe", [](const py::bytes& program) { return to_string(as_program(program)); }, py::arg("program"));
}

}  // namespace
}  // namespace fastaug::bind

PYBIND11_MODULE(_C, m, py::mod_gil_not_used()) {
  using namespace fastaug::bind;
  py::register_exception_translator(translate_error);
  register_images(m);
  register_densities(m);
  register_encoded(m);
  register_mapped(m);
  register_member(m);
  register_tiles(m);
  register_tissue(m);
  register_fields(m);
  register_patches(m);
  register_places(m);
  register_random(m);
  register_instead(m);
  register_draft(m);
  register_libraries(m);
  register_recipe(m);
  register_job(m);
  register_queue(m);
  register_flight(m);
  register_plan(m);
  register_programs(m);
  register_bag(m);
  register_written(m);
  register_twins(m);
}
