#include "bind/libraries.h"

#include <cstring>
#include <optional>

#include "bind/errors.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// By name; those that take little time are looked up once.
struct Functions {
  py::dict named;
  py::object real, whole, follows, fuses_products, default_dtype, float32;
  bool width_first = false;
};

Functions& functions() {
  static auto* const all = new Functions;  // the interpreter may be gone before they are
  return *all;
}

py::list points_of(const int64_t (&points)[4][2]) {
  py::list all;
  for (const auto& [x, y] : points) {
    py::list point;
    point.append(x);
    point.append(y);
    all.append(point);
  }
  return all;
}

class ByPython final : public Torch {
 public:
  double exp(float power) const override { return functions().named["exp"](power).cast<double>(); }

  std::optional<Op> blur(const Kernel& kernel, Shape shape, int64_t images, bool v2) const override {
    const py::object made = functions().named["blur"](kernel.width, kernel.height, kernel.sigma.x, kernel.sigma.y,
                                             py::make_tuple(images, shape.channels, shape.height, shape.width), v2);
    if (made.is_none()) return std::nullopt;
    Op op;
    std::memcpy(&op, PyBytes_AS_STRING(made.ptr()), sizeof(op));
    return op;
  }

  void perspective(PlaneSize image, const int64_t (&ends)[4][2], double (&coefficients)[8]) const override {
    const int64_t right = image.width - 1, bottom = image.height - 1;
    const int64_t corners[4][2] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
    const py::object made = functions().named["perspective"](points_of(corners), points_of(ends));
    for (size_t k = 0; k < 8; ++k) coefficients[k] = made[py::int_(k)].cast<double>();
  }

  PlaneSize size_around(const AffineMatrix& map, PlaneSize image, bool v2) const override {
    py::list numbers;
    for (const double number : map.numbers) numbers.append(number);
    const py::tuple size = functions().named["size_around"](numbers, image.height, image.width, v2);
    return {size[0].cast<int64_t>(), size[1].cast<int64_t>()};
  }

  bool follows(Rounding rounding) const override {
    static constexpr const char* kNames[] = {"blends",   "colours", "warps", "warps of tensors",
                                             "bilinear", "bicubic", "bytes"};
    return functions().follows(kNames[static_cast<size_t>(rounding)]).cast<bool>();
  }

  bool fuses_products() const override { return functions().fuses_products().cast<bool>(); }

  bool width_first() const override { return functions().width_first; }

  bool is_single() const override {
    return owned(PyObject_CallNoArgs(functions().default_dtype.ptr())).is(functions().float32);
  }
};

}  // namespace

const Torch& libraries() {
  static const ByPython all;
  return all;
}

double real_of(py::handle value) { return functions().real(value).cast<double>(); }

py::object whole_of(py::handle value) { return functions().whole(value); }

void register_libraries(py::module_& m) {
  m.def(
      "help_drafts",
      [](const py::dict& named) {
        functions() = {named, named["real"], named["whole"], named["follows"], named["fuses_products"],
                       named["default_dtype"], named["float32"], named["width_first"].cast<bool>()};
      },
      py::arg("named"));
}

}  // namespace fastaug::bind
