#include "bind/places.h"

#include <pybind11/stl.h>

#include <optional>

#include "base/status.h"
#include "bind/arguments.h"
#include "places/boxes.h"
#include "places/points.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

const char* const kTypes[] = {"float32", "float64", "int64"};
const char* const kFormats[] = {"XYXY", "XYWH", "CXCYWH"};

CoordinateRows as_rows(uintptr_t data, int64_t count, int64_t row_stride, int64_t column_stride, int type) {
  if (count < 0) fail(ErrorCode::kValue, "count must not be negative");
  if (type < 0 || type >= 3) fail(ErrorCode::kValue, "type must be a value of COORDINATES");
  return {reinterpret_cast<const void*>(data), static_cast<CoordinateType>(type), count, row_stride, column_stride};
}

void check_divisor(Canvas canvas, Canvas size) {
  if (canvas == size || (canvas.height != 0 && canvas.width != 0)) return;
  py::set_error(PyExc_ZeroDivisionError, "a canvas without pixels cannot be resized");
  throw py::error_already_set();
}

bool* as_mask(uintptr_t pointer) { return reinterpret_cast<bool*>(pointer); }

py::tuple as_tuple(Canvas canvas) { return py::make_tuple(canvas.height, canvas.width); }

template <class Places>
void register_common(py::class_<Places>& type) {
  type.def_property_readonly("count", &Places::count)
      .def_property_readonly("canvas", [](const Places& self) { return as_tuple(self.canvas()); })
      .def_property_readonly("type", [](const Places& self) { return kTypes[static_cast<int>(self.type())]; })
      .def("hflip", &Places::hflip)
      .def("vflip", &Places::vflip)
      .def(
          "resize",
          [](Places& self, int64_t height, int64_t width) {
            check_divisor(self.canvas(), {height, width});
            self.resize({height, width});
          },
          py::arg("height"), py::arg("width"))
      .def(
          "crop",
          [](Places& self, int64_t top, int64_t left, int64_t height, int64_t width, bool clamping) {
            self.crop(top, left, {height, width}, clamping);
          },
          py::arg("top"), py::arg("left"), py::arg("height"), py::arg("width"), py::arg("clamping"))
      .def("pad", &Places::pad, py::arg("left"), py::arg("top"), py::arg("right"), py::arg("bottom"),
           py::arg("clamping"))
      .def(
          "affine",
          [](Places& self, const AffineMap& forth, const std::optional<AffineMap>& back, bool clamping) {
            return self.affine(forth, back ? &*back : nullptr, clamping);
          },
          py::arg("forth"), py::arg("back"), py::arg("clamping"))
      .def("perspective", &Places::perspective, py::arg("map"), py::arg("clamping"))
      .def(
          "elastic",
          [](Places& self, uintptr_t data, bool doubles, int64_t row, int64_t column, int64_t axis, uintptr_t across,
             uintptr_t down, bool clamping) {
            if (self.count() == 0) return;
            const auto [height, width] = self.canvas();
            if (height <= 0 || width <= 0) fail(ErrorCode::kValue, "a canvas without pixels cannot be displaced");
            const auto at = [](uintptr_t numbers) { return reinterpret_cast<const void*>(numbers); };
            self.elastic({at(data), doubles, row, column, axis, at(across), at(down)}, clamping);
          },
          py::arg("data"), py::arg("doubles"), py::arg("row_stride"), py::arg("column_stride"), py::arg("axis_stride"),
          py::arg("across"), py::arg("down"), py::arg("clamping"))
      .def("clamp", &Places::clamp)
      .def("copy", [](const Places& self) { return Places(self); })
      .def(
          "into", [](const Places& self, uintptr_t data) { self.write(reinterpret_cast<void*>(data)); },
          py::arg("data"));
}

void register_boxes(py::module_& m) {
  py::class_<Boxes> type(m, "Boxes", py::is_final());
  type.def(py::init([](uintptr_t data, int64_t count, int64_t row_stride, int64_t column_stride, int coordinates,
                       int format, int64_t height, int64_t width) {
             return Boxes(as_rows(data, count, row_stride, column_stride, coordinates), as_box_format(format),
                          {height, width});
           }),
           py::arg("data"), py::arg("count"), py::arg("row_stride"), py::arg("column_stride"), py::arg("type"),
           py::arg("format"), py::arg("height"), py::arg("width"));
  register_common(type);
  type.def_property_readonly("format", [](const Boxes& self) { return kFormats[static_cast<int>(self.format())]; })
      .def(
          "convert", [](Boxes& self, int format) { self.convert(as_box_format(format)); }, py::arg("format"))
      .def(
          "valid",
          [](const Boxes& self, py::handle size, py::handle area, uintptr_t out) {
            self.valid(as_limit(size), as_limit(area), as_mask(out));
          },
          py::arg("size"), py::arg("area"), py::arg("out"))
      .def(
          "clear_but", [](Boxes& self, uintptr_t kept) { self.clear_but(as_mask(kept)); }, py::arg("kept"))
      .def("keep", [](Boxes& self, uintptr_t kept) { self.keep(as_mask(kept)); }, py::arg("kept"));
}

void register_points(py::module_& m) {
  py::class_<Points> type(m, "Points", py::is_final());
  type.def(py::init([](uintptr_t data, int64_t count, int64_t row_stride, int64_t column_stride, int coordinates,
                       int64_t height, int64_t width) {
             return Points(as_rows(data, count, row_stride, column_stride, coordinates), {height, width});
           }),
           py::arg("data"), py::arg("count"), py::arg("row_stride"), py::arg("column_stride"), py::arg("type"),
           py::arg("height"), py::arg("width"));
  register_common(type);
  type.def(
          "valid",
          [](const Points& self, int64_t group, int64_t groups, uintptr_t out) {
            if (group < 0 || groups < 0 || group * groups != self.count()) {
              fail(ErrorCode::kValue, "groups should have all points");
            }
            self.valid(group, groups, as_mask(out));
          },
          py::arg("group"), py::arg("groups"), py::arg("out"))
      .def(
          "keep", [](Points& self, uintptr_t kept, int64_t group) { self.keep(as_mask(kept), group); }, py::arg("kept"),
          py::arg("group"));
}

}  // namespace

void register_places(py::module_& m) {
  py::dict types, formats;
  for (int k = 0; k < 3; ++k) {
    types[kTypes[k]] = k;
    formats[kFormats[k]] = k;
  }
  m.attr("COORDINATES") = types;
  m.attr("BOX_FORMATS") = formats;
  register_boxes(m);
  register_points(m);
}

}  // namespace fastaug::bind
