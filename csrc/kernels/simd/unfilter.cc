// Filters of PNG undone.
#define HWY_TARGET_INCLUDE "kernels/simd/unfilter.cc"

#include <algorithm>
#include <cstring>

#include "kernels/simd/family-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Block = hn::CappedTag<uint8_t, 16>;
using BlockVec = hn::Vec<Block>;

enum Filter : uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

// Every sample is the one above it and a difference.
void add_rows(const uint8_t* src, const uint8_t* above, ptrdiff_t size, uint8_t* dst) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<ptrdiff_t>(hn::Lanes(d));
  ptrdiff_t i = 0;
  for (; i + lanes <= size; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, src + i), hn::LoadU(d, above + i)), d, dst + i);
  for (; i < size; ++i) dst[i] = static_cast<uint8_t>(src[i] + above[i]);
}

// Each pixel becomes the sum of itself and those before it in the block.
template <int kPixel>
HWY_INLINE BlockVec prefix_sums(BlockVec v) {
  const Block d;
  v = hn::Add(v, hn::ShiftLeftBytes<kPixel>(d, v));
  if constexpr (2 * kPixel < 16) v = hn::Add(v, hn::ShiftLeftBytes<2 * kPixel>(d, v));
  if constexpr (4 * kPixel < 16) v = hn::Add(v, hn::ShiftLeftBytes<4 * kPixel>(d, v));
  if constexpr (8 * kPixel < 16) v = hn::Add(v, hn::ShiftLeftBytes<8 * kPixel>(d, v));
  return v;
}

// Every sample is the one left of it and a difference.
template <int kPixel>
void sum_row(const uint8_t* src, ptrdiff_t size, uint8_t* dst) {
  constexpr int kStep = 16 / kPixel * kPixel;
  const Block d;
  alignas(16) uint8_t last_pixel[16];
  for (int k = 0; k < 16; ++k) last_pixel[k] = static_cast<uint8_t>(kStep - kPixel + k % kPixel);
  const BlockVec last = hn::Load(d, last_pixel);
  ptrdiff_t i = 0;
  BlockVec left = hn::Zero(d);
  if (size >= 16) {
    // Bytes that a store writes behind the pixels of its step were loaded before.
    BlockVec next = hn::LoadU(d, src);
    for (; i + kStep + 16 <= size; i += kStep) {
      const BlockVec sums = prefix_sums<kPixel>(next);
      next = hn::LoadU(d, src + i + kStep);
      hn::StoreU(hn::Add(sums, left), d, dst + i);
      left = hn::Add(left, hn::TableLookupBytes(sums, last));
    }
    alignas(16) uint8_t pixels[16];
    hn::Store(hn::Add(prefix_sums<kPixel>(next), left), d, pixels);
    std::memcpy(dst + i, pixels, kStep);
    i += kStep;
  }
  for (; i < size; ++i) dst[i] = static_cast<uint8_t>(src[i] + (i < kPixel ? 0 : dst[i - kPixel]));
}

// Paeth's predictor: of left, up and corner, the one closest to left + up - corner. With low and high the lesser and
// the greater of left and up, that is low where the corner is at least twice as far from low as from high (or beyond
// high), high in the mirrored case, else the corner; all three are equal where both hold. Sixteen bits are not needed.
template <class D, class V>
HWY_INLINE V paeth(D, V left, V up, V corner) {
  const V low = hn::Min(left, up);
  const V high = hn::Max(left, up);
  const V from_low = hn::SaturatedSub(corner, low);
  const V from_high = hn::SaturatedSub(high, corner);
  const V twice_low = hn::SaturatedAdd(from_low, from_low);
  const V twice_high = hn::SaturatedAdd(from_high, from_high);
  const auto is_low = hn::Eq(hn::Min(twice_high, from_low), twice_high);
  const auto is_high = hn::Eq(hn::Min(twice_low, from_high), twice_low);
  return hn::IfThenElse(is_low, low, hn::IfThenElse(is_high, high, corner));
}

template <class D, class V>
HWY_INLINE V average(D d, V left, V up) {
  return hn::Sub(hn::AverageRound(left, up), hn::And(hn::Xor(left, up), hn::Set(d, 1)));
}

