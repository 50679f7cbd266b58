// A program: a short list of plain-data ops with every random parameter already drawn. It is what Python writes, what
// the executors read, what pickles and what a GPU gets. See docs/notes/design/program-format.md.
#pragma once

#include <span>
#include <string>

#include "base/image.h"
#include "program/op.h"

namespace fastaug {

const char* name_of(OpId id);

inline Region whole(Shape shape) { return {0, 0, shape.height, shape.width}; }

using Program = std::span<const Op>;

// A WINDOW that shows only pixels of its image.
inline bool is_window_inside(const Op& op, Shape in) {
  return op.id == OpId::WINDOW && op.i[0] >= 0 && op.i[1] >= 0 && op.i[0] + op.i[2] <= in.height &&
         op.i[1] + op.i[3] <= in.width;
}

// The shape after `op` on an image of shape `in`. Throws Error when the operands make no sense for it.
Shape shape_after(const Op& op, Shape in);

// Checks every op against the shape that reaches it; returns the final shape. Throws Error. A program for an image of
// `source` float32 has moves of rows and columns, whose fill is zero, and then NORMALIZE, ERASE, both or neither.
Shape validate(Program program, Shape in, DType source = DType::kUint8);

// True if the result of a program is float.
inline bool gives_floats(Program program, DType source) {
  return source != DType::kUint8 || (!program.empty() && kind_of(program.back().id) == OpKind::kStore);
}

// True if an op is one of those that floats can go through before the store: it moves whole rows and columns.
inline bool moves_floats(OpId id) { return has(id, Trait::kMove) && has(id, Trait::kSeparable); }

// One line per op: "RESIZE 224x224 bilinear".
std::string to_string(Program program);

}  // namespace fastaug
