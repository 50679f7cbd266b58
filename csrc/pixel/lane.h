// The primitives that op bodies are written in, for plain floats. csrc/kernels/simd/lane-inl.h has the same names for
// vectors. A body calls these and nothing else, so that one source serves the scalar kernels, every instruction set and
// CUDA.
//
// Everything is compiled without contraction (-ffp-contract=off, --fmad=false); a body gives the same bits everywhere.
#pragma once

#include <cmath>

#include "base/device.h"
#include "pixel/fma.h"

#define FASTAUG_FN FASTAUG_HOST_DEVICE inline

// The namespace that bodies live in, one per kind of lane.
#define FASTAUG_LANES_BEGIN namespace fastaug::scalar {
#define FASTAUG_LANES_END }

namespace fastaug::scalar {

template <class V>
FASTAUG_FN V set(float value) {
  return value;
}

FASTAUG_FN float add(float a, float b) { return a + b; }
FASTAUG_FN float sub(float a, float b) { return a - b; }
FASTAUG_FN float mul(float a, float b) { return a * b; }
FASTAUG_FN float div(float a, float b) { return a / b; }
FASTAUG_FN float min(float a, float b) { return a < b ? a : b; }
FASTAUG_FN float max(float a, float b) { return a < b ? b : a; }
FASTAUG_FN float abs(float a) { return fabsf(a); }
FASTAUG_FN float floor(float a) { return floorf(a); }
FASTAUG_FN float trunc(float a) { return truncf(a); }

// a * b + c, rounded once.
FASTAUG_FN float mul_add_once(float a, float b, float c) { return fused(a, b, c); }
// a * b + c and a * b - c, only for arguments whose product and result are exact: fused or not, the bits are the same.
FASTAUG_FN float mul_add_exact(float a, float b, float c) { return a * b + c; }
FASTAUG_FN float mul_sub_exact(float a, float b, float c) { return a * b - c; }
// a * b + c and c - a * b, fused where that is quick: the last bit depends on the machine, so for fast mode alone.
#ifdef __CUDA_ARCH__
FASTAUG_FN float mul_add_quick(float a, float b, float c) { return fmaf(a, b, c); }
FASTAUG_FN float neg_mul_add_quick(float a, float b, float c) { return fmaf(-a, b, c); }
#else
FASTAUG_FN float mul_add_quick(float a, float b, float c) { return a * b + c; }
FASTAUG_FN float neg_mul_add_quick(float a, float b, float c) { return c - a * b; }
#endif

FASTAUG_FN bool equal(float a, float b) { return a == b; }
FASTAUG_FN bool less(float a, float b) { return a < b; }
FASTAUG_FN bool less_or_equal(float a, float b) { return a <= b; }
FASTAUG_FN bool either(bool a, bool b) { return a || b; }
FASTAUG_FN float select(bool condition, float yes, float no) { return condition ? yes : no; }
FASTAUG_FN float select_or_zero(bool condition, float yes) { return condition ? yes : 0.0f; }
FASTAUG_FN float negate_if(bool condition, float a) { return condition ? -a : a; }

// a / 6, correctly rounded, for the differences of quotients that Hue divides.
FASTAUG_FN float sixth(float a) { return a / 6.0f; }

// n / 65025 rounded to the nearest integer, for integers n in [0, 255 * 65025]. A tie would need 2 n = 65025 (2 k + 1),
// an odd number, so there is none. The quotient is estimated a little low, then moved up if the exact remainder says
// so.
FASTAUG_FN float round_65025th(float n) {
  const float low = floorf(n * (1.0f / 65025.0f) + 0.49995f);
  return n - low * 65025.0f > 32512.0f ? low + 1.0f : low;
}

}  // namespace fastaug::scalar
