// The arithmetic of every pointwise op, once. A lane holds integers 0..255 as float32, before and after each op;
// TO_FLOAT and NORMALIZE leave the integers behind. `body_of` makes a lane op's body; `mean` is Reduction::mean's.
//
// Include pixel/lane.h first for plain floats (and CUDA), or kernels/simd/lane-inl.h for vectors; in the second case
// this header is read once per instruction set, hence the guard.
#if defined(FASTAUG_PIXEL_POINTWISE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_PIXEL_POINTWISE_H_
#undef FASTAUG_PIXEL_POINTWISE_H_
#else
#define FASTAUG_PIXEL_POINTWISE_H_
#endif

#include "program/op.h"

FASTAUG_LANES_BEGIN

FASTAUG_FN float factor_of(const Op& op) { return static_cast<float>(op.f[0]); }

// Pillow, Convert.c, L24: (19595 R + 38470 G + 7471 B + 32768) >> 16. Every term and sum is below 2^24, hence exact.
struct Luma {
  template <class V>
  FASTAUG_FN V operator()(V r, V g, V b) const {
    V sum = mul_add_exact(r, set<V>(19595.0f), set<V>(32768.0f));
    sum = mul_add_exact(g, set<V>(38470.0f), sum);
    sum = mul_add_exact(b, set<V>(7471.0f), sum);
    return floor(mul(sum, set<V>(1.0f / 65536)));
  }
};
FASTAUG_FN Luma body_of(OpTag<OpId::LUMA>, const Op&, float) { return {}; }

// Clips and truncates a blend.
template <class V>
FASTAUG_FN V clipped(V mixed) {
  return trunc(min(max(mixed, set<V>(0.0f)), set<V>(255.0f)));
}

// Pillow, Blend.c: d + factor * (v - d) in float32, truncated; clipped first when the factor is outside [0, 1], where
// the clip changes nothing otherwise. Factors 0 and 1 give d and v exactly, as Pillow's copies do.
template <class V>
FASTAUG_FN V blend(V degenerate, V value, V factor) {
  return clipped(add(degenerate, mul(factor, sub(value, degenerate))));
}

// 1 - factor of torchvision's blends; the difference is taken in double.
FASTAUG_FN float torch_rest(double factor) { return static_cast<float>(1.0 - factor); }

// torchvision, _functional_tensor.py, _blend on uint8: factor * v + (1 - factor) * d, both products and the sum rounded
// to float32, clipped, truncated.
struct TorchBlend {
  float factor;
  float rest;

  template <class V>
  FASTAUG_FN V operator()(V degenerate, V value) const {
    return clipped(add(mul(set<V>(factor), value), mul(set<V>(rest), degenerate)));
  }
};

// torchvision, v2/functional/_color.py, _blend on uint8: the same, but torch's add_ with alpha fuses the second product
// and the sum.
struct V2Blend {
  float factor;
  float rest;

  template <class V>
  FASTAUG_FN V operator()(V degenerate, V value) const {
    return clipped(mul_add_once(set<V>(rest), degenerate, mul(set<V>(factor), value)));
  }
};

template <class Blend>
FASTAUG_FN Blend blend_by(double factor) {
  return {static_cast<float>(factor), torch_rest(factor)};
}

// torchvision, _functional_tensor.py, rgb_to_grayscale on uint8: every product and sum is rounded to float32.
struct TorchGray {
  template <class V>
  FASTAUG_FN V operator()(V r, V g, V b) const {
    const V sum = add(mul(r, set<V>(0.2989f)), mul(g, set<V>(0.587f)));
    return trunc(add(sum, mul(b, set<V>(0.114f))));
  }
};
FASTAUG_FN TorchGray body_of(OpTag<OpId::TORCH_LUMA>, const Op&, float) { return {}; }

