// BOX_BLUR: each lane is one line, along which a sum of samples slides. Columns lie side by side as they are;
// rows are transposed in blocks of as many as there are lanes, and back.
#define HWY_TARGET_INCLUDE "kernels/simd/box_blur.cc"

#include <algorithm>
#include <utility>

#include "kernels/simd/family-inl.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/wide-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Bytes = hn::ScalableTag<uint8_t>;
using Words = hn::Repartition<uint16_t, Bytes>;
using SignedWords = hn::Repartition<int16_t, Bytes>;
using Longs = hn::Repartition<uint32_t, Bytes>;
using Ints = hn::Repartition<int32_t, Bytes>;
using ByteVec = hn::Vec<Bytes>;
using WordVec = hn::Vec<Words>;
using LongVec = hn::Vec<Longs>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Bytes()));
static_assert(kLanes <= kBoxLanes);

// Halves here are of each block of 128 bits: what is taken apart in such halves is put together from them again.
HWY_INLINE WordVec lower_words(ByteVec v) {
  return hn::BitCast(Words(), hn::InterleaveLower(Bytes(), v, hn::Zero(Bytes())));
}
HWY_INLINE WordVec upper_words(ByteVec v) {
  return hn::BitCast(Words(), hn::InterleaveUpper(Bytes(), v, hn::Zero(Bytes())));
}
HWY_INLINE LongVec lower_longs(WordVec v) {
  return hn::BitCast(Longs(), hn::InterleaveLower(Words(), v, hn::Zero(Words())));
}
HWY_INLINE LongVec upper_longs(WordVec v) {
  return hn::BitCast(Longs(), hn::InterleaveUpper(Words(), v, hn::Zero(Words())));
}

// The bytes on top of four vectors of fixed point, rounded.
HWY_INLINE ByteVec rounded(LongVec a, LongVec b, LongVec c, LongVec d) {
  const auto half = hn::Set(Longs(), 1u << 23);
  const auto top = [&](LongVec v) HWY_ATTR { return hn::BitCast(Ints(), hn::ShiftRight<24>(hn::Add(v, half))); };
  return narrow(top(a), top(b), top(c), top(d));
}

// Sums below 2^15 and weights below 2^30, of which the lower 15 bits and the others are multiplied apart: a product
// and a sum at once.
class NarrowSums {
 public:
  // The widest box whose sum fits: 127 * 255 < 2^15.
  static constexpr int kMostRadius = 63;

  HWY_INLINE explicit NarrowSums(const BoxBlur& blur)
      : low_weights_(weights(blur.whole & 0x7fff, blur.part & 0x7fff)),
        high_weights_(weights(blur.whole >> 15, blur.part >> 15)),
        low_(hn::Zero(Words())),
        high_(hn::Zero(Words())) {}

  HWY_INLINE void add(ByteVec v, uint32_t times) {
    const auto by = hn::Set(Words(), static_cast<uint16_t>(times));
    low_ = hn::Add(low_, hn::Mul(lower_words(v), by));
    high_ = hn::Add(high_, hn::Mul(upper_words(v), by));
  }

  HWY_INLINE void add(ByteVec v) {
    low_ = hn::Add(low_, lower_words(v));
    high_ = hn::Add(high_, upper_words(v));
  }

  // Without `before` and with `entering`; the means with `before` and `after` beside.
  HWY_INLINE ByteVec slide(ByteVec before, ByteVec entering, ByteVec after) {
    const auto before_low = lower_words(before);
    const auto before_high = upper_words(before);
    low_ = hn::Sub(hn::Add(low_, lower_words(entering)), before_low);
    high_ = hn::Sub(hn::Add(high_, upper_words(entering)), before_high);
    const auto beside_low = hn::Add(before_low, lower_words(after));
    const auto beside_high = hn::Add(before_high, upper_words(after));
    return rounded(
        mean(hn::InterleaveLower(Words(), low_, beside_low)), mean(hn::InterleaveUpper(Words(), low_, beside_low)),
        mean(hn::InterleaveLower(Words(), high_, beside_high)), mean(hn::InterleaveUpper(Words(), high_, beside_high)));
  }

