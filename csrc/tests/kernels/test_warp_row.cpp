// The columns of a row that a warp's kernels may touch, against plain formulas.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/warp_row.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Random;

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

// The columns with lo <= start + step * column <= hi, by division of integers.
Span divided(Span span, int64_t start, int64_t step, int64_t lo, int64_t hi) {
  if (step == 0) return start >= lo && start <= hi ? span : Span{span.begin, span.begin};
  const int64_t first = step > 0 ? -floor_div(start - lo, step) : -floor_div(start - hi, step);
  const int64_t last = step > 0 ? floor_div(hi - start, step) : floor_div(lo - start, step);
  const int64_t begin = std::clamp<int64_t>(first, span.begin, span.end);
  return {static_cast<int>(begin), static_cast<int>(std::clamp<int64_t>(last + 1, begin, span.end))};
}

bool same(Span a, Span b) {
  if (a.begin >= a.end || b.begin >= b.end) return (a.begin >= a.end) == (b.begin >= b.end);
  return a.begin == b.begin && a.end == b.end;
}

// True when a span lies in the one that it was cut from, and is none that runs backwards.
bool lies_in(Span part, Span whole) {
  return part.begin >= whole.begin && part.begin <= part.end && part.end <= std::max(whole.begin, whole.end);
}

// A number of up to `bits` bits, of any size and sign.
int64_t number(Random& random, int bits) {
  const int64_t high = random.between(0, (1 << 30) - 1);
  const int64_t low = random.between(0, (1 << 30) - 1);
  const int64_t v = (high << 30 | low) >> (60 - random.between(0, bits));
  return random.between(0, 1) == 0 ? v : -v;
}

TEST_CASE("spans in 16.16 are those that division of integers gives") {
  Random random(1);
  for (int trial = 0; trial < test::cases(400000); ++trial) {
    const int begin = trial % 3 == 0 ? 0 : random.between(0, 5000);
    const Span span = {begin, begin + random.between(0, trial % 2 == 0 ? 70 : 20000)};
    const int64_t step = std::clamp<int64_t>(number(random, 32), INT32_MIN, INT32_MAX);
    const int64_t lo = trial % 5 == 0 ? number(random, 47) : 0;
    const int64_t hi = trial % 7 == 0 ? lo - 1 : lo + std::abs(number(random, 47));
    int64_t start = std::clamp<int64_t>(number(random, 32), INT32_MIN, INT32_MAX);
    // On a bound at some column, or next to it.
    if (trial % 4 != 0) {
      start =
          (random.between(0, 1) == 0 ? lo : hi) - step * random.between(span.begin, span.end) + random.between(-2, 2);
    }
    CAPTURE(span.begin);
    CAPTURE(span.end);
    CAPTURE(start);
    CAPTURE(step);
    CAPTURE(lo);
    CAPTURE(hi);
    const Span got = clip_span(span, start, step, lo, hi);
    REQUIRE(lies_in(got, span));
    REQUIRE(same(got, divided(span, start, step, lo, hi)));
  }
}

TEST_CASE("spans of positions in double hold what is inside, and nothing that is outside") {
  Random random(2);
  constexpr double kRounding = 1e-7;
  for (int trial = 0; trial < test::cases(60000); ++trial) {
    const int begin = trial % 3 == 0 ? 0 : random.between(0, 100);
    const Span span = {begin, begin + random.between(0, 90)};
    const double lo = static_cast<double>(number(random, 12)) * 0.25;
    const double hi = lo + static_cast<double>(number(random, 14)) * 0.25;
    double step = static_cast<double>(number(random, 34)) * 0x1p-30;
    if (trial % 11 == 0) step = 0.0;
    double start = static_cast<double>(number(random, 20)) * 0x1p-8;
    if (trial % 2 == 0) start = (trial % 4 == 0 ? lo : hi) - step * random.between(span.begin, span.end);
    CAPTURE(span.begin);
    CAPTURE(span.end);
    CAPTURE(start);
    CAPTURE(step);
    CAPTURE(lo);
    CAPTURE(hi);
    const Span got = clip_span(span, start, step, lo, hi);
    REQUIRE(lies_in(got, span));
    bool right = true;
    for (int x = span.begin; x < span.end; ++x) {
      const double at = start + step * x;
      const bool taken = x >= got.begin && x < got.end;
      right &= taken ? at >= lo - kRounding && at <= hi + kRounding : at <= lo + kRounding || at >= hi - kRounding;
    }
    // A step that is next to nothing takes the whole row or none of it.
    if (std::fabs(step) >= 1e-9) REQUIRE(right);
  }
}

TEST_CASE("spans of what is no number are empty") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Span span = clip_span({0, 10}, 1.0, 1.0, nan, 5.0);
  CHECK(span.begin == span.end);
}

}  // namespace
}  // namespace fastaug
