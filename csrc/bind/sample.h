// Samples of transforms of v2: an image among masks, boxes, points and what stays as it is, in tuples, lists and
// dictionaries.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "draft/sample.h"

namespace fastaug::bind {

// The classes of leaves, as fastaug.transforms.v2._recipe has them: those of images, encoded ones, videos, tensors,
// places and masks exactly; members of boxes' format; a dictionary of classes that have leaves; bases of what is
// Python's to do.
struct LeafTypes {
  pybind11::object pil, lazy, image, video, tensor, boxes, points, mask;
  pybind11::tuple formats;
  pybind11::dict nodes;
  pybind11::tuple others;
};

// A copy of a sample's tree, whose images and what follows the first one are to be replaced by results.
class Sample {
 public:
  // Nothing of a sample with other leaves that may change, or without an image.
  static std::optional<Sample> of(pybind11::handle structure, const LeafTypes& types);

  size_t images() const { return images_.size(); }
  pybind11::handle image(size_t k) const { return images_[k].leaf; }
  // Has the draft of the image followed, with labels where they are looked for. False where what follows is Python's.
  bool joins(SampleDraft& draft, const LeafTypes& types, bool with_labels);
  // The tree with these results, one for each image, for which it runs the programs of masks.
  pybind11::object with(const std::vector<pybind11::object>& images, const SampleDraft& draft, const LeafTypes& types,
                        uint32_t rewrites) const;

 private:
  // The place of a leaf in a tuple or list, or that of a key of a dictionary.
  struct Slot {
    PyObject* node;
    Py_ssize_t position;
    pybind11::object key, leaf;

    void put(const pybind11::object& result) const;
  };
  struct Follows {
    Slot slot;
    pybind11::object plain{};  // a tensor
  };

  // All places of the tensor of labels, as v2 looks for it in a sample.
  std::vector<Slot> find_labels() const;
  bool copy(PyObject* node, pybind11::object& copied, const LeafTypes& types, int depth);
  bool visit(Slot slot, const LeafTypes& types, int depth);

  pybind11::object tree_;
  std::vector<Slot> images_;
  std::vector<Slot> tensors_;  // plain ones
  std::vector<Slot> labels_;
  std::vector<Follows> following_;
  bool later_ = false;  // a plain tensor, or another image, comes before an image
};

}  // namespace fastaug::bind