 private:
  using SignedVec = hn::Vec<SignedWords>;

  static HWY_INLINE SignedVec weights(uint32_t whole, uint32_t part) {
    return hn::BitCast(SignedWords(), hn::Set(Longs(), whole | part << 16));
  }

  // For pairs of a sum and the samples beside it.
  HWY_INLINE LongVec mean(WordVec pairs) const {
    const auto words = hn::BitCast(SignedWords(), pairs);
    const auto low = madd(words, low_weights_);
    const auto high = madd(words, high_weights_);
    return hn::Add(hn::BitCast(Longs(), low), hn::ShiftLeft<15>(hn::BitCast(Longs(), high)));
  }

  SignedVec low_weights_, high_weights_;
  WordVec low_, high_;
};

// Any sums and weights, modulo 2^32.
class WideSums {
 public:
  HWY_INLINE explicit WideSums(const BoxBlur& blur)
      : whole_(hn::Set(Longs(), blur.whole)),
        part_(hn::Set(Longs(), blur.part)),
        a_(hn::Zero(Longs())),
        b_(a_),
        c_(a_),
        d_(a_) {}

  HWY_INLINE void add(ByteVec v, uint32_t times) {
    const auto by = hn::Set(Longs(), times);
    const auto low = lower_words(v);
    const auto high = upper_words(v);
    a_ = hn::Add(a_, hn::Mul(lower_longs(low), by));
    b_ = hn::Add(b_, hn::Mul(upper_longs(low), by));
    c_ = hn::Add(c_, hn::Mul(lower_longs(high), by));
    d_ = hn::Add(d_, hn::Mul(upper_longs(high), by));
  }

  HWY_INLINE void add(ByteVec v) { add(v, 1); }

  HWY_INLINE ByteVec slide(ByteVec before, ByteVec entering, ByteVec after) {
    const auto before_low = lower_words(before);
    const auto before_high = upper_words(before);
    const auto entering_low = lower_words(entering);
    const auto entering_high = upper_words(entering);
    const auto beside_low = hn::Add(before_low, lower_words(after));
    const auto beside_high = hn::Add(before_high, upper_words(after));
    a_ = hn::Sub(hn::Add(a_, lower_longs(entering_low)), lower_longs(before_low));
    b_ = hn::Sub(hn::Add(b_, upper_longs(entering_low)), upper_longs(before_low));
    c_ = hn::Sub(hn::Add(c_, lower_longs(entering_high)), lower_longs(before_high));
    d_ = hn::Sub(hn::Add(d_, upper_longs(entering_high)), upper_longs(before_high));
    return rounded(mean(a_, lower_longs(beside_low)), mean(b_, upper_longs(beside_low)),
                   mean(c_, lower_longs(beside_high)), mean(d_, upper_longs(beside_high)));
  }

 private:
  HWY_INLINE LongVec mean(LongVec sum, LongVec beside) const {
    return hn::Add(hn::Mul(sum, whole_), hn::Mul(beside, part_));
  }

  LongVec whole_, part_;
  LongVec a_, b_, c_, d_;
};

// Vectors that lie `stride` apart.
struct Lines {
  uint8_t* data;
  ptrdiff_t stride;

  HWY_INLINE ByteVec load(int k) const { return hn::LoadU(Bytes(), data + k * stride); }
  HWY_INLINE void store(int k, ByteVec v) const { hn::StoreU(v, Bytes(), data + k * stride); }
};

// One pass along `count` vectors. dst is not src.
template <class Sums>
HWY_INLINE void box_pass_by(const BoxBlur& blur, Lines src, int count, Lines dst) {
  const int last = count - 1;
  const int radius = blur.radius;
  Sums sums(blur);
  sums.add(src.load(0), static_cast<uint32_t>(radius + 1));
  for (int k = 0; k < std::min(radius, count); ++k) sums.add(src.load(k));
  if (radius > count) sums.add(src.load(last), static_cast<uint32_t>(radius - count));
  auto entering = src.load(std::min(radius, last));
  for (int k = 0; k < count; ++k) {
    const auto after = src.load(std::min(k + radius + 1, last));
    dst.store(k, sums.slide(src.load(std::max(k - radius - 1, 0)), entering, after));
    entering = after;
  }
}

