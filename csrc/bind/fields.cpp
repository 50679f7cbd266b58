#include "bind/fields.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/status.h"
#include "bind/images.h"
#include "bind/with_pixels.h"
#include "execute/grid_sample.h"
#include "execute/stages/blur.h"
#include "kernels/kernels.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

template <class T>
T* pointer(uintptr_t address, const char* name) {
  if (address == 0) fail(ErrorCode::kValue, std::string(name) + " must not be a null pointer");
  return reinterpret_cast<T*>(address);
}

void blur_field(uintptr_t field, int height, int width, uintptr_t matrix, int kernel_height, int kernel_width,
                bool fused, uintptr_t result) {
  BlurKernel kernel{kernel_height, kernel_width, pointer<const float>(matrix, "matrix")};
  kernel.fused = fused;
  const auto* from = pointer<const float>(field, "field");
  auto* to = pointer<float>(result, "result");
  without_gil([&] { blur_plane(from, height, width, kernel, to, kernels()); });
}

GridSampling as_sampling(uintptr_t columns, uintptr_t rows, uintptr_t displacement, bool nearest,
                         const py::object& fill, bool v2) {
  GridSampling sampling{};
  sampling.columns = pointer<const float>(columns, "columns");
  sampling.rows = pointer<const float>(rows, "rows");
  sampling.displacement = pointer<const float>(displacement, "displacement");
  sampling.nearest = nearest;
  if (!fill.is_none()) {
    const auto colour = fill.cast<std::vector<float>>();
    if (colour.size() != kMaxChannels) {
      fail(ErrorCode::kValue, "fill must hold 4 numbers, got " + std::to_string(colour.size()));
    }
    for (const float v : colour) {
      if (!(v >= 0.0f && v <= 255.0f)) fail(ErrorCode::kValue, "fill must be from 0 to 255, got " + std::to_string(v));
    }
    sampling.filling = v2 ? Filling::kV2 : Filling::kTorch;
    std::copy_n(colour.begin(), kMaxChannels, sampling.fill);
  }
  return sampling;
}

void displace(const Source& source, uintptr_t columns, uintptr_t rows, uintptr_t displacement, bool nearest,
              const py::object& fill, bool v2, const Sink& result) {
  const GridSampling sampling = as_sampling(columns, rows, displacement, nearest, fill, v2);
  if (source.view.dtype != DType::kUint8) {
    fail(ErrorCode::kType, std::string("source must be uint8, got ") + name_of(source.view.dtype));
  }
  without_gil([&] {
    static thread_local Arena arena;
    const ArenaReset reset{arena};
    grid_sample(all_pixels(source, arena), sampling, result.target, kernels());
  });
}

// AugMix: the weighted sum of `size` samples of several images, into memory at `data`.
void mix(const std::vector<uintptr_t>& images, const std::vector<float>& weights, ptrdiff_t size, uintptr_t data) {
  if (images.empty() || images.size() != weights.size()) {
    fail(ErrorCode::kValue, "there must be one weight for each of one or more images, got " +
                                std::to_string(images.size()) + " images and " + std::to_string(weights.size()) +
                                " weights");
  }
  std::vector<const uint8_t*> rows;
  for (const uintptr_t image : images) rows.push_back(pointer<const uint8_t>(image, "images"));
  auto* out = pointer<uint8_t>(data, "data");
  without_gil([&] {
    constexpr ptrdiff_t kPiece = 1 << 20;
    for (ptrdiff_t begin = 0; begin < size; begin += kPiece) {
      const auto width = static_cast<int>(std::min(kPiece, size - begin));
      kernels().mix(rows.data(), weights.data(), static_cast<int>(rows.size()), width, out + begin);
      for (const uint8_t*& row : rows) row += width;
    }
  });
}

}  // namespace

void register_fields(py::module_& m) {
  m.def("blur_field", &blur_field, py::arg("field"), py::arg("height"), py::arg("width"), py::arg("matrix"),
        py::arg("kernel_height"), py::arg("kernel_width"), py::arg("fused"), py::arg("result"));
  m.def("displace", &displace, py::arg("source"), py::arg("columns"), py::arg("rows"), py::arg("displacement"),
        py::arg("nearest"), py::arg("fill"), py::arg("v2"), py::arg("target"));
  m.def("mix", &mix, py::arg("images"), py::arg("weights"), py::arg("size"), py::arg("data"));
}

}  // namespace fastaug::bind
