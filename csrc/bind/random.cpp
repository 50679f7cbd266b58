#include "bind/random.h"

#include <pthread.h>

#include <atomic>
#include <cfloat>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/image.h"
#include "bind/errors.h"
#include "bind/instead.h"
#include "bind/numbers.h"
#include "bind/stream.h"
#include "bind/without_gil.h"
#include "draw/iou_crop.h"
#include "draw/random.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

std::optional<SidesLimits> as_sides(py::handle area, py::handle limits, py::handle scale, py::handle log_ratio,
                                    py::handle strict) {
  const auto whole = as_whole(area);
  const auto sides = as_pair(limits);
  const auto parts = as_range(scale), logarithms = as_range(log_ratio);
  if (!whole || !sides || !parts || !logarithms || !PyBool_Check(strict.ptr())) return std::nullopt;
  const auto first = as_whole(sides->first), second = as_whole(sides->second);
  // What is left out here may overflow, or be an error of math.sqrt.
  if (!first || !second || *whole < 0 || parts->first < 0 || logarithms->first < -Random::kMaxLogRatio ||
      logarithms->second > Random::kMaxLogRatio) {
    return std::nullopt;
  }
  return SidesLimits{*whole,
                     {*first, *second},
                     {parts->first, parts->second},
                     {logarithms->first, logarithms->second},
                     strict.ptr() == Py_True};
}

