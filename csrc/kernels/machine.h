// Which instruction sets this machine can run. Private to csrc/kernels.
#pragma once

#include "kernels/table.h"

namespace fastaug {

// True where everything that the compiler may use in code for the instruction set is there, and the operating system
// keeps the registers that it needs. What was built is another question.
bool machine_has(Isa isa);

}  // namespace fastaug
