// The machine's instruction sets as CPUID tells them, beside what the compiler's runtime library says where it is known
// to say the truth: libgcc's does, and zig's says no to everything.
#include <doctest/doctest.h>

#include "kernels/machine.h"

namespace fastaug {
namespace {

TEST_CASE("machine: the scalar kernels run everywhere") { CHECK(machine_has(Isa::kScalar)); }

TEST_CASE("machine: a better set has what the one before it has") {
  constexpr Isa kBetter[] = {Isa::kAvx512Vbmi, Isa::kAvx512, Isa::kAvx2, Isa::kSse4};
  for (int k = 0; k + 1 < 4; ++k)
    if (machine_has(kBetter[k])) CHECK(machine_has(kBetter[k + 1]));
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
TEST_CASE("machine: agrees with libgcc") {
  __builtin_cpu_init();
  const bool sse4 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
                    __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  const bool vbmi = avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                    __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bitalg") &&
                    __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("vaes") &&
                    __builtin_cpu_supports("vpclmulqdq");
  CHECK(machine_has(Isa::kSse4) == sse4);
  CHECK(machine_has(Isa::kAvx2) == avx2);
  CHECK(machine_has(Isa::kAvx512) == avx512);
  CHECK(machine_has(Isa::kAvx512Vbmi) == vbmi);
  CHECK_FALSE(machine_has(Isa::kNeon));
}
#endif

}  // namespace
}  // namespace fastaug