// torchvision, v2/functional/_color.py, _rgb_to_grayscale_image on uint8: the same, but torch's add_ with alpha fuses.
struct V2Gray {
  template <class V>
  FASTAUG_FN V operator()(V r, V g, V b) const {
    const V sum = mul_add_once(g, set<V>(0.587f), mul(r, set<V>(0.2989f)));
    return trunc(mul_add_once(b, set<V>(0.114f), sum));
  }
};
FASTAUG_FN V2Gray body_of(OpTag<OpId::V2_LUMA>, const Op&, float) { return {}; }

// ImageEnhance.Brightness: blends with black.
struct Brightness {
  float factor;

  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return clipped(mul(v, set<V>(factor)));
  }
};
FASTAUG_FN Brightness body_of(OpTag<OpId::BRIGHTNESS>, const Op& op, float) { return {factor_of(op)}; }

// ImageEnhance.Contrast: blends with the image's mean luma, an integer.
struct Contrast {
  float factor;
  float mean;

  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return blend(set<V>(mean), v, set<V>(factor));
  }
};
FASTAUG_FN Contrast body_of(OpTag<OpId::CONTRAST>, const Op& op, float mean) { return {factor_of(op), mean}; }

// ImageEnhance.Color: blends with the pixel's luma.
struct Saturation {
  float factor;

  template <class V>
  FASTAUG_FN void operator()(V& r, V& g, V& b) const {
    const V luma = Luma()(r, g, b);
    const V f = set<V>(factor);
    r = blend(luma, r, f);
    g = blend(luma, g, f);
    b = blend(luma, b, f);
  }
};
FASTAUG_FN Saturation body_of(OpTag<OpId::SATURATION>, const Op& op, float) { return {factor_of(op)}; }

// adjust_contrast of tensors: blends with the mean of the image's gray, a float.
template <class Blend>
struct MeanBlend {
  Blend blend;
  float mean;

  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return blend(set<V>(mean), v);
  }
};

using TorchContrast = MeanBlend<TorchBlend>;
using V2Contrast = MeanBlend<V2Blend>;
FASTAUG_FN TorchContrast body_of(OpTag<OpId::TORCH_CONTRAST>, const Op& op, float mean) {
  return {blend_by<TorchBlend>(op.f[0]), mean};
}
FASTAUG_FN V2Contrast body_of(OpTag<OpId::V2_CONTRAST>, const Op& op, float mean) {
  return {blend_by<V2Blend>(op.f[0]), mean};
}

// adjust_saturation of tensors: blends with the pixel's gray.
template <class Gray, class Blend>
struct GrayBlend {
  Blend blend;

  template <class V>
  FASTAUG_FN void operator()(V& r, V& g, V& b) const {
    const V gray = Gray()(r, g, b);
    r = blend(gray, r);
    g = blend(gray, g);
    b = blend(gray, b);
  }
};
using TorchSaturation = GrayBlend<TorchGray, TorchBlend>;
using V2Saturation = GrayBlend<V2Gray, V2Blend>;
FASTAUG_FN TorchSaturation body_of(OpTag<OpId::TORCH_SATURATION>, const Op& op, float) {
  return {blend_by<TorchBlend>(op.f[0])};
}
FASTAUG_FN V2Saturation body_of(OpTag<OpId::V2_SATURATION>, const Op& op, float) {
  return {blend_by<V2Blend>(op.f[0])};
}

// Blends of a sample with its neighbourhood, after smooth_of (pixel/smooth.h): ImageEnhance.Sharpness;
// _functional_tensor.py, adjust_sharpness, which is a TorchBlend; and v2/functional/_color.py, adjust_sharpness, which
// adds (1 - factor) of the difference, fused.
struct Sharpness {
  float factor;

  template <class V>
  FASTAUG_FN V operator()(V smooth, V v) const {
    return blend(smooth, v, set<V>(factor));
  }
};

struct V2Sharpness {
  float rest;

  template <class V>
  FASTAUG_FN V operator()(V smooth, V v) const {
    return clipped(mul_add_once(set<V>(rest), sub(smooth, v), v));
  }
};

