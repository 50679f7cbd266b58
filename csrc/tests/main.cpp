// One binary, run once per instruction set: FASTAUG_ISA chooses, and one that this machine lacks counts as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "kernels/kernels.h"

int main(int argc, char** argv) {
  const char* isa = std::getenv("FASTAUG_ISA");
  if (isa != nullptr && *isa != '\0' && fastaug::kernels(isa) == nullptr) {
    std::printf("skipped: this machine has no %s; it has:", isa);
    for (const char* name : fastaug::available_isas()) std::printf(" %s", name);
    std::printf("\n");
    return FASTAUG_SKIP_CODE;
  }
  return doctest::Context(argc, argv).run();
}
