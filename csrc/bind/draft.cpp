#include "bind/draft.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bind/errors.h"
#include "bind/incoming.h"
#include "draft/draft.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// What Python says of numbers of other types, and of libraries.
struct Helpers {
  py::object real, whole, follows, default_dtype, float32;
};

Helpers& helpers() {
  static auto* const all = new Helpers;  // the interpreter may be gone before they are
  return *all;
}

class ByPython final : public Torch {
 public:
  double exp(float) const override { fail(ErrorCode::kRuntime, "exp is drawn with, not drafted"); }
  std::optional<Op> blur(int, int, double, Shape) const override { return std::nullopt; }
  void perspective(PlaneSize, const int64_t (&)[4][2], double (&)[8]) const override {
    fail(ErrorCode::kRuntime, "perspectives are drawn, not drafted");
  }
  bool follows(Rounding rounding) const override {
    static constexpr const char* kNames[] = {"blends", "colours", "warps", "warps of tensors"};
    return helpers().follows(kNames[static_cast<size_t>(rounding)]).cast<bool>();
  }
  bool is_single() const override {
    return owned(PyObject_CallNoArgs(helpers().default_dtype.ptr())).is(helpers().float32);
  }
};

const ByPython kTorch;

Mode mode_of(PyObject* name) {
  if (name == Py_None) return Mode::kNone;
  const char* const text = PyUnicode_AsUTF8(name);
  if (text == nullptr) throw py::error_already_set();
  return fastaug::mode_of(std::string_view(text));
}

struct DraftObject {
  PyObject_HEAD Draft draft;
  PyObject* leading;  // dimensions, as a tuple
  PyObject* mode;     // the name of one that the core does not read; null where it does
};

DraftObject& in(PyObject* self) { return *reinterpret_cast<DraftObject*>(self); }

py::object integer(int64_t number) { return py::int_(number); }

// Arguments.

[[noreturn]] void refuse(const std::string& what) { fail(ErrorCode::kType, what); }

int64_t as_int(PyObject* value) {
  const int64_t number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

bool as_bool(PyObject* value) {
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

Op as_op(PyObject* bytes) {
  if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) != sizeof(Op)) refuse("an op is bytes of one op");
  Op op;
  std::memcpy(&op, PyBytes_AS_STRING(bytes), sizeof(op));
  return op;
}

// An op, or a tuple of one for every four channels.
std::vector<Op> as_ops(PyObject* value) {
  if (!PyTuple_Check(value)) return {as_op(value)};
  std::vector<Op> ops;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value); ++k) ops.push_back(as_op(PyTuple_GET_ITEM(value, k)));
  if (ops.empty()) refuse("an op is bytes, or a tuple of them for every four channels");
  return ops;
}

// A number of Python's, NumPy's or torch's; NaN for anything else.
Number as_number(PyObject* value) {
  if (PyFloat_Check(value)) return {PyFloat_AS_DOUBLE(value), true, PyFloat_CheckExact(value) != 0};
  if (PyLong_Check(value)) {
    const double number = PyLong_AsDouble(value);
    if (number != -1 || PyErr_Occurred() == nullptr) return {number, false, PyLong_CheckExact(value) != 0};
    PyErr_Clear();
    return {std::numeric_limits<double>::quiet_NaN(), false, false};
  }
  return {helpers().real(py::handle(value)).cast<double>(), false, false};
}

// An int of Python's or NumPy's, but for a bool.
std::optional<int64_t> as_whole(PyObject* value) {
  py::object number = py::reinterpret_borrow<py::object>(value);
  if (!PyLong_CheckExact(value)) {
    number = helpers().whole(number);
    if (number.is_none()) return std::nullopt;
  }
  int overflow = 0;
  const int64_t whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow == 0 ? std::optional(whole) : std::nullopt;
}

// Methods of ops: each returns the number of the reason why it does nothing.

using Arguments = PyObject* const*;

Reason crop(Draft& draft, Arguments given) {
  int64_t box[4];
  for (int k = 0; k < 4; ++k) {
    const auto side = as_whole(given[k]);
    if (!side) return Reason::kNumber;
    box[k] = *side;
  }
  return draft.crop(box[0], box[1], box[2], box[3]);
}

Reason rot90(Draft& draft, Arguments given) { return draft.rot90(static_cast<int>(as_int(given[0]))); }

