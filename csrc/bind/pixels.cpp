#include "bind/pixels.h"

#include <cstdlib>
#include <new>

#include "bind/arrow.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

constexpr size_t kAlign = 64;

// Everything one exported array or schema points to. The parent owns its child.
struct ArrayState {
  std::shared_ptr<uint8_t> data;
  const void* buffers[2] = {nullptr, nullptr};
  const void* child_buffers[2] = {nullptr, nullptr};
  ArrowArray child{};
  ArrowArray* children[1] = {&child};
};

struct SchemaState {
  ArrowSchema child{};
  ArrowSchema* children[1] = {&child};
};

void release_child_array(ArrowArray* array) { array->release = nullptr; }
void release_child_schema(ArrowSchema* schema) { schema->release = nullptr; }

void release_array(ArrowArray* array) {
  auto* state = static_cast<ArrayState*>(array->private_data);
  if (state->child.release != nullptr) state->child.release(&state->child);
  delete state;
  array->release = nullptr;
}

void release_schema(ArrowSchema* schema) {
  auto* state = static_cast<SchemaState*>(schema->private_data);
  if (state->child.release != nullptr) state->child.release(&state->child);
  delete state;
  schema->release = nullptr;
}

template <class T>
py::object capsule(T* object, const char* name) {
  PyObject* result = PyCapsule_New(object, name, [](PyObject* self) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (result == nullptr) {
    object->release(object);
    delete object;
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(result);
}

}  // namespace

Pixels::Pixels(int height, int width, int channels) : height_(height), width_(width), channels_(channels) {
  const size_t bytes = static_cast<size_t>(height) * static_cast<size_t>(width) * (channels == 1 ? 1 : 4);
  void* data = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (data == nullptr) throw std::bad_alloc();
  data_.reset(static_cast<uint8_t*>(data), [](uint8_t* p) { std::free(p); });
}

Target Pixels::target() const {
  const int bytes = channels_ == 1 ? 1 : 4;
  return {data_.get(), DType::kUint8, height_, width_, channels_ == 2 ? 4 : channels_, ptrdiff_t{width_} * bytes, bytes, 1,
          true};
}

py::tuple Pixels::arrow_c_array() const {
  const int64_t pixels = int64_t{height_} * width_;
  auto schema_state = std::make_unique<SchemaState>();
  auto array_state = std::make_unique<ArrayState>();
  auto schema = std::make_unique<ArrowSchema>();
  auto array = std::make_unique<ArrowArray>();
  *schema = {"C", "", nullptr, 0, 0, nullptr, nullptr, release_schema, schema_state.get()};
  array_state->data = data_;
  array_state->buffers[1] = data_.get();
  *array = {pixels, 0, 0, 2, 0, array_state->buffers, nullptr, nullptr, release_array, array_state.get()};
  if (channels_ > 1) {
    schema_state->child = {"C", "pixel", nullptr, 0, 0, nullptr, nullptr, release_child_schema, nullptr};
    schema->format = "+w:4";
    schema->n_children = 1;
    schema->children = schema_state->children;
    array_state->child_buffers[1] = data_.get();
    array_state->child = {pixels * 4, 0, 0, 2, 0, array_state->child_buffers, nullptr, nullptr, release_child_array, nullptr};
    array_state->buffers[1] = nullptr;
    array->n_buffers = 1;
    array->n_children = 1;
    array->children = array_state->children;
  }
  schema_state.release();
  array_state.release();
  py::object schema_capsule = capsule(schema.release(), "arrow_schema");
  return py::make_tuple(schema_capsule, capsule(array.release(), "arrow_array"));
}

void register_pixels(py::module_& m) {
  py::class_<Pixels>(m, "Pixels", py::is_final())
      .def_property_readonly("height", &Pixels::height)
      .def_property_readonly("width", &Pixels::width)
      .def_property_readonly("channels", &Pixels::channels)
      .def("__arrow_c_array__", [](const Pixels& self, const py::object&) { return self.arrow_c_array(); },
           py::arg("requested_schema") = py::none());
}

}  // namespace fastaug::bind
