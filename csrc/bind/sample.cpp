#include "bind/sample.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bind/errors.h"
#include "bind/incoming.h"
#include "bind/mask.h"
#include "bind/once.h"
#include "bind/tensors.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

constexpr int kDeepest = 100;

// Attributes of leaves, looked up once.
struct Known {
  py::object attributes = interned("__dict__"), canvas_size = interned("canvas_size"), format = interned("format"),
             clamping_mode = interned("clamping_mode"), lower = interned("lower");
  // In the order of ClampingMode.
  std::array<py::object, 3> clamping_modes{py::none(), interned("soft"), interned("hard")};

  static const Known& known() {
    constinit static Once<Known> names;
    return names.get([] { return Known(); });
  }
};

py::object borrowed(PyObject* object) { return py::reinterpret_borrow<py::object>(object); }

bool is_node(PyObject* object) {
  return PyTuple_CheckExact(object) || PyList_CheckExact(object) || PyDict_CheckExact(object);
}

}  // namespace

std::optional<Sample> Sample::of(py::handle structure, const LeafTypes& types) {
  Sample sample;
  if (!is_node(structure.ptr()) || !sample.copy(structure.ptr(), sample.tree_, types, kDeepest)) return std::nullopt;
  // The first plain tensor is the image, where there is no other.
  if (sample.images_.empty() && !sample.tensors_.empty()) sample.images_.push_back(sample.tensors_.front());
  return sample.images_.empty() ? std::nullopt : std::optional(std::move(sample));
}

bool Sample::copy(PyObject* node, py::object& copied, const LeafTypes& types, int depth) {
  if (depth == 0) return false;
  if (PyDict_CheckExact(node)) {
    copied = owned(PyDict_Copy(node));
    PyObject *key = nullptr, *part = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(copied.ptr(), &at, &key, &part) != 0;) {
      if (!visit({copied.ptr(), 0, borrowed(key), borrowed(part)}, types, depth)) return false;
    }
    return true;
  }
  copied = owned(PySequence_List(node));
  if (PyTuple_CheckExact(node)) copied = owned(PyList_AsTuple(copied.ptr()));
  for (Py_ssize_t k = 0; k < Py_SIZE(copied.ptr()); ++k) {
    if (!visit({copied.ptr(), k, {}, borrowed(PySequence_Fast_GET_ITEM(copied.ptr(), k))}, types, depth)) return false;
  }
  return true;
}

bool Sample::visit(Slot slot, const LeafTypes& types, int depth) {
  PyObject* const leaf = slot.leaf.ptr();
  if (is_node(leaf)) {
    py::object copied;
    if (!copy(leaf, copied, types, depth - 1)) return false;
    slot.put(copied);
    return true;
  }
  const py::handle type = py::type::handle_of(leaf);
  if (types.nodes.contains(type) || PyTuple_Check(leaf)) return false;
  if (type.is(types.pil) || type.is(types.lazy) || type.is(types.image) || type.is(types.video)) {
    later_ = later_ || !tensors_.empty() || !images_.empty();
    images_.push_back(std::move(slot));
  } else if (type.is(types.tensor)) {
    tensors_.push_back(std::move(slot));
  } else if (type.is(types.boxes) || type.is(types.points) || type.is(types.mask)) {
    following_.push_back({std::move(slot)});
  } else {
    return std::ranges::none_of(types.others, [&](py::handle base) {
      return PyType_IsSubtype(Py_TYPE(leaf), reinterpret_cast<PyTypeObject*>(base.ptr())) != 0;
    });
  }
  return true;
}

bool Sample::joins(SampleDraft& draft, const LeafTypes& types, bool with_labels) {
  draft.nested = true;
  draft.later = later_;
  draft.many = images_.size() > 1;
  if (!following_.empty() && is_transforming()) return false;
  if (!following_.empty() && with_labels) labels_ = find_labels();
  if (!labels_.empty()) draft.labels = sides_of(labels_.front().leaf).front();
  const Known& names = Known::known();
  for (Follows& one : following_) {
    const py::object& leaf = one.slot.leaf;
    if (py::type::handle_of(leaf).is(types.mask)) {
      one.plain = as_class(leaf, types.tensor);
      auto outline = outline_of_mask(one.plain);
      // torch says how the planes of a single pixel lie.
      if (!outline || outline->shape.height != draft.height() || outline->shape.width != draft.width() ||
          draft.height() * draft.width() == 1) {
        return false;
      }
      outline->v2 = true;
      // Samples of several bytes are torch's in any arithmetic.
      outline->pillow = draft.source.pillow && samples_of(outline->mask).bytes == 1;
      Following mask{std::make_unique<MaskDraft>(*outline)};
      mask.listed = sides_of(one.plain).size() == 3;
      draft.join(std::move(mask));
      continue;
    }
    const py::dict attributes = get(leaf, names.attributes);
    const bool are_boxes = py::type::handle_of(leaf).is(types.boxes);
    one.plain = as_class(leaf, types.tensor);
    const auto rows = rows_of(one.plain, are_boxes ? 4 : 2);
    if (!rows || !py::object(attributes[names.canvas_size]).equal(py::make_tuple(draft.height(), draft.width()))) {
      return false;
    }
    const Canvas size{draft.height(), draft.width()};
    const bool listed = sides_of(one.plain).size() == 2;
    if (!are_boxes) {
      Following points{Points(*rows, size)};
      points.listed = listed;
      draft.join(std::move(points));
      continue;
    }
    const py::object format = attributes[names.format], mode = attributes[names.clamping_mode];
    const auto found = std::ranges::find_if(types.formats, [&](py::handle known) { return known.is(format); });
    const auto* const clamping =
        std::ranges::find_if(names.clamping_modes, [&](const py::object& known) { return known.equal(mode); });
    if (found == types.formats.end() || clamping == names.clamping_modes.end()) return false;
    Following boxes{Boxes(*rows, static_cast<BoxFormat>(found - types.formats.begin()), size),
                    static_cast<ClampingMode>(clamping - names.clamping_modes.begin())};
    boxes.listed = listed;
    draft.join(std::move(boxes));
  }
  return true;
}