std::optional<std::vector<double>> as_numbers(py::handle value) {
  if (!PyList_CheckExact(value.ptr()) && !PyTuple_CheckExact(value.ptr())) return std::nullopt;
  std::vector<double> numbers;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(value.ptr());
  numbers.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto number = as_number(PySequence_Fast_GET_ITEM(value.ptr(), i));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Two numbers that float32 has, and their difference.
std::optional<std::pair<double, double>> as_ends(py::handle low, py::handle high) {
  const auto first = as_number(low), last = as_number(high);
  // These are false for NaN, too.
  const auto finite = [](double value) { return value >= -FLT_MAX && value <= FLT_MAX; };
  if (!first || !last || !finite(*first) || !finite(*last) || !finite(*last - *first)) return std::nullopt;
  return std::pair(*first, *last);
}

// A side of an image: a whole number that is a float32.
std::optional<int64_t> as_side(py::handle value) {
  const auto side = as_integer(value);
  return side && *side >= 0 && *side <= kMostOfFloat32 ? side : std::nullopt;
}

bool is_scale(const std::pair<double, double>& ends) {
  return std::max(std::abs(ends.first), std::abs(ends.second)) <= Random::kMaxScale;
}

std::optional<IouCropLimits> as_iou_crop(py::handle height, py::handle width, py::handle scales, py::handle aspects,
                                         py::handle options, py::handle trials) {
  const auto rows = as_side(height), columns = as_side(width);
  const auto scale = as_pair(scales), aspect = as_pair(aspects);
  const auto tries = as_integer(trials);
  auto least = as_numbers(options);
  if (!rows || !columns || !scale || !aspect || !tries || !least || least->empty()) return std::nullopt;
  const auto parts = as_ends(scale->first, scale->second);
  const auto low = as_number(aspect->first), high = as_number(aspect->second);
  // Sides that float32 holds, and that are none of torch's overflows.
  if (!parts || !low || !high || !is_scale(*parts)) return std::nullopt;
  return IouCropLimits{*rows, *columns, {parts->first, parts->second}, {*low, *high}, std::move(*least), *tries};
}

// The thread that torch's default generator belongs to.
std::atomic<unsigned long> main_thread = 0;

// What torch has this thread draw from, for one call. It is a reference of its own.
thread_local PyObject* torchs_own = nullptr;

// The methods of fastaug._draft.draws.TorchDraws, done here where that gives what torch gives.
class Draws {
 public:
  Draws(py::object generator, py::object fallback) : generator_(std::move(generator)), fallback_(std::move(fallback)) {
    Stream::look_up_torch();
    const auto torch = py::module_::import("torch");
    const py::object source = generator_.is_none() ? py::object(torch.attr("default_generator")) : generator_;
    if (py::type::handle_of(source).is(torch.attr("Generator")) &&
        source.attr("device").attr("type").cast<std::string>() == "cpu") {
      stream_ = Stream::of(source);
    }
  }

  // The draws that this thread makes instead of these.
  const Draws& here() const {
    if (!generator_.is_none() || (stream_ && stream_->held())) return *this;
    if (const Instead* const instead = Instead::here()) return in(instead->draws.ptr());
    if (torchs_own == nullptr && PyThread_get_thread_ident() != main_thread) torchs_own = asked();
    return torchs_own != nullptr ? in(torchs_own) : *this;
  }

  py::object generator() const { return here().generator_; }

  Stream* stream() const { return here().stream_.get(); }

  py::object rand() const {
    if (!acquired()) return by_torch("rand");
    return py::float_(stream_->random.rand());
  }

  py::object uniform(py::handle low, py::handle high) const {
    const auto range = as_range(low, high);
    if (!range || !acquired()) return by_torch("uniform", low, high);
    return py::float_(stream_->random.uniform(range->first, range->second, stream_->form));
  }

  py::object randint(py::handle low, py::handle high) const {
    const auto first = as_integer(low), end = as_integer(high);
    int64_t range = 0;
    if (!first || !end || __builtin_sub_overflow(*end, *first, &range) || range <= 0 || range >= Random::kMaxRange ||
        !acquired()) {
      return by_torch("randint", low, high);
    }
    return py::int_(stream_->random.randint(*first, range));
  }

  py::object randperm(py::handle count) const {
    const auto size = as_integer(count);
    if (!size || *size < 0 || *size > Random::kMaxPermutation || !acquired()) return by_torch("randperm", count);
    std::vector<int64_t> order(static_cast<size_t>(*size));
    stream_->random.randperm(order.data(), static_cast<int>(*size));
    py::list indices(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      PyList_SET_ITEM(indices.ptr(), static_cast<Py_ssize_t>(i), py::int_(order[i]).release().ptr());
    }
    return indices;
  }

  py::object sides(py::handle area, py::handle limits, py::handle scale, py::handle log_ratio,
                   py::handle strict) const {
    const auto of = as_sides(area, limits, scale, log_ratio, strict);
    if (!of || !acquired()) return by_torch("sides", area, limits, scale, log_ratio, strict);
    int64_t found[2];
    const auto torch_exp = [this](float power) { return fallback_.attr("exp")(power).cast<double>(); };
    if (!stream_->random.sides(*of, stream_->form, torch_exp, found)) return py::none();
    return py::make_tuple(found[0], found[1]);
  }

  py::object scaled(py::handle low, py::handle high) const {
    const auto ends = as_ends(low, high);
    if (!ends || !acquired()) return by_torch("scaled", low, high);
    return py::float_(stream_->random.scaled(ends->first, ends->second));
  }

  py::object choice(py::handle weights) const {
    const auto numbers = as_weights(weights);
    if (!numbers || !acquired() || !torch_chooses_so()) return by_torch("choice", weights);
    return py::int_(stream_->random.choice(numbers->data(), static_cast<int64_t>(numbers->size())));
  }

  py::object zoom_out(py::handle height, py::handle width, py::handle low, py::handle high) const {
    const auto rows = as_side(height), columns = as_side(width);
    const auto ends = as_ends(low, high);
    // The canvas must be a float32, too.
    if (!rows || !columns || !ends || !is_scale(*ends) || !acquired()) {
      return by_torch("zoom_out", height, width, low, high);
    }
    const auto [left, top, right, bottom] = stream_->random.zoom_out(*rows, *columns, ends->first, ends->second);
    return py::make_tuple(left, top, right, bottom);
  }

  py::object iou_crop(py::handle boxes, py::handle height, py::handle width, py::handle scales, py::handle aspects,
                      py::handle options, py::handle trials) const {
    const auto limits =
        py::isinstance<Boxes>(boxes) ? as_iou_crop(height, width, scales, aspects, options, trials) : std::nullopt;
    if (!limits || static_cast<int64_t>(limits->options.size()) >= Random::kMaxRange || !acquired()) {
      return by_torch("iou_crop", boxes, height, width, scales, aspects, options, trials);
    }
    const auto interrupted = [] {
      without_gil([] {});
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    };
    // Other threads may change theirs meanwhile.
    const Boxes own = boxes.cast<const Boxes&>();
    const IouCrop crop = draw_iou_crop(stream_->random, own, *limits, interrupted);
    switch (crop.outcome) {
      case IouCrop::Outcome::kNone:
        return py::none();
      case IouCrop::Outcome::kDivisionByZero:
        py::set_error(PyExc_ZeroDivisionError, "RandomIoUCrop drew a crop without rows: the image is too small");
        throw py::error_already_set();
      case IouCrop::Outcome::kCrop:
        break;
    }
    return py::make_tuple(crop.top, crop.left, crop.height, crop.width,
                          py::bytearray(reinterpret_cast<const char*>(crop.within.data()), crop.within.size()));
  }

  py::object release() const {
    if (stream_) stream_->release();
    if (generator_.is_none()) {
      if (const Instead* const instead = Instead::here()) in(instead->draws.ptr()).release();
      if (PyObject* const asked = std::exchange(torchs_own, nullptr)) {
        const auto last = py::reinterpret_steal<py::object>(asked);
        in(asked).release();
      }
    }
    return py::none();
  }

  // Of the Python object.
  static const Draws& in(PyObject* object);

  // As fastaug._draft.draws.draws_from makes it again.
  py::object reduce() const {
    return py::make_tuple(py::module_::import("fastaug._draft.draws").attr("draws_from"), py::make_tuple(generator_));
  }

 private:
  // torch may run workers of a DataLoader as threads, each with its own generator.
  static PyObject* asked() {
    const auto generator = py::getattr(py::module_::import("torch"), "thread_safe_generator", py::none());
    if (generator.is_none()) return nullptr;
    const py::object own = generator();
    if (own.is_none()) return nullptr;
    return py::module_::import("fastaug._draft.draws").attr("draws_from")(own).release().ptr();
  }

  bool acquired() const { return stream_ && (stream_->held() || stream_->acquire()); }

  template <class... Arguments>
  py::object by_torch(const char* name, Arguments... arguments) const {
    release();
    return fallback_.attr(name)(arguments...);
  }

  py::object generator_;
  py::object fallback_;
  std::shared_ptr<Stream> stream_;  // none: torch always draws
};

// The Python type. Python's own calling convention costs a third of pybind11's, which would be most of a draw.

struct DrawsObject {
  PyObject_HEAD Draws draws;

  static PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject* keywords);
  static void destroy(PyObject* self);
};

