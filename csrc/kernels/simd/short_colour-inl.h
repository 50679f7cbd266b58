// Fast mode's colour in 16 bits, once per instruction set: a lane is a sample in units of 1 / 257 level, 0 to 65535, so
// that a byte is its sample twice over, and additions and subtractions that saturate are clipped as Pillow clips. Twice
// as many lanes as float32 has, in cheaper operations. Included by float.cc.
//
// The ops are those of pixel/float_colour.h with factors in units of 2^-16. Factors are rounded,
// and every product is rounded down, which is all that they differ by: an op adds less than seven units (0.03 levels)
// to what it makes of the errors of its input.
#if defined(FASTAUG_SIMD_SHORT_COLOUR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_SIMD_SHORT_COLOUR_INL_H_
#undef FASTAUG_SIMD_SHORT_COLOUR_INL_H_
#else
#define FASTAUG_SIMD_SHORT_COLOUR_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/simd/lane-inl.h"
// After the lanes that its bodies call.
#include "pixel/float_colour.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
namespace {

using Shorts = hn::ScalableTag<uint16_t>;
using ShortV = hn::Vec<Shorts>;

constexpr float kShortUnits = 257.0f;  // in a level

// A FloatOp in these units.
struct ShortOp {
  FloatOp::Kind kind;
  bool raises;      // kBlend, kSaturate: by a factor of 1 or more; kHue: the turn of up to half a sixth is forwards
  bool opposite;    // kHue: half a circle beside that
  uint8_t thirds;   // kHue: thirds of the circle beside that
  uint16_t factor;  // what is left of the factor after 1 where it raises; kHue: the size of that turn, in sixths
  uint16_t rest;    // kBlend: what is added, or, where it raises, taken away before; kSaturate: the same, of the luma
  int kept;
  int channels;
};

HWY_INLINE uint16_t in_shorts(float value, float unit) {
  return static_cast<uint16_t>(std::min(value * unit + 0.5f, 65535.0f));
}

// False where the op has no such form: by factors below 0 and above 2.
HWY_INLINE bool make_short_op(const FloatOp& op, ShortOp* result) {
  constexpr float kOne = 65536.0f;
  *result = {op.kind, false, false, 0, 0, 0, op.kept, op.channels};
  const bool saturates = op.kind == FloatOp::kSaturate;
  if (op.kind == FloatOp::kBlend || saturates) {
    if (!(op.factor >= 0.0f && op.factor <= 2.0f)) return false;
    const float unit = saturates ? kOne : kShortUnits;
    result->raises = op.factor >= 1.0f;
    if (result->raises) {
      // v * factor - rest is (v - rest / factor) * factor, in which no sum is out of range before the last.
      result->factor = in_shorts(op.factor - 1.0f, kOne);
      result->rest = in_shorts(-op.rest / op.factor, unit);
    } else {
      result->factor = in_shorts(op.factor, kOne);
      result->rest = in_shorts(op.rest, unit);
    }
  } else if (op.kind == FloatOp::kHue) {
    // A turn is one by -1/2 to 1/2 sixths and one by whole sixths. Of those an odd number is half a circle, and even
    // numbers are thirds.
    const auto whole = static_cast<int>(op.factor + 0.5f);
    const float part = op.factor - static_cast<float>(whole);
    result->raises = part >= 0.0f;
    result->factor = in_shorts(result->raises ? part : -part, kOne);
    result->opposite = whole % 2 == 1;
    result->thirds = static_cast<uint8_t>((whole + (result->opposite ? 3 : 0)) / 2 % 3);
  }
  return true;
}

HWY_INLINE ShortV set_short(uint16_t value) { return hn::Set(Shorts(), value); }

struct ShortLower {
  ShortV factor;
  ShortV rest;

  HWY_INLINE ShortV operator()(ShortV v) const { return hn::SaturatedAdd(hn::MulHigh(v, factor), rest); }
};

struct ShortRaise {
  ShortV factor;
  ShortV rest;

