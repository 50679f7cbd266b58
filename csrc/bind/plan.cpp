#include "bind/plan.h"

#include <pybind11/stl.h>

#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "bind/images.h"
#include "bind/job.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// The work of an encoded source in a plan.
struct Decoded {
  std::string format;
  bool scattered = false;  // in several blocks of memory, which are read by other passes
  Region region;
  int64_t bytes = 0;
};

struct PyPlan {
  std::shared_ptr<const Plan> plan;
  Decoded decoded;
};

struct PyPass {
  std::shared_ptr<const Plan> plan;
  Decoded decoded;
  size_t index;
  double seconds;

  const Pass& pass() const { return plan->passes[index]; }
  bool decodes() const { return pass().kind == PassKind::kDecode; }
  Region region() const { return decodes() ? decoded.region : pass().region; }
};

PyPlan as_python(Plan plan, const PixelSource* source) {
  PyPlan result{std::make_shared<const Plan>(std::move(plan)), {}};
  if (source != nullptr && result.plan->decoded) {
    result.decoded = {source->name(), source->rows() != nullptr, source->made(result.plan->passes[0].region),
                      source->bytes()};
  }
  return result;
}

py::list passes_of(const PyPlan& plan, const std::vector<double>& seconds) {
  py::list list;
  for (size_t k = 0; k < plan.plan->passes.size(); ++k) {
    list.append(PyPass{plan.plan, plan.decoded, k, k < seconds.size() ? seconds[k] : 0.0});
  }
  return list;
}

std::string lower(std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  return name;
}

// Passes that are one op have its name.
std::string name_of(const PyPass& self) {
  const Pass& pass = self.pass();
  switch (pass.kind) {
    case PassKind::kWarp:
    case PassKind::kWindow:
    case PassKind::kIndex:
    case PassKind::kTorchFilter:
    case PassKind::kSharpen:
    case PassKind::kBlur:
    case PassKind::kBoxBlur:
    case PassKind::kJpeg:
      return lower(fastaug::name_of(self.plan->ops[static_cast<size_t>(pass.begin)].id));
    case PassKind::kDecode:
      if (self.decoded.scattered) return "blocks";
      [[fallthrough]];
    case PassKind::kMove:
    case PassKind::kMoveWarped:
    case PassKind::kRecolour:
    case PassKind::kRead:
    case PassKind::kFilter:
    case PassKind::kTables:
    case PassKind::kColour:
    case PassKind::kKeep:
    case PassKind::kTurn:
    case PassKind::kStatistics:
    case PassKind::kStore:
      return fastaug::name_of(pass.kind);
  }
  fail(ErrorCode::kRuntime, "a pass of no kind");
}

py::tuple ops_of(const PyPass& self) {
  py::list names;
  for (int k = self.pass().begin; k < self.pass().end; ++k) {
    names.append(fastaug::name_of(self.plan->ops[static_cast<size_t>(k)].id));
  }
  return py::tuple(names);
}

const char* reason_of(const PyPass& self) {
  static constexpr const char* kNames[] = {"", "any_order", "turn", "mean", "extremes", "histogram", "row_order"};
  return kNames[static_cast<int>(self.pass().reason)];
}

py::tuple as_tuple(Region r) { return py::make_tuple(r.y, r.x, r.height, r.width); }

using WholeSize = std::optional<std::pair<int, int>>;

// Of the image that a pass sees, or that it makes a part of: whatever `region` is a part of.
WholeSize whole_of(const PyPass& self) {
  const Pass& pass = self.pass();
  switch (pass.kind) {
    case PassKind::kDecode:
      return {{self.plan->in.height, self.plan->in.width}};
    case PassKind::kRead:
      return {{pass.crop.height, pass.crop.width}};
    case PassKind::kWarp:
    case PassKind::kWindow:
    case PassKind::kIndex:
    case PassKind::kTorchFilter:
    case PassKind::kSharpen:
    case PassKind::kBlur:
    case PassKind::kBoxBlur:
    case PassKind::kJpeg:
    case PassKind::kTables:
    case PassKind::kColour: {
      const Shape& shape = self.plan->shapes[static_cast<size_t>(pass.end)];
      return {{shape.height, shape.width}};
    }
    case PassKind::kMove:
    case PassKind::kMoveWarped:
    case PassKind::kRecolour:
    case PassKind::kFilter:
    case PassKind::kKeep:
    case PassKind::kTurn:
    case PassKind::kStatistics:
    case PassKind::kStore:
      return {};
  }
  return {};
}

