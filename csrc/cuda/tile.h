// A block makes a tile of what a part of an image shows, in phases with a barrier between them: what the block shares
// is prepared; pixels are read, or warped; each step makes pixels of those before it, which lie in shared memory as
// bytes, channel beside channel; colours follow each; the last ones are stored. A body is a function of (part, tile,
// thread): a device runs it for all threads at once, the emulation for one after the other.
//
// Spec says what can occur. What cannot is not compiled.
#pragma once

#include "cuda/part.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/blur.h"
#include "pixel/float_colour.h"
#include "pixel/grid.h"
#include "pixel/point.h"
#include "pixel/smooth.h"
#include "pixel/statistics.h"
#include "pixel/tap.h"
#include "pixel/torch_tap.h"
#include "pixel/weigh.h"

#ifdef __CUDACC__
#define FASTAUG_UNROLL _Pragma("unroll")
#define FASTAUG_NO_UNROLL _Pragma("unroll 1")
#else
#define FASTAUG_UNROLL
#define FASTAUG_NO_UNROLL
#endif

namespace fastaug::cuda {

FASTAUG_FN constexpr uint64_t bit(OpId id) { return uint64_t{1} << static_cast<int>(id); }
static_assert(kOpCount <= 64, "Features::ops has a bit for every op");

// Everything can occur.
struct Anything {
  static constexpr int kSource = -1;
  static constexpr int kChannels = 0;
  static constexpr int kDType = -1;
  static constexpr uint32_t kSteps = ~0u;
  static constexpr uint32_t kEnds = ~0u;
  static constexpr uint64_t kOps = ~uint64_t{0};
  static constexpr uint32_t kFlags = ~0u;
};

#ifdef __CUDA_ARCH__
FASTAUG_FN void add_to(uint32_t* at, uint32_t v) { atomicAdd(at, v); }
FASTAUG_FN void add_to(uint64_t* at, uint64_t v) {
  atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
}
FASTAUG_FN void lower(uint32_t* at, uint32_t v) { atomicMin(at, v); }
FASTAUG_FN void raise(uint32_t* at, uint32_t v) { atomicMax(at, v); }
#else
FASTAUG_FN void add_to(uint32_t* at, uint32_t v) { *at += v; }
FASTAUG_FN void add_to(uint64_t* at, uint64_t v) { *at += v; }
FASTAUG_FN void lower(uint32_t* at, uint32_t v) { *at = v < *at ? v : *at; }
FASTAUG_FN void raise(uint32_t* at, uint32_t v) { *at = v > *at ? v : *at; }
#endif

// A Colour with its numbers worked out.
struct Body {
  uint16_t kind;
  uint16_t id;
  uint8_t colours;  // that an op of kAlphaFlag changes
  uint8_t after;    // channels that leave
  uint16_t unused;
  uint32_t table;
  uint32_t unused_too;
  float number[4];
};

// What the threads of a block share besides pixels, and numbers of their own for its statistics.
struct Shared {
  uint32_t sum;
  uint32_t unused[3];
  uint32_t low[kMaxChannels];
  uint32_t high[kMaxChannels];
};
constexpr uint32_t kHistogramBytes = kMaxChannels * 256 * sizeof(uint32_t);

// Behind Shared: bodies, a histogram if there is one, two buffers.
FASTAUG_FN uint32_t shared_pixels(int colours, int statistics) {
  return static_cast<uint32_t>(sizeof(Shared) + static_cast<uint32_t>(colours) * sizeof(Body)) +
         (statistics == kHistogram ? kHistogramBytes : 0u);
}

// A pixel in shared memory is one word, of which three channels leave a byte empty: loads from there are what filters
// wait for.
FASTAUG_FN constexpr int word_bytes(int channels) { return channels == 3 ? 4 : channels; }

FASTAUG_FN uint32_t load_word(const uint8_t* p, int channels) {
  if (channels >= 3) return *reinterpret_cast<const uint32_t*>(p);
  return channels == 2 ? *reinterpret_cast<const uint16_t*>(p) : *p;
}
FASTAUG_FN uint8_t byte_of(uint32_t word, int c) {
#ifdef __CUDA_ARCH__
  return static_cast<uint8_t>(__byte_perm(word, 0, 0x4440u + static_cast<uint32_t>(c)));
#else
  return static_cast<uint8_t>(word >> (8 * c));
#endif
}
FASTAUG_FN void store_word(uint32_t word, int channels, uint8_t* p) {
  if (channels >= 3) {
    *reinterpret_cast<uint32_t*>(p) = word;
  } else if (channels == 2) {
    *reinterpret_cast<uint16_t*>(p) = static_cast<uint16_t>(word);
  } else {
    *p = static_cast<uint8_t>(word);
  }
}

// Of a whole number from 0 to 255: 2^23 and it is a float whose last byte it is.
FASTAUG_FN uint8_t to_byte(float v) { return static_cast<uint8_t>(bits_of(v + 8388608.0f)); }
// Of a byte, without the conversion of 16-bit integers, which is slow.
FASTAUG_FN float to_float(uint8_t v) { return static_cast<float>(static_cast<uint32_t>(v)); }

// An image whose channels lie anywhere, as a WarpSource.
struct PlacedPixel {
  const uint8_t* data;
  int64_t stride;

