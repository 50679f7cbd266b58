#include <cmath>
#include <limits>
#include <optional>

#include "bind/arguments.h"
#include "bind/draft.h"
#include "bind/errors.h"
#include "bind/libraries.h"
#include "bind/numbers.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

const Torch& kTorch = libraries();

// Methods of ops: each returns the number of the reason why it does nothing.

using Arguments = PyObject* const*;

Reason crop(Draft& draft, Arguments given) {
  int64_t box[4];
  for (int k = 0; k < 4; ++k) {
    const auto side = as_any_whole(given[k]);
    if (!side) return Reason::kNumber;
    box[k] = *side;
  }
  return draft.crop(box[0], box[1], box[2], box[3]);
}

Reason rot90(Draft& draft, Arguments given) { return draft.rot90(static_cast<int>(as_int(given[0]))); }

Reason adjust_hue(Draft& draft, Arguments given) {
  const Number factor = as_any_number(*given);
  int turn = 0;
  if (-0.5 <= factor.value && factor.value <= 0.5) {
    // In its own type: Pillow's shift is a product, rounded towards zero.
    const py::object product = factor.is_plain ? py::object(py::float_(factor.value * 255))
                                               : owned(PyNumber_Multiply(*given, py::int_(255).ptr()));
    turn = static_cast<int>(as_int(owned(PyNumber_Long(product.ptr())).ptr())) & 255;
  }
  return draft.adjust_hue(factor, turn, kTorch);
}

Reason adjust_gamma(Draft& draft, Arguments given) {
  return draft.adjust_gamma(as_any_number(given[0]), as_any_number(given[1]));
}

Reason grayscale(Draft& draft, Arguments given) {
  const Number count = as_any_number(*given);
  return count.value == 1 || count.value == 3 ? draft.grayscale(static_cast<int64_t>(count.value)) : Reason::kNumber;
}

Reason posterize(Draft& draft, Arguments given) {
  if (!PyLong_CheckExact(*given)) return Reason::kNumber;
  const auto bits = as_any_whole(*given);
  return bits ? draft.posterize(*bits) : Reason::kNumber;
}

Reason jpeg(Draft& draft, Arguments given) {
  if (!PyLong_CheckExact(*given)) return Reason::kNumber;
  const auto quality = as_any_whole(*given);
  const int64_t before = draft.files;
  const Reason reason = quality ? draft.jpeg(*quality, kTorch) : Reason::kNumber;
  warn_of_files(draft.files - before);
  return reason;
}

Reason permute_channels(Draft& draft, Arguments given) {
  if (!PyList_Check(*given) && !PyTuple_Check(*given)) return Reason::kNumber;
  const py::tuple all = py::reinterpret_borrow<py::object>(*given);
  int order[kMaxChannels] = {};
  if (all.size() > kMaxChannels) return Reason::kNumber;
  for (size_t k = 0; k < all.size(); ++k) {
    if (!PyLong_CheckExact(all[k].ptr())) return Reason::kNumber;
    order[k] = static_cast<int>(as_any_whole(all[k].ptr()).value_or(-1));
  }
  return draft.permute_channels(order, static_cast<int>(all.size()));
}

Reason center_crop(Draft& draft, Arguments given) {
  const auto height = as_any_whole(given[0]), width = as_any_whole(given[1]);
  return height && width ? draft.center_crop(*height, *width) : Reason::kNumber;
}

Reason pad(Draft& draft, Arguments given) {
  const auto paddings = as_paddings(given[0]);
  Padding by;
  if (!paddings || !read_padding_mode(given[2], by)) return Reason::kNumber;
  // Only constant paddings of PIL images take a single number of NumPy's, and tensors one in a list, too.
  const bool odd = paddings->is_one && !paddings->is_plain;
  if (odd && (draft.is_tensor() ? !paddings->is_listed : by.has_value())) return Reason::kNumber;
  return draft.pad(paddings->sides, as_fill(given[1]), by);
}

// The number of a filter, and whether it is "nearest-exact".
Resample as_resample(Arguments given) { return {static_cast<int>(as_int(given[0])), as_bool(given[1])}; }

Reason resize(Draft& draft, Arguments given) {
  const auto height = as_any_whole(given[0]), width = as_any_whole(given[1]);
  if (!height || !width) return Reason::kNumber;
  Resample by = as_resample(given + 2);
  by.antialias = as_bool(given[4]);
  return draft.resize(*height, *width, by, kTorch);
}

