// Lane ops by the bodies of pixel/pointwise.h. The loop that a body runs in follows from the channels of the op's row
// in program/ops.def; scalar kernels, vector kernels and CUDA bring loops of their own.
//
// Include what pixel/pointwise.h needs first.
#if defined(FASTAUG_PIXEL_POINT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FASTAUG_PIXEL_POINT_H_
#undef FASTAUG_PIXEL_POINT_H_
#else
#define FASTAUG_PIXEL_POINT_H_
#endif

#include "pixel/pointwise.h"
#include "pixel/stains.h"

FASTAUG_LANES_BEGIN

// Stains have bodies of their own for vectors.
FASTAUG_FN HedJitter body_of(OpTag<OpId::HED>, const Op& op, float) {
  return HedJitter(op.f, (op.flags & kUnclipped) == 0);
}
FASTAUG_FN Restain body_of(OpTag<OpId::STAINS>, const Op& op, float) { return Restain(op); }

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
