// The base of a tile's layers: the features that can occur, the layout and words of a block's shared memory, and the
// place of the tile in its part.
#pragma once

#include "cuda/part.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/statistics.h"

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

// A Spec in which everything can occur.
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

// Statistics that the threads of a block share.
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

// Takes a whole number from 0 to 255. Added to 2^23, it becomes the last byte of the float.
FASTAUG_FN uint8_t to_byte(float v) { return static_cast<uint8_t>(bits_of(v + 8388608.0f)); }
// Avoids the conversion of 16-bit integers, which is slow.
FASTAUG_FN float to_float(uint8_t v) { return static_cast<float>(static_cast<uint32_t>(v)); }

// The part of an image, and the tile of it that a block makes.
template <class Spec>
class TileBase {
 public:
  FASTAUG_FN TileBase(const uint8_t* blob, uint8_t* scratch, const Part& part, int tile, uint8_t* shared)
      : blob_(blob), scratch_(scratch), p_(part), shared_(shared) {
    ty_ = tile / p_.tiles_x;
    tx_ = tile - ty_ * p_.tiles_x;
    step_ = reinterpret_cast<const Step*>(blob_ + p_.step);
  }

 protected:
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

  // The tile's extent in the input of step k, or in the result.
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

  const uint8_t* blob_;
  uint8_t* scratch_;
  const Part& p_;
  uint8_t* shared_;
  const Step* step_;
  int ty_;
  int tx_;
};

}  // namespace fastaug::cuda
