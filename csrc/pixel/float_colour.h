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

#include "program/op.h"

FASTAUG_LANES_BEGIN

// Pillow, Convert.c, L24, without its rounding.
constexpr float kLumaRed = 19595.0f / 65536;
constexpr float kLumaGreen = 38470.0f / 65536;
constexpr float kLumaBlue = 7471.0f / 65536;

template <class V>
FASTAUG_FN V clip(V v, V low, V high) {
  return min(max(v, low), high);
}

struct FloatLuma {
  template <class V>
  FASTAUG_FN V operator()(V r, V g, V b) const {
    const V sum = mul_add_quick(g, set<V>(kLumaGreen), mul(r, set<V>(kLumaRed)));
    return mul_add_quick(b, set<V>(kLumaBlue), sum);
  }
};

// All of ImageEnhance is d + factor * (v - d), clipped: d is black, the mean or the pixel's luma. Here d is a number.
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
    const V luma = mul(FloatLuma()(r, g, b), set<V>(rest));
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

// An op with its numbers worked out.
struct FloatOp {
  enum Kind : uint8_t { kBlend, kSaturate, kHue, kLuma, kReplicate };

  Kind kind;
  float factor;  // of the sample; kHue: the turn in sixths of the circle, in [1, 7)
  float rest;    // kBlend: what is added; kSaturate: the factor of the luma
  int kept;      // kBlend: the channel that is left alone; kMaxChannels when there is none
  int channels;  // after it
};

// The table of ops of kFloatForm; `mean` is the mean luma of the image.
FASTAUG_FN FloatOp form_of(OpTag<OpId::BRIGHTNESS>, const Op& op, float) {
  return {FloatOp::kBlend, static_cast<float>(op.f[0]), 0.0f, 0, 0};
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::CONTRAST>, const Op& op, float mean) {
  return {FloatOp::kBlend, static_cast<float>(op.f[0]), static_cast<float>((1.0 - op.f[0]) * mean), 0, 0};
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::SATURATION>, const Op& op, float) {
  return {FloatOp::kSaturate, static_cast<float>(op.f[0]), static_cast<float>(1.0 - op.f[0]), 0, 0};
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::HUE>, const Op& op, float) {
  const double sixths = 6.0 * (op.f[0] - ::floor(op.f[0]));
  return {FloatOp::kHue, static_cast<float>(sixths < 1.0 ? sixths + 6.0 : sixths), 0.0f, 0, 0};
}
// torchvision means the same for tensors. Its weights of luma are Pillow's but for a ten-thousandth of red.
FASTAUG_FN FloatOp form_of(OpTag<OpId::TORCH_CONTRAST>, const Op& op, float mean) {
  return form_of(OpTag<OpId::CONTRAST>(), op, mean);
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::TORCH_SATURATION>, const Op& op, float mean) {
  return form_of(OpTag<OpId::SATURATION>(), op, mean);
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::TORCH_HUE>, const Op& op, float mean) {
  return form_of(OpTag<OpId::HUE>(), op, mean);
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::V2_CONTRAST>, const Op& op, float mean) {
  return form_of(OpTag<OpId::CONTRAST>(), op, mean);
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::V2_SATURATION>, const Op& op, float mean) {
  return form_of(OpTag<OpId::SATURATION>(), op, mean);
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::V2_HUE>, const Op& op, float mean) {
  return form_of(OpTag<OpId::HUE>(), op, mean);
}
FASTAUG_FN FloatOp form_of(OpTag<OpId::LUMA>, const Op&, float) { return {FloatOp::kLuma, 0.0f, 0.0f, 0, 0}; }
FASTAUG_FN FloatOp form_of(OpTag<OpId::TORCH_LUMA>, const Op&, float) { return {FloatOp::kLuma, 0.0f, 0.0f, 0, 0}; }
FASTAUG_FN FloatOp form_of(OpTag<OpId::V2_LUMA>, const Op&, float) { return {FloatOp::kLuma, 0.0f, 0.0f, 0, 0}; }
FASTAUG_FN FloatOp form_of(OpTag<OpId::REPLICATE>, const Op&, float) { return {FloatOp::kReplicate, 0.0f, 0.0f, 0, 0}; }

// False for an op without such a form.
template <OpId kId>
FASTAUG_FN bool make_float_op(const Op& op, float mean, int channels, FloatOp* result) {
  if constexpr (kHas<kId, Trait::kFloatForm>) {
    *result = form_of(OpTag<kId>(), op, mean);
    result->kept = kHas<kId, Trait::kAlphaFlag> ? colours_of(op, channels) : channels;
    if (result->kept == channels) result->kept = kMaxChannels;
    result->channels = channels_after(kChannelsOf<kId>, op, channels);
    return true;
  } else {
    return false;
  }
}

// The form of an op on `channels` channels.
FASTAUG_FN FloatOp float_op(const Op& op, float mean, int channels) {
  FloatOp result{};
  switch (op.id) {
#define FASTAUG_OP(name, ...)                                                  \
  case OpId::name:                                                             \
    if (make_float_op<OpId::name>(op, mean, channels, &result)) return result; \
    break;
#include "program/ops.def"
#undef FASTAUG_OP
  }
  fail_on_host("float_op", op.id);
  return result;
}

// Runs one op. What the loop has to have:
//   each(body, kept)  v = body(v) in all channels but one
//   together(body)    body(r, g, b)
//   opaque()          a fourth channel becomes 255
//   reduce(body)      channel 0 = body(r, g, b)
//   replicate()       all channels = channel 0
template <class Loop>
FASTAUG_FN void visit_float(const FloatOp& op, Loop loop) {
  switch (op.kind) {
    case FloatOp::kBlend:
      return loop.each(FloatBlend{op.factor, op.rest}, op.kept);
    case FloatOp::kSaturate:
      return loop.together(FloatSaturation{op.factor, op.rest});
    case FloatOp::kHue:
      loop.together(FloatHue{op.factor});
      return loop.opaque();
    case FloatOp::kLuma:
      return loop.reduce(FloatLuma());
    case FloatOp::kReplicate:
      return loop.replicate();
  }
}

// The loop over the channels of one pixel, `channels` of them after the op.
template <class V>
struct FloatPixel {
  V* v;
  int channels;

  template <class Body>
  FASTAUG_FN void each(Body body, int kept) const {
    for (int c = 0; c < channels; ++c) {
      if (c != kept) v[c] = body(v[c]);
    }
  }
  template <class Body>
  FASTAUG_FN void together(Body body) const {
    body(v[0], v[1], v[2]);
  }
  FASTAUG_FN void opaque() const {
    if (channels == 4) v[3] = set<V>(255.0f);
  }
  template <class Body>
  FASTAUG_FN void reduce(Body body) const {
    v[0] = body(v[0], v[1], v[2]);
  }
  FASTAUG_FN void replicate() const {
    for (int c = 1; c < channels; ++c) v[c] = v[0];
  }
};

FASTAUG_LANES_END

#endif