  HWY_INLINE ShortV operator()(ShortV v) const {
    const ShortV above = hn::SaturatedSub(v, rest);
    return hn::SaturatedAdd(above, hn::MulHigh(above, factor));
  }
};

// FloatLuma. The weights add up to 65536, so the sum is in range.
struct ShortLuma {
  HWY_INLINE ShortV operator()(ShortV r, ShortV g, ShortV b) const {
    const auto weighed = [](ShortV v, float weight)
                             HWY_ATTR { return hn::MulHigh(v, set_short(static_cast<uint16_t>(weight * 65536.0f))); };
    return hn::Add(hn::Add(weighed(r, kLumaRed), weighed(g, kLumaGreen)), weighed(b, kLumaBlue));
  }
};

// FloatSaturation: a blend with the luma.
template <class Blend>
struct ShortSaturation {
  ShortV factor;
  ShortV rest;

  HWY_INLINE void operator()(ShortV& r, ShortV& g, ShortV& b) const {
    const Blend blend = {factor, hn::MulHigh(ShortLuma()(r, g, b), rest)};
    r = blend(r);
    g = blend(g);
    b = blend(b);
  }
};

// FloatHue, by another way. A turn forwards by d of a pixel's range, at most half of it, moves each channel by what the
// one before it on the circle is short of `bottom + d`, and back by what that is above `top - d`. Backwards, it is the
// one behind it.
struct ShortHue {
  const ShortOp& op;

  static HWY_INLINE ShortV moved(ShortV v, ShortV by, ShortV low, ShortV high, ShortV bottom, ShortV top) {
    const ShortV up = hn::Min(hn::SaturatedAdd(v, hn::SaturatedSub(low, by)), top);
    return hn::Max(hn::SaturatedSub(up, hn::SaturatedSub(by, high)), bottom);
  }

  HWY_INLINE void operator()(ShortV& r, ShortV& g, ShortV& b) const {
    const ShortV top = hn::Max(hn::Max(r, g), b);
    const ShortV bottom = hn::Min(hn::Min(r, g), b);
    const ShortV distance = hn::MulHigh(hn::Sub(top, bottom), set_short(op.factor));
    const ShortV low = hn::Add(bottom, distance);
    const ShortV high = hn::Sub(top, distance);
    const ShortV red = moved(r, op.raises ? g : b, low, high, bottom, top);
    const ShortV green = moved(g, op.raises ? b : r, low, high, bottom, top);
    const ShortV blue = moved(b, op.raises ? r : g, low, high, bottom, top);
    r = op.thirds == 0 ? red : op.thirds == 1 ? blue : green;
    g = op.thirds == 0 ? green : op.thirds == 1 ? red : blue;
    b = op.thirds == 0 ? blue : op.thirds == 1 ? green : red;
    if (op.opposite) {
      r = hn::Add(bottom, hn::Sub(top, r));
      g = hn::Add(bottom, hn::Sub(top, g));
      b = hn::Add(bottom, hn::Sub(top, b));
    }
  }
};

// visit_float for these.
template <class Loop>
HWY_INLINE void visit_short(const ShortOp& op, Loop loop) {
  const ShortV factor = set_short(op.factor);
  const ShortV rest = set_short(op.rest);
  switch (op.kind) {
    case FloatOp::kBlend:
      if (op.raises) return loop.each(ShortRaise{factor, rest}, op.kept);
      return loop.each(ShortLower{factor, rest}, op.kept);
    case FloatOp::kSaturate:
      if (op.raises) return loop.together(ShortSaturation<ShortRaise>{factor, rest});
      return loop.together(ShortSaturation<ShortLower>{factor, rest});
    case FloatOp::kHue:
      loop.together(ShortHue{op});
      return loop.opaque();
    case FloatOp::kLuma:
      return loop.reduce(ShortLuma());
    case FloatOp::kReplicate:
      return loop.replicate();
  }
}

}  // namespace
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