// False if it is neither a point nor left out.
bool read_center(PyObject* value, std::optional<Vec2>& center) {
  center = as_point(value);
  return center || value == Py_None;
}

Reason rotate(Draft& draft, Arguments given) {
  const auto angle = as_number(given[0]);
  std::optional<Vec2> center;
  if (!angle || !read_center(given[4], center)) return Reason::kNumber;
  return draft.rotate(*angle, as_resample(given + 1), as_bool(given[3]), center, as_fill(given[5]), kTorch);
}

Reason affine(Draft& draft, Arguments given) {
  const auto angle = as_number(given[0]), scale = as_number(given[2]);
  const auto translate = as_point(given[1]), shear = as_point(given[3]);
  std::optional<Vec2> center;
  if (!angle || !scale || !translate || !shear || !read_center(given[6], center)) return Reason::kNumber;
  return draft.affine(*angle, *translate, *scale, *shear, as_resample(given + 4), center, as_fill(given[7]), kTorch);
}

Reason perspective(Draft& draft, Arguments given) {
  const py::sequence numbers = py::reinterpret_borrow<py::object>(given[0]);
  if (numbers.size() != 8) return Reason::kNumber;
  Coefficients coefficients;
  for (size_t k = 0; k < 8; ++k) {
    const py::object one = numbers[k];
    const auto number = as_number(one);
    if (!number) return Reason::kNumber;
    coefficients[k] = *number;
  }
  return draft.perspective(coefficients, as_resample(given + 1), as_fill(given[3]), kTorch);
}

Reason recolour(Draft& draft, Arguments given) { return draft.recolour(as_op(given[0])); }

Reason gaussian_blur(Draft& draft, Arguments given) {
  const py::sequence sizes = py::reinterpret_borrow<py::object>(given[0]);
  const auto sigma = as_point(given[1]);
  if (!sigma || sizes.size() != 2) return Reason::kNumber;
  int sides[2];
  for (size_t k = 0; k < 2; ++k) {
    const auto side = as_integer(sizes[k]);
    if (!side || *side > std::numeric_limits<int>::max()) return Reason::kNumber;
    sides[k] = static_cast<int>(*side);
  }
  return draft.gaussian_blur({sides[0], sides[1], *sigma}, kTorch);
}

Reason to_pil(Draft& draft, Arguments given) {
  if (*given != Py_None && !PyUnicode_Check(*given)) return draft.decline(Reason::kMode);
  return draft.to_pil(*given == Py_None ? std::nullopt : std::optional(mode_of(*given)));
}

Reason convert_dtype(Draft& draft, Arguments given) { return draft.convert_dtype(as_bool(*given)); }

Reason normalize(Draft& draft, Arguments given) { return draft.normalize(as_ops(given[0]), as_bool(given[1])); }

Reason erase(Draft& draft, Arguments given) {
  const py::tuple numbers = py::reinterpret_borrow<py::object>(given[4]);
  double values[kMaxChannels] = {};
  if (numbers.size() > kMaxChannels) return Reason::kChannels;
  for (size_t c = 0; c < numbers.size(); ++c) {
    values[c] = numbers[c].cast<double>();
    if (!std::isfinite(values[c])) return Reason::kNumber;
  }
  int box[4];
  for (int k = 0; k < 4; ++k) box[k] = static_cast<int>(as_int(given[k]));
  return draft.erase(box[0], box[1], box[2], box[3], values, static_cast<int>(numbers.size()));
}

template <Reason (Draft::*method)()>
Reason without_arguments(Draft& draft, Arguments) {
  return (draft.*method)();
}

template <Reason (Draft::*method)(const Torch&)>
Reason by_torch(Draft& draft, Arguments) {
  return (draft.*method)(kTorch);
}

template <Reason (Draft::*method)(Number, const Torch&)>
Reason by_number(Draft& draft, Arguments given) {
  return (draft.*method)(as_any_number(*given), kTorch);
}

template <auto body, Py_ssize_t count>
PyObject* drafting(PyObject* self, Arguments given, Py_ssize_t number) {
  if (!takes(count, number)) return nullptr;
  return guarded([=]() -> py::object {
    Draft& draft = draft_in(self).draft;
    draft.resume();
    const Reason reason = draft.has_room() ? body(draft, given) : Reason::kFull;
    return py::int_(static_cast<int64_t>(draft.decline(reason)));
  });
}

