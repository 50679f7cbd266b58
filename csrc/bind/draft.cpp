#include "bind/draft.h"

#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bind/arguments.h"
#include "bind/errors.h"
#include "bind/incoming.h"
#include "bind/result.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

using Arguments = PyObject* const*;

py::object integer(int64_t number) { return py::int_(number); }

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
  DraftObject& object = draft_in(self);
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

void begin_with(DraftObject& object, Incoming incoming) {
  Outline& outline = incoming.outline;
  outline.pillow = object.draft.source.pillow;
  outline.v2 = object.draft.source.v2;
  object.draft.begin(outline);
  if (!incoming.leading.empty() || PyTuple_GET_SIZE(object.leading) > 0) {
    py::tuple sides(incoming.leading.size());
    for (size_t k = 0; k < sides.size(); ++k) sides[k] = integer(incoming.leading[k].length);
    Py_SETREF(object.leading, sides.release().ptr());
  }
  Py_CLEAR(object.mode);
}

// begin_with(image): another image that is plain, and its kind; or 0, with nothing done. begin_on_device(tensor): the
// same of one in a device's memory.
template <std::optional<Incoming> (*read)(py::handle, bool)>
py::object begin_with(PyObject* self, Arguments given) {
  const Outline& before = draft_in(self).draft.source;
  auto incoming = before.traced ? std::nullopt : read(*given, before.v2);
  if (!incoming) return integer(0);
  const auto kind = static_cast<int64_t>(incoming->outline.container);
  begin_with(draft_in(self), std::move(*incoming));
  return integer(kind);
}

py::object appended(const Draft& draft) {
  if (draft.declined()) fail(ErrorCode::kValue, "a program holds at most " + std::to_string(kMaxOps) + " ops");
  return py::none();
}

py::object append(PyObject* self, Arguments given) {
  draft_in(self).draft.resume();
  draft_in(self).draft.append(as_ops(*given));
  return appended(draft_in(self).draft);
}

py::object append_named(PyObject* self, Arguments given) {
  draft_in(self).draft.resume();
  draft_in(self).draft.append_named(as_op(*given));
  return appended(draft_in(self).draft);
}

py::object append_float(PyObject* self, Arguments given) {
  draft_in(self).draft.append_float(as_op(*given));
  return py::none();
}

py::object keep_channels(PyObject* self, Arguments given) {
  draft_in(self).draft.keep_channels(static_cast<int>(as_int(*given)));
  return py::none();
}

template <void (Draft::*method)()>
py::object settling(PyObject* self, Arguments) {
  (draft_in(self).draft.*method)();
  return py::none();
}

py::object program(PyObject* self, Arguments given) {
  const Draft& draft = draft_in(self).draft;
  const auto group = as_int(*given);
  if (group == 0) return bytes_of(draft.program().data(), draft.program().size());
  if (group < 0 || group >= draft.groups()) fail(ErrorCode::kValue, "no such group of channels");
  const std::vector<Op> ops = draft.program_of(static_cast<int>(group));
  return bytes_of(ops.data(), ops.size());
}

// False of another image than the draft is of, as far as outlines tell.
bool is_source_of(const Draft& draft, const Outline& image) {
  const Outline& source = draft.source;
  return image.container == source.container && image.shape == source.shape && image.floats == source.floats &&
         image.flat == source.flat && image.leading == draft.leading && image.images == draft.images;
}

// done(image, info, rewrites, blank): the image or tensor that the ops make of a plain image with this metadata, or
// None; NotImplemented where that is Python's to make.
py::object done(PyObject* self, Arguments given) {
  const Draft& draft = draft_in(self).draft;
  const bool is_same = draft.container == draft.source.container && draft.mode == draft.source.mode;
  const bool untouched = is_same && draft.ending() == Ending::kUntouched && draft.first == First::kNone;
  const auto image = py::reinterpret_borrow<py::object>(given[0]);
  if (untouched && !draft.copied) return image;
  if (untouched && draft.is_pil() && draft.info == Info::kAll) return image.attr("copy")();
  const auto declined = py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (draft.ending() != Ending::kJob || draft.container == Container::kArray) return declined;
  const auto incoming = as_incoming(image, draft.source.v2);
  if (!incoming || !is_source_of(draft, incoming->outline)) return declined;
  const DType dtype = draft.gives_floats() || draft.floats ? DType::kFloat32 : DType::kUint8;
  const auto result = draft.is_pil() ? new_pil(draft, py::reinterpret_borrow<py::object>(given[3]))
                                     : std::optional(new_tensor(draft, dtype, draft.channel_last, incoming->leading));
  if (!result) return declined;
  run(draft, incoming->source.view, incoming->leading, result->target, static_cast<uint32_t>(as_int(given[2])));
  if (draft.is_pil()) keep_info(draft, py::reinterpret_borrow<py::object>(given[1]), result->object);
  return result->object;
}

template <auto body, Py_ssize_t count>
PyObject* doing(PyObject* self, Arguments given, Py_ssize_t number) {
  if (!takes(count, number)) return nullptr;
  return guarded([=] { return body(self, given); });
}

// Attributes.

