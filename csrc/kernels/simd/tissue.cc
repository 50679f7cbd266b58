// Measures that separate tissue from glass, on planar rows.
#define HWY_TARGET_INCLUDE "kernels/simd/tissue.cc"

#include "pixel/tissue.h"

#include <algorithm>

#include "kernels/simd/family-inl.h"

#if FASTAUG_SIMD_TARGET
#include "kernels/simd/lane-inl.h"
#include "kernels/simd/wide-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace fastaug::HWY_NAMESPACE {
#if FASTAUG_SIMD_TARGET
namespace {

using Bytes = hn::ScalableTag<uint8_t>;
using Longs = hn::ScalableTag<uint64_t>;
using Shorts = hn::ScalableTag<int16_t>;
using Ints = hn::ScalableTag<int32_t>;
using Floats = hn::ScalableTag<float>;
using B = hn::Vec<Bytes>;

// Bytes are widened within blocks of 128 bits, in which narrow() brings them back into their order.
struct Quarters {
  hn::Vec<Shorts> part[4];
};

// Pairs of bytes, of a and of b, as pairs of int16.
HWY_INLINE Quarters pairs_of(B a, B b) {
  const Bytes d;
  const B zero = hn::Zero(d);
  const B low = hn::InterleaveLower(d, a, b), high = hn::InterleaveUpper(d, a, b);
  const Shorts shorts;
  return {{hn::BitCast(shorts, hn::InterleaveLower(d, low, zero)),
           hn::BitCast(shorts, hn::InterleaveUpper(d, low, zero)),
           hn::BitCast(shorts, hn::InterleaveLower(d, high, zero)),
           hn::BitCast(shorts, hn::InterleaveUpper(d, high, zero))}};
}

HWY_INLINE B gray_of(B r, B g, B b) {
  const Ints ints;
  const Shorts shorts;
  const auto red_green = hn::BitCast(shorts, hn::Set(ints, (kGrayOfGreen << 16) + kGrayOfRed));
  // Half a unit of the result is counted with blue, of a byte that is 1.
  const auto blue_half = hn::BitCast(shorts, hn::Set(ints, (1 << (kGrayShift - 1 + 16)) + kGrayOfBlue));
  const Quarters first = pairs_of(r, g), second = pairs_of(b, hn::Set(Bytes(), 1));
  const auto part = [&](int k) HWY_ATTR {
    return hn::ShiftRight<kGrayShift>(hn::Add(madd(first.part[k], red_green), madd(second.part[k], blue_half)));
  };
  return narrow(part(0), part(1), part(2), part(3));
}

HWY_INLINE B saturation_of(B low, B high) {
  const Bytes bytes;
  const Ints ints;
  const Floats floats;
  const B zero = hn::Zero(bytes);
  // Of black nothing is divided by 1.
  const Quarters range = pairs_of(hn::Sub(high, low), zero), most = pairs_of(hn::Max(high, hn::Set(bytes, 1)), zero);
  const auto full = hn::Set(floats, static_cast<float>(kFullSaturation));
  const auto unit = hn::Set(floats, 1.0f / (1 << kSaturationShift)), half = hn::Set(floats, 0.5f);
  const auto part = [&](int k) HWY_ATTR {
    const auto of = [&](const Quarters& from)
                        HWY_ATTR { return hn::ConvertTo(floats, hn::BitCast(ints, from.part[k])); };
    const auto scale = hn::Round(hn::Div(full, of(most)));
    // Below 2^24 and exact, all of it.
    return to_ints(hn::MulAdd(hn::Mul(of(range), scale), unit, half));
  };
  return narrow(part(0), part(1), part(2), part(3));
}

template <class Sum, class D>
HWY_INLINE Sum sum_of(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  Sum sum = 0;
  for (const auto lane : lanes) sum += lane;
  return sum;
}

void tissue_row(const uint8_t* const* planes, int width, int white, int black, uint8_t* gray, uint8_t* saturation,
                TissueSums* sums) {
  const Bytes d;
  const auto n = static_cast<int>(hn::Lanes(d));
  const B whiter = hn::Set(d, static_cast<uint8_t>(white)), blacker = hn::Set(d, static_cast<uint8_t>(black));
  hn::Vec<Longs> colour[3] = {hn::Zero(Longs()), hn::Zero(Longs()), hn::Zero(Longs())};
  size_t whites = 0, blacks = 0;
  const auto step = [&](int x, const auto& counted) HWY_ATTR {
    const B r = hn::LoadU(d, planes[0] + x), g = hn::LoadU(d, planes[1] + x), b = hn::LoadU(d, planes[2] + x);
    const B low = hn::Min(hn::Min(r, g), b), high = hn::Max(hn::Max(r, g), b);
    hn::StoreU(gray_of(r, g, b), d, gray + x);
    hn::StoreU(saturation_of(low, high), d, saturation + x);
    counted(r, g, b, hn::Gt(low, whiter), hn::Lt(high, blacker));
  };
  const auto add = [&](B r, B g, B b, auto is_white, auto is_black) HWY_ATTR {
    colour[0] = hn::Add(colour[0], hn::SumsOf8(r));
    colour[1] = hn::Add(colour[1], hn::SumsOf8(g));
    colour[2] = hn::Add(colour[2], hn::SumsOf8(b));
    whites += hn::CountTrue(d, is_white);
    blacks += hn::CountTrue(d, is_black);
  };
  int x = 0;
  for (; x + n <= width; x += n) step(x, add);
  if (x < width) {
    const auto wanted = hn::FirstN(d, static_cast<size_t>(width - x));
    step(x, [&](B r, B g, B b, auto is_white, auto is_black) HWY_ATTR {
      add(hn::IfThenElseZero(wanted, r), hn::IfThenElseZero(wanted, g), hn::IfThenElseZero(wanted, b),
          hn::And(wanted, is_white), hn::And(wanted, is_black));
    });
  }
  for (int c = 0; c < 3; ++c) sums->colour[c] += sum_of<uint64_t>(Longs(), colour[c]);
  sums->white += whites;
  sums->black += blacks;
}

void laplacian_row(const uint8_t* above, const uint8_t* row, const uint8_t* below, int width, LaplacianSums* sums) {
  const Shorts d;
  const hn::Rebind<uint8_t, Shorts> bytes;
  const auto n = static_cast<int>(hn::Lanes(d));
  // A lane holds the squares of two samples of so many vectors: 2 * 1020^2 * 1024 is below 2^31.
  constexpr int kMost = 1024;
  const auto ones = hn::Set(d, 1);
  const auto at = [&](const uint8_t* from) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(bytes, from)); };
  const auto value = [&](int x) HWY_ATTR {
    const auto around = hn::Add(hn::Add(at(above + x), at(below + x)), hn::Add(at(row + x - 1), at(row + x + 1)));
    return hn::Sub(around, hn::ShiftLeft<2>(at(row + x)));
  };
  for (int begin = 0; begin < width; begin += kMost * n) {
    const int end = std::min(width, begin + kMost * n);
    auto sum = hn::Zero(Ints()), squares = hn::Zero(Ints());
    const auto add = [&](auto v) HWY_ATTR {
      sum = hn::Add(sum, madd(v, ones));
      squares = hn::Add(squares, madd(v, v));
    };
    int x = begin;
    for (; x + n <= end; x += n) add(value(x));
    if (x < end) add(hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(end - x)), value(x)));
    sums->sum += sum_of<int64_t>(Ints(), sum);
    sums->squares += static_cast<uint64_t>(sum_of<int64_t>(Ints(), squares));
  }
}

}  // namespace

void fill_tissue(Kernels* table) {
  table->tissue_row = tissue_row;
  table->laplacian_row = laplacian_row;
}

#endif  // FASTAUG_SIMD_TARGET
}  // namespace fastaug::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

FASTAUG_FAMILY(tissue)
