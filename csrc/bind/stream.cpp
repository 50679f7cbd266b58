#include "bind/stream.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bind/errors.h"
#include "bind/once.h"
#include "bind/without_gil.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

bool is_zero(const py::object& function) {
  return PyLong_AsLong(owned(PyObject_CallNoArgs(function.ptr())).ptr()) == 0;
}

// The functions of torch, looked up once.
struct Torch {
  py::object get_state, set_state, data_ptr;  // names
  py::object float32, default_dtype, function_modes, dispatch_modes;
  // The functions that draw, each with the dictionary that it is looked up in and its name there. The method of tensors
  // is inherited: the dictionary has one only when somebody put it there.
  struct Drawing {
    py::object where, name, function;
  };
  std::array<Drawing, 5> drawing;

  Torch() {
    get_state = owned(PyUnicode_InternFromString("get_state"));
    set_state = owned(PyUnicode_InternFromString("set_state"));
    data_ptr = owned(PyUnicode_InternFromString("data_ptr"));
    const auto torch = py::module_::import("torch");
    const py::object inner = torch.attr("_C");
    float32 = torch.attr("float32");
    default_dtype = torch.attr("get_default_dtype");
    function_modes = py::getattr(inner, "_len_torch_function_stack", py::none());
    dispatch_modes = py::getattr(inner, "_len_torch_dispatch_stack", py::none());
    const py::object functions = torch.attr("__dict__");
    // What the type calls its dictionary is a view; a copy would not change with it.
    const auto* const tensor = reinterpret_cast<PyTypeObject*>(torch.attr("Tensor").ptr());
    const auto methods = py::reinterpret_borrow<py::object>(tensor->tp_dict);
    const std::pair<py::object, const char*> places[] = {{functions, "rand"},
                                                         {functions, "randint"},
                                                         {functions, "randperm"},
                                                         {functions, "multinomial"},
                                                         {methods, "uniform_"}};
    for (size_t i = 0; i < drawing.size(); ++i) {
      const auto& [where, name] = places[i];
      const py::object interned = owned(PyUnicode_InternFromString(name));
      drawing[i] = {where, interned, py::reinterpret_borrow<py::object>(PyDict_GetItem(where.ptr(), interned.ptr()))};
    }
  }

  static const Torch& get() {
    constinit static Once<Torch> torch;
    return torch.get([] { return Torch(); });
  }

  // True if torch.rand(1) and the like would now make plain float32 tensors on the CPU: no other default type, no
  // default device (which is a function mode), no other mode that wants to see calls, and no other functions, as tests
  // put in their places.
  bool plain() const {
    return std::ranges::all_of(drawing,
                               [](const Drawing& one) {
                                 return PyDict_GetItemWithError(one.where.ptr(), one.name.ptr()) == one.function.ptr();
                               }) &&
           !function_modes.is_none() && !dispatch_modes.is_none() && is_zero(function_modes) &&
           is_zero(dispatch_modes) && owned(PyObject_CallNoArgs(default_dtype.ptr())).is(float32);
  }

  py::object state_of(const py::object& generator) const {
    return owned(PyObject_CallMethodNoArgs(generator.ptr(), get_state.ptr()));
  }

  GeneratorState* memory(const py::object& tensor) const {
    const py::object address = owned(PyObject_CallMethodNoArgs(tensor.ptr(), data_ptr.ptr()));
    return static_cast<GeneratorState*>(PyLong_AsVoidPtr(address.ptr()));
  }
};

// True if the core draws what torch draws from the same state, and leaves the same state.
bool agrees(UniformForm form) {
  const Torch& torch = Torch::get();
  const py::object generator = py::module_::import("torch").attr("Generator")();
  generator.attr("manual_seed")(20);
  const py::object state = torch.state_of(generator);
  if (state.attr("numel")().cast<size_t>() != sizeof(GeneratorState) || !torch.memory(state)->valid()) return false;
  Random random(torch.memory(state));
  const py::object draws = py::module_::import("fastaug._draft.draws").attr("TorchDraws")(generator);
  // Half of the draws between 1 and the next float32 are rounded up.
  const std::pair<float, float> ranges[] = {{-0.3f, 0.4f}, {1.0f, 1.0f + 0x1p-23f}, {-25.0f, 25.0f}};
  for (size_t i = 0; i < 256; ++i) {
    const auto [low, high] = ranges[i % std::size(ranges)];
    if (draws.attr("uniform")(low, high).cast<float>() != random.uniform(low, high, form)) return false;
  }
  constexpr int kCount = 5;
  int64_t order[kCount];
  for (int i = 0; i < 256; ++i) {
    if (draws.attr("rand")().cast<float>() != random.rand()) return false;
    const int64_t range = i % 2 != 0 ? Random::kMaxRange - 1 : i + 1;
    if (draws.attr("randint")(-i, range - i).cast<int64_t>() != random.randint(-i, range)) return false;
    random.randperm(order, kCount);
    if (!std::ranges::equal(draws.attr("randperm")(kCount).cast<py::list>(), order, {},
                            [](const py::handle& index) { return index.cast<int64_t>(); })) {
      return false;
    }
  }
  return py::bool_(state.attr("equal")(torch.state_of(generator)));
}