// Of the samples of a pixel.
template <class V>
FASTAUG_FN V largest(V r, V g, V b) {
  return max(max(r, g), b);
}
template <class V>
FASTAUG_FN V smallest(V r, V g, V b) {
  return min(min(r, g), b);
}
template <class V>
FASTAUG_FN V middle_of(V r, V g, V b) {
  return max(min(r, g), min(max(r, g), b));
}

// Pillow, Convert.c, rgb2hsv and hsv2rgb around a shift of the 8-bit hue, which wraps. Pillow mixes float and double;
// the forms below were compared with it on all 2^24 colours.
struct Hue {
  float shift;  // 0..255

  // floor(255 * s) for s in [0, 1], as if exact. 256 s - n is exact, so comparing it with s tells whether rounding 255
  // * s to float32 reached the next integer.
  template <class V>
  static FASTAUG_FN V floor_255_times(V s) {
    const V n = floor(mul(s, set<V>(255.0f)));
    return sub(n, select_or_zero(less(mul_sub_exact(s, set<V>(256.0f), n), s), set<V>(1.0f)));
  }

  // One channel of hsv2rgb: round(v * (1 - s * w)), where w is the distance of the channel from its plateau in the hue
  // circle. In 255ths all three are integers, and so is the numerator, below 2^24.
  template <class V>
  static FASTAUG_FN V channel(V v, V s, V distance) {
    const V w = min(max(distance, set<V>(0.0f)), set<V>(255.0f));
    return round_65025th(mul(v, sub(set<V>(65025.0f), mul(s, w))));
  }

  template <class V>
  FASTAUG_FN void operator()(V& r, V& g, V& b) const {
    const V one = set<V>(1.0f);
    const V top = largest(r, g, b);
    const V middle = middle_of(r, g, b);
    const V bottom = smallest(r, g, b);
    const V range = sub(top, bottom);
    // A grey pixel has range 0: s becomes 0, and then its hue does not matter.
    const V s = div(range, max(top, one));
    const V m = div(sub(top, middle), max(range, one));

    // Hue in sixths of the circle: base plus or minus m, by which channels are largest and smallest.
    const auto r_top = equal(r, top);
    const auto g_top = equal(g, top);
    const auto b_bottom = equal(b, bottom);
    const auto g_bottom = equal(g, bottom);
    const V r_base = select(b_bottom, one, set<V>(-1.0f));
    const V g_base = select(b_bottom, one, set<V>(3.0f));
    const V b_base = select(g_bottom, set<V>(5.0f), set<V>(3.0f));
    const V base = select(r_top, r_base, select(g_top, g_base, b_base));
    // Minus where r is top and b bottom, g top and b not bottom, b top and g bottom.
    const V r_term = negate_if(b_bottom, m);
    const V g_term = negate_if(b_bottom, sub(set<V>(0.0f), m));
    const V b_term = negate_if(g_bottom, m);
    const V sixths = add(base, select(r_top, r_term, select(g_top, g_term, b_term)));
    const V turn = sixth(sixths);
    const V circle = add(turn, select_or_zero(less(turn, set<V>(0.0f)), one));

    const V s8 = floor_255_times(s);
    const V moved = add(floor_255_times(circle), set<V>(shift));
    const V h8 = sub(moved, select_or_zero(less(set<V>(255.0f), moved), set<V>(256.0f)));

    const V six = set<V>(6.0f);
    r = channel(top, s8, sub(set<V>(510.0f), abs(mul_sub_exact(h8, six, set<V>(765.0f)))));
    g = channel(top, s8, sub(abs(mul_sub_exact(h8, six, set<V>(510.0f))), set<V>(255.0f)));
    b = channel(top, s8, sub(abs(mul_sub_exact(h8, six, set<V>(1020.0f))), set<V>(255.0f)));
  }
};
FASTAUG_FN Hue body_of(OpTag<OpId::HUE>, const Op& op, float) { return {static_cast<float>(op.i[0])}; }

