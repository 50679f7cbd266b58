// The colour ops of fast mode: a lane is a sample in [0, 255] as float32, before and after each op, and is never
// rounded in between. Where Pillow clips, so do these; where Pillow truncates, or keeps hue and saturation in 8 bits,
// these compute what was meant. Trait::kFloatForm says which ops have such a form.
//
// Include pixel/lane.h first for plain floats (and CUDA), or kernels/simd/lane-inl.h for vectors, as for
// pixel/pointwise.h.
#if defined(FASTAUG_PIXEL_FLOAT_COLOUR_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_PIXEL_FLOAT_COLOUR_H_
#undef FASTAUG_PIXEL_FLOAT_COLOUR_H_
#else
#define FASTAUG_PIXEL_FLOAT_COLOUR_H_
#endif

#include "program/program.h"

FASTAUG_LANES_BEGIN

// Pillow, Convert.c, L24, without its rounding.
constexpr float kLumaRed = 19595.0f / 65536;
constexpr float kLumaGreen = 38470.0f / 65536;
constexpr float kLumaBlue = 7471.0f / 65536;

// An op with its numbers worked out.
struct FloatOp {
  enum Kind : uint8_t { kBlend, kSaturate, kHue, kLuma, kReplicate };

  Kind kind;
  int kept;      // kBlend: the channel that is left alone; kMaxChannels when there is none
  int channels;  // after it
  float factor;  // of the sample; kHue: the turn in sixths of the circle, in [1, 7)
  float rest;    // kBlend: what is added; kSaturate: the factor of the luma
};

// On `channels` channels; `mean` is the mean luma of the image, for CONTRAST. All of ImageEnhance is d + factor * (v -
// d), clipped: d is black, the mean or the pixel's luma.
FASTAUG_FN FloatOp float_op(const Op& op, float mean, int channels) {
  const int kept = (op.flags & kHasAlpha) != 0 ? channels - 1 : kMaxChannels;
  FloatOp result{FloatOp::kBlend, kept, channels, static_cast<float>(op.f[0]), 0.0f};
  switch (op.id) {
    case OpId::CONTRAST:
      result.rest = static_cast<float>((1.0 - op.f[0]) * mean);
      break;
    case OpId::SATURATION:
      result.kind = FloatOp::kSaturate;
      result.rest = static_cast<float>(1.0 - op.f[0]);
      break;
    case OpId::HUE: {
      const double sixths = 6.0 * (op.f[0] - ::floor(op.f[0]));
      result.kind = FloatOp::kHue;
      result.factor = static_cast<float>(sixths < 1.0 ? sixths + 6.0 : sixths);
      break;
    }
    case OpId::LUMA:
      result.kind = FloatOp::kLuma;
      result.channels = 1;
      break;
    case OpId::REPLICATE:
      result.kind = FloatOp::kReplicate;
      result.channels = op.i[0];
      break;
    default:
      break;
  }
  return result;
}

template <class V>
FASTAUG_FN V clip(V v, V low, V high) {
  return min(max(v, low), high);
}

template <class V>
FASTAUG_FN V float_luma(V r, V g, V b) {
  const V sum = mul_add_quick(g, set<V>(kLumaGreen), mul(r, set<V>(kLumaRed)));
  return mul_add_quick(b, set<V>(kLumaBlue), sum);
}

// BRIGHTNESS and CONTRAST.
struct FloatBlend {
  float factor;
  float rest;

  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return clip(mul_add_quick(v, set<V>(factor), set<V>(rest)), set<V>(0.0f), set<V>(255.0f));
  }
};

struct FloatSaturation {
  float factor;
  float rest;

  template <class V>
  FASTAUG_FN void operator()(V& r, V& g, V& b) const {
    const V luma = mul(float_luma(r, g, b), set<V>(rest));
    const V f = set<V>(factor);
    r = clip(mul_add_quick(r, f, luma), set<V>(0.0f), set<V>(255.0f));
    g = clip(mul_add_quick(g, f, luma), set<V>(0.0f), set<V>(255.0f));
    b = clip(mul_add_quick(b, f, luma), set<V>(0.0f), set<V>(255.0f));
  }
};

// A turn of the hue in HSV: the largest and the smallest sample of a pixel stay what they are, and each channel goes
// round a circle of six parts, two of them at the largest, two at the smallest and two in between. Positions on the
// circle are multiplied by the pixel's range c, so that nothing is divided by it.
struct FloatHue {
  float sixths;  // in [1, 7), so that a turned position lies in [0, 12)

  template <class V>
  FASTAUG_FN void operator()(V& r, V& g, V& b) const {
    const V top = max(max(r, g), b);
    const V bottom = min(min(r, g), b);
    const V c = sub(top, bottom);
    const V two = add(c, c);
    // Red is the middle of its plateau at 0, green at 2 c, blue at 4 c. `position` is in [-c, 5 c].
    const V at_green = add(two, sub(b, r));
    const V at_blue = mul_add_quick(two, set<V>(2.0f), sub(r, g));
    const V position = select(equal(r, top), sub(g, b), select(equal(g, top), at_green, at_blue));
    const V six = mul(c, set<V>(6.0f));
    const V turned = mul_add_quick(c, set<V>(sixths), position);
    const V u = sub(turned, select_or_zero(less_or_equal(six, turned), six));
    // Distance from the plateau's middle: at the largest up to c, at the smallest from 2 c on.
    const V reach = add(two, bottom);
    r = clip(sub(abs(neg_mul_add_quick(c, set<V>(3.0f), u)), sub(c, bottom)), bottom, top);
    g = clip(sub(reach, abs(sub(u, two))), bottom, top);
    b = clip(sub(reach, abs(neg_mul_add_quick(two, set<V>(2.0f), u))), bottom, top);
  }
};

// One op on a pixel.
template <class V>
FASTAUG_FN void apply_float_op(const FloatOp& op, V* v) {
  switch (op.kind) {
    case FloatOp::kBlend:
      for (int c = 0; c < op.channels; ++c) {
        if (c != op.kept) v[c] = FloatBlend{op.factor, op.rest}(v[c]);
      }
      return;
    case FloatOp::kSaturate:
      return FloatSaturation{op.factor, op.rest}(v[0], v[1], v[2]);
    case FloatOp::kHue:
      FloatHue{op.factor}(v[0], v[1], v[2]);
      if (op.channels == 4) v[3] = set<V>(255.0f);
      return;
    case FloatOp::kLuma:
      v[0] = float_luma(v[0], v[1], v[2]);
      return;
    case FloatOp::kReplicate:
      for (int c = 1; c < op.channels; ++c) v[c] = v[0];
      return;
  }
}

FASTAUG_LANES_END

#endif
