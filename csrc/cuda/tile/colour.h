// Colours: their numbers, worked out once for a block, and what they do to a pixel.
#pragma once

#include "cuda/tile/read.h"
#include "pixel/float_colour.h"
#include "pixel/point.h"

namespace fastaug::cuda {

// Applies colours to pixels.
template <class Spec>
class TileColour : protected TileRead<Spec> {
  using Base = TileRead<Spec>;

 public:
  using Base::Base;

 protected:
  using Base::kMost, Base::kVaries, Base::blob_, Base::scratch_, Base::p_, Base::bodies, Base::channels_of,
      Base::counts, Base::each_channel, Base::has_flag;

  template <OpId kId>
  FASTAUG_FN void work_out_lane(const Colour& colour, float mean, Body* body) const {
    if constexpr (is_lane_op(kId) && kChannelsOf<kId> != Channels::kFromGray && (Spec::kOps & bit(kId)) != 0) {
      const auto made = scalar::body_of(OpTag<kId>(), colour.op, mean);
      static_assert(sizeof(made) <= sizeof(body->number));
      memcpy(body->number, &made, sizeof(made));
    }
  }

  FASTAUG_FN float counted_mean(bool unrounded) const {
    const uint64_t sum = counts(p_.counted).sum;
    if (!p_.counts_parts()) return mean_of(p_.reduction, sum, p_.counted_pixels, unrounded);
    const auto bits = static_cast<uint32_t>(sum);
    float mean;
    memcpy(&mean, &bits, sizeof(mean));
    return mean;
  }

  FASTAUG_FN void work_out(int k) const {
    const Colour& colour = reinterpret_cast<const Colour*>(blob_ + p_.colour)[k];
    Body body{};
    body.kind = static_cast<uint16_t>(colour.kind);
    body.id = static_cast<uint16_t>(colour.op.id);
    body.after = static_cast<uint8_t>(colour.channels);
    body.table = colour.table;
    if (colour.kind == Colour::kLane || colour.kind == Colour::kFloat) {
      const bool counted = p_.counted != kNowhere && colour.op.id == p_.reduction;
      const bool in_floats = has_flag(kHasFloats) && colour.kind == Colour::kFloat;
      const float mean = counted ? counted_mean(in_floats) : 0.0f;
      body.after = static_cast<uint8_t>(after(colour.op, colour.channels));
      body.colours = static_cast<uint8_t>(colours_of(colour.op, colour.channels));
      if (in_floats) {
        const scalar::FloatOp op = scalar::float_op(colour.op, mean, colour.channels);
        body.colours = static_cast<uint8_t>(op.kept);
        body.id = static_cast<uint16_t>(op.kind);
        body.number[0] = op.factor;
        body.number[1] = op.rest;
      } else {
        work_out_as(colour, mean, &body);
      }
    }
    bodies()[k] = body;
  }

  FASTAUG_FN void work_out_as(const Colour& colour, float mean, Body* body) const {
    switch (colour.op.id) {
#define FASTAUG_OP(name, ...)                      \
  case OpId::name:                                 \
    work_out_lane<OpId::name>(colour, mean, body); \
    return;
#include "program/ops.def"
#undef FASTAUG_OP
    }
  }

  static FASTAUG_FN int after(const Op& op, int channels) {
    switch (op.id) {
#define FASTAUG_OP(name, ...) \
  case OpId::name:            \
    return channels_after(kChannelsOf<OpId::name>, op, channels);
#include "program/ops.def"
#undef FASTAUG_OP
    }
    return channels;
  }

  // The loop of a lane op over the channels of a pixel.
  struct PixelLoop {
    float* v;

