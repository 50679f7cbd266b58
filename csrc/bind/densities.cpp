#include "bind/densities.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bind/images.h"
#include "bind/with_pixels.h"
#include "execute/densities.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

template <size_t count>
std::array<double, count> doubles(const char* name, const py::bytes& bytes) {
  const std::string_view text = bytes;
  std::array<double, count> numbers;
  if (text.size() != sizeof(numbers)) {
    fail(ErrorCode::kValue, std::string(name) + " must hold " + std::to_string(count) + " float64");
  }
  text.copy(reinterpret_cast<char*>(numbers.data()), sizeof(numbers));
  return numbers;
}

py::bytes as_bytes(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

py::tuple moments(const Source& source, const py::bytes& densities, double least, bool keep) {
  const auto of_sample = doubles<256>("densities", densities);
  DensityMoments made;
  std::vector<uint8_t> kept;
  with_pixels(source, [&](const View& view, Arena&) {
    made = density_moments(view, {of_sample.data(), least}, keep ? &kept : nullptr);
  });
  std::vector<double> numbers(made.sums, made.sums + 3);
  numbers.insert(numbers.end(), made.products, made.products + 6);
  return py::make_tuple(made.pixels, as_bytes(numbers),
                        py::bytes(reinterpret_cast<const char*>(kept.data()), kept.size()));
}

py::tuple values(const Source& source, const py::bytes& densities, double least, const py::bytes& axes, bool direction,
                 const py::bytes& ranges, int64_t step) {
  const auto of_sample = doubles<256>("densities", densities);
  const auto axis = doubles<6>("axes", axes);
  const auto range = doubles<4>("ranges", ranges);
  if (step < 1) fail(ErrorCode::kValue, "step must be positive, got " + std::to_string(step));
  DensityPlane plane{{{axis[0], axis[1]}, {axis[2], axis[3]}, {axis[4], axis[5]}}, direction};
  const DensityRange both[2] = {{range[0], range[1]}, {range[2], range[3]}};
  DensityValues made[2];
  with_pixels(source, [&](const View& view, Arena&) {
    density_values(view, {of_sample.data(), least}, plane, both, step, made);
  });
  return py::make_tuple(made[0].below, as_bytes(made[0].within), made[1].below, as_bytes(made[1].within));
}

void colours(const Source& source, const Array& counters) {
  const py::buffer_info info = counters.request(true);
  if (info.itemsize != sizeof(uint32_t) || info.ndim != 1 || info.size != 1 << 24 || info.strides[0] != info.itemsize) {
    fail(ErrorCode::kValue, "counters must be 2^24 uint32");
  }
  with_pixels(source, [&](const View& view, Arena&) { count_colours(view, static_cast<uint32_t*>(info.ptr)); });
}

}  // namespace

void register_densities(py::module_& m) {
  m.def("density_moments", &moments, py::arg("source"), py::arg("densities"), py::arg("least"), py::arg("keep"));
  m.def("count_colours", &colours, py::arg("source"), py::arg("counters"));
  m.def("density_values", &values, py::arg("source"), py::arg("densities"), py::arg("least"), py::arg("axes"),
        py::arg("direction"), py::arg("ranges"), py::arg("step"));
}

}  // namespace fastaug::bind