Reason adjust_hue(Draft& draft, Arguments given) {
  const Number factor = as_number(*given);
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
  return draft.adjust_gamma(as_number(given[0]), as_number(given[1]));
}

Reason grayscale(Draft& draft, Arguments given) {
  const Number count = as_number(*given);
  return count.value == 1 || count.value == 3 ? draft.grayscale(static_cast<int64_t>(count.value)) : Reason::kNumber;
}

Reason posterize(Draft& draft, Arguments given) {
  if (!PyLong_CheckExact(*given)) return Reason::kNumber;
  const auto bits = as_whole(*given);
  return bits ? draft.posterize(*bits) : Reason::kNumber;
}

Reason permute_channels(Draft& draft, Arguments given) {
  if (!PyList_Check(*given) && !PyTuple_Check(*given)) return Reason::kNumber;
  const py::tuple all = py::reinterpret_borrow<py::object>(*given);
  int order[kMaxChannels] = {};
  if (all.size() > kMaxChannels) return Reason::kNumber;
  for (size_t k = 0; k < all.size(); ++k) {
    if (!PyLong_CheckExact(all[k].ptr())) return Reason::kNumber;
    order[k] = static_cast<int>(as_whole(all[k].ptr()).value_or(-1));
  }
  return draft.permute_channels(order, static_cast<int>(all.size()));
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
  return (draft.*method)(as_number(*given), kTorch);
}

template <auto body, Py_ssize_t count>
PyObject* drafting(PyObject* self, Arguments given, Py_ssize_t number) {
  if (number != count) {
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", count, number);
    return nullptr;
  }
  return guarded([=] {
    Draft& draft = in(self).draft;
    draft.resume();
    const Reason reason = draft.has_room() ? body(draft, given) : Reason::kFull;
    return integer(static_cast<int64_t>(reason));
  });
}

// Other methods.

py::object bytes_of(const Op* ops, size_t count) {
  return py::bytes(reinterpret_cast<const char*>(ops), count * sizeof(Op));
}

// As `as_ops` takes it.
py::object op_number(const Draft& draft, int k) {
  const std::vector<Op> ops = draft.op(k);
  if (ops.size() == 1) return bytes_of(ops.data(), 1);
  py::tuple all(ops.size());
  for (size_t group = 0; group < ops.size(); ++group) all[group] = bytes_of(&ops[group], 1);
  return all;
}

py::object ops_between(const Draft& draft, int first, int last) {
  py::tuple all(static_cast<size_t>(last - first));
  for (int k = first; k < last; ++k) all[static_cast<size_t>(k - first)] = op_number(draft, k);
  return all;
}

void set_leading(DraftObject& object, PyObject* dimensions) {
  if (!PyTuple_Check(dimensions)) refuse("leading dimensions are a tuple");
  object.draft.leading = static_cast<int>(PyTuple_GET_SIZE(dimensions));
  object.draft.images = 1;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(dimensions); ++k) {
    object.draft.images *= as_int(PyTuple_GET_ITEM(dimensions, k));
  }
  Py_INCREF(dimensions);
  Py_XSETREF(object.leading, dimensions);
}

void set_mode(DraftObject& object, PyObject* name) {
  object.draft.mode = mode_of(name);
  PyObject* const kept = object.draft.mode == Mode::kOther ? name : nullptr;
  Py_XINCREF(kept);
  Py_XSETREF(object.mode, kept);
}

// begin(kind, mode, height, width, channels, leading): another image, of samples that the core does not read unless
// Python says so. What is of the call stays.
py::object begin(PyObject* self, Arguments given) {
  DraftObject& object = in(self);
  Outline outline;
  outline.container = static_cast<Container>(as_int(given[0]));
  outline.shape = {static_cast<int>(as_int(given[2])), static_cast<int>(as_int(given[3])),
                   static_cast<int>(as_int(given[4]))};
  outline.native = false;
  outline.pillow = object.draft.source.pillow;
  outline.v2 = object.draft.source.v2;
  outline.traced = object.draft.source.traced;
  object.draft.begin(outline);
  set_mode(object, given[1]);
  object.draft.source.mode = object.draft.mode;
  set_leading(object, given[5]);
  return py::none();
}