std::vector<Sample::Slot> Sample::find_labels() const {
  PyObject* within = tree_.ptr();
  if (!PyDict_CheckExact(within)) {
    if (Py_SIZE(within) < 2) return {};
    within = PySequence_Fast_GET_ITEM(within, 1);
  }
  if (PyDict_CheckExact(within)) {
    PyObject *key = nullptr, *value = nullptr, *found = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(within, &at, &key, &value) != 0;) {
      if (!PyUnicode_CheckExact(key)) return {};
      const py::object lower = bind::call(key, Known::known().lower);
      const char* const text = PyUnicode_AsUTF8(lower.ptr());
      if (text == nullptr) {
        PyErr_Clear();
        return {};
      }
      const std::string_view name = text;
      if (name == "labels") {
        found = value;
        break;
      }
      if (found == nullptr && name.find("label") != std::string_view::npos) found = value;
    }
    if (found == nullptr) return {};
    within = found;
  }
  const auto is_it = [within](const Slot& slot) { return slot.leaf.ptr() == within; };
  std::vector<Slot> found;
  std::ranges::copy_if(tensors_, std::back_inserter(found), is_it);
  const bool has_rows = !found.empty() && !sides_of(found.front().leaf).empty();
  return has_rows && std::ranges::none_of(images_, is_it) ? found : std::vector<Slot>{};
}

void Sample::Slot::put(const py::object& result) const {
  if (key) {
    if (PyDict_SetItem(node, key.ptr(), result.ptr()) != 0) throw py::error_already_set();
    return;
  }
  PyObject*& item = PySequence_Fast_ITEMS(node)[position];
  Py_DECREF(std::exchange(item, Py_NewRef(result.ptr())));
}

py::object Sample::with(const std::vector<py::object>& images, const SampleDraft& draft, const LeafTypes& types,
                        uint32_t rewrites) const {
  for (size_t k = 0; k < images.size(); ++k) images_[k].put(images[k]);
  const Known& names = Known::known();
  const auto& sanitized = draft.sanitized();
  if (sanitized && sanitized->labels) {
    for (const Slot& slot : labels_) slot.put(rows_kept(slot.leaf, sanitized->kept));
  }
  for (size_t k = 0; k < following_.size(); ++k) {
    const Following& follower = draft.following()[k];
    const Slot& slot = following_[k].slot;
    const py::object& plain = following_[k].plain;
    const auto* const mask = std::get_if<std::unique_ptr<MaskDraft>>(&follower.leaf);
    const auto* const boxes = std::get_if<Boxes>(&follower.leaf);
    const bool sifted = mask != nullptr && sanitized && sanitized->masks && follower.listed &&
                        sides_of(plain).front() == std::ssize(sanitized->kept);
    if (!follower.touched && !draft.pure && !sifted) continue;
    py::object result = plain;
    if (mask != nullptr) {
      result = result_of(**mask, plain, rewrites);
      const std::string& dtype = (*mask)->dtype;
      if (!dtype.empty()) result = result.attr("to")(py::module_::import("torch").attr(dtype.c_str()));
      if (sifted) result = rows_kept(result, sanitized->kept);
    } else if (follower.moved) {
      std::vector<int64_t> sides = sides_of(plain);
      const auto write = [&](const auto& places) {
        if (follower.listed) sides.front() = places.count();
        result = empty_like(plain, sides);
        places.write(address_of(result));
      };
      boxes != nullptr ? write(*boxes) : write(std::get<Points>(follower.leaf));
    }
    if (!draft.pure) result = as_class(result, py::type::handle_of(slot.leaf));
    if (!draft.pure && mask == nullptr) {
      const py::dict own = get(result, names.attributes);
      if (boxes != nullptr) {
        own[names.format] = types.formats[static_cast<size_t>(boxes->format())];
        own[names.clamping_mode] = names.clamping_modes[static_cast<size_t>(follower.clamping)];
      }
      own[names.canvas_size] = py::make_tuple(draft.height(), draft.width());
    }
    slot.put(result);
  }
  return tree_;
}

}  // namespace fastaug::bind
