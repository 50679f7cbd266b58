// Whole calls of pipelines, from the image that comes in to the one that goes out.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "bind/guard.h"
#include "bind/handles.h"
#include "bind/incoming.h"
#include "bind/result.h"
#include "bind/sample.h"
#include "bind/tensors.h"
#include "draft/recipe.h"
#include "execute/execute.h"

namespace fastaug::bind {

// A result that is still to be made.
struct Output {
  Result result{};
  pybind11::object blocks{};  // of the target's memory, which is no image yet where Pillow splits it
};

// An image of a sample after the first one, and its draft.
struct Also {
  explicit Also(Incoming incoming) : image(std::move(incoming)), draft(image.outline) {}

  Incoming image;
  SampleDraft draft;
  Output output{};
};

// A draft of an image that is to be drawn for, and the sample that it is from, if that is more than the image.
struct Drafted {
  Drafted(Incoming incoming, std::optional<Sample> from)
      : image(std::move(incoming)), sample(std::move(from)), draft(image.outline) {}
  Drafted(const Drafted&) = delete;
  Drafted& operator=(const Drafted&) = delete;

  // True of what one job does, but for masks.
  bool is_one() const { return image.is_one() && others.empty(); }

  Incoming image;
  std::optional<Sample> sample;
  SampleDraft draft;
  std::list<Also> others{};  // in which the same is done to each as to the first; no memory where there are none
};

// The job of a draft.
Job job_of(const Draft& draft, const Source& source, const Target& target);

class Recipe {
 public:
  Recipe(const pybind11::tuple& described, const pybind11::tuple& watched, pybind11::object call,
         pybind11::object draws, const pybind11::dict& settings);

  // True if it still does what the pipeline would do.
  bool holds() { return guard_.holds(); }

  // What a call makes of an image, or of a sample with one; NotImplemented, with nothing drawn, where that is Python's
  // to do. After several of these in a row it is said of the next calls unasked, since to find it out may take as long
  // as the draws.
  pybind11::object call(pybind11::handle image, pybind11::handle transforms);

  // The job that the call would run, as (program, source, (height, width, channels), mode of a PIL image or None,
  // number of the dtype, interleaved, flat), or None where there are several; the caller releases the generator.
  pybind11::object job(pybind11::handle image, pybind11::handle transforms);

  // False if batches must not draw by it: after each image Python does the rest, or it draws itself.
  bool is_for_batches() const { return rest_.is_none() && !by_python_; }

  // The parts of a call, for batches. False if `transforms` are not the pipeline's, or a call would be Python's.
  bool takes(pybind11::handle transforms) {
    return transforms.is(transforms_) && is_for_batches() && !is_recording() && is_own();
  }
  // Begins a draft of an image, or of the sample that it is; nothing where that is Python's to do, or takes several
  // jobs. Errors are Python's.
  void borrow(pybind11::handle image, std::optional<Sample> sample, std::optional<Drafted>& drafted) const;
  void begin(Incoming incoming, std::optional<Sample> sample, std::optional<Drafted>& drafted) const;
  // Nothing of an image that is no sample, and where samples are Python's.
  std::optional<Sample> sample_of(pybind11::handle structure) const;
  bool draws_any() const { return draws_any_; }
  void draw(Drafted& drafted, Random& random, UniformForm form) const;
  bool takes(const Drafted& drafted) const;
  DType dtype_of(const Draft& draft) const;
  bool interleaved(const Draft& draft) const;
  Output output_of(const Drafted& drafted) const { return output_of(drafted.draft, drafted.image); }
  // Of a draft of what one job does.
  void execute(const Draft& draft, const Source& source, const Target& target) const;
  pybind11::object delivered(const Drafted& drafted, const Output& output) const;
  const Handles& handles() const { return handles_; }
  uint32_t rewrites() const { return rewrites_; }

  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  // The form of a result, if it is given.
  struct Format {
    std::optional<DType> dtype;
    bool given = false;
    bool channels_last = false;
  };

  static constexpr int kLongestPause = 255;

  bool is_own();
  void execute(const Draft& draft, const Incoming& image, const Target& target) const;
  std::optional<Incoming> incoming_of(pybind11::handle image) const;
  // Begins the drafts of the images of a sample after the first one. False where one is Python's.
  bool begin_others(Drafted& drafted) const;
  Output output_of(const Draft& draft, const Incoming& image) const;
  bool takes(const SampleDraft& draft, const Incoming& image) const;
  // True if the images are those of the result, too.
  bool spares_images(const Drafted& drafted) const;
  // The result of a call whose images are spared.
  pybind11::object left(pybind11::handle image, const Drafted& drafted) const;
  // That of all transforms.
  pybind11::object finished(pybind11::object result) const;
  pybind11::object image_of(const Draft& draft, const Incoming& image, const Output& output) const;
  // The ops for an image, with the generator where a call has it; or nothing, and the generator as it was.
  void begin(pybind11::handle image, pybind11::handle transforms, std::optional<Drafted>& drafted);
  template <class IsOwn>
  void borrow(pybind11::handle image, std::optional<Sample> sample, std::optional<Drafted>& drafted,
              const IsOwn& is_own) const;
  // False, and nothing drawn, where the image is Python's after all.
  bool draw(Drafted& drafted) const;
  bool draw_nothing(Drafted& drafted) const;

  Steps steps_;
  bool draws_any_, by_python_, takes_labels_;
  Guard guard_;
  pybind11::object transforms_, call_, draws_;
  Handles handles_;
  pybind11::object run_, blank_, allocate_, delivered_, rest_, name_of_run_;
  LeafTypes leaves_;
  uint32_t rewrites_;
  bool pillow_, v2_;
  bool handed_;  // to user code, which gets samples in torchvision's order
  Format format_;
  std::atomic<int> pause_ = 0, left_out_ = 0;  // calls: threads may lose count of some
};

// That of a Python object. Throws Error for any other object.
Recipe& recipe_of(pybind11::handle object);

void register_recipe(pybind11::module_& m);

}  // namespace fastaug::bind
