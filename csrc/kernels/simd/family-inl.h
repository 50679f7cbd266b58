// The head and the tail of a family of kernels, which its file builds for every instruction set:
//
//   #define HWY_TARGET_INCLUDE "kernels/simd/family.cc"
//   #include "kernels/simd/family-inl.h"
//
//   HWY_BEFORE_NAMESPACE();
//   namespace fastaug::HWY_NAMESPACE {
//   #if FASTAUG_SIMD_TARGET
//   ... kernels, and void fill_family(Kernels* table)
//   #endif
//   }
//   HWY_AFTER_NAMESPACE();
//
//   FASTAUG_FAMILY(family)
//
// It has no include guard: each target needs its own hwy/highway.h. Other headers that use vectors go within
// `#if FASTAUG_SIMD_TARGET`, behind this one.

#include "kernels/table.h"
#include "kernels/targets.h"
// clang-format off: after targets.h, in this order
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

namespace fastaug::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
}

// Defines set_family of kernels/table.h, once for all targets.
#undef FASTAUG_FAMILY
#if HWY_ONCE
#define FASTAUG_FAMILY(family)                   \
  namespace fastaug {                            \
  void set_##family(Isa isa, Kernels* table) {   \
    switch (isa) {                               \
      case Isa::kScalar:                         \
        return scalar::fill_##family(table);     \
        FASTAUG_SIMD_CASES(fill_##family, table) \
      default:                                   \
        return;                                  \
    }                                            \
  }                                              \
  }
#else
#define FASTAUG_FAMILY(family)
#endif
