#include "kernels/machine.h"

#include <cstdint>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fastaug {
#if defined(__x86_64__)
namespace {

// CPUID and XGETBV by hand, since __builtin_cpu_supports asks the compiler's runtime library, and the one that zig
// links says no to everything.
struct Features {
  uint32_t one_c = 0;    // leaf 1, ECX
  uint32_t seven_b = 0;  // leaf 7, EBX
  uint32_t seven_c = 0;  // leaf 7, ECX
  uint32_t kept = 0;     // registers that the operating system keeps: the low half of XCR0
};

constexpr uint32_t bits(std::initializer_list<int> places) {
  uint32_t mask = 0;
  for (const int place : places) mask |= uint32_t{1} << place;
  return mask;
}

constexpr bool all(uint32_t word, uint32_t mask) { return (word & mask) == mask; }

Features read_features() {
  Features features;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return features;
  features.one_c = c;
  constexpr uint32_t kOsxsave = bits({27});  // without it XGETBV does not exist
  if (all(c, kOsxsave)) {
    uint32_t high = 0;
    __asm__("xgetbv" : "=a"(features.kept), "=d"(high) : "c"(0));
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    features.seven_b = b;
    features.seven_c = c;
  }
  return features;
}

// The places of the bits: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID; of the
// registers, volume 1, 13.1. What a set needs: hwy/ops/set_macros-inl.h, HWY_TARGET_STR.
bool has(Isa isa, const Features& f) {
  constexpr uint32_t kSse4 = bits({9, 19, 20, 23});            // SSSE3, SSE4.1, SSE4.2, POPCNT
  constexpr uint32_t kAvx = bits({12, 28, 29});                // FMA, AVX, F16C
  constexpr uint32_t kAvx2 = bits({3, 5, 8});                  // BMI1, AVX2, BMI2
  constexpr uint32_t kYmm = bits({1, 2});                      // XMM, upper halves of YMM
  constexpr uint32_t kAvx512 = bits({16, 17, 28, 30, 31});     // F, DQ, CD, BW, VL
  constexpr uint32_t kZmm = bits({5, 6, 7});                   // masks, upper halves of ZMM, ZMM16 to ZMM31
  constexpr uint32_t kVbmi = bits({1, 6, 9, 10, 11, 12, 14});  // VBMI, VBMI2, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ
  switch (isa) {
    case Isa::kSse4:
      return all(f.one_c, kSse4);
    case Isa::kAvx2:
      return has(Isa::kSse4, f) && all(f.one_c, kAvx) && all(f.seven_b, kAvx2) && all(f.kept, kYmm);
    case Isa::kAvx512:
      return has(Isa::kAvx2, f) && all(f.seven_b, kAvx512) && all(f.kept, kZmm);
    case Isa::kAvx512Vbmi:
      return has(Isa::kAvx512, f) && all(f.seven_c, kVbmi);
    case Isa::kScalar:
    case Isa::kNeon:
      break;
  }
  return isa == Isa::kScalar;
}

}  // namespace

bool machine_has(Isa isa) {
  static const Features features = read_features();
  return has(isa, features);
}
#else
bool machine_has(Isa isa) {
#if defined(__aarch64__)
  if (isa == Isa::kNeon) return true;  // part of the architecture
#endif
  return isa == Isa::kScalar;
}
#endif

}  // namespace fastaug