    template <class Do>
    FASTAUG_FN void each(Do body, int colours, int) const {
      each_channel(colours, [&](int c) { v[c] = body(v[c]); });
    }
    template <class Do>
    FASTAUG_FN void together(Do body, int) const {
      if constexpr (kMost >= 3) body(v[0], v[1], v[2]);
    }
    template <class Do>
    FASTAUG_FN void opaque(Do body, int channels) const {
      if constexpr (kMost >= 3) body(v[0], v[1], v[2]);
      if constexpr (kMost >= 4) {
        if (channels == 4) v[3] = 255.0f;
      }
    }
    template <class Do>
    FASTAUG_FN void reduce(Do body) const {
      if constexpr (kMost >= 3) v[0] = body(v[0], v[1], v[2]);
    }
    FASTAUG_FN void replicate(int copies) const {
      each_channel(copies, [&](int c) { v[c] = v[0]; });
    }
    template <class Do>
    FASTAUG_FN void with_alpha(Do body, int channels) const {
      if constexpr (kMost >= 2) {
        float alpha = v[1];
        if constexpr (kMost >= 4) alpha = channels == 4 ? v[3] : v[1];
        each_channel(channels - 1, [&](int c) { v[c] = body(v[c], alpha); });
      }
    }
    FASTAUG_FN void permute(const int32_t* from, int channels) const {
      float before[kMost] = {};
      each_channel(channels, [&](int c) { before[c] = v[c]; });
      // An index that the compiler does not know would put the pixel into memory.
      each_channel(channels, [&](int c) {
        for (int k = 0; k < kMost; ++k) v[c] = from[c] == k ? before[k] : v[c];
      });
    }
  };

  template <OpId kId>
  static FASTAUG_FN void lane(const Body& body, int channels, float* v) {
    if constexpr (is_lane_op(kId) && (Spec::kOps & bit(kId)) != 0) {
      if constexpr (kChannelsOf<kId> == Channels::kFromGray) {
        static_assert(kId == OpId::REPLICATE, "an op from gray has no body");
        PixelLoop{v}.replicate(body.after);
      } else {
        decltype(scalar::body_of(OpTag<kId>(), Op{}, 0.0f)) made;
        memcpy(&made, body.number, sizeof(made));
        // Only a second or a fourth channel is alpha.
        const int colours = !kVaries && kMost % 2 == 1 ? kMost : body.colours;
        scalar::run_body<kId>(made, colours, channels, PixelLoop{v});
      }
    }
  }

  // Returns the number of channels after it.
  FASTAUG_FN int colour(const Body& body, int channels, float* v) const {
    if (has_flag(kHasLookups) && body.kind == Colour::kLookup) {
      each_channel(channels, [&](int c) { v[c] = scratch_[body.table + 256u * c + static_cast<uint32_t>(v[c])]; });
      return channels;
    }
    if (has_flag(kHasFloats) && body.kind == Colour::kRound) {
      each_channel(channels, [&](int c) { v[c] = truncf(v[c] + 0.5f); });
      return channels;
    }
    if (has_flag(kHasFloats) && body.kind == Colour::kFloat) {
      float_colour(body, v);
      return channels_of(body.after);
    }
    switch (static_cast<OpId>(body.id)) {
#define FASTAUG_OP(name, ...)            \
  case OpId::name:                       \
    lane<OpId::name>(body, channels, v); \
    break;
#include "program/ops.def"
#undef FASTAUG_OP
    }
    return channels_of(body.after);
  }

  FASTAUG_FN void float_colour(const Body& body, float* v) const {
    const int channels = channels_of(body.after);
    switch (static_cast<scalar::FloatOp::Kind>(body.id)) {
      case scalar::FloatOp::kBlend: {
        const scalar::FloatBlend blend{body.number[0], body.number[1]};
        each_channel(channels, [&](int c) {
          if (c != body.colours) v[c] = blend(v[c]);
        });
        break;
      }
      case scalar::FloatOp::kSaturate:
        PixelLoop{v}.together(scalar::FloatSaturation{body.number[0], body.number[1]}, channels);
        break;
      case scalar::FloatOp::kHue:
        PixelLoop{v}.opaque(scalar::FloatHue{body.number[0]}, channels);
        break;
      case scalar::FloatOp::kLuma:
        PixelLoop{v}.reduce(scalar::FloatLuma());
        break;
      case scalar::FloatOp::kReplicate:
        PixelLoop{v}.replicate(channels);
        break;
    }
  }
};

}  // namespace fastaug::cuda