const Draws& Draws::in(PyObject* object) { return reinterpret_cast<DrawsObject*>(object)->draws; }

template <auto method>
PyObject* call(PyObject* self, PyObject*) {
  return guarded([self] { return (reinterpret_cast<DrawsObject*>(self)->draws.*method)(); });
}

template <auto method>
PyObject* draw(PyObject* self, PyObject*) {
  return guarded([self] { return (reinterpret_cast<DrawsObject*>(self)->draws.here().*method)(); });
}

template <auto method, size_t... I>
py::object draw_with(PyObject* self, PyObject* const* arguments, std::index_sequence<I...>) {
  return (reinterpret_cast<DrawsObject*>(self)->draws.here().*method)(py::handle(arguments[I])...);
}

template <auto method, size_t expected>
PyObject* draw(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != static_cast<Py_ssize_t>(expected)) {
    PyErr_Format(PyExc_TypeError, "expected %zd positional arguments, got %zd", static_cast<Py_ssize_t>(expected),
                 count);
    return nullptr;
  }
  return guarded([=] { return draw_with<method>(self, arguments, std::make_index_sequence<expected>()); });
}

template <auto method, size_t expected>
PyMethodDef with_arguments(const char* name, const char* signature) {
  PyObject* (*const function)(PyObject*, PyObject* const*, Py_ssize_t) = draw<method, expected>;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, signature};
}

PyMethodDef without_arguments(const char* name, const char* signature, PyObject* (*function)(PyObject*, PyObject*)) {
  return {name, function, METH_NOARGS, signature};
}

PyObject* DrawsObject::create(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"generator", "fallback", nullptr};
  PyObject *generator = nullptr, *fallback = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:Draws", const_cast<char**>(names), &generator, &fallback) ==
      0) {
    return nullptr;
  }
  return guarded([=] {
    Draws draws(py::reinterpret_borrow<py::object>(generator), py::reinterpret_borrow<py::object>(fallback));
    const auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
    if (!object) throw py::error_already_set();
    new (&reinterpret_cast<DrawsObject*>(object.ptr())->draws) Draws(std::move(draws));
    return object;
  });
}