// One row of kAverage or kPaeth of wide pixels, one after the other.
template <int kPixel>
void predict_row(int type, const uint8_t* src, const uint8_t* above, ptrdiff_t size, uint8_t* dst) {
  const hn::CappedTag<uint64_t, 1> d64;
  const hn::Repartition<uint8_t, decltype(d64)> d;
  const auto load = [&](const uint8_t* p) {
    uint64_t pixel = 0;
    std::memcpy(&pixel, p, kPixel);
    return hn::BitCast(d, hn::Set(d64, pixel));
  };
  auto left = hn::Zero(d);
  auto corner = hn::Zero(d);
  for (ptrdiff_t i = 0; i < size; i += kPixel) {
    const auto up = above == nullptr ? hn::Zero(d) : load(above + i);
    left = hn::Add(load(src + i), type == kPaeth ? paeth(d, left, up, corner) : average(d, left, up));
    corner = up;
    const uint64_t pixel = hn::GetLane(hn::BitCast(d64, left));
    std::memcpy(dst + i, &pixel, kPixel);
  }
}

// Rows at a time that predict each other's pixels: every row waits for its left pixel only, when it is a pixel behind
// the row above. A block holds a pixel of four such rows in 32 bits each; four steps at a time, a batch, pixels are
// loaded and stored by the vector. Blocks are a batch further apart, so that what one makes of its last row reaches the
// next as a batch.
using Wave = hn::CappedTag<uint8_t, 32>;
using WaveVec = hn::Vec<Wave>;
using Wave32 = hn::Repartition<uint32_t, Wave>;
using Wave64 = hn::Repartition<uint64_t, Wave>;

constexpr int kBlocks = HWY_MAX_BYTES >= 32 ? 2 : 1;
constexpr int kWaveRows = 4 * kBlocks;
constexpr int kBatch = 4;

constexpr int lag_of(int row) { return row % 4 + row / 4 * (3 + kBatch); }

// Between bytes as they lie and a pixel in 32 bits each.
template <int kPixel>
struct Spread {
  alignas(16) uint8_t spread[16];
  alignas(16) uint8_t pack[16];

  constexpr Spread() : spread(), pack() {
    for (int k = 0; k < 16; ++k) {
      spread[k] = static_cast<uint8_t>(k % 4 < kPixel ? k / 4 * kPixel + k % 4 : 0x80);
      pack[k] = static_cast<uint8_t>(k < 4 * kPixel ? k / kPixel * 4 + k % kPixel : 0x80);
    }
  }
};
template <int kPixel>
constexpr Spread<kPixel> kSpread;

// 4x4 pixels in every block: a vector a row, or a vector a column.
struct Square {
  WaveVec v[4];

  HWY_INLINE void transpose() {
    const Wave d;
    const Wave32 d32;
    const Wave64 d64;
    const auto v0 = hn::BitCast(d32, v[0]);
    const auto v1 = hn::BitCast(d32, v[1]);
    const auto v2 = hn::BitCast(d32, v[2]);
    const auto v3 = hn::BitCast(d32, v[3]);
    const auto a = hn::BitCast(d64, hn::InterleaveLower(d32, v0, v1));
    const auto b = hn::BitCast(d64, hn::InterleaveLower(d32, v2, v3));
    const auto e = hn::BitCast(d64, hn::InterleaveUpper(d32, v0, v1));
    const auto f = hn::BitCast(d64, hn::InterleaveUpper(d32, v2, v3));
    v[0] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
    v[2] = hn::BitCast(d, hn::InterleaveLower(d64, e, f));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(d64, e, f));
  }
};

// The filters of the rows of a wave.
enum class Mix { kPaeth, kNoAverage, kAny };

// The wave over up to kWaveRows rows of at least 16 bytes. Rows that are not there are those of the last one again, and
// not stored.
template <int kPixel>
class RowWave {
 public:
  RowWave(const FilteredRows& rows, const uint8_t* src, const uint8_t* above, uint8_t* dst, int count)
      : above_(above), count_(count), size_(rows.size), width_(rows.size / kPixel) {
    bool paeth_only = true;
    bool averages = false;
    for (int r = 0; r < kWaveRows; ++r) {
      const int type = r < count ? src[0] : kNone;
      paeth_only &= type == kPaeth || r >= count;
      averages |= type == kAverage;
      // Paeth of zeros for what a filter does not look at is that filter.
      std::memset(uses_left_ + 4 * r, type == kSub || type >= kAverage ? 255 : 0, 4);
      std::memset(uses_up_ + 4 * r, type >= kUp ? 255 : 0, 4);
      std::memset(uses_corner_ + 4 * r, type == kPaeth ? 255 : 0, 4);
      std::memset(is_average_ + 4 * r, type == kAverage ? 255 : 0, 4);
      src_[r] = src + 1;
      dst_[r] = dst;
      if (r + 1 < count) {
        src += rows.size + 1;
        dst += rows.row_stride;
      }
    }
    mix_ = averages ? Mix::kAny : paeth_only ? Mix::kPaeth : Mix::kNoAverage;
  }

