// The objects that Python gets of drafts.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "base/image.h"
#include "draft/draft.h"

namespace fastaug::bind {

struct Result {
  pybind11::object object;
  Target target;  // in its memory
};

// A new tensor of the draft's size: plane by plane, or a view of pixels whose channels lie side by side.
Result new_tensor(const Draft& draft, DType dtype, bool side_by_side);

// A new PIL image of it, which `blank` makes of a mode, a width and a height. Nothing if it lies in several blocks.
std::optional<Result> new_pil(const Draft& draft, const pybind11::object& blank);

// Gives a PIL image what the draft keeps of the metadata of its source.
void keep_info(const Draft& draft, const pybind11::dict& info, const pybind11::object& image);

}  // namespace fastaug::bind
