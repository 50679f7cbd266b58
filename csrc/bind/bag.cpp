#include "bind/bag.h"

#include <pybind11/stl.h>

#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bind/job.h"
#include "bind/without_gil.h"
#include "cuda/bag.h"
#include "cuda/emulate.h"
#include "cuda/headers.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

using cuda::Bag;
using cuda::BagOptions;
using cuda::Features;
using cuda::Launch;

// Features as Python has them: what must be equal, then sets of bits.
using Spec = std::tuple<int, int, int, uint32_t, uint32_t, uint64_t, uint32_t>;

// Blocks that every GPU can hold at once: those of compute capability 7.5 have 1024 threads.
constexpr int kMostBlocks = 4;
static_assert(kMostBlocks * cuda::kThreads <= 1024);

struct PyBag {
  Bag bag;
  std::vector<size_t> unfit;
};

PyBag make_bag(const py::sequence& jobs, uint32_t rewrites, int64_t wave_bytes, uint32_t shared_bytes) {
  const py::tuple held(jobs);
  std::vector<Job> all;
  all.reserve(held.size());
  for (const py::handle& job : held) all.push_back(as_job(job));
  PyBag made{Bag(BagOptions{rewrites, wave_bytes, shared_bytes}), {}};
  without_gil([&] {
    for (size_t k = 0; k < all.size(); ++k) {
      if (!made.bag.add(all[k])) made.unfit.push_back(k);
    }
    made.bag.finish();
  });
  return made;
}

std::vector<Spec> specs_of(const PyBag& self) {
  std::vector<Spec> specs;
  for (const Features& f : self.bag.features()) {
    specs.emplace_back(f.source, f.channels, f.dtype, f.steps, f.ends, f.ops, f.flags);
  }
  return specs;
}

using LaunchTuple = std::tuple<int32_t, uint32_t, int32_t, int64_t, uint32_t>;

std::vector<LaunchTuple> launches_of(const PyBag& self) {
  std::vector<LaunchTuple> launches;
  for (const Launch& l : self.bag.launches()) launches.emplace_back(l.kernel, l.offset, l.count, l.blocks, l.shared);
  return launches;
}

// cuLaunchKernel, as NVIDIA's cuda.h declares it; handles are pointers, and so is what CUresult is compared with.
using LaunchKernel = int (*)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                             void** extra);

// The driver's code for what went wrong, 0 if nothing did.
int launch(const PyBag& self, uintptr_t function, uintptr_t stream, uintptr_t prepare,
           const std::vector<uintptr_t>& tiles, uintptr_t blob, uintptr_t scratch) {
  if (tiles.size() != self.bag.features().size()) {
    fail(ErrorCode::kValue, "kernels must be one for each of " + std::to_string(self.bag.features().size()) +
                                " specs, got " + std::to_string(tiles.size()));
  }
  const auto run = reinterpret_cast<LaunchKernel>(function);
  int code = 0;
  without_gil([&] {
    for (const Launch& l : self.bag.launches()) {
      uintptr_t blob_argument = blob;
      uintptr_t scratch_argument = scratch;
      uint32_t offset = l.offset;
      int32_t count = l.count;
      void* parameters[] = {&blob_argument, &scratch_argument, &offset, &count};
      const uintptr_t kernel = l.kernel < 0 ? prepare : tiles[static_cast<size_t>(l.kernel)];
      code = run(reinterpret_cast<void*>(kernel), static_cast<unsigned>(l.blocks), 1, 1, cuda::kThreads, 1, 1, l.shared,
                 reinterpret_cast<void*>(stream), parameters, nullptr);
      if (code != 0) return;
    }
  });
  return code;
}

