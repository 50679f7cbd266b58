#include "bind/recipe.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "bind/errors.h"
#include "bind/libraries.h"
#include "bind/random.h"
#include "bind/steps.h"
#include "bind/stream.h"
#include "bind/without_gil.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

py::object declined() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

}  // namespace

Recipe::Recipe(const py::tuple& described, const py::tuple& watched, py::object call, py::object draws,
               const py::dict& settings)
    : steps_(as_steps(described)),
      draws_any_(fastaug::draws(steps_)),
      by_python_(draws_by_python(steps_)),
      takes_labels_(takes_labels(steps_)),
      guard_(watched[0]),
      transforms_(watched[1]),
      call_(std::move(call)),
      draws_(std::move(draws)),
      handles_(described, settings),
      run_(settings["run"]),
      blank_(settings["blank"]),
      allocate_(settings["allocate"]),
      delivered_(settings["delivered"]),
      rest_(settings["rest"]),
      rewrites_(settings["rewrites"].cast<uint32_t>()),
      pillow_(settings["pillow"].cast<bool>()),
      v2_(settings["v2"].cast<bool>()),
      handed_(settings["handed"].cast<bool>()) {
  const py::tuple leaves = settings["leaves"];
  leaves_ = {leaves[0], settings["lazy"], leaves[1], leaves[2], leaves[3], leaves[4],
             leaves[5], leaves[6],        leaves[7], leaves[8], leaves[9]};
  const py::object dtype = settings["dtype"];
  if (!dtype.is_none()) format_.dtype = static_cast<DType>(dtype.cast<int>());
  format_.channels_last = settings["channels_last"].cast<bool>();
  format_.given = settings["formatted"].cast<bool>();
  name_of_run_ = py::reinterpret_steal<py::object>(PyUnicode_InternFromString("run"));
}

py::object Recipe::call(py::handle image, py::handle transforms) {
  if (const int left = left_out_.load(std::memory_order_relaxed); left > 0) {
    left_out_.store(left - 1, std::memory_order_relaxed);
    return declined();
  }
  std::optional<Drafted> drafted;
  try {
    begin(image, transforms, drafted);
  } catch (const std::exception&) {
    release(draws_);
    throw;
  }
  release(draws_);
  const int pause = drafted ? 0 : std::min(2 * pause_.load(std::memory_order_relaxed) + 1, kLongestPause);
  pause_.store(pause, std::memory_order_relaxed);
  left_out_.store(pause, std::memory_order_relaxed);
  if (!drafted) return declined();
  if (spares_images(*drafted)) return finished(left(image, *drafted));
  const Output output = output_of(*drafted);
  execute(drafted->draft, drafted->image, output.result.target);
  for (Also& other : drafted->others) {
    other.output = output_of(other.draft, other.image);
    execute(other.draft, other.image, other.output.result.target);
  }
  return finished(delivered(*drafted, output));
}

py::object Recipe::finished(py::object result) const {
  return rest_.is_none() ? std::move(result) : rest_(std::move(result));
}

py::object Recipe::job(py::handle image, py::handle transforms) {
  std::optional<Drafted> drafted;
  begin(image, transforms, drafted);
  if (!drafted) return declined();
  const Draft& draft = drafted->draft;
  const Program program = draft.program();
  const Incoming& incoming = drafted->image;
  if (spares_images(*drafted)) return py::none();
  if (!incoming.leading.empty() || incoming.outline.shape.channels > kMaxChannels || !drafted->others.empty()) {
    return py::none();
  }
  return py::make_tuple(py::bytes(reinterpret_cast<const char*>(program.data()), program.size_bytes()),
                        py::cast(incoming.encoded ? handles_.pixels(incoming) : incoming.source),
                        py::make_tuple(draft.height(), draft.width(), draft.channels()),
                        draft.is_pil() ? py::object(py::str(name_of(draft.mode))) : py::none(),
                        static_cast<int>(dtype_of(draft)), interleaved(draft), draft.flat);
}

int Recipe::traverse(visitproc visit, void* arg) const {
  Py_VISIT(transforms_.ptr());
  const int visited = handles_.traverse(visit, arg);
  return visited != 0 ? visited : guard_.traverse(visit, arg);
}

void Recipe::clear() {
  guard_.clear();
  handles_.clear();
  transforms_ = py::object();
}

bool Recipe::is_own() {
  if (!guard_.holds()) return false;
  // Code that counts or watches runs puts a function in its place.
  const auto run = py::reinterpret_steal<py::object>(PyObject_GetAttr(call_.ptr(), name_of_run_.ptr()));
  return run.is(run_);
}

