// The primitives of pixel/lane.h for Highway's float vectors, once per instruction set. See there for what each
// promises.
#if defined(FASTAUG_SIMD_LANE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_LANE_INL_H_
#undef FASTAUG_SIMD_LANE_INL_H_
#else
#define FASTAUG_SIMD_LANE_INL_H_
#endif

#include "hwy/highway.h"
#include "pixel/fma.h"

#undef FASTAUG_FN
#undef FASTAUG_LANES_BEGIN
#undef FASTAUG_LANES_END
#define FASTAUG_FN HWY_INLINE
#define FASTAUG_LANES_BEGIN \
  HWY_BEFORE_NAMESPACE();   \
  namespace fastaug::HWY_NAMESPACE {
#define FASTAUG_LANES_END \
  }                       \
  HWY_AFTER_NAMESPACE();

FASTAUG_LANES_BEGIN

namespace hn = hwy::HWY_NAMESPACE;

// Not primitives of bodies: the int32 of lanes known to be in range, truncated, and the nearest. Highway's ConvertTo
// and NearestInt spend four more instructions on x86 to saturate; pointwise rows take 1.3 to 1.5 times as long with
// them.
#if HWY_ARCH_X86
FASTAUG_FN auto to_ints(hn::Vec128<float> v) { return hn::Vec128<int32_t>{_mm_cvttps_epi32(v.raw)}; }
FASTAUG_FN auto nearest_ints(hn::Vec128<float> v) { return hn::Vec128<int32_t>{_mm_cvtps_epi32(v.raw)}; }
#if HWY_MAX_BYTES >= 32
FASTAUG_FN auto to_ints(hn::Vec256<float> v) { return hn::Vec256<int32_t>{_mm256_cvttps_epi32(v.raw)}; }
FASTAUG_FN auto nearest_ints(hn::Vec256<float> v) { return hn::Vec256<int32_t>{_mm256_cvtps_epi32(v.raw)}; }
#endif
#if HWY_MAX_BYTES >= 64
FASTAUG_FN auto to_ints(hn::Vec512<float> v) { return hn::Vec512<int32_t>{_mm512_cvttps_epi32(v.raw)}; }
FASTAUG_FN auto nearest_ints(hn::Vec512<float> v) { return hn::Vec512<int32_t>{_mm512_cvtps_epi32(v.raw)}; }
#endif
#else
template <class V>
FASTAUG_FN auto to_ints(V v) {
  return hn::ConvertTo(hn::RebindToSigned<hn::DFromV<V>>(), v);
}
template <class V>
FASTAUG_FN auto nearest_ints(V v) {
  return hn::NearestInt(v);
}
#endif

template <class V>
FASTAUG_FN V set(float value) {
  return hn::Set(hn::DFromV<V>(), value);
}

template <class V>
FASTAUG_FN V add(V a, V b) {
  return hn::Add(a, b);
}
template <class V>
FASTAUG_FN V sub(V a, V b) {
  return hn::Sub(a, b);
}
template <class V>
FASTAUG_FN V mul(V a, V b) {
  return hn::Mul(a, b);
}
template <class V>
FASTAUG_FN V div(V a, V b) {
  return hn::Div(a, b);
}
template <class V>
FASTAUG_FN V min(V a, V b) {
  return hn::Min(a, b);
}
template <class V>
FASTAUG_FN V max(V a, V b) {
  return hn::Max(a, b);
}
template <class V>
FASTAUG_FN V abs(V a) {
  return hn::Abs(a);
}
template <class V>
FASTAUG_FN V floor(V a) {
  return hn::Floor(a);
}
template <class V>
FASTAUG_FN V trunc(V a) {
  return hn::Trunc(a);
}
template <class V>
FASTAUG_FN V mul_add_once(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const hn::DFromV<V> d;
  HWY_ALIGN float lanes[3][hn::MaxLanes(d)];
  hn::Store(a, d, lanes[0]);
  hn::Store(b, d, lanes[1]);
  hn::Store(c, d, lanes[2]);
  for (size_t k = 0; k < hn::MaxLanes(d); ++k) lanes[0][k] = fused(lanes[0][k], lanes[1][k], lanes[2][k]);
  return hn::Load(d, lanes[0]);
#endif
}
template <class V>
FASTAUG_FN V mul_add_exact(V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}
template <class V>
FASTAUG_FN V mul_sub_exact(V a, V b, V c) {
  return hn::MulSub(a, b, c);
}

template <class V>
FASTAUG_FN V mul_add_quick(V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}
template <class V>
FASTAUG_FN V neg_mul_add_quick(V a, V b, V c) {
  return hn::NegMulAdd(a, b, c);
}

template <class V>
FASTAUG_FN auto equal(V a, V b) {
  return hn::Eq(a, b);
}
template <class V>
FASTAUG_FN auto less(V a, V b) {
  return hn::Lt(a, b);
}
template <class V>
FASTAUG_FN auto less_or_equal(V a, V b) {
  return hn::Le(a, b);
}
template <class M>
FASTAUG_FN M either(M a, M b) {
  return hn::Or(a, b);
}
template <class M, class V>
FASTAUG_FN V select(M condition, V yes, V no) {
  return hn::IfThenElse(condition, yes, no);
}
template <class M, class V>
FASTAUG_FN V select_or_zero(M condition, V yes) {
  return hn::IfThenElseZero(condition, yes);
}
template <class M, class V>
FASTAUG_FN V negate_if(M condition, V a) {
  const hn::DFromV<V> d;
  return hn::Xor(a, hn::And(hn::VecFromMask(d, condition), hn::SignBit(d)));
}

template <class V>
FASTAUG_FN V sixth(V a) {
#if HWY_NATIVE_FMA
  // One Newton step on the quotient; the tests try every colour.
  const V inverse = set<V>(1.0f / 6.0f);
  const V q = mul(a, inverse);
  return hn::MulAdd(hn::NegMulAdd(q, set<V>(6.0f), a), inverse, q);
#else
  return div(a, set<V>(6.0f));
#endif
}

template <class V>
FASTAUG_FN V round_65025th(V n) {
#if HWY_NATIVE_FMA
  // With a single rounding the plain formula is right for every n in the domain (the tests try them all).
  return hn::Floor(hn::MulAdd(n, set<V>(1.0f / 65025.0f), set<V>(0.5f)));
#else
  const V low = hn::Floor(add(mul(n, set<V>(1.0f / 65025.0f)), set<V>(0.49995f)));
  const V rest = sub(n, mul(low, set<V>(65025.0f)));
  return add(low, select_or_zero(less(set<V>(32512.0f), rest), set<V>(1.0f)));
#endif
}

FASTAUG_LANES_END

#endif