// begin_with(image): another image that is plain, and its kind; or 0, with nothing done.
py::object begin_with(PyObject* self, Arguments given) {
  DraftObject& object = in(self);
  const Outline& before = object.draft.source;
  auto outline = before.traced ? std::nullopt : as_outline(*given);
  if (!outline ||
      (before.v2 && outline->container == Container::kTensor && outline->shape.height * outline->shape.width == 1)) {
    return integer(0);
  }
  outline->pillow = before.pillow;
  outline->v2 = before.v2;
  object.draft.begin(*outline);
  if (PyTuple_GET_SIZE(object.leading) > 0) Py_SETREF(object.leading, PyTuple_New(0));
  Py_CLEAR(object.mode);
  return integer(static_cast<int64_t>(outline->container));
}

py::object appended(const Draft& draft) {
  if (draft.declined()) fail(ErrorCode::kValue, "a program holds at most " + std::to_string(kMaxOps) + " ops");
  return py::none();
}

py::object append(PyObject* self, Arguments given) {
  in(self).draft.resume();
  in(self).draft.append(as_ops(*given));
  return appended(in(self).draft);
}

py::object append_named(PyObject* self, Arguments given) {
  in(self).draft.resume();
  in(self).draft.append_named(as_op(*given));
  return appended(in(self).draft);
}

py::object append_float(PyObject* self, Arguments given) {
  in(self).draft.append_float(as_op(*given).id);
  return py::none();
}

py::object keep_channels(PyObject* self, Arguments given) {
  in(self).draft.keep_channels(static_cast<int>(as_int(*given)));
  return py::none();
}

template <void (Draft::*method)()>
py::object settling(PyObject* self, Arguments) {
  (in(self).draft.*method)();
  return py::none();
}

py::object program(PyObject* self, Arguments given) {
  const Draft& draft = in(self).draft;
  const auto group = as_int(*given);
  if (group == 0) return bytes_of(draft.program().data(), draft.program().size());
  if (group < 0 || group >= draft.groups()) fail(ErrorCode::kValue, "no such group of channels");
  const std::vector<Op> ops = draft.program_of(static_cast<int>(group));
  return bytes_of(ops.data(), ops.size());
}

template <auto body, Py_ssize_t count>
PyObject* doing(PyObject* self, Arguments given, Py_ssize_t number) {
  if (number != count) {
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", count, number);
    return nullptr;
  }
  return guarded([=] { return body(self, given); });
}

// Attributes.

template <auto access>
PyObject* get_field(PyObject* self, void*) {
  auto& value = access(in(self).draft);
  using Type = std::remove_reference_t<decltype(value)>;
  if constexpr (std::is_same_v<Type, bool>) {
    return PyBool_FromLong(value);
  } else {
    return PyLong_FromLongLong(static_cast<int64_t>(value));
  }
}

template <auto access>
int set_field(PyObject* self, PyObject* value, void*) {
  auto& field = access(in(self).draft);
  using Type = std::remove_reference_t<decltype(field)>;
  if (value == nullptr) {
    PyErr_SetString(PyExc_AttributeError, "a draft always has this attribute");
    return -1;
  }
  if constexpr (std::is_same_v<Type, bool>) {
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) return -1;
    field = truth != 0;
  } else {
    const int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) return -1;
    field = static_cast<Type>(number);
  }
  return 0;
}

template <auto access>
constexpr PyGetSetDef field(const char* name) {
  return {name, get_field<access>, set_field<access>, nullptr, nullptr};
}

template <auto body>
PyObject* get_made(PyObject* self, void*) {
  return guarded([=] { return py::object(body(in(self))); });
}

template <auto body>
int set_made(PyObject* self, PyObject* value, void*) {
  PyObject* const done = guarded([=] {
    if (value == nullptr) fail(ErrorCode::kType, "a draft always has this attribute");
    body(in(self), value);
    return py::object(py::none());
  });
  Py_XDECREF(done);
  return done == nullptr ? -1 : 0;
}

py::object first_of(const DraftObject& object) {
  const Draft& draft = object.draft;
  if (draft.first == First::kNone) return py::none();
  if (draft.first == First::kCrop) {
    return py::make_tuple("crop", draft.view.top, draft.view.left, draft.view.height, draft.view.width);
  }
  const Op op = draft.op(0)[0];
  switch (op.id) {
    case OpId::HFLIP:
      return py::make_tuple("hflip");
    case OpId::VFLIP:
      return py::make_tuple("vflip");
    case OpId::INVERT:
      return py::make_tuple("invert");
    case OpId::POSTERIZE:
      return py::make_tuple("posterize", op.i[0]);
    case OpId::NEAREST:
      return py::make_tuple("nearest", op.i[0], op.i[1]);
    case OpId::ROT90:
      return draft.is_tensor() ? py::object(py::make_tuple("rot90", op.flags))
                               : py::object(py::make_tuple("rotate", 90 * op.flags));
    case OpId::WINDOW:
      return py::make_tuple("window", op.i[0], op.i[1], op.i[2], op.i[3],
                            py::bytes(reinterpret_cast<const char*>(op.fill), sizeof(op.fill)));
    default:
      fail_on("first_of", op.id);
  }
}

