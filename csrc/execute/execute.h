// The streaming executor. It optimises a program, splits it at the ops that need a whole image (an affine map's input,
// the mean of a contrast, a quarter turn), and streams rows through each part: source -> geometry -> pointwise ->
// store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/image.h"
#include "base/pixel_source.h"
#include "kernels/kernels.h"
#include "plan/rewrite.h"
#include "program/program.h"

namespace fastaug {

// One pass over pixels: what it makes of which ops, and what that cost.
struct Pass {
  std::string name;        // "resample columns"
  std::string detail;      // "bilinear, 887 to 512, 4 taps"
  uint64_t origin = 0;     // the ops it does, bit k for op k of the program as it was written
  int part = 0;            // passes of one part go row by row together; between parts whole images are kept
  Shape out;               // what it computes: the region that is needed, not the whole image
  int64_t bytes_read = 0;  // of whole images: the source, and what other parts left in memory
  int64_t bytes_written = 0;
  double seconds = 0.0;  // its own, without what it asks of passes before it; 0 in a plan
};

struct ExecuteOptions {
  const Kernels* kernels = nullptr;  // nullptr: those of this machine
  uint32_t rewrites = kExactRewrites;
  std::vector<Pass>* passes = nullptr;  // where to put what was done and how long it took; slows the run down a little
};

// Runs `program` on `source` into `target`, which must have the shape and dtype of the result (a 4-channel uint8 target
// takes a 2-channel result as Pillow's LA: L, L, L, A; a program that ends in a store op takes any float dtype). Throws
// Error; the target's pixels are then unspecified. Runs on the calling thread. Reentrant.
void execute(Program program, const View& source, const Target& target, const ExecuteOptions& options = {});

// The same for pixels that are yet to be made: as many as the program needs.
void execute(Program program, PixelSource& source, const Target& target, const ExecuteOptions& options = {});

// What execute() would do on an image of this shape, where source and target keep pixels alike. Touches no pixels.
std::vector<Pass> plan(Program program, Shape shape, uint32_t rewrites = kExactRewrites);
std::vector<Pass> plan(Program program, PixelSource& source, uint32_t rewrites = kExactRewrites);

// Throws Error when `target` is not where a result of `shape` goes.
void check_target(const Target& target, Shape shape, bool stored);

}  // namespace fastaug
