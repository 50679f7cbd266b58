// The streaming executor. It runs a plan: rows go from pass to pass, source -> geometry -> pointwise -> store, and
// whole images are kept only where the plan says so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/image.h"
#include "base/pixel_source.h"
#include "kernels/kernels.h"
#include "plan/plan.h"
#include "program/program.h"

namespace fastaug {

// An image in memory, or one that is yet to be made: then `pixels` makes it, and `view` is its layout.
struct Input {
  View view;
  PixelSource* pixels = nullptr;
};

// A program, the image that it runs on, and where the result goes. The memory is the caller's.
struct Job {
  Program program;
  Input source;
  Target target;
};

struct ExecuteOptions {
  const Kernels* kernels = nullptr;  // nullptr: those of this machine
  uint32_t rewrites = kExactRewrites;
};

// What was done for a job, and the seconds that each pass of the plan took by itself, without what it asks of the
// passes before it. To measure slows a run down a little.
struct Report {
  Plan plan;
  std::vector<double> seconds;
};

// Runs a plan that was made for this source and target with these kernels. Throws Error; the target's pixels are then
// unspecified. Runs on the calling thread. Reentrant. `seconds` may be null.
void execute(const Plan& plan, const Input& source, const Target& target, const Kernels& kernels,
             std::vector<double>* seconds = nullptr);

// Plans and runs. The target must have the shape and dtype of the program's result (a 4-channel uint8 target takes a
// 2-channel result as Pillow's LA: L, L, L, A; a program that ends in a store op takes any float dtype). `report` may
// be null.
void execute(const Job& job, const ExecuteOptions& options = {}, Report* report = nullptr);

}  // namespace fastaug
