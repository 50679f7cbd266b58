#include "bind/tissue.h"

#include "bind/with_pixels.h"
#include "execute/tissue.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

py::bytes as_bytes(const uint32_t (&counts)[256]) { return {reinterpret_cast<const char*>(counts), sizeof(counts)}; }

py::tuple stats(const Source& source, int white, int black) {
  if (white < 0 || white > 255 || black < 0 || black > 255) {
    fail(ErrorCode::kValue, "limits of samples must be from 0 to 255");
  }
  TissueStats made;
  with_pixels(source,
              [&](const View& view, Arena& arena) { made = tissue_stats(view, white, black, kernels(), arena); });
  const TissueSums& sums = made.sums;
  return py::make_tuple(sums.colour[0], sums.colour[1], sums.colour[2], sums.white, sums.black, made.laplacian.sum,
                        made.laplacian.squares, as_bytes(made.saturation), as_bytes(made.gray));
}

}  // namespace

void register_tissue(py::module_& m) {
  m.def("tissue_stats", &stats, py::arg("source"), py::arg("white"), py::arg("black"));
}

}  // namespace fastaug::bind