  FASTAUG_FN uint8_t operator[](int c) const { return data[c * stride]; }
};
struct PlacedSource {
  const uint8_t* data;
  int64_t row_stride;
  int64_t column_stride;
  int64_t channel_stride;
  int height;
  int width;

  FASTAUG_FN PlacedPixel at(int y, int x) const { return {data + y * row_stride + x * column_stride, channel_stride}; }
};

template <class Spec>
class Tile {
 public:
  FASTAUG_FN Tile(const uint8_t* blob, uint8_t* scratch, const Part& part, int tile, uint8_t* shared)
      : blob_(blob), scratch_(scratch), p_(part), shared_(shared) {
    ty_ = tile / p_.tiles_x;
    tx_ = tile - ty_ * p_.tiles_x;
    step_ = reinterpret_cast<const Step*>(blob_ + p_.step);
  }

  FASTAUG_FN int phases() const { return 1 + stages() + (takes_statistics() ? 1 : 0); }

  FASTAUG_FN void run(int phase, int thread, int threads) {
    if (phase == 0) return prepare(thread, threads);
    if (phase <= stages()) return make(phase - 1, thread, threads);
    give(thread, threads);
  }

 private:
  static constexpr bool kReplicates = (Spec::kOps & bit(OpId::REPLICATE)) != 0;
  static constexpr bool kGrays = (Spec::kOps & (bit(OpId::LUMA) | bit(OpId::TORCH_LUMA) | bit(OpId::V2_LUMA))) != 0;
  // Channels that a pixel can have.
  static constexpr int kMost = Spec::kChannels == 0 || kReplicates ? kMaxChannels : Spec::kChannels;
  static constexpr bool kVaries = Spec::kChannels == 0 || kReplicates || kGrays;

  static FASTAUG_FN constexpr bool has_flag(uint32_t flag) { return (Spec::kFlags & flag) != 0; }
  static FASTAUG_FN constexpr bool has_step(int kind, int what = kOccurs) {
    return (Spec::kSteps >> (kind + what) & 1u) != 0;
  }
  static FASTAUG_FN constexpr bool has_end(int kind) { return (Spec::kEnds >> kind & 1u) != 0; }
  static FASTAUG_FN constexpr bool has_source(int source) { return Spec::kSource < 0 || Spec::kSource == source; }
  static FASTAUG_FN constexpr bool has_sums() {
    return has_flag(kHasLuma) || has_flag(kHasGray) || has_flag(kHasV2Gray);
  }
  static FASTAUG_FN constexpr bool has_statistics() {
    return has_sums() || has_flag(kHasGrayParts) || has_flag(kHasExtremes) || has_flag(kHasHistogram);
  }

  // Stages make pixels: one that reads, and one for each step.
  FASTAUG_FN bool direct() const {
    if (!has_flag(kHasDirect)) return false;
    return !has_flag(kHasShared) || p_.direct != 0;
  }
  FASTAUG_FN int stages() const { return p_.steps + (direct() ? 0 : 1); }
  FASTAUG_FN bool takes_statistics() const { return has_statistics() && p_.statistics != kNoStatistics; }
  FASTAUG_FN bool is(int statistics) const { return p_.statistics == statistics; }

