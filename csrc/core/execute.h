// The streaming executor. It optimises a program, splits it at the ops that need a whole image (an affine map's input,
// the mean of a contrast, a quarter turn), and streams rows through each part: source -> geometry -> pointwise ->
// store.
#pragma once

#include <cstdint>
#include <string>

#include "core/image.h"
#include "core/optimise.h"
#include "core/program.h"
#include "simd/kernels.h"

namespace fastaug {

struct ExecuteOptions {
  const Kernels* kernels = nullptr;  // nullptr: those of this machine
  uint32_t rewrites = kAllRewrites;
};

// Runs `program` on `source` into `target`, which must have the shape and dtype of the result (a 4-channel uint8 target
// takes a 2-channel result as Pillow's LA: L, L, L, A). Throws Error; the target's pixels are then unspecified.
// Runs on the calling thread. Reentrant.
void execute(Program program, const View& source, const Target& target, const ExecuteOptions& options = {});

// What execute() would do on an image of this shape, one line per pass. Touches no pixels.
std::string explain(Program program, Shape shape, uint32_t rewrites = kAllRewrites);

// Throws Error when `target` is not where a result of `shape` goes.
void check_target(const Target& target, Shape shape, bool float32);

}  // namespace fastaug
