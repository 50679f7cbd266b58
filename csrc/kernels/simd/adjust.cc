// Ops on single samples by table, threshold or mask, what AUTOCONTRAST and EQUALIZE count, and SHARPNESS, on planar
// rows.
#define FASTAUG_VBMI
#define HWY_TARGET_INCLUDE "kernels/simd/adjust.cc"

#include <algorithm>
#include <cstring>

#include "kernels/simd/family-inl.h"
#include "pixel/smooth.h"
#include "pixel/table.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lane-inl.h"
#include "kernels/simd/lookup-inl.h"
#include "kernels/simd/wide-inl.h"
// After the lanes that its bodies call.
#include "pixel/pointwise.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Bytes = hn::ScalableTag<uint8_t>;
using Words = hn::ScalableTag<uint16_t>;
using Floats = hn::ScalableTag<float>;
using B = hn::Vec<Bytes>;

void lookup(const uint8_t* table, uint8_t* row, int width) {
  const Table parts(table);
  const int step = Table::kVectors * static_cast<int>(hn::Lanes(Bytes()));
  static_assert(Table::kVectors * hn::MaxLanes(Bytes()) <= kRowPad);
  for (int x = 0; x < width; x += step) parts.look_up(row + x, row + x);
}

void solarize(int threshold, uint8_t* row, int width) {
  if (threshold > 255) return;
  const Bytes bytes;
  const auto n = static_cast<int>(hn::Lanes(bytes));
  const B from = hn::Set(bytes, static_cast<uint8_t>(threshold));
  for (int x = 0; x < width; x += n) {
    const B v = hn::LoadU(bytes, row + x);
    const B inverted = hn::VecFromMask(bytes, hn::Eq(hn::Max(v, from), v));
    hn::StoreU(hn::Xor(v, inverted), bytes, row + x);
  }
}

void posterize(int mask, uint8_t* row, int width) {
  const Bytes bytes;
  const auto n = static_cast<int>(hn::Lanes(bytes));
  const B kept = hn::Set(bytes, static_cast<uint8_t>(mask));
  for (int x = 0; x < width; x += n) hn::StoreU(hn::And(hn::LoadU(bytes, row + x), kept), bytes, row + x);
}

// The smallest, or largest, lane of a vector.
template <bool kSmallest, class V>
HWY_INLINE uint8_t extreme_of(V v) {
  const hn::DFromV<V> d;
  const auto better = [](auto a, auto b) HWY_ATTR { return kSmallest ? hn::Min(a, b) : hn::Max(a, b); };
  if constexpr (hn::MaxLanes(hn::DFromV<V>()) > 16) {
    const hn::Half<decltype(d)> half;
    return extreme_of<kSmallest>(better(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    v = better(v, hn::ShiftRightBytes<8>(d, v));
    v = better(v, hn::ShiftRightBytes<4>(d, v));
    v = better(v, hn::ShiftRightBytes<2>(d, v));
    v = better(v, hn::ShiftRightBytes<1>(d, v));
    return hn::GetLane(v);
  }
}

void extremes(const uint8_t* row, int width, uint8_t* low, uint8_t* high) {
  const Bytes bytes;
  const auto n = static_cast<int>(hn::Lanes(bytes));
  B least = hn::Set(bytes, *low);
  B most = hn::Set(bytes, *high);
  int x = 0;
  for (; x + n <= width; x += n) {
    const B v = hn::LoadU(bytes, row + x);
    least = hn::Min(least, v);
    most = hn::Max(most, v);
  }
  if (x < width) {
    const B v = hn::LoadU(bytes, row + x);
    const auto wanted = hn::FirstN(bytes, static_cast<size_t>(width - x));
    least = hn::Min(least, hn::IfThenElse(wanted, v, least));
    most = hn::Max(most, hn::IfThenElseZero(wanted, v));
  }
  *low = extreme_of<true>(least);
  *high = extreme_of<false>(most);
}

void histogram(const uint8_t* row, int width, uint32_t (*counts)[256]) {
  int x = 0;
  for (; x + 8 <= width; x += 8) {
    uint64_t eight;
    std::memcpy(&eight, row + x, sizeof eight);
    for (int k = 0; k < 8; ++k) ++counts[k % kHistograms][(eight >> (8 * k)) & 255];
  }
  for (; x < width; ++x) ++counts[0][row[x]];
}

// The samples at x as words.
HWY_INLINE hn::Vec<Words> words_at(const uint8_t* at) {
  return hn::PromoteTo(Words(), hn::LoadU(hn::Rebind<uint8_t, Words>(), at));
}

HWY_INLINE auto sum_of_three(const uint8_t* at) {
  return hn::Add(hn::Add(words_at(at - 1), words_at(at + 1)), words_at(at));
}

// Halves of a vector of words as floats. Within 128-bit blocks, and so undone by ReorderDemote2To.
HWY_INLINE hn::Vec<Floats> lower_floats(hn::Vec<Words> v) {
  const hn::RebindToSigned<Floats> ints;
  return hn::ConvertTo(Floats(), hn::BitCast(ints, hn::InterleaveLower(Words(), v, hn::Zero(Words()))));
}
HWY_INLINE hn::Vec<Floats> upper_floats(hn::Vec<Words> v) {
  const hn::RebindToSigned<Floats> ints;
  return hn::ConvertTo(Floats(), hn::BitCast(ints, hn::InterleaveUpper(Words(), v, hn::Zero(Words()))));
}

template <class Body>
HWY_INLINE void sharpen_with(Body body, const uint8_t* above, const uint8_t* row, const uint8_t* below, int width,
                             uint8_t* dst) {
  const Words words;
  const hn::RebindToSigned<Words> shorts;
  const hn::Rebind<uint8_t, Words> bytes;
  const auto n = static_cast<int>(hn::Lanes(words));
  const auto half = hn::Set(words, 6);
  const auto thirteenth = hn::Set(words, kThirteenth);
  for (int x = 0; x < width; x += n) {
    const auto centre = words_at(row + x);
    auto sum = hn::Add(sum_of_three(above + x), sum_of_three(below + x));
    sum = hn::Add(sum, hn::Add(words_at(row + x - 1), words_at(row + x + 1)));
    sum = hn::Add(sum, hn::Add(hn::ShiftLeft<2>(centre), hn::Add(centre, half)));
    const auto smooth = hn::MulHigh(sum, thirteenth);
    const auto a = body(lower_floats(smooth), lower_floats(centre));
    const auto b = body(upper_floats(smooth), upper_floats(centre));
    hn::StoreU(hn::DemoteTo(bytes, hn::ReorderDemote2To(shorts, to_ints(a), to_ints(b))), bytes, dst + x);
  }
}

void sharpen(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor, uint8_t* dst) {
  sharpen_with(Sharpness{static_cast<float>(factor)}, above, row, below, width, dst);
}

void torch_sharpen(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                   uint8_t* dst) {
  sharpen_with(blend_by<TorchBlend>(factor), above, row, below, width, dst);
}

void v2_sharpen(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, double factor,
                uint8_t* dst) {
  sharpen_with(V2Sharpness{torch_rest(factor)}, above, row, below, width, dst);
}

}  // namespace

void fill_adjust(Kernels* table) {
  table->lookup = lookup;
  table->solarize = solarize;
  table->posterize = posterize;
  table->extremes = extremes;
  table->histogram = histogram;
  table->sharpen = sharpen;
  table->torch_sharpen = torch_sharpen;
  table->v2_sharpen = v2_sharpen;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(adjust)
