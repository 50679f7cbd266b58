// The table of lane ops: the body of each, from its operands. The loop that a body runs in follows from the channels of
// the op's row in program/ops.def; scalar kernels, vector kernels and CUDA bring loops of their own.
//
// Include pixel/lane.h first for plain floats (and CUDA), or kernels/simd/lane-inl.h for vectors, as for
// pixel/pointwise.h.
#if defined(FASTAUG_PIXEL_POINT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_PIXEL_POINT_H_
#undef FASTAUG_PIXEL_POINT_H_
#else
#define FASTAUG_PIXEL_POINT_H_
#endif

#include "pixel/pointwise.h"
#include "pixel/stains.h"
#include "program/op.h"

FASTAUG_LANES_BEGIN

FASTAUG_FN float factor_of(const Op& op) { return static_cast<float>(op.f[0]); }

// v2/functional/_color.py, permute_channels: where each channel comes from.
struct Permute {
  int32_t from[kMaxChannels];
};

// `mean` is what Reduction::mean gives, for ops that need it.
FASTAUG_FN Brightness body_of(OpTag<OpId::BRIGHTNESS>, const Op& op, float) { return {factor_of(op)}; }
FASTAUG_FN Contrast body_of(OpTag<OpId::CONTRAST>, const Op& op, float mean) { return {factor_of(op), mean}; }
FASTAUG_FN TorchContrast body_of(OpTag<OpId::TORCH_CONTRAST>, const Op& op, float mean) {
  return {blend_by<TorchBlend>(op.f[0]), mean};
}
FASTAUG_FN Saturation body_of(OpTag<OpId::SATURATION>, const Op& op, float) { return {factor_of(op)}; }
FASTAUG_FN TorchSaturation body_of(OpTag<OpId::TORCH_SATURATION>, const Op& op, float) {
  return {blend_by<TorchBlend>(op.f[0])};
}
FASTAUG_FN HedJitter body_of(OpTag<OpId::HED>, const Op& op, float) {
  return HedJitter(op.f, (op.flags & kUnclipped) == 0);
}
FASTAUG_FN Restain body_of(OpTag<OpId::STAINS>, const Op& op, float) { return Restain(op); }
FASTAUG_FN Hue body_of(OpTag<OpId::HUE>, const Op& op, float) { return {static_cast<float>(op.i[0])}; }
FASTAUG_FN TorchHue body_of(OpTag<OpId::TORCH_HUE>, const Op& op, float) { return {factor_of(op)}; }
FASTAUG_FN V2Contrast body_of(OpTag<OpId::V2_CONTRAST>, const Op& op, float mean) {
  return {blend_by<V2Blend>(op.f[0]), mean};
}
FASTAUG_FN V2Saturation body_of(OpTag<OpId::V2_SATURATION>, const Op& op, float) {
  return {blend_by<V2Blend>(op.f[0])};
}
FASTAUG_FN V2Hue body_of(OpTag<OpId::V2_HUE>, const Op& op, float) { return {factor_of(op)}; }
FASTAUG_FN V2Gray body_of(OpTag<OpId::V2_LUMA>, const Op&, float) { return {}; }
FASTAUG_FN TorchGray body_of(OpTag<OpId::TORCH_LUMA>, const Op&, float) { return {}; }
FASTAUG_FN Permute body_of(OpTag<OpId::V2_PERMUTE>, const Op& op, float) {
  return {{op.i[0], op.i[1], op.i[2], op.i[3]}};
}
FASTAUG_FN Luma body_of(OpTag<OpId::LUMA>, const Op&, float) { return {}; }
FASTAUG_FN Premultiply body_of(OpTag<OpId::PREMULTIPLY>, const Op&, float) { return {}; }
FASTAUG_FN Unpremultiply body_of(OpTag<OpId::UNPREMULTIPLY>, const Op&, float) { return {}; }

// Runs one op on `channels` channels. What the loop has to have:
//   each(body, colours, channels)  v = body(v) in the first `colours` channels; the others are left alone
//   together(body, channels)       body(r, g, b); a fourth channel is left alone
//   opaque(body, channels)         body(r, g, b); a fourth channel becomes 255
//   reduce(body)                   channel 0 = body(r, g, b)
//   replicate(copies)              channels 1 to copies - 1 = channel 0
//   with_alpha(body, channels)     v = body(v, alpha), where alpha is the last channel and left alone
//   permute(from, channels)        channel c = channel from[c], all at once
// `body` is of an op that has one; `colours`: the channels that an op of kAlphaFlag changes.
template <OpId kId, class Body, class Loop>
FASTAUG_FN void run_body(Body body, int colours, int channels, Loop loop) {
  constexpr Channels kChannels = kChannelsOf<kId>;
  if constexpr (kChannels == Channels::kAny) {
    static_assert(kHas<kId, Trait::kAlphaFlag>);
    loop.each(body, colours, channels);
  } else if constexpr (kChannels == Channels::kColour) {
    loop.together(body, channels);
  } else if constexpr (kChannels == Channels::kOpaque) {
    loop.opaque(body, channels);
  } else if constexpr (kChannels == Channels::kToGray) {
    loop.reduce(body);
  } else if constexpr (kChannels == Channels::kPermuted) {
    loop.permute(body.from, channels);
  } else {
    static_assert(kChannels == Channels::kAlpha);
    loop.with_alpha(body, channels);
  }
}

template <OpId kId, class Loop>
FASTAUG_FN void visit_as(const Op& op, float mean, int channels, Loop loop) {
  if constexpr (kChannelsOf<kId> == Channels::kFromGray) {
    static_assert(kId == OpId::REPLICATE, "an op from gray has no body");
    loop.replicate(op.i[0]);
  } else {
    run_body<kId>(body_of(OpTag<kId>(), op, mean), colours_of(op, channels), channels, loop);
  }
}

// The same for an op that is known only when it runs. An op that is_lane_op, but has no body above, does not compile.
template <class Loop>
FASTAUG_FN void visit(const Op& op, float mean, int channels, Loop loop) {
  switch (op.id) {
#define FASTAUG_OP(name, ...)                                                                   \
  case OpId::name:                                                                              \
    if constexpr (kIsLaneOp<OpId::name>) return visit_as<OpId::name>(op, mean, channels, loop); \
    break;
#include "program/ops.def"
#undef FASTAUG_OP
  }
  fail_on_host("visit", op.id);
}

FASTAUG_LANES_END

#endif