void DrawsObject::destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<DrawsObject*>(self)->draws.~Draws();
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

std::optional<std::vector<float>> as_weights(py::handle value) {
  if (!PyList_CheckExact(value.ptr())) return std::nullopt;
  const auto count = PyList_GET_SIZE(value.ptr());
  if (count > Random::kMaxChoices) return std::nullopt;
  std::vector<float> weights;
  float total = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = PyList_GET_ITEM(value.ptr(), i);
    // torch turns integers into a tensor that it draws nothing from.
    if (!PyFloat_CheckExact(item)) return std::nullopt;
    const double weight = PyFloat_AS_DOUBLE(item);
    if (!(weight >= 0 && weight <= FLT_MAX)) return std::nullopt;
    weights.push_back(static_cast<float>(weight));
    total += weights.back();
  }
  if (!(total > 0 && total <= FLT_MAX)) return std::nullopt;
  return weights;
}

// fastaug.data.sample_seed of each index.
std::vector<uint64_t> sample_seeds(uint64_t seed, uint64_t epoch, const std::vector<uint64_t>& indices) {
  const uint64_t run = mixed(mixed(seed) ^ epoch);
  std::vector<uint64_t> seeds;
  seeds.reserve(indices.size());
  for (const uint64_t index : indices) seeds.push_back(mixed(run ^ index) >> 1);
  return seeds;
}

Stream* stream_of(py::handle draws) { return Draws::in(draws.ptr()).stream(); }

void release(py::handle draws) { Draws::in(draws.ptr()).release(); }

void register_random(py::module_& m) {
  Stream::survive_forks();
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
  m.def("sample_seeds", sample_seeds, py::arg("seed"), py::arg("epoch"), py::arg("indices"));
  // The stub is generated from these signatures.
  static PyMethodDef methods[] = {
      without_arguments("rand", "rand(self) -> float", draw<&Draws::rand>),
      with_arguments<&Draws::uniform, 2>("uniform", "uniform(self, low: float, high: float) -> float"),
      with_arguments<&Draws::randint, 2>("randint", "randint(self, low: int, high: int) -> int"),
      with_arguments<&Draws::randperm, 1>("randperm", "randperm(self, count: int) -> list[int]"),
      with_arguments<&Draws::sides, 5>(
          "sides",
          "sides(self, area: int, limits: tuple[int, int], scale: tuple[float, float], log_ratio: tuple[float, float], "
          "strict: bool) -> tuple[int, int] | None"),
      with_arguments<&Draws::scaled, 2>("scaled", "scaled(self, low: float, high: float) -> float"),
      with_arguments<&Draws::choice, 1>("choice", "choice(self, weights: list[float]) -> int"),
      with_arguments<&Draws::zoom_out, 4>(
          "zoom_out", "zoom_out(self, height: int, width: int, low: float, high: float) -> tuple[int, int, int, int]"),
      with_arguments<&Draws::iou_crop, 7>(
          "iou_crop",
          "iou_crop(self, boxes: typing.Any, height: int, width: int, scales: tuple[float, float], "
          "aspects: tuple[float, float], options: collections.abc.Sequence[float], trials: int) -> "
          "tuple[int, int, int, int, bytearray] | None"),
      without_arguments("release", "release(self) -> None", call<&Draws::release>),
      without_arguments("__reduce__", "__reduce__(self) -> str | tuple[typing.Any, ...]", call<&Draws::reduce>),
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef properties[] = {
      {"generator", [](PyObject* self, void*) { return call<&Draws::generator>(self, nullptr); }, nullptr, nullptr,
       nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(DrawsObject::create)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(DrawsObject::destroy)},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, properties},
                                {0, nullptr}};
  static PyType_Spec spec = {"fastaug._C.Draws", sizeof(DrawsObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                             slots};
  const auto type = py::reinterpret_steal<py::object>(PyType_FromModuleAndSpec(m.ptr(), &spec, nullptr));
  if (!type) throw py::error_already_set();
  m.attr("Draws") = type;
}

}  // namespace fastaug::bind