std::optional<Incoming> Recipe::incoming_of(py::handle image) const {
  const py::handle type = py::type::handle_of(image);
  const bool video = type.is(leaves_.video);
  if (!video && !type.is(leaves_.image)) return as_incoming(image, v2_);
  // A tagged one takes long to answer.
  auto incoming = as_incoming(as_class(py::reinterpret_borrow<py::object>(image), leaves_.tensor), v2_);
  if (incoming) {
    incoming->outline.tagged = true;
    incoming->outline.video = video;
  }
  return incoming;
}

template <class IsOwn>
void Recipe::borrow(py::handle image, std::optional<Sample> sample, std::optional<Drafted>& drafted,
                    const IsOwn& is_own) const {
  // The cheapest check comes first: an image may be declined at each call, and a guard only once.
  auto incoming = sample ? std::nullopt : incoming_of(image);
  if (!incoming && (sample || (sample = sample_of(image)))) {
    image = sample->image(0);
    incoming = incoming_of(image);
  }
  if ((!incoming && !handles_.takes(image)) || !is_own()) return;
  if (!incoming) incoming = handles_.incoming(image);
  if (incoming) begin(std::move(*incoming), std::move(sample), drafted);
}

void Recipe::borrow(py::handle image, std::optional<Sample> sample, std::optional<Drafted>& drafted) const {
  borrow(image, std::move(sample), drafted, [] { return true; });
  if (drafted && !drafted->is_one()) drafted.reset();
}

std::optional<Sample> Recipe::sample_of(py::handle structure) const {
  return v2_ && !handles_.takes(structure) ? Sample::of(structure, leaves_) : std::nullopt;
}

void Recipe::begin(Incoming incoming, std::optional<Sample> sample, std::optional<Drafted>& drafted) const {
  // v2 hands arrays on, and refuses planes without an axis of channels nearly everywhere.
  if (v2_ && (incoming.outline.container == Container::kArray || incoming.outline.flat)) return;
  incoming.outline.pillow = pillow_;
  incoming.outline.v2 = v2_;
  drafted.emplace(std::move(incoming), std::move(sample));
  if (drafted->image.encoded) handles_.begin(drafted->draft, drafted->image);
  if (!drafted->sample) return;
  if (!drafted->sample->joins(drafted->draft, leaves_, takes_labels_) || !begin_others(*drafted)) drafted.reset();
}

bool Recipe::begin_others(Drafted& drafted) const {
  const Outline& first = drafted.image.outline;
  for (size_t k = 1; k < drafted.sample->images(); ++k) {
    const py::handle image = drafted.sample->image(k);
    auto incoming = handles_.is_handle(image) ? handles_.incoming(image) : incoming_of(image);
    // So that all sizes, and with them all draws, stay the same.
    if (!incoming || incoming->outline.container != first.container || incoming->outline.shape != first.shape ||
        incoming->outline.flat) {
      return false;
    }
    incoming->outline.pillow = pillow_;
    incoming->outline.v2 = true;
    Also& other = drafted.others.emplace_back(std::move(*incoming));
    if (other.image.encoded) handles_.begin(other.draft, other.image);
    other.draft.nested = other.draft.many = other.draft.later = true;
  }
  return true;
}

void Recipe::begin(py::handle image, py::handle transforms, std::optional<Drafted>& drafted) {
  if (!transforms.is(transforms_) || is_recording()) return;
  try {
    borrow(image, std::nullopt, drafted, [this] { return is_own(); });
    if (drafted && !(draws_any_ ? draw(*drafted) : draw_nothing(*drafted))) drafted.reset();
  } catch (py::error_already_set& error) {
    // Python comes to the same error, if it is one and not Ctrl-C.
    if (!error.matches(PyExc_Exception)) throw;
    drafted.reset();
  }
}

bool Recipe::draw_nothing(Drafted& drafted) const {
  if (!Stream::plain()) return false;
  Random none;
  draw(drafted, none, {});
  return takes(drafted) || spares_images(drafted);
}

bool Recipe::draw(Drafted& drafted) const {
  Stream* const stream = stream_of(draws_);
  // Keeps earlier draws, which are the caller's.
  if (stream != nullptr) stream->release();
  if (stream == nullptr || !stream->acquire()) return false;
  PythonDraws by_python;
  try {
    draw(drafted, stream->random, stream->form);
  } catch (py::error_already_set&) {
    stream->forget();
    throw;
  }
  const bool taken = takes(drafted) || spares_images(drafted);
  if (!taken) {
    stream->forget();
  } else {
    by_python.keep();
  }
  return taken;
}