template <auto access>
PyObject* get_field(PyObject* self, void*) {
  auto& value = access(draft_in(self).draft);
  using Type = std::remove_reference_t<decltype(value)>;
  if constexpr (std::is_same_v<Type, bool>) {
    return PyBool_FromLong(value);
  } else {
    return PyLong_FromLongLong(static_cast<int64_t>(value));
  }
}

template <auto access>
int set_field(PyObject* self, PyObject* value, void*) {
  auto& field = access(draft_in(self).draft);
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
  return guarded([=] { return py::object(body(draft_in(self))); });
}

template <auto body>
int set_made(PyObject* self, PyObject* value, void*) {
  PyObject* const done = guarded([=] {
    if (value == nullptr) fail(ErrorCode::kType, "a draft always has this attribute");
    body(draft_in(self), value);
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

// The Python type.

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
  DraftObject& object = draft_in(self);
  object.draft.~Draft();
  Py_XDECREF(object.leading);
  Py_XDECREF(object.mode);
  type->tp_free(self);
  Py_DECREF(type);
}

template <auto body, Py_ssize_t count>
PyMethodDef method(const char* name, const char* signature) {
  return fast_method<doing<body, count>>(name, signature);
}

}  // namespace

Mode mode_of(PyObject* name) {
  if (name == Py_None) return Mode::kNone;
  const char* const text = PyUnicode_AsUTF8(name);
  if (text == nullptr) throw py::error_already_set();
  return fastaug::mode_of(std::string_view(text));
}

void register_draft(py::module_& m) {
  static std::vector<PyMethodDef> methods = methods_of_ops();
  const PyMethodDef own[] = {
      method<begin, 6>("begin",
                       "begin(self, kind: int, mode: str | None, height: int, width: int, channels: int, "
                       "leading: tuple[int, ...]) -> None"),
      method<begin_with<before_samples>, 1>("begin_with", "begin_with(self, image: object) -> int"),
      method<begin_with<on_device>, 1>("begin_on_device", "begin_on_device(self, tensor: object) -> int"),
      method<append, 1>("append", "append(self, op: bytes | tuple[bytes, ...]) -> None"),
      method<append_named, 1>("append_named", "append_named(self, op: bytes) -> None"),
      method<append_float, 1>("append_float", "append_float(self, op: bytes) -> None"),
      method<settling<&Draft::forget>, 0>("forget", "forget(self) -> None"),
      method<settling<&Draft::unview>, 0>("unview", "unview(self) -> None"),
      method<keep_channels, 1>("keep_channels", "keep_channels(self, count: int) -> None"),
      method<settling<&Draft::choose_order>, 0>("choose_order", "choose_order(self) -> None"),
      method<done, 4>("done", "done(self, image: object, info: object, rewrites: int, blank: object) -> object"),
      method<program, 1>("program", "program(self, group: int) -> bytes"),
      {nullptr, nullptr, 0, nullptr}};
  methods.insert(methods.end(), std::begin(own), std::end(own));
  static PyGetSetDef attributes[] = {
      field<[](Draft& draft) -> int& { return draft.shape.height; }>("height"),
      field<[](Draft& draft) -> int& { return draft.shape.width; }>("width"),
      field<[](Draft& draft) -> int& { return draft.shape.channels; }>("channels"),
      field<[](Draft& draft) -> int& { return draft.bands; }>("bands"),
      field<[](Draft& draft) -> Container& { return draft.container; }>("kind"),
      field<[](Draft& draft) -> Container& { return draft.source.container; }>("source"),
      field<[](Draft& draft) -> Info& { return draft.info; }>("lost"),
      field<[](Draft& draft) -> int& { return draft.views; }>("views"),
      field<[](Draft& draft) -> bool& { return draft.native; }>("native"),
      field<[](Draft& draft) -> bool& { return draft.floats; }>("floats"),
      field<[](Draft& draft) -> bool& { return draft.flat; }>("flat"),
      field<[](Draft& draft) -> bool& { return draft.channel_last; }>("channel_last"),
      field<[](Draft& draft) -> bool& { return draft.copied; }>("copied"),
      field<[](Draft& draft) -> bool& { return draft.planar; }>("planar"),
      field<[](Draft& draft) -> bool& { return draft.source.subclass; }>("subclass"),
      field<[](Draft& draft) -> bool& { return draft.source.transparent; }>("transparent"),
      field<[](Draft& draft) -> bool& { return draft.source.commented; }>("commented"),
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
      {"reason", get_made<[](const DraftObject& object) {
         return py::str(kReasons[static_cast<size_t>(object.draft.reason())]);
       }>,
       nullptr, nullptr, nullptr},
      {"takes_moves", get_made<[](const DraftObject& object) { return py::bool_(object.draft.takes_moves()); }>,
       nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                {Py_tp_methods, methods.data()},
                                {Py_tp_getset, attributes},
                                {0, nullptr}};
  static PyType_Spec spec = {"fastaug._C.Draft", sizeof(DraftObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                             slots};
  const auto type = py::reinterpret_steal<py::object>(PyType_FromModuleAndSpec(m.ptr(), &spec, nullptr));
  if (!type) throw py::error_already_set();
  m.attr("Draft") = type;
}

}  // namespace fastaug::bind