// How _functional_tensor.py, _rgb2hsv and _hsv2rgb, round; see HsvHue.
struct TorchHsv {
  // v / 255, correctly rounded, of a sample: it is v * 65793 / 2^24, which is exact, and 2^-24 of that, and so on.
  template <class V>
  static FASTAUG_FN V unit(V v) {
    const V most = mul(v, set<V>(0x1.0101p-8f));
    return add(most, mul(most, set<V>(0x1p-24f)));
  }
  template <class V>
  static FASTAUG_FN V turn(V sixths) {
    return sixth(sixths);
  }
  // In even sextants of the circle the sample in the middle rises, in odd ones it falls; f is how far it got.
  template <class M, class V>
  static FASTAUG_FN V middle(M rises, V value, V s, V f) {
    const V w = select(rises, sub(set<V>(1.0f), f), f);
    return mul(value, sub(set<V>(1.0f), mul(s, w)));
  }
};

// How v2/functional/_color.py, _rgb_to_hsv and _hsv_to_rgb, round.
struct V2Hsv {
  template <class V>
  static FASTAUG_FN V unit(V v) {
    return mul(v, set<V>(1.0f / 255.0f));
  }
  template <class V>
  static FASTAUG_FN V turn(V sixths) {
    return mul(sixths, set<V>(1.0f / 6.0f));
  }
  template <class M, class V>
  static FASTAUG_FN V middle(M rises, V value, V s, V f) {
    const V one = set<V>(1.0f);
    const V part = mul(s, f);
    return mul(value, select(rises, add(part, sub(one, s)), sub(one, part)));
  }
};

// torchvision's adjust_hue on uint8 tensors: samples as shares of 255, from RGB to HSV, a shift of the hue modulo 1,
// and back. Every step is rounded to float32. The sample that is the largest of its pixel comes back as it was, and so
// does the smallest, because the last step multiplies by 255.999 and truncates: that leaves room for what rounding does
// to them. Only the sample in the middle of the new pixel has to be worked out.
template <class Hsv>
struct HsvHue {
  float factor;  // -0.5 to 0.5

  // The channel whose plateau has its middle `distance` from the new hue's sextant, 0.5 to 3.5.
  template <class V>
  static FASTAUG_FN V channel(V distance, V top, V middle, V bottom) {
    return select(less(distance, set<V>(1.0f)), top, select(less(distance, set<V>(2.0f)), middle, bottom));
  }

  template <class V>
  FASTAUG_FN void operator()(V& r, V& g, V& b) const {
    const V one = set<V>(1.0f);
    const V top = largest(r, g, b);
    const V bottom = smallest(r, g, b);
    const V value = Hsv::unit(top);
    // A range of 0 makes s 0, and then the hue does not matter; other ranges are at least nearly 1 / 255.
    const V range = sub(value, Hsv::unit(bottom));
    const V least = set<V>(0x1p-9f);
    const V s = div(range, max(value, least));
    // Of rc, gc and bc the one of the largest sample is 0, that of the smallest 1, and this is the third.
    const V m = div(sub(value, Hsv::unit(middle_of(r, g, b))), max(range, least));

    // (base + first) - second, where one of the two is 1 and the other one m.
    const auto r_top = equal(r, top);
    const auto g_top = equal(g, top);
    const auto b_bottom = equal(b, bottom);
    const auto g_bottom = equal(g, bottom);
    const V b_first = select(b_bottom, one, m);
    const V b_second = select(b_bottom, m, one);
    const V first = select(r_top, b_first, select(g_top, b_second, select(g_bottom, one, m)));
    const V second = select(r_top, b_second, select(g_top, b_first, select(g_bottom, m, one)));
    const V base = select(r_top, set<V>(0.0f), select(g_top, set<V>(2.0f), set<V>(4.0f)));
    const V turn = add(Hsv::turn(sub(add(base, first), second)), one);
    // fmod(turn, 1), and then % 1.0, which is fmod and, below zero, one more.
    const V moved = add(sub(turn, floor(turn)), set<V>(factor));
    const V rest = sub(moved, trunc(moved));
    const V h = mul(add(rest, select_or_zero(less(rest, set<V>(0.0f)), one)), set<V>(6.0f));

    const V whole = floor(h);
    const V f = sub(h, whole);
    const V half = mul(whole, set<V>(0.5f));
    const V part = Hsv::middle(equal(half, floor(half)), value, s, f);
    const V middle = trunc(mul(part, set<V>(255.999f)));
    // A hue that was rounded up to a whole turn is in the sextant of 0.
    const V sextant = select_or_zero(less(whole, set<V>(6.0f)), whole);
    r = channel(sub(set<V>(3.0f), abs(sub(sextant, set<V>(2.5f)))), top, middle, bottom);
    g = channel(abs(sub(sextant, set<V>(1.5f))), top, middle, bottom);
    b = channel(abs(sub(sextant, set<V>(3.5f))), top, middle, bottom);
  }
};
using TorchHue = HsvHue<TorchHsv>;
using V2Hue = HsvHue<V2Hsv>;
FASTAUG_FN TorchHue body_of(OpTag<OpId::TORCH_HUE>, const Op& op, float) { return {factor_of(op)}; }
FASTAUG_FN V2Hue body_of(OpTag<OpId::V2_HUE>, const Op& op, float) { return {factor_of(op)}; }

