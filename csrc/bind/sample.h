// Samples of transforms of v2: an image among masks, boxes, points and what stays as it is, in tuples, lists and
// dictionaries.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "draft/sample.h"

namespace fastaug::bind {

// The classes of leaves, as fastaug.transforms.v2._recipe has them: those of images, tensors, places and masks exactly;
// members of boxes' format; a dictionary of classes that have leaves; bases of what is Python's to do.
struct LeafTypes {
  pybind11::object pil, image, tensor, boxes, points, mask;
  pybind11::tuple formats;
  pybind11::dict nodes;
  pybind11::tuple others;
};

// A copy of a sample's tree, whose image and what follows it are to be replaced by results.
class Sample {
 public:
  // Nothing of a sample with other leaves that may change, or without one image.
  static std::optional<Sample> of(pybind11::handle structure, const LeafTypes& types);

  pybind11::handle image() const { return image_.leaf; }
  // Has the draft of the image followed. False where what follows is Python's.
  bool joins(SampleDraft& draft, const LeafTypes& types);
  // The tree with these results, for which it runs the programs of masks.
  pybind11::object with(const pybind11::object& image, const SampleDraft& draft, uint32_t rewrites) const;

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
    pybind11::object plain{};     // a tensor
    pybind11::dict attributes{};  // of the result
  };

  bool copy(PyObject* node, pybind11::object& copied, const LeafTypes& types, int depth);
  bool visit(Slot slot, const LeafTypes& types, int depth);

  pybind11::object tree_;
  Slot image_;
  std::vector<Follows> following_;
  int images_ = 0, tensors_ = 0;
  bool later_ = false;  // a plain tensor comes before the image
};

}  // namespace fastaug::bind