// The Python type, with Python's own calling convention: pybind11's takes longer than most methods.

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
  auto* const made = PyObject_New(DraftObject, type);
  if (made == nullptr) return nullptr;
  auto* const self = reinterpret_cast<PyObject*>(made);
  DraftObject& object = *made;
  new (&object.draft) Draft();
  object.leading = PyTuple_New(0);
  object.mode = nullptr;
  return self;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  DraftObject& object = in(self);
  object.draft.~Draft();
  Py_XDECREF(object.leading);
  Py_XDECREF(object.mode);
  type->tp_free(self);
  Py_DECREF(type);
}

template <auto body, Py_ssize_t count>
PyMethodDef op_method(const char* name, const char* signature) {
  PyObject* (*const function)(PyObject*, Arguments, Py_ssize_t) = drafting<body, count>;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, signature};
}

template <auto body, Py_ssize_t count>
PyMethodDef method(const char* name, const char* signature) {
  PyObject* (*const function)(PyObject*, Arguments, Py_ssize_t) = doing<body, count>;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, signature};
}

}  // namespace

void register_draft(py::module_& m) {
  static PyMethodDef methods[] = {
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
      op_method<permute_channels, 1>("permute_channels", "permute_channels(self, permutation: object) -> int"),
      op_method<without_arguments<&Draft::invert>, 0>("invert", "invert(self) -> int"),
      op_method<posterize, 1>("posterize", "posterize(self, bits: object) -> int"),
      op_method<by_number<&Draft::solarize>, 1>("solarize", "solarize(self, threshold: object) -> int"),
      op_method<by_torch<&Draft::autocontrast>, 0>("autocontrast", "autocontrast(self) -> int"),
      op_method<without_arguments<&Draft::equalize>, 0>("equalize", "equalize(self) -> int"),
      op_method<by_torch<&Draft::to_float>, 0>("to_float", "to_float(self) -> int"),
      op_method<without_arguments<&Draft::to_uint8_tensor>, 0>("to_uint8_tensor", "to_uint8_tensor(self) -> int"),
      op_method<to_pil, 1>("to_pil", "to_pil(self, mode: str | None) -> int"),
      op_method<convert_dtype, 1>("convert_dtype", "convert_dtype(self, to_floats: bool) -> int"),
      op_method<normalize, 2>("normalize", "normalize(self, op: bytes | tuple[bytes, ...], inplace: bool) -> int"),
      op_method<erase, 5>(
          "erase", "erase(self, top: int, left: int, height: int, width: int, values: typing.Sequence[float]) -> int"),
      method<begin, 6>("begin",
                       "begin(self, kind: int, mode: str | None, height: int, width: int, channels: int, "
                       "leading: tuple[int, ...]) -> None"),
      method<begin_with, 1>("begin_with", "begin_with(self, image: object) -> int"),
      method<append, 1>("append", "append(self, op: bytes | tuple[bytes, ...]) -> None"),
      method<append_named, 1>("append_named", "append_named(self, op: bytes) -> None"),
      method<append_float, 1>("append_float", "append_float(self, op: bytes) -> None"),
      method<settling<&Draft::forget>, 0>("forget", "forget(self) -> None"),
      method<settling<&Draft::unview>, 0>("unview", "unview(self) -> None"),
      method<keep_channels, 1>("keep_channels", "keep_channels(self, count: int) -> None"),
      method<settling<&Draft::padded_by_torch>, 0>("padded_by_torch", "padded_by_torch(self) -> None"),
      method<settling<&Draft::choose_order>, 0>("choose_order", "choose_order(self) -> None"),
      method<program, 1>("program", "program(self, group: int) -> bytes"),
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      field<[](Draft& draft) -> int& { return draft.shape.height; }>("height"),
      field<[](Draft& draft) -> int& { return draft.shape.width; }>("width"),
      field<[](Draft& draft) -> int& { return draft.shape.channels; }>("channels"),
      field<[](Draft& draft) -> int& { return draft.bands; }>("bands"),
      field<[](Draft& draft) -> Container& { return draft.container; }>("kind"),
      field<[](Draft& draft) -> Container& { return draft.source.container; }>("source"),
      field<[](Draft& draft) -> Info& { return draft.info; }>("lost"),
      field<[](Draft& draft) -> int& { return draft.views; }>("views"),
      field<[](Draft& draft) -> int& { return draft.gaps; }>("gaps"),
      field<[](Draft& draft) -> bool& { return draft.native; }>("native"),
      field<[](Draft& draft) -> bool& { return draft.floats; }>("floats"),
      field<[](Draft& draft) -> bool& { return draft.flat; }>("flat"),
      field<[](Draft& draft) -> bool& { return draft.channel_last; }>("channel_last"),
      field<[](Draft& draft) -> bool& { return draft.copied; }>("copied"),
      field<[](Draft& draft) -> bool& { return draft.planar; }>("planar"),
      field<[](Draft& draft) -> bool& { return draft.source.contiguous; }>("contiguous"),
      field<[](Draft& draft) -> bool& { return draft.source.wide_pixels; }>("wide_pixels"),
      field<[](Draft& draft) -> bool& { return draft.source.subclass; }>("subclass"),
      field<[](Draft& draft) -> bool& { return draft.source.transparent; }>("transparent"),
      field<[](Draft& draft) -> bool& { return draft.source.pillow; }>("pillow"),
      field<[](Draft& draft) -> bool& { return draft.source.v2; }>("v2"),
      field<[](Draft& draft) -> bool& { return draft.source.traced; }>("traced"),
      {"mode", get_made<[](const DraftObject& object) -> py::object {
         const Mode mode = object.draft.mode;
         if (mode == Mode::kNone) return py::none();
         if (mode == Mode::kOther) return py::reinterpret_borrow<py::object>(object.mode);
         return py::reinterpret_steal<py::object>(PyUnicode_InternFromString(name_of(mode)));
       }>,
       set_made<set_mode>, nullptr, nullptr},
      {"lead", get_made<[](const DraftObject& object) { return py::reinterpret_borrow<py::object>(object.leading); }>,
       set_made<set_leading>, nullptr, nullptr},
      {"first", get_made<first_of>, nullptr, nullptr, nullptr},
      {"ops",
       get_made<[](const DraftObject& object) { return ops_between(object.draft, 0, object.draft.pixel_ops()); }>,
       nullptr, nullptr, nullptr},
      {"store", get_made<[](const DraftObject& object) {
         const int first = object.draft.pixel_ops();
         return ops_between(object.draft, first, first + object.draft.stored());
       }>,
       nullptr, nullptr, nullptr},
      {"count", get_made<[](const DraftObject& object) { return integer(object.draft.pixel_ops()); }>, nullptr, nullptr,
       nullptr},
      {"stored", get_made<[](const DraftObject& object) { return integer(object.draft.stored()); }>, nullptr, nullptr,
       nullptr},
      {"erases", get_made<[](const DraftObject& object) { return integer(object.draft.erases()); }>, nullptr, nullptr,
       nullptr},
      {"ending", get_made<[](const DraftObject& object) { return integer(static_cast<int>(object.draft.ending())); }>,
       nullptr, nullptr, nullptr},
      {"takes_moves", get_made<[](const DraftObject& object) { return py::bool_(object.draft.takes_moves()); }>,
       nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, attributes},
                                {0, nullptr}};
  static PyType_Spec spec = {"fastaug._C.Draft", sizeof(DraftObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                             slots};
  const auto type = py::reinterpret_steal<py::object>(PyType_FromModuleAndSpec(m.ptr(), &spec, nullptr));
  if (!type) throw py::error_already_set();
  m.attr("Draft") = type;
  m.def(
      "help_drafts",
      [](py::object real, py::object whole, py::object follows, py::object default_dtype, py::object float32) {
        helpers() = {std::move(real), std::move(whole), std::move(follows), std::move(default_dtype),
                     std::move(float32)};
      },
      py::arg("real"), py::arg("whole"), py::arg("follows"), py::arg("default_dtype"), py::arg("float32"));
}

}  // namespace fastaug::bind
