// One filter instead of several (kComposeTaps): a run of resizes, crops, paddings and flips maps each axis linearly,
// and a product of linear maps is one. Its taps are the product of the matrices of Pillow's taps, taken in float64; the
// samples between the steps, and their rounding, are never made.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/kernels.h"
#include "plan/rewrite.h"
#include "plan/tap_cache.h"
#include "program/program.h"

namespace fastaug {

// True for an op that composes: RESIZE, or a TORCH_RESIZE that does not enlarge, by a filter without negative weights;
// NEAREST, PAD, a flip, and a WINDOW that shows only its image or fills with zeros.
bool is_separable(const Op& op, Shape in);

// Where the longest run from `begin` ends that is worth composing: at least two ops, such a resize among them, and not
// more work as one filter than one by one. `begin` if there is none. `in` enters the op at `begin`.
size_t separable_end(const OpList& ops, size_t begin, Shape in);

// Taps for outputs [begin, begin + out) of one axis of the run `ops`, of columns if `row` and else of rows, from this
// thread's cache. Their weights are short (Taps::bits), and such that flat areas stay flat; over a pass that moves a
// result by less than 0.02 where weights are those of a bilinear filter. An output that shows nothing of the image has
// one tap of weight zero.
std::shared_ptr<const AxisTable> composed_axis_table(const Kernels& kernels, bool row, std::span<const Step> ops,
                                                     Shape in, int begin, int out);

// Which pass should go first: the order makes no difference but in rounding.
bool composed_height_first(const AxisTable& vertical, const AxisTable& horizontal);

}  // namespace fastaug
