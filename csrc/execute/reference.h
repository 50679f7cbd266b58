// The oracle: runs a program op by op on whole images with plain loops, no rewrites, no streaming. Slow on purpose.
// Every optimised run must give its bits.
#pragma once

#include "base/image.h"
#include "program/program.h"

namespace fastaug {

void execute_reference(Program program, const View& source, const Target& target);

}  // namespace fastaug
