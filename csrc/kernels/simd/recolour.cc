// Samples by tables, and luma, straight from one image to another.
#define FASTAUG_VBMI
#define HWY_TARGET_INCLUDE "kernels/simd/recolour.cc"

#include <algorithm>
#include <cstring>

#include "kernels/simd/family-inl.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lookup-inl.h"
#include "kernels/simd/wide-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

#if HWY_TARGET == HWY_AVX3_DL

constexpr int kVector = 64;

// Bytes of vectors that begin anywhere in a pixel. A vector begins one byte of the pixel later than the one before it
// where pixels have three bytes, and at the same one for other pixels.
class Places {
 public:
  Places(const PixelTables& tables, int phases) {
    const int stride = tables.stride;
    static constexpr uint64_t kEvery[] = {~uint64_t{0}, 0x5555555555555555, 0x9249249249249249, 0x1111111111111111};
    for (int phase = 0; phase < phases; ++phase) {
      for (int k = 0; k < stride; ++k) {
        const uint64_t bytes = kEvery[stride - 1] << ((k - phase + stride) % stride);
        const int which = tables.which[k];
        (which == PixelTables::kKept ? kept_ : which == PixelTables::kFull ? full_ : by_[which])[phase] |= bytes;
      }
    }
  }

  HWY_INLINE __mmask64 by(int table, int phase) const { return by_[table][phase]; }
  HWY_INLINE __m512i settled(__m512i from, __m512i found, int phase) const {
    return _mm512_mask_mov_epi8(_mm512_mask_mov_epi8(found, kept_[phase], from), full_[phase], _mm512_set1_epi8(-1));
  }

 private:
  uint64_t by_[kMaxChannels][kMaxChannels] = {};
  uint64_t kept_[kMaxChannels] = {};
  uint64_t full_[kMaxChannels] = {};
};

// Vectors begin at kPhases places of a pixel.
template <int kTables, int kPhases>
void recolour_as(const PixelTables& tables, const uint8_t* src, ptrdiff_t bytes, uint8_t* dst) {
  const Places places(tables, kPhases);
  const Table first(tables.table[0]);
  const Table second(tables.table[kTables > 1 ? 1 : 0]);
  const Table third(tables.table[kTables > 2 ? 2 : 0]);
  const Table fourth(tables.table[kTables > 3 ? 3 : 0]);
  const auto looked_up = [&](__m512i v, int phase) HWY_ATTR {
    __m512i found = first.of(v);
    if constexpr (kTables > 1) found = _mm512_mask_mov_epi8(found, places.by(1, phase), second.of(v));
    if constexpr (kTables > 2) found = _mm512_mask_mov_epi8(found, places.by(2, phase), third.of(v));
    if constexpr (kTables > 3) found = _mm512_mask_mov_epi8(found, places.by(3, phase), fourth.of(v));
    return places.settled(v, found, phase);
  };
  ptrdiff_t x = 0;
  for (; x + kPhases * kVector <= bytes; x += kPhases * kVector) {
    for (int phase = 0; phase < kPhases; ++phase) {
      const __m512i v = _mm512_loadu_si512(src + x + phase * kVector);
      _mm512_storeu_si512(dst + x + phase * kVector, looked_up(v, phase));
    }
  }
  for (int phase = 0; x < bytes; ++phase, x += kVector) {
    const __mmask64 rest = ~uint64_t{0} >> (kVector - std::min<ptrdiff_t>(bytes - x, kVector));
    const __m512i v = _mm512_maskz_loadu_epi8(rest, src + x);
    _mm512_mask_storeu_epi8(dst + x, rest, looked_up(v, phase));
  }
}

template <int kTables>
void recolour_by(const PixelTables& tables, const uint8_t* src, ptrdiff_t bytes, uint8_t* dst) {
  if (tables.stride == 3) return recolour_as<kTables, 3>(tables, src, bytes, dst);
  recolour_as<kTables, 1>(tables, src, bytes, dst);
}

