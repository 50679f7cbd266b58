#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "pixel/tap.h"
#include "pixel/taps.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Random;

constexpr Filter kPlainFilters[] = {Filter::kBilinear, Filter::kBicubic, Filter::kBox};
constexpr int32_t kUnwritten = 0x55555555;

// Outputs [begin, begin + out), one by one, against the table of taps.cpp. One comparison decides, for speed.
bool same_taps(Filter filter, int in, int out_size, int begin, int out) {
  const Taps table = make_taps(filter, in, out_size, begin, out);
  const TapAxis axis = {static_cast<int32_t>(filter), in, out_size};
  const int stride = tap_stride(axis);
  if (stride != table.stride) return false;
  std::vector<int32_t> weight(static_cast<size_t>(stride) + 1);
  TapRange before = {0, 0};
  for (int k = 0; k < out; ++k) {
    weight.assign(weight.size(), kUnwritten);
    const TapRange taps = taps_of(axis, begin + k, weight.data());
    if (taps.first != table.first[k] || taps.count != table.count[k] || weight.back() != kUnwritten) return false;
    if (!std::equal(weight.begin(), weight.end() - 1, table.weights(k))) return false;
    const TapRange window = tap_window(axis, begin + k);
    const int end = window.first + window.count;
    if (window.first > taps.first || end < taps.first + taps.count || window.count > stride) return false;
    if (window.first < before.first || end < before.first + before.count) return false;
    before = window;
  }
  return true;
}

void check(Filter filter, int in, int out_size, int begin, int out) {
  CAPTURE(static_cast<int>(filter));
  CAPTURE(in);
  CAPTURE(out_size);
  CAPTURE(begin);
  REQUIRE(same_taps(filter, in, out_size, begin, out));
}

TEST_CASE("taps of one output are those of the table, for all small sizes") {
  for (Filter filter : kPlainFilters)
    for (int in = 1; in <= 70; ++in)
      for (int out = 1; out <= 70; ++out) check(filter, in, out, 0, out);
}

TEST_CASE("taps of one output are those of the table, for sizes up to 3000") {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Filter filter = kPlainFilters[i % 3];
    const int in = random.between(1, 3000);
    const int out_size = random.between(1, 3000);
    // Some outputs anywhere, and the ends.
    const int out = std::min(out_size, random.between(1, 40));
    check(filter, in, out_size, random.between(0, out_size - out), out);
    check(filter, in, out_size, 0, 1);
    check(filter, in, out_size, out_size - 1, 1);
  }
}

TEST_CASE("outputs past the end of an axis that float32 rounds up are black") {
  const int in = (1 << 24) + 3;
  const int out = 2 * in;
  for (Filter filter : {Filter::kLanczos, Filter::kBilinear, Filter::kBicubic, Filter::kBox, Filter::kHamming}) {
    CAPTURE(static_cast<int>(filter));
    const Taps taps = make_taps(filter, in, out, out - 16, 16);
    for (int k = 0; k < 16; ++k) {
      CHECK(taps.count[k] >= 1);
      CHECK(taps.first[k] >= 0);
      CHECK(taps.first[k] + taps.count[k] <= in);
    }
    if (has_plain_taps(static_cast<int>(filter))) check(filter, in, out, out - 16, 16);
  }
  const Taps taps = make_taps(Filter::kBox, in, out, out - 1, 1);
  CHECK(taps.first[0] == in - 1);
  CHECK(taps.weights(0)[0] == 0);
}

TEST_CASE("where every weight is rounded to zero, the first tap is left") {
  const TapAxis axis = {static_cast<int32_t>(Filter::kBox), 1 << 24, 1};
  std::vector<int32_t> weight(static_cast<size_t>(tap_stride(axis)), kUnwritten);
  const TapRange taps = taps_of(axis, 0, weight.data());
  CHECK(taps.first == 0);
  CHECK(taps.count == 1);
  CHECK(std::count(weight.begin(), weight.end(), 0) == static_cast<ptrdiff_t>(weight.size()));
}

TEST_CASE("filters that call libm, or have short weights, are not among those of single outputs") {
  for (int filter = 0; filter < 16; ++filter) {
    CAPTURE(filter);
    CHECK(has_plain_taps(filter) == (filter >= 2 && filter <= 4));
  }
}

}  // namespace
}  // namespace fastaug
