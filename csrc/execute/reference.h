// The oracle of execution: it runs a program op by op on whole images with plain loops, without rewrites and streaming,
// and is slow on purpose. Every optimised run must give its bits. It shares the arithmetic of csrc/pixel, the taps and
// the scalar kernels with what it judges; those are judged by the answers of Pillow and torchvision in tests/tables.
#pragma once

#include "base/image.h"
#include "program/program.h"

namespace fastaug {

void execute_reference(Program program, const View& source, const Target& target);

}  // namespace fastaug
