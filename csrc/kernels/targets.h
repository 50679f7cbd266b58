// The Highway targets that exist. Every kernel file includes this before hwy/foreach_target.h
// (kernels/simd/family-inl.h does), so that all families agree.
//
// Highway is used header-only: nothing of libhwy is linked (its HWY_DYNAMIC_DISPATCH is not used). Its own baseline
// target, which gcc compiles as SCALAR or EMU128, stays empty: our scalar kernels are plain C++.
//
// A family that has kernels of its own for VBMI and its kin defines FASTAUG_VBMI before it includes anything; of the
// others kAvx512Vbmi has kAvx512's. There `#if HWY_TARGET == HWY_AVX3_DL` stands about what VBMI adds, and
// `#if HWY_TARGET <= HWY_AVX3` about what AVX-512 is enough for.
#pragma once

// No kernel uses AES, PCLMUL or half floats; leave them out of what a target demands.
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_F16C
#if defined(FASTAUG_SCALAR_ONLY)  // FASTAUG_SIMD=OFF
#define FASTAUG_SIMD_TARGETS 0
#else
#ifdef FASTAUG_VBMI
#define HWY_WANT_AVX3_DL
#define FASTAUG_SIMD_TARGETS (HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL | HWY_NEON)
#else
#define FASTAUG_SIMD_TARGETS (HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON)
#endif
#endif
// All other targets of this version of Highway are off.
#define HWY_DISABLED_TARGETS (~(FASTAUG_SIMD_TARGETS | HWY_SCALAR | HWY_EMU128))

#include "hwy/detect_targets.h"

// True while one of our targets is being compiled.
#define FASTAUG_SIMD_TARGET ((HWY_TARGET & FASTAUG_SIMD_TARGETS) != 0)

#if HWY_TARGETS & HWY_SSE4
#define FASTAUG_CASE_SSE4(fill, table) \
  case Isa::kSse4:                     \
    return N_SSE4::fill(table);
#else
#define FASTAUG_CASE_SSE4(fill, table)
#endif
#if HWY_TARGETS & HWY_AVX2
#define FASTAUG_CASE_AVX2(fill, table) \
  case Isa::kAvx2:                     \
    return N_AVX2::fill(table);
#else
#define FASTAUG_CASE_AVX2(fill, table)
#endif
#if HWY_TARGETS & HWY_AVX3
#define FASTAUG_CASE_AVX3(fill, table) \
  case Isa::kAvx512:                   \
    return N_AVX3::fill(table);
#else
#define FASTAUG_CASE_AVX3(fill, table)
#endif
#if HWY_TARGETS & HWY_AVX3_DL
#define FASTAUG_CASE_AVX3_DL(fill, table) \
  case Isa::kAvx512Vbmi:                  \
    return N_AVX3_DL::fill(table);
#elif HWY_TARGETS & HWY_AVX3
#define FASTAUG_CASE_AVX3_DL(fill, table) \
  case Isa::kAvx512Vbmi:                  \
    return N_AVX3::fill(table);
#else
#define FASTAUG_CASE_AVX3_DL(fill, table)
#endif
#if HWY_TARGETS & HWY_NEON
#define FASTAUG_CASE_NEON(fill, table) \
  case Isa::kNeon:                     \
    return N_NEON::fill(table);
#else
#define FASTAUG_CASE_NEON(fill, table)
#endif
// The cases of a switch over Isa that return fill(table) of the target's namespace.
#define FASTAUG_SIMD_CASES(fill, table) \
  FASTAUG_CASE_SSE4(fill, table)        \
  FASTAUG_CASE_AVX2(fill, table)        \
  FASTAUG_CASE_AVX3(fill, table)        \
  FASTAUG_CASE_AVX3_DL(fill, table)     \
  FASTAUG_CASE_NEON(fill, table)
