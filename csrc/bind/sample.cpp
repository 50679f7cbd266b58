#include "bind/sample.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "bind/errors.h"
#include "bind/incoming.h"
#include "bind/mask.h"

namespace py = pybind11;
using py::literals::operator""_a;

namespace fastaug::bind {
namespace {

constexpr int kDeepest = 100;

// In the order of ClampingMode. The first one is None.
constexpr std::string_view kClampingModes[] = {"", "soft", "hard"};

py::object borrowed(PyObject* object) { return py::reinterpret_borrow<py::object>(object); }

bool is_node(PyObject* object) {
  return PyTuple_CheckExact(object) || PyList_CheckExact(object) || PyDict_CheckExact(object);
}

// The numbers of a plain tensor, `columns` in a row. Those of more or fewer dimensions than two have no gaps.
std::optional<CoordinateRows> rows_of(const py::object& tensor, int64_t columns) {
  static constexpr std::pair<const char*, CoordinateType> kTypes[] = {{"torch.float32", CoordinateType::kFloat32},
                                                                      {"torch.float64", CoordinateType::kFloat64},
                                                                      {"torch.int64", CoordinateType::kInt64}};
  const std::string dtype = py::repr(tensor.attr("dtype"));
  const auto* const type = std::ranges::find_if(kTypes, [&](const auto& one) { return one.first == dtype; });
  const auto shape = tensor.attr("shape").cast<std::vector<int64_t>>();
  if (type == std::end(kTypes) || shape.empty() || shape.back() != columns || !tensor.attr("is_cpu").cast<bool>() ||
      tensor.attr("requires_grad").cast<bool>() || tensor.attr("is_neg")().cast<bool>() ||
      (shape.size() != 2 && !tensor.attr("is_contiguous")().cast<bool>())) {
    return std::nullopt;
  }
  // An error, of a tensor that is not strided.
  const auto stride = tensor.attr("stride")().cast<std::vector<int64_t>>();
  const int64_t count = std::accumulate(shape.begin(), shape.end() - 1, int64_t{1}, std::multiplies());
  return CoordinateRows{address_of(tensor), type->second, count, shape.size() == 2 ? stride[0] : columns,
                        stride.back()};
}

int rank_of(const py::object& tensor) { return tensor.attr("ndim").cast<int>(); }

int64_t rows_in(const py::object& tensor) { return tensor.attr("shape").cast<std::vector<int64_t>>().front(); }

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

bool Sample::joins(SampleDraft& draft, const LeafTypes& types) {
  draft.nested = true;
  draft.later = later_;
  draft.many = images_.size() > 1;
  if (!following_.empty() && is_transforming()) return false;
  if (!following_.empty()) labels_ = find_labels();
  if (!labels_.empty()) draft.labels = rows_in(labels_.front().leaf);
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
      mask.listed = rank_of(one.plain) == 3;
      draft.join(std::move(mask));
      continue;
    }
    const py::dict attributes = leaf.attr("__dict__");
    const bool are_boxes = py::type::handle_of(leaf).is(types.boxes);
    one.plain = as_class(leaf, types.tensor);
    const auto rows = rows_of(one.plain, are_boxes ? 4 : 2);
    if (!rows || !py::object(attributes["canvas_size"]).equal(py::make_tuple(draft.height(), draft.width())))
      return false;
    const Canvas size{draft.height(), draft.width()};
    const bool listed = rank_of(one.plain) == 2;
    if (!are_boxes) {
      Following points{Points(*rows, size)};
      points.listed = listed;
      draft.join(std::move(points));
      continue;
    }
    const py::object format = attributes["format"], mode = attributes["clamping_mode"];
    const auto found = std::ranges::find_if(types.formats, [&](py::handle known) { return known.is(format); });
    const std::string name = mode.is_none() ? "" : py::str(mode);
    const auto* const clamping = std::ranges::find(kClampingModes, name);
    if (found == types.formats.end() || clamping == std::end(kClampingModes)) return false;
    Following boxes{Boxes(*rows, static_cast<BoxFormat>(found - types.formats.begin()), size),
                    static_cast<ClampingMode>(clamping - kClampingModes)};
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
      const py::object lower = py::handle(key).attr("lower")();
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
  const bool has_rows = !found.empty() && rank_of(found.front().leaf) > 0;
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
  py::object kept;
  int64_t rows = 0;
  bool sifts_masks = false;
  if (const auto& sanitized = draft.sanitized()) {
    const auto torch = py::module_::import("torch");
    rows = std::ssize(sanitized->kept);
    sifts_masks = sanitized->masks;
    kept = torch.attr("empty")(rows, "dtype"_a = torch.attr("bool"), "device"_a = "cpu");
    std::ranges::copy(sanitized->kept, static_cast<uint8_t*>(address_of(kept)));
    if (sanitized->labels) {
      for (const Slot& slot : labels_) slot.put(slot.leaf[kept]);
    }
  }
  for (size_t k = 0; k < following_.size(); ++k) {
    const Following& follower = draft.following()[k];
    const auto& [slot, plain] = following_[k];
    const auto* const mask = std::get_if<std::unique_ptr<MaskDraft>>(&follower.leaf);
    const auto* const boxes = std::get_if<Boxes>(&follower.leaf);
    const bool sifted = mask != nullptr && sifts_masks && follower.listed && rows_in(plain) == rows;
    if (!follower.touched && !draft.pure && !sifted) continue;
    py::object result = plain;
    if (mask != nullptr) {
      result = result_of(**mask, plain, rewrites);
      const std::string& dtype = (*mask)->dtype;
      if (!dtype.empty()) result = result.attr("to")(py::module_::import("torch").attr(dtype.c_str()));
      if (sifted) result = result[kept];
    } else if (follower.moved) {
      py::list sides(plain.attr("shape"));
      const auto write = [&](const auto& places) {
        if (follower.listed) sides[0] = places.count();
        result = plain.attr("new_empty")(sides);
        places.write(address_of(result));
      };
      boxes != nullptr ? write(*boxes) : write(std::get<Points>(follower.leaf));
    }
    if (!draft.pure) result = as_class(result, py::type::handle_of(slot.leaf));
    if (!draft.pure && mask == nullptr) {
      const py::dict own = result.attr("__dict__");
      if (boxes != nullptr) {
        const std::string_view mode = kClampingModes[static_cast<size_t>(follower.clamping)];
        own["format"] = types.formats[static_cast<size_t>(boxes->format())];
        own["clamping_mode"] = mode.empty() ? py::object(py::none()) : py::str(mode);
      }
      own["canvas_size"] = py::make_tuple(draft.height(), draft.width());
    }
    slot.put(result);
  }
  return tree_;
}

}  // namespace fastaug::bind