  void run() {
    if (mix_ == Mix::kPaeth) return run_mix<Mix::kPaeth>();
    if (mix_ == Mix::kNoAverage) return run_mix<Mix::kNoAverage>();
    run_mix<Mix::kAny>();
  }

 private:
  struct State {
    WaveVec left;
    WaveVec corner;
    Square last;  // the batch before
  };

  template <Mix kMix>
  void run_mix() {
    const Wave d;
    State state = {hn::Zero(d), hn::Zero(d), {{hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)}}};
    const ptrdiff_t end = width_ + lag_of(count_ - 1);
    // Between these, every row has its four pixels, and a whole vector to load.
    const ptrdiff_t inside = lag_of(kWaveRows - 1);
    const ptrdiff_t inside_end = (size_ - 16) / kPixel + 1;
    ptrdiff_t x = 0;
    for (; x < inside && x < end; x += kBatch) batch<kMix, true>(x, &state);
    for (; x < inside_end; x += kBatch) batch<kMix, false>(x, &state);
    for (; x < end; x += kBatch) batch<kMix, true>(x, &state);
  }

  // Four pixels of a row, from x on, which may lie outside: what is before the row is zero, what is behind it anything.
  template <bool kChecked>
  HWY_INLINE BlockVec load(const uint8_t* row, ptrdiff_t x) const {
    const Block d;
    const BlockVec spread = hn::Load(d, kSpread<kPixel>.spread);
    const ptrdiff_t at = x * kPixel;
    if constexpr (!kChecked) return hn::TableLookupBytesOr0(hn::LoadU(d, row + at), spread);
    if (x >= width_) return hn::Zero(d);
    const ptrdiff_t from = std::clamp<ptrdiff_t>(at, 0, size_ - 16);
    const BlockVec shifted = hn::Add(spread, hn::Set(d, static_cast<uint8_t>(at - from)));
    const BlockVec pad = hn::And(spread, hn::Set(d, 0x80));
    return hn::TableLookupBytesOr0(hn::LoadU(d, row + from), hn::Or(shifted, pad));
  }

  template <bool kChecked>
  HWY_INLINE WaveVec load_rows(int lane, ptrdiff_t x) const {
    const BlockVec first = load<kChecked>(src_[lane], x - lag_of(lane));
#if HWY_MAX_BYTES >= 32
    return hn::Combine(Wave(), load<kChecked>(src_[lane + 4], x - lag_of(lane + 4)), first);
#else
    return first;
#endif
  }

  template <bool kChecked>
  HWY_INLINE void store(BlockVec pixels, int row, ptrdiff_t x) const {
    const Block d;
    const hn::Half<Block> d8;
    const hn::Half<decltype(d8)> d4;
    if (row >= count_) return;
    const BlockVec packed = hn::TableLookupBytesOr0(pixels, hn::Load(d, kSpread<kPixel>.pack));
    if constexpr (kChecked) {
      const ptrdiff_t begin = std::max<ptrdiff_t>(x, 0);
      const ptrdiff_t end = std::min(x + kBatch, width_);
      if (begin >= end) return;
      alignas(16) uint8_t bytes[16];
      hn::Store(packed, d, bytes);
      std::memcpy(dst_[row] + begin * kPixel, bytes + (begin - x) * kPixel,
                  static_cast<size_t>((end - begin) * kPixel));
      return;
    }
    uint8_t* to = dst_[row] + x * kPixel;
    if constexpr (kPixel == 4) hn::StoreU(packed, d, to);
    if constexpr (kPixel == 2 || kPixel == 3) hn::StoreU(hn::LowerHalf(d8, packed), d8, to);
    if constexpr (kPixel == 3) {
      hn::StoreU(hn::LowerHalf(d4, hn::LowerHalf(d8, hn::ShiftRightBytes<8>(d, packed))), d4, to + 8);
    }
    if constexpr (kPixel == 1) hn::StoreU(hn::LowerHalf(d4, hn::LowerHalf(d8, packed)), d4, to);
  }

  template <bool kChecked>
  HWY_INLINE void store_rows(WaveVec pixels, int lane, ptrdiff_t x) const {
#if HWY_MAX_BYTES >= 32
    store<kChecked>(hn::LowerHalf(Block(), pixels), lane, x - lag_of(lane));
    store<kChecked>(hn::UpperHalf(Block(), pixels), lane + 4, x - lag_of(lane + 4));
#else
    store<kChecked>(pixels, lane, x - lag_of(lane));
#endif
  }

  // The pixel above the first row of each block, in the block's last 32 bits.
  template <int kStep>
  HWY_INLINE WaveVec above_blocks(BlockVec above, WaveVec last) const {
    BlockVec pixel = above;
    if constexpr (kStep < 3) pixel = hn::ShiftLeftBytes<4 * (3 - kStep)>(Block(), above);
#if HWY_MAX_BYTES >= 32
    return hn::Combine(Wave(), hn::LowerHalf(Block(), last), pixel);
#else
    (void)last;
    return pixel;
#endif
  }

  template <Mix kMix, int kStep>
  HWY_INLINE void step(BlockVec above, Square* pixels, State* state) const {
    const Wave d;
    const WaveVec up = hn::CombineShiftRightBytes<12>(d, state->left, above_blocks<kStep>(above, state->last.v[kStep]));
    WaveVec predicted;
    if constexpr (kMix == Mix::kPaeth) {
      predicted = paeth(d, state->left, up, state->corner);
    } else {
      const WaveVec left = hn::And(state->left, hn::LoadU(d, uses_left_));
      predicted =
          paeth(d, left, hn::And(up, hn::LoadU(d, uses_up_)), hn::And(state->corner, hn::LoadU(d, uses_corner_)));
      if constexpr (kMix == Mix::kAny) {
        const auto is_average = hn::MaskFromVec(hn::LoadU(d, is_average_));
        predicted = hn::IfThenElse(is_average, average(d, left, up), predicted);
      }
    }
    state->corner = up;
    state->left = hn::Add(pixels->v[kStep], predicted);
    pixels->v[kStep] = state->left;
  }

  template <Mix kMix, bool kChecked>
  HWY_INLINE void batch(ptrdiff_t x, State* state) const {
    const BlockVec above = above_ == nullptr ? hn::Zero(Block()) : load<kChecked>(above_, x);
    Square pixels;
    for (int lane = 0; lane < 4; ++lane) pixels.v[lane] = load_rows<kChecked>(lane, x);
    pixels.transpose();
    step<kMix, 0>(above, &pixels, state);
    step<kMix, 1>(above, &pixels, state);
    step<kMix, 2>(above, &pixels, state);
    step<kMix, 3>(above, &pixels, state);
    state->last = pixels;
    pixels.transpose();
    for (int lane = 0; lane < 4; ++lane) store_rows<kChecked>(pixels.v[lane], lane, x);
  }

  const uint8_t* above_;
  int count_;
  ptrdiff_t size_;
  ptrdiff_t width_;
  Mix mix_;
  const uint8_t* src_[kWaveRows];
  uint8_t* dst_[kWaveRows];
  alignas(32) uint8_t uses_left_[32];
  alignas(32) uint8_t uses_up_[32];
  alignas(32) uint8_t uses_corner_[32];
  alignas(32) uint8_t is_average_[32];
};