void Recipe::draw(Drafted& drafted, Random& random, UniformForm form) const {
  std::optional<GeneratorState> start;
  if (!drafted.others.empty() && random.state() != nullptr) start = *random.state();
  const uint64_t before = random.drawn();
  fastaug::draft(steps_, drafted.draft, random, form, libraries());
  if (!handed_) drafted.draft.choose_order();
  for (Also& other : drafted.others) {
    // The same words give the same draws.
    std::optional<GeneratorState> state = start;
    Random again(state ? &*state : nullptr);
    fastaug::draft(steps_, other.draft, again, form, libraries());
    if (again.drawn() != random.drawn() - before) other.draft.decline(Reason::kNumber);
    if (!handed_) other.draft.choose_order();
  }
  int64_t files = drafted.draft.files;
  for (const Also& other : drafted.others) files += other.draft.files;
  if (files > 0 && takes(drafted)) warn_of_files(files);
}

bool Recipe::takes(const Drafted& drafted) const {
  if (!takes(drafted.draft, drafted.image) || (format_.given && !drafted.is_one())) return false;
  return std::ranges::all_of(drafted.others, [this](const Also& one) { return takes(one.draft, one.image); });
}

bool Recipe::takes(const SampleDraft& draft, const Incoming& image) const {
  if (draft.declined() || draft.container == Container::kArray) return false;
  // A flip is Pillow's or torch's where nothing else is to be done.
  if (draft.ending() != Ending::kJob && !(draft.nested && draft.is_flip())) return false;
  // Of what is not decoded here, the result may be Pillow's image itself.
  if (draft.is_pil() && image.encoded && draft.pixel_ops() == 0) return false;
  if (!format_.given) return true;
  // What has a format is the image that transforms after the last one would find.
  if (!draft.settled()) return false;
  // An order that a tensor came in stays, but for bytes of v1.
  if ((draft.floats || v2_) && draft.channel_last && !format_.channels_last) return false;
  // Of v2, torch puts the channels of a pixel side by side, and says which strides axes of one sample have.
  const Shape& shape = draft.shape;
  if (v2_ && format_.channels_last && std::min({shape.channels, shape.height, shape.width}) == 1) return false;
  return draft.gives_floats() || draft.floats;
}

bool Recipe::spares_images(const Drafted& drafted) const {
  const SampleDraft& draft = drafted.draft;
  // A handle becomes an image, and an array may become another one.
  return draft.spared && !draft.declined() && draft.container != Container::kArray && !format_.given &&
         !drafted.image.encoded && std::ranges::none_of(drafted.others, [](const Also& one) {
           return one.draft.declined() || one.image.encoded;
         });
}

py::object Recipe::left(py::handle image, const Drafted& drafted) const {
  if (!drafted.sample || !drafted.draft.reached) return py::reinterpret_borrow<py::object>(image);
  std::vector<py::object> images;
  for (size_t k = 0; k < drafted.sample->images(); ++k) {
    images.push_back(py::reinterpret_borrow<py::object>(drafted.sample->image(k)));
  }
  return drafted.sample->with(images, drafted.draft, leaves_, rewrites_);
}

DType Recipe::dtype_of(const Draft& draft) const {
  if (!draft.gives_floats() && !draft.floats) return DType::kUint8;
  return format_.dtype.value_or(DType::kFloat32);
}

bool Recipe::interleaved(const Draft& draft) const {
  return format_.given ? format_.channels_last : draft.channel_last;
}

void Recipe::execute(const Draft& draft, const Incoming& image, const Target& target) const {
  if (image.encoded) {
    handles_.with_pixels(image, [&](const Source& source) { execute(draft, source, target); });
  } else if (image.is_one()) {
    execute(draft, image.source, target);
  } else {
    run(draft, image.source.view, image.leading, target, rewrites_);
  }
}

void Recipe::execute(const Draft& draft, const Source& source, const Target& target) const {
  without_gil([&] { fastaug::execute(job_of(draft, source, target), {nullptr, rewrites_}); });
}

Output Recipe::output_of(const Draft& draft, const Incoming& incoming) const {
  if (!draft.is_pil()) return {new_tensor(draft, dtype_of(draft), interleaved(draft), incoming.leading)};
  if (const auto image = new_pil(draft, blank_)) return {*image};
  // Pillow splits large images into blocks.
  const py::tuple size = py::make_tuple(draft.height(), draft.width(), draft.channels());
  const py::tuple memory = allocate_(py::str(name_of(draft.mode)), size);
  return {{memory[0], memory[1].cast<const Sink&>().target}, memory[1]};
}