// How this torch rounds; nothing when it does not draw as the core does. To be asked when draws are plain.
std::optional<UniformForm> torch_form() {
  constinit static Once<std::optional<UniformForm>> form;
  return form.get([]() -> std::optional<UniformForm> {
    for (const bool fused : {true, false}) {
      for (const bool half_open : {true, false}) {
        if (agrees({fused, half_open})) return UniformForm{fused, half_open};
      }
    }
    return std::nullopt;
  });
}

bool alone() {
#ifdef Py_GIL_DISABLED
  return false;
#else
  PyThreadState* const first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return first != nullptr && PyThreadState_Next(first) == nullptr;
#endif
}

// Every stream, by its generator.
struct Registry {
  struct Entry {
    Stream* stream;
    std::weak_ptr<Stream> owner;
  };

  std::mutex mutex;  // never held while Python runs
  std::unordered_map<PyObject*, Entry> streams;

  static Registry& get() {
    static auto* const registry = new Registry;  // outlives the last stream
    return *registry;
  }
};

}  // namespace

bool torch_chooses_so() {
  constinit static Once<bool> so;
  return so.get([] {
    const Torch& torch = Torch::get();
    const py::object generator = py::module_::import("torch").attr("Generator")();
    generator.attr("manual_seed")(21);
    const py::object state = torch.state_of(generator);
    Random random(torch.memory(state));
    const py::object draws = py::module_::import("fastaug._draft.draws").attr("TorchDraws")(generator);
    // Some counts are below, and some above the lengths of torch's vectors.
    for (int64_t count = 1; count <= 40; ++count) {
      std::vector<float> weights;
      py::list numbers;
      for (int64_t i = 0; i < count; ++i) {
        weights.push_back(static_cast<float>((i * 7 + count) % 5));
        numbers.append(static_cast<double>(weights.back()));
      }
      weights[0] += 1;
      numbers[0] = static_cast<double>(weights[0]);
      if (draws.attr("choice")(numbers).cast<int64_t>() != random.choice(weights.data(), count)) return false;
    }
    return py::bool_(state.attr("equal")(torch.state_of(generator))).cast<bool>();
  });
}

thread_local Stream* Stream::current = nullptr;

Stream::Mark::Mark(const GeneratorState& state)
    : seed(state.seed), next(state.next), first(state.words[0]), left(state.left), seeded(state.seeded) {
  std::ranges::copy(state.normals, normals);
}

Stream::Stream(py::object generator) : generator_(std::move(generator)) {}

Stream::~Stream() {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.streams.find(generator_.ptr());
  if (found != registry.streams.end() && found->second.stream == this) registry.streams.erase(found);
}

std::shared_ptr<Stream> Stream::of(const py::object& generator) {
  auto made = std::make_shared<Stream>(generator);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  Registry::Entry& entry = registry.streams[generator.ptr()];
  if (auto known = entry.owner.lock()) return known;
  entry = {made.get(), made};
  return made;
}

bool Stream::plain() { return Torch::get().plain(); }

std::optional<UniformForm> Stream::plain_form() { return plain() ? torch_form() : std::nullopt; }

void Stream::look_up_torch() { Torch::get(); }

void Stream::survive_forks() {
  pthread_atfork([] { Registry::get().mutex.lock(); }, [] { Registry::get().mutex.unlock(); },
                 [] {
                   for (auto& [generator, entry] : Registry::get().streams) {
                     // The threads that could unlock it are gone.
                     if (!entry.stream->held()) new (&entry.stream->mutex_) std::mutex;
                   }
                   Registry::get().mutex.unlock();
                 });
}

bool Stream::acquire() {
  const auto rounding = plain_form();
  if (!rounding) return false;
  const Torch& torch = Torch::get();
  // Two threads never wait for what the other holds.
  if (current != nullptr) current->release();
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) without_gil([&] { lock.lock(); });
  alone_ = alone();
  tensor_ = torch.state_of(generator_);
  GeneratorState* const state = torch.memory(tensor_);
  if (!state->valid()) return false;
  random = Random(state);
  form = *rounding;
  mark_ = Mark(*state);
  self_ = shared_from_this();
  current = this;
  lock.release();
  return true;
}

void Stream::release() {
  if (!held()) return;
  struct Last {
    Stream* stream;
    ~Last() { stream->let_go(); }
  } const last{this};
  write_back();
}

void Stream::forget() {
  if (held()) let_go();
}

void Stream::write_back() {
  if (random.drawn() == 0) return;
  const Torch& torch = Torch::get();
  if (!alone_ || !alone()) {
    py::object now = torch.state_of(generator_);
    if (Mark(*torch.memory(now)) != mark_) {
      // Another thread had torch draw from the generator, or seed it: this goes on from there.
      Random(torch.memory(now)).skip(random.drawn());
      tensor_ = std::move(now);
    }
  }
  owned(PyObject_CallMethodOneArg(generator_.ptr(), torch.set_state.ptr(), tensor_.ptr()));
}

void Stream::let_go() {
  const auto self = std::move(self_);
  current = nullptr;
  mutex_.unlock();
}

}  // namespace fastaug::bind