template <int kPixel>
bool unfilter_as(const FilteredRows& rows) {
  const uint8_t* src = rows.filtered;
  const uint8_t* above = rows.above;
  uint8_t* dst = rows.rows;
  for (int y = 0; y < rows.count;) {
    int count = 1;
    switch (src[0]) {
      case kNone:
        if (dst != src + 1) std::memcpy(dst, src + 1, static_cast<size_t>(rows.size));
        break;
      case kSub:
        sum_row<kPixel>(src + 1, rows.size, dst);
        break;
      case kUp:
        if (above != nullptr) {
          add_rows(src + 1, above, rows.size, dst);
        } else if (dst != src + 1) {
          std::memcpy(dst, src + 1, static_cast<size_t>(rows.size));
        }
        break;
      case kAverage:
      case kPaeth:
        if constexpr (kPixel <= 4) {
          // The other rows cost nothing, whatever their filters.
          while (count < kWaveRows && y + count < rows.count && src[count * (rows.size + 1)] <= kPaeth) ++count;
          RowWave<kPixel>(rows, src, above, dst, count).run();
        } else {
          predict_row<kPixel>(src[0], src + 1, above, rows.size, dst);
        }
        break;
      default:
        return false;
    }
    y += count;
    src += count * (rows.size + 1);
    dst += count * rows.row_stride;
    above = dst - rows.row_stride;
  }
  return true;
}

bool unfilter(const FilteredRows& rows) {
  if (rows.size < 16) return fastaug::kernels("scalar")->unfilter(rows);
  switch (rows.pixel) {
    case 1:
      return unfilter_as<1>(rows);
    case 2:
      return unfilter_as<2>(rows);
    case 3:
      return unfilter_as<3>(rows);
    case 4:
      return unfilter_as<4>(rows);
    case 6:
      return unfilter_as<6>(rows);
    default:
      return unfilter_as<8>(rows);
  }
}

}  // namespace

void fill_unfilter(Kernels* table) { table->unfilter = unfilter; }

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(unfilter)