// `blocks`: as many fit into a multiprocessor together, which bounds the registers of a thread.
std::string tile_source(const Spec& spec, int blocks) {
  if (blocks < 1 || blocks > kMostBlocks) {
    fail(ErrorCode::kValue, "blocks should be 1 to " + std::to_string(kMostBlocks) + ", got " + std::to_string(blocks));
  }
  const auto& [source, channels, dtype, steps, ends, ops, flags] = spec;
  const auto line = [](const char* type, const char* name, const std::string& value) {
    return std::string("  static constexpr ") + type + " " + name + " = " + value + ";\n";
  };
  return "#include \"cuda/kernels.h\"\n\n"
         "namespace fastaug::cuda {\n"
         "struct Spec {\n" +
         line("int", "kSource", std::to_string(source)) + line("int", "kChannels", std::to_string(channels)) +
         line("int", "kDType", std::to_string(dtype)) + line("uint32_t", "kSteps", std::to_string(steps) + "u") +
         line("uint32_t", "kEnds", std::to_string(ends) + "u") + line("uint64_t", "kOps", std::to_string(ops) + "ull") +
         line("uint32_t", "kFlags", std::to_string(flags) + "u") +
         "};\n"
         "}  // namespace fastaug::cuda\n\n"
         "extern \"C\" __global__ void __launch_bounds__(" +
         std::to_string(cuda::kThreads) + ", " + std::to_string(blocks) +
         ") fastaug_tile(const uint8_t* __restrict__ blob, uint8_t* scratch, uint32_t entries, int32_t count) {\n"
         "  fastaug::cuda::run_tile<fastaug::cuda::Spec>(blob, scratch, entries, count);\n"
         "}\n";
}

std::string prepare_source() {
  return "#include \"cuda/kernels.h\"\n\n"
         "extern \"C\" __global__ void __launch_bounds__(256) fastaug_prepare(const uint8_t* __restrict__ blob, "
         "uint8_t* scratch, "
         "uint32_t tasks, int32_t) {\n"
         "  fastaug::cuda::run_task(blob, scratch, tasks);\n"
         "}\n";
}

py::dict headers() {
  py::dict all;
  for (const cuda::Header& header : cuda::headers()) all[header.name] = header.text;
  return all;
}

}  // namespace

void register_bag(py::module_& m) {
  py::class_<PyBag>(m, "Bag", py::is_final())
      .def(py::init(&make_bag), py::arg("jobs"), py::arg("rewrites") = uint32_t{kExactRewrites},
           py::arg("wave_bytes") = BagOptions().wave_bytes, py::arg("shared_bytes") = BagOptions().shared_bytes)
      .def_readonly("unfit", &PyBag::unfit)
      .def_property_readonly("specs", &specs_of)
      .def_property_readonly("launches", &launches_of)
      .def_property_readonly("waves", [](const PyBag& self) { return self.bag.waves(); })
      .def_property_readonly("blob_bytes", [](const PyBag& self) { return self.bag.blob().size(); })
      .def_property_readonly("scratch_bytes", [](const PyBag& self) { return self.bag.scratch_bytes(); })
      .def(
          "write",
          [](const PyBag& self, uintptr_t address) {
            const std::span<const uint8_t> blob = self.bag.blob();
            if (!blob.empty()) std::memcpy(reinterpret_cast<void*>(address), blob.data(), blob.size());
          },
          py::arg("address"))
      .def("launch", &launch, py::arg("function"), py::arg("stream"), py::arg("prepare"), py::arg("tiles"),
           py::arg("blob"), py::arg("scratch"))
      .def(
          "emulate", [](const PyBag& self, int order) { without_gil([&] { cuda::emulate(self.bag, order); }); },
          py::arg("order") = 0);
  m.def(
      "emulate_launch",
      [](const LaunchTuple& launch, uintptr_t blob, uintptr_t scratch, int order) {
        const auto& [kernel, offset, count, blocks, shared] = launch;
        cuda::emulate({kernel, offset, count, blocks, shared}, reinterpret_cast<const uint8_t*>(blob),
                      reinterpret_cast<uint8_t*>(scratch), order);
      },
      py::arg("launch"), py::arg("blob"), py::arg("scratch"), py::arg("order") = 0);
  m.def(
      "needed",
      [](const py::bytes& program, int height, int width, int channels, uint32_t rewrites) {
        const Region r = cuda::needed_region(as_program(program), {height, width, channels}, rewrites);
        return py::make_tuple(r.y, r.x, r.height, r.width);
      },
      py::arg("program"), py::arg("height"), py::arg("width"), py::arg("channels"),
      py::arg("rewrites") = uint32_t{kExactRewrites});
  m.def("cuda_source", &tile_source, py::arg("spec"), py::arg("blocks") = 3);
  m.def("cuda_prepare_source", &prepare_source);
  m.def("cuda_headers", &headers);
}

}  // namespace fastaug::bind
