#include "bind/patches.h"

#include "base/image.h"
#include "bind/images.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

Sink into_patches(Sink sink, int side, int merge, int copies, ptrdiff_t stride, ptrdiff_t copy_stride) {
  sink.target.patches = {side, merge, copies, stride, copy_stride};
  return sink;
}

}  // namespace

void register_patches(py::module_& m) {
  m.def("into_patches", &into_patches, py::arg("target"), py::arg("side"), py::arg("merge"), py::arg("copies"),
        py::arg("stride"), py::arg("copy_stride"));
}

}  // namespace fastaug::bind