void recolour(const PixelTables& tables, const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  const ptrdiff_t bytes = pixels * tables.stride;
  switch (tables.count) {
    case 1:
      return recolour_by<1>(tables, src, bytes, dst);
    case 2:
      return recolour_by<2>(tables, src, bytes, dst);
    case 3:
      return recolour_by<3>(tables, src, bytes, dst);
    default:
      return recolour_by<4>(tables, src, bytes, dst);
  }
}

constexpr ColourCosts kCosts = {.lookup = 2, .conversion = 1, .apart = true};

#else

using Bytes = hn::ScalableTag<uint8_t>;

// Samples by threshold and mask.
struct Switched {
  int threshold;
  int mask;

  HWY_INLINE explicit Switched(const PixelTables& tables) : threshold(tables.threshold), mask(tables.mask) {}

  HWY_INLINE void look_up(const uint8_t* src, uint8_t* dst) const {
    const Bytes bytes;
    const auto v = hn::LoadU(bytes, src);
    const auto from = hn::Set(bytes, static_cast<uint8_t>(threshold));
    const auto inverted = hn::VecFromMask(bytes, hn::Eq(hn::Max(v, from), v));
    const auto turned = threshold > 255 ? v : hn::Xor(v, inverted);
    hn::StoreU(hn::And(turned, hn::Set(bytes, static_cast<uint8_t>(mask))), bytes, dst);
  }

  static constexpr int kVectors = 1;
};

// Samples by a map; samples to keep, and full ones, are put back. Steps begin anywhere in a pixel.
template <class Map>
void recolour_with(const PixelTables& tables, const uint8_t* src, ptrdiff_t bytes, uint8_t* dst) {
  constexpr int kLanes = HWY_LANES(uint8_t);
  constexpr int kStep = Map::kVectors * kLanes;
  const Bytes d;
  const Map map(tables);
  constexpr int kRound = 12;  // bytes that are whole pixels of every stride
  constexpr int kMarks = (kStep + kMaxChannels + kRound - 1) / kRound * kRound;
  uint8_t kept[kMarks];
  uint8_t full[kMarks];
  const bool whole = std::all_of(tables.which, tables.which + tables.stride, [](int which) { return which >= 0; });
  if (!whole) {
    for (int k = 0; k < kRound; ++k) {
      const int which = tables.which[k % tables.stride];
      kept[k] = which == PixelTables::kKept ? 255 : 0;
      full[k] = which == PixelTables::kFull ? 255 : 0;
    }
    for (int k = kRound; k < kMarks; k += kRound) {
      std::memcpy(kept + k, kept, kRound);
      std::memcpy(full + k, full, kRound);
    }
  }
  const auto step = [&](const uint8_t* from, int phase, uint8_t* to) HWY_ATTR {
    map.look_up(from, to);
    if (whole) return;
    for (int k = 0; k < kStep; k += kLanes) {
      const auto keep = hn::LoadU(d, kept + phase + k);
      const auto found = hn::AndNot(keep, hn::LoadU(d, to + k));
      const auto mine = hn::Or(found, hn::And(keep, hn::LoadU(d, from + k)));
      hn::StoreU(hn::Or(mine, hn::LoadU(d, full + phase + k)), d, to + k);
    }
  };
  if (bytes < kStep) {
    uint8_t from[kStep] = {};
    uint8_t to[kStep];
    std::memcpy(from, src, static_cast<size_t>(bytes));
    step(from, 0, to);
    std::memcpy(dst, to, static_cast<size_t>(bytes));
    return;
  }
  const int on = kStep % tables.stride;
  int phase = 0;
  ptrdiff_t x = 0;
  for (; x + kStep <= bytes; x += kStep) {
    step(src + x, phase, dst + x);
    phase += on;
    if (phase >= tables.stride) phase -= tables.stride;
  }
  if (x < bytes) step(src + bytes - kStep, static_cast<int>((bytes - kStep) % tables.stride), dst + bytes - kStep);
}

struct ByTable : Table {
  HWY_INLINE explicit ByTable(const PixelTables& tables) : Table(tables.table[0]) {}
};

void recolour(const PixelTables& tables, const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  if (tables.count > 1) return fastaug::kernels("scalar")->recolour(tables, src, pixels, dst);
  const ptrdiff_t bytes = pixels * tables.stride;
  if (tables.switches) return recolour_with<Switched>(tables, src, bytes, dst);
  recolour_with<ByTable>(tables, src, bytes, dst);
}

