// Pointwise ops on planar rows. A run of ops is interpreted with the pixels in registers: between ops a pixel is a whole
// number, so nothing is lost by not storing it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/pointwise.cc"
#include "simd/targets.h"
// clang-format off: after targets.h, in this order
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include <algorithm>
#include <cstring>

#include "simd/table.h"

#if FASTAUG_SIMD_TARGET
#include "simd/lane-inl.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Samples = hn::Rebind<uint8_t, Floats>;
using V = hn::Vec<Floats>;

// One op, ready for the inner loop.
struct Step {
  OpId id;
  int colors;  // channels that BRIGHTNESS and CONTRAST change
  int channels;  // after the op
  float factor;  // or the hue's shift
  float mean;
};

HWY_INLINE V load(const uint8_t* row) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::LoadU(Samples(), row)));
}

HWY_INLINE void store(V v, uint8_t* row) {
  hn::StoreU(hn::DemoteTo(Samples(), hn::ConvertTo(Ints(), v)), Samples(), row);
}

// Always inlined, so that p stays in registers.
HWY_INLINE void apply(const Step& step, V& p0, V& p1, V& p2, V& p3) {
  switch (step.id) {
    case OpId::BRIGHTNESS: {
      const Brightness body{step.factor};
      p0 = body(p0);
      if (step.colors > 1) p1 = body(p1);
      if (step.colors > 2) p2 = body(p2);
      if (step.colors > 3) p3 = body(p3);
      return;
    }
    case OpId::CONTRAST: {
      const Contrast body{step.factor, step.mean};
      p0 = body(p0);
      if (step.colors > 1) p1 = body(p1);
      if (step.colors > 2) p2 = body(p2);
      if (step.colors > 3) p3 = body(p3);
      return;
    }
    case OpId::SATURATION:
      return Saturation{step.factor}(p0, p1, p2);
    case OpId::HUE:
      Hue{step.factor}(p0, p1, p2);
      p3 = set<V>(255.0f);
      return;
    case OpId::LUMA:
      p0 = Luma()(p0, p1, p2);
      return;
    case OpId::REPLICATE:
      p1 = p2 = p3 = Replicate()(p0);
      return;
    case OpId::PREMULTIPLY: {
      const Premultiply body;
      if (step.channels == 2) {
        p0 = body(p0, p1);
      } else {
        p0 = body(p0, p3);
        p1 = body(p1, p3);
        p2 = body(p2, p3);
      }
      return;
    }
    case OpId::UNPREMULTIPLY: {
      const Unpremultiply body;
      if (step.channels == 2) {
        p0 = body(p0, p1);
      } else {
        p0 = body(p0, p3);
        p1 = body(p1, p3);
        p2 = body(p2, p3);
      }
      return;
    }
    default:
      return;
  }
}

void run(const Step* steps, int count, int in, int out, uint8_t* const* planes, int width) {
  const Step* end = steps + count;
  uint8_t* const row0 = planes[0];
  uint8_t* const row1 = planes[1];
  uint8_t* const row2 = planes[2];
  uint8_t* const row3 = planes[3];
  const auto lanes = static_cast<int>(hn::Lanes(Floats()));
  for (int x = 0; x < width; x += lanes) {
    V p0 = load(row0 + x), p1 = p0, p2 = p0, p3 = p0;
    if (in > 1) p1 = load(row1 + x);
    if (in > 2) p2 = load(row2 + x);
    if (in > 3) p3 = load(row3 + x);
    for (const Step* step = steps; step != end; ++step) apply(*step, p0, p1, p2, p3);
    store(p0, row0 + x);
    if (out > 1) store(p1, row1 + x);
    if (out > 2) store(p2, row2 + x);
    if (out > 3) store(p3, row3 + x);
  }
}

void pointwise(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  Step steps[kMaxOps];
  while (count > 0) {
    const int now = std::min(count, kMaxOps);
    const int entering = channels;
    for (int k = 0; k < now; ++k) {
      const Op& op = ops[k];
      const int colors = channels - ((op.flags & kHasAlpha) != 0 ? 1 : 0);
      if (op.id == OpId::LUMA) channels = 1;
      if (op.id == OpId::REPLICATE) channels = op.i[0];
      const float factor = op.id == OpId::HUE ? static_cast<float>(op.i[0]) : static_cast<float>(op.f[0]);
      steps[k] = {op.id, colors, channels, factor, means[k]};
    }
    run(steps, now, entering, channels, planes, width);
    ops += now;
    means += now;
    count -= now;
  }
}

uint64_t luma_sum(const uint8_t* const* planes, int channels, int width) {
  const auto lanes = static_cast<int>(hn::Lanes(Floats()));
  // A lane of int32 holds this many samples safely.
  const int safe = lanes << 22;
  uint64_t total = 0;
  for (int begin = 0; begin < width; begin += safe) {
    const int end = std::min(width, begin + safe);
    auto sum = hn::Zero(Ints());
    const auto value = [&](int x) HWY_ATTR {
      const V first = load(planes[0] + x);
      return hn::ConvertTo(Ints(), channels < 3 ? first : Luma()(first, load(planes[1] + x), load(planes[2] + x)));
    };
    int x = begin;
    for (; x + lanes <= end; x += lanes) sum = hn::Add(sum, value(x));
    if (x < end) {
      const auto wanted = hn::FirstN(Ints(), static_cast<size_t>(end - x));
      sum = hn::Add(sum, hn::IfThenElseZero(wanted, value(x)));
    }
    alignas(64) int32_t part[hn::MaxLanes(Ints())];
    hn::Store(sum, Ints(), part);
    for (int k = 0; k < lanes; ++k) total += static_cast<uint64_t>(part[k]);
  }
  return total;
}

}  // namespace

void fill_pointwise(Kernels* table) {
  table->pointwise = pointwise;
  table->luma_sum = luma_sum;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fastaug {

void set_pointwise(Isa isa, Kernels* table) {
  switch (isa) {
    case Isa::kScalar:
      return scalar::fill_pointwise(table);
      FASTAUG_SIMD_CASES(fill_pointwise, table)
    default:
      return;
  }
}

}  // namespace fastaug
#endif  // HWY_ONCE