  FASTAUG_FN Shared& own() const { return *reinterpret_cast<Shared*>(shared_); }
  FASTAUG_FN Body* bodies() const { return reinterpret_cast<Body*>(shared_ + sizeof(Shared)); }
  FASTAUG_FN uint32_t* histogram() const {
    return reinterpret_cast<uint32_t*>(shared_ + sizeof(Shared) + static_cast<uint32_t>(p_.colours) * sizeof(Body));
  }
  FASTAUG_FN uint8_t* buffer(int stage) const {
    return shared_ + shared_pixels(p_.colours, p_.statistics) + (stage % 2 == 0 ? 0u : p_.buffer);
  }
  FASTAUG_FN Counts& counts(uint32_t at) const { return *reinterpret_cast<Counts*>(scratch_ + at); }
  FASTAUG_FN uint8_t* address(const Strided& place) const {
    return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(place.address)) +
           (place.scratch != 0 ? static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(scratch_)) : 0);
  }

  // What this tile has of the input of step k, or of what is shown.
  FASTAUG_FN Extent rows(int k) const {
    return reinterpret_cast<const Extent*>(scratch_ + p_.row_extents)[k * p_.tiles_y + ty_];
  }
  FASTAUG_FN Extent columns(int k) const {
    return reinterpret_cast<const Extent*>(scratch_ + p_.column_extents)[k * p_.tiles_x + tx_];
  }

  FASTAUG_FN int channels_of(int32_t channels) const { return kVaries ? channels : Spec::kChannels; }

  // Unrolled, with a condition where the number is not known: samples that are indexed by a variable would lie in local
  // memory.
  template <class Do>
  static FASTAUG_FN void each_channel(int channels, Do body) {
    FASTAUG_UNROLL
    for (int c = 0; c < kMost; ++c) {
      if (c < channels) body(c);
    }
  }

  // Rows go to warps, columns to lanes.
  template <class Do>
  static FASTAUG_FN void each_pixel(Extent rows, Extent columns, int thread, int threads, Do body) {
    for (int y = rows.begin + thread / 32; y < rows.end; y += threads / 32) {
      for (int x = columns.begin + thread % 32; x < columns.end; x += 32) body(y, x);
    }
  }

  // ---- Before the first pixel.

  FASTAUG_FN void prepare(int thread, int threads) {
    if (thread < p_.colours) work_out(thread);
    if (!takes_statistics()) return;
    if (thread == 0) own().sum = 0;
    if (thread < kMaxChannels) {
      own().low[thread] = 255;
      own().high[thread] = 0;
    }
    if (has_flag(kHasHistogram) && is(kHistogram)) {
      for (int k = thread; k < kMaxChannels * 256; k += threads) histogram()[k] = 0;
    }
  }

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

  // ---- Where pixels come from.

  // What a thread asks for at every pixel of the source, and so had better keep.
  struct Origin {
    PlacedSource image;
    FixedMap fixed;
    int shift_y;
    int shift_x;
  };
  FASTAUG_FN Origin origin() const {
    Origin o{};
    o.image = {address(p_.from), p_.from.row_stride, p_.from.pixel_stride, p_.from.channel_stride, p_.height, p_.width};
    o.shift_y = p_.shift_y;
    o.shift_x = p_.shift_x;
    if (has_source(kAffineNearest)) o.fixed = p_.fixed;
    return o;
  }

  template <int kChannels>
  FASTAUG_FN void warped(const Origin& o, int y, int x, uint8_t* pixel) const {
    const PlacedSource& s = o.image;
    y += o.shift_y;
    x += o.shift_x;
    const double* m = p_.warp.f;
    const uint8_t* fill = p_.warp.fill;
    const int source = Spec::kSource >= 0 ? Spec::kSource : p_.source;
    if (has_source(kAffineNearest) && source == kAffineNearest) {
      return nearest_pixel<kChannels>(s, o.fixed.x_at(x, y) >> 16, o.fixed.y_at(x, y) >> 16, fill, pixel);
    }
    if (has_source(kAffineLinear) && source == kAffineLinear) {
      return linear_pixel<kChannels>(s, affine_x(m, x, y), affine_y(m, x, y), fill, pixel);
    }
    if (has_source(kAffineCubic) && source == kAffineCubic) {
      return cubic_pixel<kChannels>(s, affine_x(m, x, y), affine_y(m, x, y), fill, pixel);
    }
    if (has_source(kPerspectiveNearest) && source == kPerspectiveNearest) {
      return perspective_nearest_pixel<kChannels>(s, perspective_at(m, x, y), fill, pixel);
    }
    if (has_source(kPerspectiveLinear) && source == kPerspectiveLinear) {
      return perspective_linear_pixel<kChannels>(s, perspective_at(m, x, y), fill, pixel);
    }
    if (has_source(kPerspectiveCubic) && source == kPerspectiveCubic) {
      return perspective_cubic_pixel<kChannels>(s, perspective_at(m, x, y), fill, pixel);
    }
    if (has_source(kGridNearest) && source == kGridNearest) {
      const GridPoint at = grid_point(p_.map, x, y);
      return grid_nearest_pixel<kChannels>(s, at.x, at.y, outside(), pixel);
    }
    if (has_source(kGridLinear) && source == kGridLinear) {
      const GridPoint at = grid_point(p_.map, x, y);
      return grid_linear_pixel<kChannels>(s, at.x, at.y, outside(), pixel);
    }
    if (has_source(kRoundedAffineLinear) && source == kRoundedAffineLinear) {
      return rounded<kChannels, false>(s, {affine_x(m, x, y), affine_y(m, x, y)}, pixel);
    }
    if (has_source(kRoundedAffineCubic) && source == kRoundedAffineCubic) {
      return rounded<kChannels, true>(s, {affine_x(m, x, y), affine_y(m, x, y)}, pixel);
    }
    if (has_source(kRoundedPerspectiveLinear) && source == kRoundedPerspectiveLinear) {
      return rounded<kChannels, false>(s, perspective_at(m, x, y), pixel);
    }
    if (has_source(kRoundedPerspectiveCubic) && source == kRoundedPerspectiveCubic) {
      return rounded<kChannels, true>(s, perspective_at(m, x, y), pixel);
    }
  }

  FASTAUG_FN GridFill outside() const { return {filling_of(p_.warp), p_.fill}; }
  template <int kChannels, bool kCubic>
  FASTAUG_FN void rounded(const PlacedSource& s, Position at, uint8_t* pixel) const {
    if (warp_lost(s, at.x, at.y)) {
      for (int c = 0; c < kChannels; ++c) pixel[c] = 0;
    } else if (!warp_inside(s, at.x, at.y)) {
      copy_pixel<kChannels>(p_.warp.fill, pixel);
    } else if (kCubic) {
      rounded_cubic_pixel<kChannels>(s, fixed_position(at), pixel);
    } else {
      rounded_linear_pixel<kChannels>(s, fixed_position(at), pixel);
    }
  }

  // Pixel (y, x) of the source.
  FASTAUG_FN void read(const Origin& o, int y, int x, uint8_t* pixel) const {
    if (!has_source(kRead) || (Spec::kSource < 0 && p_.source != kRead)) {
      if constexpr (Spec::kChannels != 0) {
        warped<Spec::kChannels>(o, y, x, pixel);
      } else {
        if (p_.channels == 1) return warped<1>(o, y, x, pixel);
        if (p_.channels == 2) return warped<2>(o, y, x, pixel);
        if (p_.channels == 3) return warped<3>(o, y, x, pixel);
        warped<4>(o, y, x, pixel);
      }
      return;
    }
    const PlacedPixel from = o.image.at(y, x);
    each_channel(channels_of(p_.channels), [&](int c) { pixel[c] = from[c]; });
  }

  // Statistics of the pixels that a thread made.
  struct Seen {
    uint32_t sum;
    uint32_t low[kMost];
    uint32_t high[kMost];
  };

  struct Finish {
    Extent rows;
    Extent columns;
    const Body* body;
    int count;
    int channels;  // that enter
    int after;     // that leave
    bool last;
    bool floats;      // they are stored as floats
    int statistics;   // that are taken
    uint8_t* shared;  // where pixel (0, 0) would be in the buffer, unless it is the last stage
    int pitch;
    uint8_t* memory;  // where it is, or would be, else; null: nowhere
    int64_t row_stride;
    int64_t pixel_stride;
    int64_t channel_stride;
    StoreForm form[kMost];  // of floats
    Seen seen;
    TorchOrder order;  // of parts of a sum
  };

  // ---- Stages.

  FASTAUG_FN void make(int stage, int thread, int threads) {
    if (stage == 0 && !direct()) {
      Finish finish = finish_of(0, -1);
      const Origin from = origin();
      each_pixel(finish.rows, finish.columns, thread, threads, [&](int y, int x) {
        uint8_t pixel[kMost] = {};
        read(from, y, x, pixel);
        put<kStepKinds>(finish, y, x, pixel);
      });
      return leave(finish);
    }
    const int k = stage - (direct() ? 0 : 1);
    const bool from_source = k == 0 && direct();
    if (has_flag(kHasDirect) && from_source) return step(k, stage, Unread{*this, origin()}, thread, threads);
    if (has_flag(kHasShared) || !from_source) step(k, stage, shared_input(k, stage), thread, threads);
  }

  // Pixels that a step reads.
  struct Unread {
    static constexpr bool kDirect = true;
    const Tile& tile;
    Origin from;

    FASTAUG_FN void at(int y, int x, uint8_t* pixel) const { tile.read(from, y, x, pixel); }

    // Pixels one after the other, from (y, x) on.
    struct Walk {
      const Unread& source;
      int y, x, by_y, by_x;

      FASTAUG_FN void next(int, uint8_t* pixel) {
        source.at(y, x, pixel);
        y += by_y;
        x += by_x;
      }
    };
    FASTAUG_FN Walk across(int y, int x) const { return {*this, y, x, 0, 1}; }
    FASTAUG_FN Walk down(int y, int x) const { return {*this, y, x, 1, 0}; }
  };
  struct Buffer {
    static constexpr bool kDirect = false;
    const uint8_t* data;
    Extent rows;
    Extent columns;
    int channels;

    FASTAUG_FN const uint8_t* pointer(int y, int x) const {
      return data + ((y - rows.begin) * (columns.end - columns.begin) + (x - columns.begin)) * word_bytes(channels);
    }
    FASTAUG_FN void at(int y, int x, uint8_t* pixel) const {
      const uint32_t word = load_word(pointer(y, x), channels);
      each_channel(channels, [&](int c) { pixel[c] = byte_of(word, c); });
    }

    struct Walk {
      const uint8_t* p;
      int by;

      FASTAUG_FN void next(int count, uint8_t* pixel) {
        const uint32_t word = load_word(p, count);
        each_channel(count, [&](int c) { pixel[c] = byte_of(word, c); });
        p += by;
      }
    };
    FASTAUG_FN Walk across(int y, int x) const { return {pointer(y, x), word_bytes(channels)}; }
    FASTAUG_FN Walk down(int y, int x) const {
      return {pointer(y, x), (columns.end - columns.begin) * word_bytes(channels)};
    }
  };
  FASTAUG_FN Buffer shared_input(int k, int stage) const {
    return {buffer(stage - 1), rows(k), columns(k), channels_of(step_[k].channels)};
  }

  template <class Input>
  FASTAUG_FN void step(int k, int stage, const Input& input, int thread, int threads) {
    const Step& s = step_[k];
    Finish finish = finish_of(stage, k);
    const auto each = [&](auto body) { each_pixel(finish.rows, finish.columns, thread, threads, body); };
    if (can_be<Input>(kTake) && s.kind == kTake) {
      each([&](int y, int x) { take(s, input, finish, y, x); });
    } else if (can_be<Input>(kAcross) && s.kind == kAcross) {
      across(s, input, finish, thread, threads);
    } else if (can_be<Input>(kDown) && s.kind == kDown) {
      each([&](int y, int x) { down(s, input, finish, y, x); });
    } else if (can_be<Input>(kSharpen) && s.kind == kSharpen) {
      const scalar::Sharpness blend{static_cast<float>(s.op.f[0])};
      each([&](int y, int x) { sharpen<kSharpen>(blend, false, s, input, finish, y, x); });
    } else if (can_be<Input>(kTorchSharpen) && s.kind == kTorchSharpen) {
      const auto blend = scalar::blend_by<scalar::TorchBlend>(s.op.f[0]);
      const bool blended = torch_sharpens(s.in_height, s.in_width);
      each([&](int y, int x) { sharpen<kTorchSharpen>(blend, blended, s, input, finish, y, x); });
    } else if (can_be<Input>(kV2Sharpen) && s.kind == kV2Sharpen) {
      const scalar::V2Sharpness blend{scalar::torch_rest(s.op.f[0])};
      each([&](int y, int x) { sharpen<kV2Sharpen>(blend, false, s, input, finish, y, x); });
    } else if (can_be<Input>(kBlur) && s.kind == kBlur) {
      blur(s, input, finish, thread, threads);
    } else if (can_be<Input>(kTorchFilter) && s.kind == kTorchFilter) {
      each([&](int y, int x) { torch_filter(s, input, finish, y, x); });
    }
    leave(finish);
  }

  template <class Input>
  static FASTAUG_FN constexpr bool can_be(int kind) {
    return Input::kDirect ? has_step(kind, kFromSource) : has_step(kind);
  }

  template <class T>
  FASTAUG_FN const T* table(const Step& s, uint32_t at) const {
    return reinterpret_cast<const T*>((s.in_blob != 0 ? blob_ : scratch_) + at);
  }

  template <class Input>
  FASTAUG_FN void take(const Step& s, const Input& input, Finish& finish, int y, int x) {
    int from_y = y + s.op.i[0];
    int from_x = x + s.op.i[1];
    bool shown;
    if (s.rows == kNowhere) {
      shown = from_y >= 0 && from_y < s.in_height && from_x >= 0 && from_x < s.in_width;
    } else {
      from_y = table<int32_t>(s, s.rows)[y - s.begin_row];
      from_x = table<int32_t>(s, s.columns)[x - s.begin_column];
      shown = from_y >= 0 && from_x >= 0;
    }
    uint8_t pixel[kMost] = {};
    if (shown) {
      input.at(from_y, from_x, pixel);
    } else {
      each_channel(channels_of(s.channels), [&](int c) { pixel[c] = s.op.fill[c]; });
    }
    put<kTake>(finish, y, x, pixel);
  }

  // Some rows at a time, which share their weights.
  template <class Input>
  FASTAUG_FN void across(const Step& s, const Input& input, Finish& finish, int thread, int threads) {
    constexpr int kRows = 4;
    const int channels = channels_of(s.channels);
    const TapRange* ranges = table<TapRange>(s, s.columns);
    const int32_t* weights = table<int32_t>(s, s.weights);
    const int last = finish.rows.end - 1;
    for (int y = finish.rows.begin + thread / 32 * kRows; y <= last; y += threads / 32 * kRows) {
      const auto row = [&](int j) { return y + j < last ? y + j : last; };
      for (int x = finish.columns.begin + thread % 32; x < finish.columns.end; x += 32) {
        const int n = x - s.begin_column;
        const TapRange range = ranges[n];
        const int32_t* weight = weights + n;
        typename Input::Walk walk[kRows] = {input.across(row(0), range.first), input.across(row(1), range.first),
                                            input.across(row(2), range.first), input.across(row(3), range.first)};
        uint32_t sum[kRows][kMost] = {};
        for (int t = 0; t < range.count; ++t, weight += s.by_tap) {
          FASTAUG_UNROLL
          for (int j = 0; j < kRows; ++j) {
            uint8_t sample[kMost] = {};
            walk[j].next(channels, sample);
            each_channel(channels, [&](int c) { sum[j][c] += static_cast<uint32_t>(*weight) * sample[c]; });
          }
        }
        FASTAUG_UNROLL
        for (int j = 0; j < kRows; ++j) {
          if (y + j > last) continue;
          uint8_t pixel[kMost] = {};
          each_channel(channels, [&](int c) { pixel[c] = clip8(sum[j][c], s.bits); });
          put<kAcross>(finish, y + j, x, pixel);
        }
      }
    }
  }

  template <class Input>
  FASTAUG_FN void down(const Step& s, const Input& input, Finish& finish, int y, int x) {
    const int channels = channels_of(s.channels);
    const int n = y - s.begin_row;
    const TapRange range = table<TapRange>(s, s.rows)[n];
    const int32_t* weight = table<int32_t>(s, s.weights) + n * s.by_output;
    typename Input::Walk walk = input.down(range.first, x);
    uint32_t sum[kMost] = {};
    for (int t = 0; t < range.count; ++t) {
      uint8_t sample[kMost] = {};
      walk.next(channels, sample);
      each_channel(channels, [&](int c) { sum[c] += static_cast<uint32_t>(weight[t]) * sample[c]; });
    }
    uint8_t pixel[kMost] = {};
    each_channel(channels, [&](int c) { pixel[c] = clip8(sum[c], s.bits); });
    put<kDown>(finish, y, x, pixel);
  }

  // sum = sum + weight * sample for tap t of `count`, as torch_sum does it.
  static FASTAUG_FN float torch_step(int t, int unfused, float sample, float weight, float sum) {
    if (t > unfused) return fused(sample, weight, sum);
    const float product = sample * weight;
    return t == 0 ? product : sum + product;
  }

  // Rows are summed up anew for each pixel: floats between the passes would take four times the shared memory of bytes.
  template <class Input>
  FASTAUG_FN void torch_filter(const Step& s, const Input& input, Finish& finish, int y, int x) {
    const int channels = channels_of(s.channels);
    const int row = y - s.begin_row;
    const int column = x - s.begin_column;
    const TapRange down = table<TapRange>(s, s.rows)[row];
    const TapRange across = table<TapRange>(s, s.columns)[column];
    const float* weights = table<float>(s, s.weights);
    const float* weight = weights + static_cast<ptrdiff_t>(row) * s.by_output;
    const float* first = weights + static_cast<ptrdiff_t>(s.row_outputs) * s.by_output + column;
    const int unfused_down = torch_unfused(down.count);
    const int unfused_across = torch_unfused(across.count);
    float sum[kMost] = {};
    for (int i = 0; i < down.count; ++i) {
      typename Input::Walk walk = input.across(down.first + i, across.first);
      const float* w = first;
      float part[kMost] = {};
      for (int t = 0; t < across.count; ++t, w += s.column_outputs) {
        uint8_t sample[kMost] = {};
        walk.next(channels, sample);
        each_channel(channels,
                     [&](int c) { part[c] = torch_step(t, unfused_across, to_float(sample[c]), *w, part[c]); });
      }
      each_channel(channels, [&](int c) { sum[c] = torch_step(i, unfused_down, part[c], weight[i], sum[c]); });
    }
    uint8_t pixel[kMost] = {};
    each_channel(channels, [&](int c) { pixel[c] = torch_rounded(sum[c]); });
    put<kTorchFilter>(finish, y, x, pixel);
  }

  // blend(smooth, v) makes the sample. At the border, where the smoothed image is the image itself, Pillow's blend
  // changes nothing; a border that is to be blended all the same is `blended`.
  template <int kKind, class Blend, class Input>
  FASTAUG_FN void sharpen(Blend blend, bool blended, const Step& s, const Input& input, Finish& finish, int y, int x) {
    const int channels = channels_of(s.channels);
    const int colours = colours_of(s.op, channels);
    const bool border = y == 0 || x == 0 || y == s.in_height - 1 || x == s.in_width - 1;
    uint8_t pixel[kMost] = {};
    input.at(y, x, pixel);
    int smooth[kMost] = {};
    each_channel(channels, [&](int c) { smooth[c] = pixel[c]; });
    if (!border) {
      each_channel(channels, [&](int c) { smooth[c] = 4 * pixel[c]; });
      for (int k = 0; k < 9; ++k) {
        uint8_t near[kMost] = {};
        input.at(y - 1 + k / 3, x - 1 + k % 3, near);
        each_channel(channels, [&](int c) { smooth[c] += near[c]; });
      }
      each_channel(channels, [&](int c) { smooth[c] = smooth_of(smooth[c]); });
    }
    if (!border || blended) {
      each_channel(channels, [&](int c) {
        if (c < colours) pixel[c] = to_byte(blend(static_cast<float>(smooth[c]), to_float(pixel[c])));
      });
    }
    put<kKind>(finish, y, x, pixel);
  }

  // Weight k of a kernel of `size` that is given by its first half and its centre.
  static FASTAUG_FN float mirrored(const float* half, int size, int k) {
    return half[k < size - 1 - k ? k : size - 1 - k];
  }

  // Some pixels side by side, which share samples and weights.
  template <class Input>
  FASTAUG_FN void blur(const Step& s, const Input& input, Finish& finish, int thread, int threads) {
    constexpr int kSide = 4;
    const int channels = channels_of(s.channels);
    const int width = s.op.i[0];
    const int height = s.op.i[1];
    const float* across = reinterpret_cast<const float*>(s.op.f);
    const float* down = (s.op.flags & kSquare) != 0 ? across : across + width / 2 + 1;
    const bool fused = (s.op.flags & kUnfused) == 0;
    const int groups = (finish.columns.end - finish.columns.begin + kSide - 1) / kSide;
    const int count = groups * (finish.rows.end - finish.rows.begin);
    // What pixels of a group that lie outside of the tile read is of no use, but has to be there.
    const int most = s.in_width + width / 2 - 1;
    const int end = finish.columns.end + width / 2;
    const int last = (end < s.in_width ? end : s.in_width) - 1;
    for (int k = thread; k < count; k += threads) {
      const int y = finish.rows.begin + k / groups;
      const int x = finish.columns.begin + k % groups * kSide;
      float sum[kSide][kMost] = {};
      const auto add = [&](auto step) {
        for (int i = 0; i < height; ++i) {
          const int from_y = reflect(y - height / 2 + i, s.in_height);
          const float row = mirrored(down, height, i);
          float window[kSide][kMost] = {};
          const auto load = [&](int column, float* to) {
            uint8_t sample[kMost] = {};
            const int from_x = reflect(column < most ? column : most, s.in_width);
            input.at(from_y, from_x < last ? from_x : last, sample);
            each_channel(channels, [&](int c) { to[c] = to_float(sample[c]); });
          };
          FASTAUG_UNROLL
          for (int n = 0; n + 1 < kSide; ++n) load(x - width / 2 + n, window[n]);
          for (int j = 0; j < width; ++j) {
            load(x - width / 2 + j + kSide - 1, window[kSide - 1]);
            const float weight = row * mirrored(across, width, j);
            FASTAUG_UNROLL
            for (int n = 0; n < kSide; ++n) {
              each_channel(channels, [&](int c) { sum[n][c] = step(weight, window[n][c], sum[n][c]); });
            }
            FASTAUG_UNROLL
            for (int n = 0; n + 1 < kSide; ++n) each_channel(channels, [&](int c) { window[n][c] = window[n + 1][c]; });
          }
        }
      };
      if (fused) {
        add([](float weight, float sample, float so_far) { return scalar::blur_step(true, weight, sample, so_far); });
      } else {
        add([](float weight, float sample, float so_far) { return scalar::blur_step(false, weight, sample, so_far); });
      }
      uint32_t packed[kSide] = {};
      FASTAUG_UNROLL
      for (int n = 0; n < kSide; ++n) {
        each_channel(channels,
                     [&](int c) { packed[n] |= static_cast<uint32_t>(scalar::round_blur(sum[n][c])) << (8 * c); });
      }
      // Not unrolled: colours behind it are long.
      FASTAUG_NO_UNROLL
      for (int n = 0; n < kSide && x + n < finish.columns.end; ++n) {
        const uint32_t one = n < 2 ? (n == 0 ? packed[0] : packed[1]) : (n == 2 ? packed[2] : packed[3]);
        uint8_t pixel[kMost] = {};
        each_channel(channels, [&](int c) { pixel[c] = byte_of(one, c); });
        put<kBlur>(finish, y, x + n, pixel);
      }
    }
  }

  // ---- What becomes of a pixel that a stage made.

  // Of step k, or of what is read (-1).
  FASTAUG_FN Finish finish_of(int stage, int k) const {
    Finish f{};
    f.last = k == p_.steps - 1;
    f.rows = rows(k + 1);
    f.columns = columns(k + 1);
    int first = k < 0 ? 0 : p_.read_colours;
    for (int j = 0; j < k; ++j) first += step_[j].colours;
    f.body = bodies() + first;
    f.count = k < 0 ? p_.read_colours : step_[k].colours;
    f.channels = channels_of(k < 0 ? p_.channels : step_[k].channels);
    f.after = f.count > 0 ? channels_of(f.body[f.count - 1].after) : f.channels;
    if (!f.last) {
      f.pitch = (f.columns.end - f.columns.begin) * word_bytes(f.after);
      f.shared = buffer(stage) - (f.rows.begin * f.pitch + f.columns.begin * word_bytes(f.after));
    } else {
      f.floats = has_end(kStore) && p_.end == kStore && dtype() != static_cast<int>(DType::kUint8);
      f.statistics = has_statistics() ? p_.statistics : kNoStatistics;
      if (!has_end(kLookOnly) || p_.end != kLookOnly) f.memory = address(p_.to);
      if (f.floats) each_channel(kMost, [&](int c) { f.form[c] = p_.form[c]; });
      f.row_stride = p_.to.row_stride;
      f.pixel_stride = p_.to.pixel_stride;
      f.channel_stride = p_.to.channel_stride;
    }
    if (has_flag(kHasGrayParts)) f.order = torch_order(int64_t{p_.shown.height} * p_.shown.width);
    if (has_flag(kHasExtremes)) {
      each_channel(kMost, [&](int c) { f.seen.low[c] = 255; });
      each_channel(kMost, [&](int c) { f.seen.high[c] = 0; });
    }
    return f;
  }

  template <int kKind>
  FASTAUG_FN void put(Finish& f, int y, int x, uint8_t* pixel) const {
    constexpr bool kHasColours = has_step(kKind, kColoured);
    if ((kHasColours && f.count > 0) || f.floats) {
      float v[kMost] = {};
      each_channel(f.channels, [&](int c) { v[c] = to_float(pixel[c]); });
      int channels = f.channels;
      if (kHasColours) {
        for (int k = 0; k < f.count; ++k) channels = colour(f.body[k], channels, v);
      }
      if (has_end(kStore) && f.floats) return store_floats(f, y, x, v);
      each_channel(f.after, [&](int c) { pixel[c] = to_byte(v[c]); });
    }
    if (!f.last) {
      uint32_t word = 0;
      each_channel(f.after, [&](int c) { word |= static_cast<uint32_t>(pixel[c]) << (8 * c); });
      return store_word(word, f.after, f.shared + y * f.pitch + x * word_bytes(f.after));
    }
    if (has_statistics()) look(f, y, x, pixel);
    if (has_end(kLookOnly) && f.memory == nullptr) return;
    uint8_t* to = f.memory + y * f.row_stride + x * f.pixel_stride;
    each_channel(f.after, [&](int c) { to[c * f.channel_stride] = pixel[c]; });
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
      // No index that only the program knows: it would put the pixel into memory.
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

  // Channels after it.
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

  template <class Do>
  FASTAUG_FN static uint32_t of_colours(Do body, int channels, const uint8_t* pixel) {
    if constexpr (kMost >= 3) {
      if (channels >= 3) {
        return to_byte(body(to_float(pixel[0]), to_float(pixel[1]), to_float(pixel[2])));
      }
    }
    return pixel[0];
  }

  FASTAUG_FN void look(Finish& f, int y, int x, const uint8_t* pixel) const {
    if (has_flag(kHasLuma) && f.statistics == kLumaSum) f.seen.sum += of_colours(scalar::Luma(), f.after, pixel);
    if (has_flag(kHasGray) && f.statistics == kGraySum) f.seen.sum += of_colours(scalar::TorchGray(), f.after, pixel);
    if (has_flag(kHasV2Gray) && f.statistics == kV2GraySum) f.seen.sum += of_colours(scalar::V2Gray(), f.after, pixel);
    if (has_flag(kHasGrayParts) && is_parts(f.statistics)) {
      // Of an image that is shown as a whole. Neighbours go to neighbouring counters: a warp's make one transaction.
      const int64_t n = int64_t{y} * p_.shown.width + x;
      const uint32_t gray = f.statistics == kV2GrayParts ? of_colours(scalar::V2Gray(), f.after, pixel)
                                                         : of_colours(scalar::TorchGray(), f.after, pixel);
      add_to(gray_parts(&counts(p_.counts)) + f.order.place(n), gray);
    }
    if (has_flag(kHasExtremes) && f.statistics == kExtremes) {
      each_channel(f.after, [&](int c) {
        f.seen.low[c] = pixel[c] < f.seen.low[c] ? pixel[c] : f.seen.low[c];
        f.seen.high[c] = pixel[c] > f.seen.high[c] ? pixel[c] : f.seen.high[c];
      });
    }
    if (has_flag(kHasHistogram) && f.statistics == kHistogram) {
      each_channel(f.after, [&](int c) { add_to(histogram() + 256 * c + pixel[c], 1u); });
    }
  }

  // A thread's statistics to the block's.
  FASTAUG_FN void leave(const Finish& f) const {
    if (!f.last || !takes_statistics()) return;
    if (has_sums() && is_sum(p_.statistics)) add_to(&own().sum, f.seen.sum);
    if (has_flag(kHasExtremes) && is(kExtremes)) {
      each_channel(f.after, [&](int c) {
        lower(&own().low[c], f.seen.low[c]);
        raise(&own().high[c], f.seen.high[c]);
      });
    }
  }

  // The block's to the image's.
  FASTAUG_FN void give(int thread, int threads) const {
    Counts& to = counts(p_.counts);
    if (has_sums() && is_sum(p_.statistics) && thread == 0) add_to(&to.sum, uint64_t{own().sum});
    if (has_flag(kHasExtremes) && is(kExtremes) && thread < kMaxChannels) {
      lower(&to.low[thread], own().low[thread]);
      raise(&to.high[thread], own().high[thread]);
    }
    if (has_flag(kHasHistogram) && is(kHistogram)) {
      for (int k = thread; k < kMaxChannels * 256; k += threads) {
        if (histogram()[k] != 0) add_to(&to.count[k / 256][k % 256], histogram()[k]);
      }
    }
  }

  FASTAUG_FN int dtype() const { return Spec::kDType >= 0 ? Spec::kDType : p_.dtype; }

  FASTAUG_FN void store_floats(const Finish& f, int y, int x, float* v) const {
    uint8_t* to = f.memory + y * f.row_stride + x * f.pixel_stride;
    const int channels = channels_of(p_.out_channels);
    each_channel(channels, [&](int c) {
      if (has_flag(kHasFloats) && p_.floats != 0) {
        v[c] = stored_value(v[c], f.form[c].normalize, f.form[c].mean, f.form[c].std, f.form[c].multiplied);
      } else {
        v[c] = has_flag(kHasDivision) ? stored(f.form[c], v[c]) : quickly_stored(f.form[c], v[c]);
      }
    });
    if (has_flag(kHasErases)) {
      const Erased* erased = reinterpret_cast<const Erased*>(blob_ + p_.erase);
      for (int k = 0; k < p_.erases; ++k) {
        const Region& r = erased[k].region;
        if (y < r.y || x < r.x || y >= r.y + r.height || x >= r.x + r.width) continue;
        each_channel(channels, [&](int c) { v[c] = erased[k].value[c]; });
      }
    }
    each_channel(channels, [&](int c) {
      uint8_t* sample = to + c * f.channel_stride;
      if (dtype() == static_cast<int>(DType::kFloat32)) {
        *reinterpret_cast<float*>(sample) = v[c];
      } else if (dtype() == static_cast<int>(DType::kFloat16)) {
        *reinterpret_cast<uint16_t*>(sample) = to_float16(v[c]);
      } else {
        *reinterpret_cast<uint16_t*>(sample) = to_bfloat16(v[c]);
      }
    });
  }

  const uint8_t* blob_;
  uint8_t* scratch_;
  const Part& p_;
  uint8_t* shared_;
  const Step* step_;
  int ty_;
  int tx_;
};

// The last of `count` entries that begins at or before this block.
FASTAUG_FN const Entry& entry_of(const Entry* entries, int count, int64_t block) {
  int low = 0;
  for (int high = count; high - low > 1;) {
    const int middle = (low + high) / 2;
    if (entries[middle].first_block <= block) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return entries[low];
}

}  // namespace fastaug::cuda