// v2/functional/_color.py, permute_channels: where each channel comes from.
struct Permute {
  int32_t from[kMaxChannels];
};
FASTAUG_FN Permute body_of(OpTag<OpId::V2_PERMUTE>, const Op& op, float) {
  return {{op.i[0], op.i[1], op.i[2], op.i[3]}};
}

// The body of every op for a channel that it leaves alone.
struct Keep {
  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return v;
  }
};

// Pillow, ImagingUtils.h, MULDIV255: t = c * a + 128; ((t >> 8) + t) >> 8.
struct Premultiply {
  template <class V>
  FASTAUG_FN V operator()(V color, V alpha) const {
    const V t = mul_add_exact(color, alpha, set<V>(128.0f));
    const V scale = set<V>(1.0f / 256);
    return floor(mul(add(floor(mul(t, scale)), t), scale));
  }
};
FASTAUG_FN Premultiply body_of(OpTag<OpId::PREMULTIPLY>, const Op&, float) { return {}; }

// Pillow, Convert.c, rgbA2rgba: 255 * c / a in integers, clipped; kept where alpha is 0 or 255. The quotient
// of two integers this small is at least 1/255 away from the integers that it does not equal, so its floor survives
// rounding.
struct Unpremultiply {
  template <class V>
  FASTAUG_FN V operator()(V color, V alpha) const {
    const V quotient = floor(div(mul(color, set<V>(255.0f)), max(alpha, set<V>(1.0f))));
    const auto keep = either(equal(alpha, set<V>(0.0f)), equal(alpha, set<V>(255.0f)));
    return select(keep, color, min(quotient, set<V>(255.0f)));
  }
};
FASTAUG_FN Unpremultiply body_of(OpTag<OpId::UNPREMULTIPLY>, const Op&, float) { return {}; }

// torchvision, to_tensor: v / 255, correctly rounded.
struct ToFloat {
  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return div(v, set<V>(255.0f));
  }
};

// torchvision, v2/functional/_misc.py, to_dtype_image: with scale v * (1 / 255), which is seldom v / 255 to the last
// bit; without it v * 1.
struct Scale {
  float factor;

  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return mul(v, set<V>(factor));
  }
};

// torchvision, normalize: (v - mean) / std, two correctly rounded steps.
struct Normalize {
  float mean;
  float std;

  template <class V>
  FASTAUG_FN V operator()(V v) const {
    return div(sub(v, set<V>(mean)), set<V>(std));
  }
};

FASTAUG_LANES_END

#endif