py::object Recipe::image_of(const Draft& draft, const Incoming& incoming, const Output& output) const {
  py::object image = output.result.object;
  if (draft.is_pil()) {
    if (output.blocks) {
      const py::tuple size = py::make_tuple(draft.height(), draft.width(), draft.channels());
      image = delivered_(image, py::str(name_of(draft.mode)), size);
    }
    keep_info(draft, incoming.info, image);
  } else if (draft.tagged) {
    image = as_class(image, draft.source.video ? leaves_.video : leaves_.image);
  }
  return image;
}

py::object Recipe::delivered(const Drafted& drafted, const Output& output) const {
  const py::object image = image_of(drafted.draft, drafted.image, output);
  if (!drafted.sample) return image;
  std::vector<py::object> images{image};
  for (const Also& other : drafted.others) images.push_back(image_of(other.draft, other.image, other.output));
  return drafted.sample->with(images, drafted.draft, leaves_, rewrites_);
}

Job job_of(const Draft& draft, const Source& source, const Target& target) {
  return {draft.program(), {source.view, source.pixels.get()}, target};
}

namespace {

// The Python type, with Python's own calling convention: pybind11's takes longer than the draws of a call.

struct RecipeObject {
  PyObject_HEAD Recipe* recipe;

  static PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*);
  static void destroy(PyObject* self);
  static int traverse(PyObject* self, visitproc visit, void* arg);
  static int clear(PyObject* self);
};

Recipe& in(PyObject* self) { return *reinterpret_cast<RecipeObject*>(self)->recipe; }

// Set once, when the module is made.
PyTypeObject* type_of_recipes = nullptr;

template <auto method>
PyObject* with_image(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "expected a sample and transforms, got %zd arguments", count);
    return nullptr;
  }
  return guarded([=] { return (in(self).*method)(arguments[0], arguments[1]); });
}

template <auto method>
PyMethodDef method_of(const char* name, const char* signature) {
  PyObject* (*const function)(PyObject*, PyObject* const*, Py_ssize_t) = with_image<method>;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, signature};
}

PyObject* RecipeObject::create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([=] {
    const auto given = py::reinterpret_borrow<py::tuple>(arguments);
    if (given.size() != 5) throw py::type_error("Recipe takes steps, what to watch, call, draws, settings");
    auto recipe = std::make_unique<Recipe>(given[0], given[1], given[2], given[3], given[4]);
    const auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
    if (!object) throw py::error_already_set();
    reinterpret_cast<RecipeObject*>(object.ptr())->recipe = recipe.release();
    return object;
  });
}

void RecipeObject::destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<RecipeObject*>(self)->recipe;
  type->tp_free(self);
  Py_DECREF(type);
}

int RecipeObject::traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const Recipe* const recipe = reinterpret_cast<RecipeObject*>(self)->recipe;
  return recipe == nullptr ? 0 : recipe->traverse(visit, arg);
}

int RecipeObject::clear(PyObject* self) {
  in(self).clear();
  return 0;
}

}  // namespace

Recipe& recipe_of(py::handle object) {
  if (Py_TYPE(object.ptr()) != type_of_recipes) throw py::type_error("expected a Recipe");
  return in(object.ptr());
}

void register_recipe(py::module_& m) {
  static PyMethodDef methods[] = {
      method_of<&Recipe::call>("call", "call(self, sample: typing.Any, transforms: typing.Any) -> typing.Any"),
      method_of<&Recipe::job>("job", "job(self, sample: typing.Any, transforms: typing.Any) -> typing.Any"),
      {"holds", [](PyObject* self, PyObject*) { return PyBool_FromLong(in(self).holds()); }, METH_NOARGS,
       "holds(self) -> bool"},
      {"is_for_batches", [](PyObject* self, PyObject*) { return PyBool_FromLong(in(self).is_for_batches()); },
       METH_NOARGS, "is_for_batches(self) -> bool"},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(RecipeObject::create)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(RecipeObject::destroy)},
                                {Py_tp_traverse, reinterpret_cast<void*>(RecipeObject::traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(RecipeObject::clear)},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"fastaug._C.Recipe", sizeof(RecipeObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC, slots};
  const auto type = py::reinterpret_steal<py::object>(PyType_FromModuleAndSpec(m.ptr(), &spec, nullptr));
  if (!type) throw py::error_already_set();
  m.attr("Recipe") = type;
  type_of_recipes = reinterpret_cast<PyTypeObject*>(type.ptr());
}

}  // namespace fastaug::bind
