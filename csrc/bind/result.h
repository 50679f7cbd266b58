// The objects that Python gets of drafts.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "base/image.h"
#include "bind/incoming.h"
#include "draft/draft.h"

namespace fastaug::bind {

struct Result {
  pybind11::object object;
  Target target;  // in its memory: the first image, with all of its channels
};

// A new tensor of the draft's size and these leading dimensions: plane by plane, or a view of pixels whose channels lie
// side by side.
Result new_tensor(const Draft& draft, DType dtype, bool side_by_side, const std::vector<Leading>& leading = {});

// Runs a draft's ops on each image and every four of its channels, without Python's lock. The target is that of
// `new_tensor`.
void run(const Draft& draft, const View& first, const std::vector<Leading>& leading, const Target& target,
         uint32_t rewrites);

// A new PIL image of it, which `blank` makes of a mode, a width and a height. Nothing if it lies in several blocks.
std::optional<Result> new_pil(const Draft& draft, const pybind11::object& blank);

// Gives a PIL image what the draft keeps of the metadata of its source, which may be None.
void keep_info(const Draft& draft, const pybind11::object& info, const pybind11::object& image);

}  // namespace fastaug::bind