constexpr ColourCosts kCosts = {};

#endif

// Bytes of four pixels, and 0 for kNone.
constexpr uint8_t kNone = 0x80;
alignas(16) constexpr uint8_t kRedGreen[16] = {0, kNone, 1, kNone, 4,  kNone, 5,  kNone,
                                               8, kNone, 9, kNone, 12, kNone, 13, kNone};
alignas(16) constexpr uint8_t kBlueGreen[16] = {2,  kNone, 1, kNone, 6,  kNone, 5,  kNone,
                                                10, kNone, 9, kNone, 14, kNone, 13, kNone};
alignas(16) constexpr uint8_t kThrice[16] = {2, 2, 2, kNone, 6, 6, 6, kNone, 10, 10, 10, kNone, 14, 14, 14, kNone};

// The weights of Luma (pixel/pointwise.h) as int16, green's halved and counted twice. Luma is byte 2 of each sum.
HWY_INLINE hn::Vec<hn::ScalableTag<int32_t>> luma_sums(const uint8_t* src) {
  const hn::ScalableTag<uint8_t> bytes;
  const hn::ScalableTag<int16_t> words;
  const hn::ScalableTag<int32_t> ints;
  const auto pixels = hn::LoadU(bytes, src);
  const auto of = [&](const uint8_t* which) HWY_ATTR {
    return hn::BitCast(words, hn::TableLookupBytesOr0(pixels, hn::LoadDup128(bytes, which)));
  };
  const auto red_green = madd(of(kRedGreen), hn::BitCast(words, hn::Set(ints, (19235 << 16) + 19595)));
  const auto blue_green = madd(of(kBlueGreen), hn::BitCast(words, hn::Set(ints, (19235 << 16) + 7471)));
  return hn::Add(hn::Add(red_green, blue_green), hn::Set(ints, 0x8000));
}

// Steps of kPixels pixels of four bytes to as many of kBytes.
template <int kPixels, int kBytes, class Step>
HWY_INLINE void in_steps(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst, Step step) {
  if (pixels < kPixels) {
    uint8_t from[4 * kPixels] = {};
    uint8_t to[kBytes * kPixels];
    std::memcpy(from, src, static_cast<size_t>(pixels) * 4);
    step(from, to);
    std::memcpy(dst, to, static_cast<size_t>(pixels) * kBytes);
    return;
  }
  for (ptrdiff_t next = 0; next < pixels; next += kPixels) {
    const ptrdiff_t x = std::min(next, pixels - kPixels);
    step(src + 4 * x, dst + kBytes * x);
  }
}

void gray(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  constexpr int kLanes = HWY_LANES(uint8_t);
  in_steps<kLanes, 1>(src, pixels, dst, [](const uint8_t* from, uint8_t* to) HWY_ATTR {
    const auto part = [from](int k) HWY_ATTR { return hn::ShiftRight<16>(luma_sums(from + k * kLanes)); };
    hn::StoreU(in_row(narrow(part(0), part(1), part(2), part(3))), hn::ScalableTag<uint8_t>(), to);
  });
}

void gray_pixels(const uint8_t* src, ptrdiff_t pixels, uint8_t* dst) {
  constexpr int kLanes = HWY_LANES(uint8_t);
  in_steps<kLanes / 4, 4>(src, pixels, dst, [](const uint8_t* from, uint8_t* to) HWY_ATTR {
    const hn::ScalableTag<uint8_t> bytes;
    const hn::ScalableTag<uint32_t> whole;
    const auto thrice = hn::TableLookupBytesOr0(hn::BitCast(bytes, luma_sums(from)), hn::LoadDup128(bytes, kThrice));
    hn::StoreU(hn::Or(thrice, hn::BitCast(bytes, hn::Set(whole, 0xff000000u))), bytes, to);
  });
}

}  // namespace

void fill_recolour(Kernels* table) {
  table->recolour = recolour;
  table->gray = gray;
  table->gray_pixels = gray_pixels;
  table->costs = kCosts;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(recolour)