void box_pass(const BoxBlur& blur, Lines src, int count, Lines dst) {
  const bool narrow = blur.radius <= NarrowSums::kMostRadius && std::max(blur.whole, blur.part) < 1u << 30;
  narrow ? box_pass_by<NarrowSums>(blur, src, count, dst) : box_pass_by<WideSums>(blur, src, count, dst);
}

// All passes but the first, whose result `from` is. Returns which of the two holds the result.
Lines other_passes(const BoxBlur& blur, Lines from, Lines to, int count, int passes) {
  for (int pass = 1; pass < passes; ++pass) {
    box_pass(blur, from, count, to);
    std::swap(from, to);
  }
  return from;
}

using Block = hn::FixedTag<uint8_t, 16>;

// 16 rows of 16 bytes to columns. Each round turns the eight bits of a byte's place, four of its row and four of its
// column, by one; after four rounds rows are columns.
HWY_INLINE void transpose(const uint8_t* src, ptrdiff_t src_stride, uint8_t* dst, ptrdiff_t dst_stride) {
  const Block d;
  hn::Vec<Block> rows[16];
  hn::Vec<Block> next[16];
  for (int k = 0; k < 16; ++k) rows[k] = hn::LoadU(d, src + k * src_stride);
  const auto turn = [&](const hn::Vec<Block>* in, hn::Vec<Block>* out) HWY_ATTR {
    for (int k = 0; k < 8; ++k) {
      out[2 * k] = hn::InterleaveLower(d, in[k], in[k + 8]);
      out[2 * k + 1] = hn::InterleaveUpper(d, in[k], in[k + 8]);
    }
  };
  turn(rows, next);
  turn(next, rows);
  turn(rows, next);
  turn(next, rows);
  for (int k = 0; k < 16; ++k) hn::StoreU(rows[k], d, dst + k * dst_stride);
}

void box_blur_across(const BoxBlur& blur, uint8_t* plane, ptrdiff_t stride, int height, int width, uint8_t* scratch) {
  const ptrdiff_t padded = (ptrdiff_t{width} + 15) / 16 * 16;
  const Lines turned{scratch, kLanes};
  const Lines other{scratch + padded * kLanes, kLanes};
  for (int y = 0; y < height; y += kLanes) {
    uint8_t* rows = plane + y * stride;
    const int count = std::min(kLanes, height - y);
    for (int k = 0; k < count; k += 16) {
      for (int x = 0; x < width; x += 16) {
        transpose(rows + k * stride + x, stride, turned.data + ptrdiff_t{x} * kLanes + k, kLanes);
      }
    }
    box_pass(blur, turned, width, other);
    const Lines done = other_passes(blur, other, turned, width, blur.passes);
    for (int k = 0; k < count; k += 16) {
      for (int x = 0; x < width; x += 16) {
        transpose(done.data + ptrdiff_t{x} * kLanes + k, kLanes, rows + k * stride + x, stride);
      }
    }
  }
}

void box_blur_down(const BoxBlur& blur, uint8_t* plane, ptrdiff_t stride, int height, int width, uint8_t* scratch) {
  const Lines first{scratch, kLanes};
  const Lines other{scratch + ptrdiff_t{height} * kLanes, kLanes};
  for (int x = 0; x < width; x += kLanes) {
    const Lines columns{plane + x, stride};
    box_pass(blur, columns, height, first);
    if (blur.passes == 1) {
      for (int y = 0; y < height; ++y) columns.store(y, first.load(y));
    } else {
      box_pass(blur, other_passes(blur, first, other, height, blur.passes - 1), height, columns);
    }
  }
}

}  // namespace

void fill_box_blur(Kernels* table) {
  table->box_blur_across = box_blur_across;
  table->box_blur_down = box_blur_down;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(box_blur)