template <auto body, Py_ssize_t count>
PyMethodDef op_method(const char* name, const char* signature) {
  return fast_method<drafting<body, count>>(name, signature);
}

}  // namespace

std::vector<PyMethodDef> methods_of_ops() {
  return {
      op_method<without_arguments<&Draft::hflip>, 0>("hflip", "hflip(self) -> int"),
      op_method<without_arguments<&Draft::vflip>, 0>("vflip", "vflip(self) -> int"),
      op_method<without_arguments<&Draft::transpose>, 0>("transpose", "transpose(self) -> int"),
      op_method<rot90, 1>("rot90", "rot90(self, turns: int) -> int"),
      op_method<crop, 4>("crop", "crop(self, top: object, left: object, height: object, width: object) -> int"),
      op_method<by_number<&Draft::adjust_brightness>, 1>("adjust_brightness",
                                                         "adjust_brightness(self, factor: object) -> int"),
      op_method<by_number<&Draft::adjust_contrast>, 1>("adjust_contrast",
                                                       "adjust_contrast(self, factor: object) -> int"),
      op_method<by_number<&Draft::adjust_saturation>, 1>("adjust_saturation",
                                                         "adjust_saturation(self, factor: object) -> int"),
      op_method<adjust_hue, 1>("adjust_hue", "adjust_hue(self, factor: object) -> int"),
      op_method<by_number<&Draft::adjust_sharpness>, 1>("adjust_sharpness",
                                                        "adjust_sharpness(self, factor: object) -> int"),
      op_method<adjust_gamma, 2>("adjust_gamma", "adjust_gamma(self, gamma: object, gain: object) -> int"),
      op_method<grayscale, 1>("grayscale", "grayscale(self, channels: object) -> int"),
      op_method<without_arguments<&Draft::to_rgb>, 0>("to_rgb", "to_rgb(self) -> int"),
      op_method<recolour, 1>("recolour", "recolour(self, op: bytes) -> int"),
      op_method<permute_channels, 1>("permute_channels", "permute_channels(self, permutation: object) -> int"),
      op_method<without_arguments<&Draft::invert>, 0>("invert", "invert(self) -> int"),
      op_method<posterize, 1>("posterize", "posterize(self, bits: object) -> int"),
      op_method<by_number<&Draft::solarize>, 1>("solarize", "solarize(self, threshold: object) -> int"),
      op_method<by_torch<&Draft::autocontrast>, 0>("autocontrast", "autocontrast(self) -> int"),
      op_method<without_arguments<&Draft::equalize>, 0>("equalize", "equalize(self) -> int"),
      op_method<jpeg, 1>("jpeg", "jpeg(self, quality: object) -> int"),
      op_method<by_torch<&Draft::to_float>, 0>("to_float", "to_float(self) -> int"),
      op_method<without_arguments<&Draft::to_uint8_tensor>, 0>("to_uint8_tensor", "to_uint8_tensor(self) -> int"),
      op_method<to_pil, 1>("to_pil", "to_pil(self, mode: str | None) -> int"),
      op_method<convert_dtype, 1>("convert_dtype", "convert_dtype(self, to_floats: bool) -> int"),
      op_method<normalize, 2>("normalize", "normalize(self, op: bytes | tuple[bytes, ...], inplace: bool) -> int"),
      op_method<erase, 5>(
          "erase", "erase(self, top: int, left: int, height: int, width: int, values: typing.Sequence[float]) -> int"),
      op_method<center_crop, 2>("center_crop", "center_crop(self, height: object, width: object) -> int"),
      op_method<pad, 3>("pad", "pad(self, padding: object, fill: object, padding_mode: object) -> int"),
      op_method<resize, 5>("resize",
                           "resize(self, height: object, width: object, filter: int, exact: bool, antialias: object) "
                           "-> int"),
      op_method<rotate, 6>("rotate",
                           "rotate(self, angle: object, filter: int, exact: bool, expand: object, center: object, "
                           "fill: object) -> int"),
      op_method<affine, 8>("affine",
                           "affine(self, angle: object, translate: object, scale: object, shear: object, filter: int, "
                           "exact: bool, center: object, fill: object) -> int"),
      op_method<perspective, 4>("perspective",
                                "perspective(self, coefficients: typing.Sequence[object], filter: int, exact: bool, "
                                "fill: object) -> int"),
      op_method<gaussian_blur, 2>("gaussian_blur",
                                  "gaussian_blur(self, kernel_size: typing.Sequence[object], sigma: object) -> int")};
}

}  // namespace fastaug::bind