void register_pass(py::module_& m) {
  const auto of = [](auto member) { return [member](const PyPass& self) { return self.pass().*member; }; };
  py::class_<PyPass>(m, "Pass", py::is_final())
      .def_property_readonly("kind", [](const PyPass& self) { return fastaug::name_of(self.pass().kind); })
      .def_property_readonly("name", &name_of)
      .def_property_readonly("ops", &ops_of)
      .def_property_readonly("origin", of(&Pass::origin))
      .def_property_readonly("part", of(&Pass::part))
      .def_property_readonly("region", [](const PyPass& self) { return as_tuple(self.region()); })
      .def_property_readonly("height", [](const PyPass& self) { return self.region().height; })
      .def_property_readonly("width", [](const PyPass& self) { return self.region().width; })
      .def_property_readonly("channels", of(&Pass::channels))
      .def_property_readonly("whole", &whole_of)
      .def_property_readonly("read", [](const PyPass& self) { return as_tuple(self.pass().read); })
      .def_property_readonly("crop", [](const PyPass& self) { return as_tuple(self.pass().crop); })
      .def_property_readonly("vertical", of(&Pass::vertical))
      .def_property_readonly("samples", of(&Pass::from))
      .def_property_readonly("taps",
                             [](const PyPass& self) {
                               const auto& table = self.pass().taps;
                               return table == nullptr ? 0 : table->taps.stride;
                             })
      .def_property_readonly("composed", of(&Pass::composed))
      .def_property_readonly("reason", &reason_of)
      .def_property_readonly("statistics", of(&Pass::statistics))
      .def_property_readonly("degrees",
                             [](const PyPass& self) {
                               const Pass& pass = self.pass();
                               if (pass.kind != PassKind::kTurn) return 0;
                               return 90 * self.plan->ops[static_cast<size_t>(pass.begin)].flags;
                             })
      .def_property_readonly("dtype", [](const PyPass& self) { return fastaug::name_of(self.plan->dtype); })
      .def_property_readonly("normalized", [](const PyPass& self) { return self.plan->store.normalize.normalize; })
      .def_property_readonly("hflip", [](const PyPass& self) { return self.plan->store.hflip; })
      .def_property_readonly("vflip", [](const PyPass& self) { return self.plan->store.vflip; })
      .def_property_readonly("erased", [](const PyPass& self) { return self.plan->store.erases.size(); })
      .def_property_readonly("format", [](const PyPass& self) { return self.decodes() ? self.decoded.format : ""; })
      .def_property_readonly(
          "bytes_read", [](const PyPass& self) { return self.decodes() ? self.decoded.bytes : self.pass().bytes_read; })
      .def_property_readonly("bytes_written",
                             [](const PyPass& self) {
                               if (!self.decodes()) return self.pass().bytes_written;
                               if (self.decoded.scattered) return int64_t{0};
                               return area(self.decoded.region) * self.pass().channels;
                             })
      .def_readonly("seconds", &PyPass::seconds);
}

Plan plan_for(Program program, const View& view, const PixelSource* pixels, uint32_t rewrites) {
  const Shape shape{view.height, view.width, view.channels};
  return make_plan(program, view, usual_target(program, shape, view.dtype), options_for(kernels(), rewrites, pixels));
}

}  // namespace

py::list listed(Report report, const PixelSource* source) {
  return passes_of(as_python(std::move(report.plan), source), report.seconds);
}

void register_plan(py::module_& m) {
  register_pass(m);
  py::class_<PyPlan>(m, "Plan", py::is_final())
      .def_property_readonly("passes", [](const PyPlan& self) { return passes_of(self, {}); })
      .def("__str__", [](const PyPlan& self) { return to_string(*self.plan); })
      .def("__eq__", [](const PyPlan& a, const PyPlan& b) { return *a.plan == *b.plan; });
  m.def(
      "plan",
      [](const py::tuple& tuple, uint32_t rewrites) {
        const Job job = as_job(tuple);
        PixelSource* const pixels = job.source.pixels;
        const PlanOptions options = options_for(kernels(), rewrites, pixels);
        return as_python(make_plan(job.program, job.source.view, job.target, options), pixels);
      },
      py::arg("job"), py::arg("rewrites") = uint32_t{kExactRewrites});
  m.def(
      "plan",
      [](const py::bytes& program, const Source& source, uint32_t rewrites) {
        const PixelSource* const pixels = source.pixels.get();
        return as_python(plan_for(as_program(program), source.view, pixels, rewrites), pixels);
      },
      py::arg("program"), py::arg("source"), py::arg("rewrites") = uint32_t{kExactRewrites});
  m.def(
      "plan",
      [](const py::bytes& program, int height, int width, int channels, uint32_t rewrites) {
        const ptrdiff_t stride = channels;
        const View view{nullptr, height, width, channels, stride * width, stride, 1};
        return as_python(plan_for(as_program(program), view, nullptr, rewrites), nullptr);
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"),
      py::arg("rewrites") = uint32_t{kExactRewrites});
}

}  // namespace fastaug::bind
