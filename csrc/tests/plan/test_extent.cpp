// What an op says that it reads of an axis, against the tables by which it reads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pixel/extent.h"
#include "pixel/index.h"
#include "pixel/taps.h"
#include "pixel/torch_taps.h"
#include "plan/regions.h"
#include "tests/support/guard.h"
#include "tests/support/images.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Random;

// An op on an image whose sides are `in`, and `out` after it, along one of its axes.
struct Axis {
  Op op;
  bool rows;
  int in;
  int out;
};

// Of RESIZE.
constexpr uint16_t kFilters[] = {1, 2, 3, 4, 5, 9, 10, 11};

int& along(Op& op, bool rows) { return op.i[rows ? 0 : 1]; }

Axis random_axis(Random& random, OpId id, int most) {
  Axis axis = {{}, random.next() % 2 == 0, random.between(1, most), 0};
  Op& op = axis.op;
  op.id = id;
  for (int k : {0, 1}) op.i[k] = 1;
  int out = axis.in;
  switch (id) {
    case OpId::WINDOW:
      out = random.between(1, most);
      op.i[2] = op.i[3] = 1;
      op.i[axis.rows ? 2 : 3] = out;
      along(op, axis.rows) = random.between(-most, most);
      break;
    case OpId::PAD: {
      op.flags = static_cast<uint16_t>(random.between(0, 2));
      const int reach = random.next() % 2 == 0 ? most : 3;
      op.i[0] = op.i[1] = 0;
      op.i[axis.rows ? 1 : 0] = random.between(0, reach);
      op.i[axis.rows ? 3 : 2] = random.between(0, reach);
      out += op.i[0] + op.i[1] + op.i[2] + op.i[3];
      break;
    }
    case OpId::NEAREST:
      op.flags = static_cast<uint16_t>(random.between(0, 2));
      along(op, axis.rows) = out = random.between(1, most);
      break;
    case OpId::RESIZE:
    case OpId::TORCH_RESIZE:
      op.flags = static_cast<uint16_t>(id == OpId::RESIZE ? kFilters[random.between(0, 7)] : random.between(2, 3));
      if (random.next() % 8 != 0) out = random.between(1, most);
      along(op, axis.rows) = out;
      break;
    case OpId::BLUR:
      op.i[axis.rows ? 1 : 0] = 2 * random.between(0, std::min(axis.in - 1, 15)) + 1;
      break;
    case OpId::BOX_BLUR:
      op.i[0] = random.between(1, 3);
      op.f[axis.rows ? 1 : 0] = random.next() % 2 == 0 ? random.between(0, 5) : 9.0 * random.unit();
      break;
    case OpId::ROT90:
      op.flags = 2;
      break;
    case OpId::AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      along(op, axis.rows) = out = random.between(1, most);
      break;
    default:
      break;
  }
  axis.out = out;
  return axis;
}

// What each output reads, from tables and rules of whole axes; begin == end where it shows nothing.
std::vector<Extent> read_by(const Axis& axis) {
  std::vector<Extent> reads(static_cast<size_t>(axis.out));
  const Op& op = axis.op;
  const auto set_all = [&](auto read) {
    for (int k = 0; k < axis.out; ++k) reads[static_cast<size_t>(k)] = read(k);
  };
  if (has(op.id, Trait::kAxisIndex)) {
    const Shape in = axis.rows ? Shape{axis.in, 1, 1} : Shape{1, axis.in, 1};
    Regions regions(kernels(), test::steps_of(std::vector<Op>{op}), in, 0);
    const std::vector<int32_t>& index = axis.rows ? regions.rows(0) : regions.columns(0);
    REQUIRE(index.size() == reads.size());
    set_all([&](int k) { return Extent{index[static_cast<size_t>(k)], index[static_cast<size_t>(k)] + 1}; });
  } else if (op.id == OpId::WINDOW) {
    const int offset = op.i[axis.rows ? 0 : 1];
    set_all([&](int k) {
      const bool inside = k + offset >= 0 && k + offset < axis.in;
      return inside ? Extent{k + offset, k + offset + 1} : Extent{0, 0};
    });
  } else if (op.id == OpId::RESIZE && axis.in != axis.out) {
    const Taps taps = make_taps(static_cast<Filter>(op.flags), axis.in, axis.out, 0, axis.out);
    set_all([&](int k) {
      const auto at = static_cast<size_t>(k);
      return Extent{taps.first[at], taps.first[at] + taps.count[at]};
    });
  } else if (op.id == OpId::TORCH_RESIZE) {
    const FloatTaps taps = make_torch_taps(static_cast<Filter>(op.flags), axis.in, axis.out, 0, axis.out);
    set_all([&](int k) {
      const auto at = static_cast<size_t>(k);
      return Extent{taps.first[at], taps.first[at] + taps.count[at]};
    });
  } else if (has(op.id, Trait::kWarp) || op.id == OpId::ROT90) {
    set_all([&](int) { return Extent{0, axis.in}; });
  } else if (op.id == OpId::BLUR) {
    const int half = op.i[axis.rows ? 1 : 0] / 2;
    set_all([&](int k) {
      Extent read = {k, k + 1};
      for (int j = k - half; j <= k + half; ++j) {
        read.begin = std::min(read.begin, reflect(j, axis.in));
        read.end = std::max(read.end, reflect(j, axis.in) + 1);
      }
      return read;
    });
  } else if (op.id == OpId::BOX_BLUR) {
    const double radius = op.f[axis.rows ? 1 : 0];
    const int reach = op.i[0] * static_cast<int>(std::ceil(static_cast<float>(radius)));
    set_all([&](int k) { return Extent{std::max(k - reach, 0), std::min(k + reach + 1, axis.in)}; });
  } else if (kind_of(op.id) == OpKind::kFilter) {
    set_all([&](int k) { return Extent{std::max(k - 1, 0), std::min(k + 2, axis.in)}; });
  } else {
    set_all([&](int k) { return Extent{k, k + 1}; });
  }
  return reads;
}

// True if the extent is what is read, and nothing more.
bool is_exact(const Axis& axis) {
  if (axis.op.id == OpId::NEAREST) return static_cast<NearestRule>(axis.op.flags) != NearestRule::kPillow;
  return axis.op.id != OpId::RESIZE;
}

struct Fault {
  const char* what = nullptr;
  Extent out = {0, 0};
};

// Tiles of up to `longest` outputs.
Fault find_fault(const Axis& axis, int longest) {
  const std::vector<Extent> reads = read_by(axis);
  for (int begin = 0; begin < axis.out; ++begin) {
    int low = axis.in;
    int high = 0;
    for (int end = begin + 1; end <= std::min(axis.out, begin + longest); ++end) {
      const Extent read = reads[static_cast<size_t>(end - 1)];
      if (read.begin < read.end) {
        low = std::min(low, read.begin);
        high = std::max(high, read.end);
      }
      const Extent out = {begin, end};
      const Extent said = source_extent(axis.op, axis.rows, out, axis.in, axis.out);
      const int bound = extent_bound(axis.op, axis.rows, end - begin, axis.in, axis.out);
      const bool shown = low < high;
      if (said.begin < 0 || said.end > axis.in || said.begin > said.end) return {"an extent outside the axis", out};
      if (shown && (said.begin > low || said.end < high)) return {"a sample that is left out", out};
      if (said.begin == said.end && (shown || axis.op.id != OpId::WINDOW)) return {"an empty extent", out};
      if (is_exact(axis) && said.end - said.begin != (shown ? high - low : 0)) return {"an extent too large", out};
      if (axis.op.id == OpId::NEAREST && (said.begin < low - 2 || said.end > high + 2)) return {"too much slack", out};
      if (bound < said.end - said.begin || bound > axis.in) return {"a bound that does not hold", out};
    }
  }
  return {};
}

void check(const Axis& axis, int longest) {
  const Fault fault = find_fault(axis, longest);
  CAPTURE(axis.op.flags);
  CAPTURE(axis.rows);
  CAPTURE(axis.in);
  CAPTURE(axis.out);
  for (int k = 0; k < 4; ++k) CAPTURE(axis.op.i[k]);
  CAPTURE(fault.out.begin);
  CAPTURE(fault.out.end);
  REQUIRE_MESSAGE(fault.what == nullptr, name_of(axis.op.id), ": ", fault.what);
}

TEST_CASE("an op reads what its extents say, for all tiles of small axes") {
  Random random(3);
  for (int id = 0; id < kOpCount; ++id) {
    if (static_cast<OpId>(id) == OpId::JPEG) continue;  // no device has tiles of it
    const bool geometry = kind_of(static_cast<OpId>(id)) == OpKind::kGeometry;
    for (int i = 0; i < (geometry ? 600 : 60); ++i) check(random_axis(random, static_cast<OpId>(id), 40), 1000);
  }
}

TEST_CASE("an op reads what its extents say, for tiles of large axes") {
  Random random(4);
  for (OpId id : {OpId::WINDOW, OpId::PAD, OpId::NEAREST, OpId::RESIZE, OpId::TORCH_RESIZE, OpId::BLUR}) {
    for (int i = 0; i < test::cases(150); ++i) check(random_axis(random, id, 3000), 40);
  }
}

TEST_CASE("Pillow's positions stay within their slack on the longest axes") {
  for (int in : {(1 << 24) - 3, (1 << 26) - 5}) {
    Axis axis = {{OpId::NEAREST, 0, {}, {1, 1}, {}}, true, in, (1 << 24) + 1};
    axis.op.i[0] = axis.out;
    const double scale = nearest_scale(axis.in, axis.out);
    double position = nearest_first(axis.in, axis.out);
    bool inside = true;
    for (int k = 0; k < axis.out; ++k, position += scale) {
      const int read = nearest_clamped(position, axis.in);
      const Extent said = nearest_extent(NearestRule::kPillow, {k, k + 1}, axis.in, axis.out);
      inside = inside && said.begin <= read && read < said.end;
    }
    CHECK(inside);
  }
}

TEST_CASE("bounds are not much more than what is read") {
  const Op halve{OpId::RESIZE, static_cast<uint16_t>(Filter::kBilinear), {}, {500, 500}, {}};
  CHECK(extent_bound(halve, true, 32, 1000, 500) == 67);
  CHECK(extent_bound(halve, true, 500, 1000, 500) == 1000);
  const Op nearest{OpId::NEAREST, 0, {}, {500, 500}, {}};
  CHECK(extent_bound(nearest, true, 32, 1000, 500) == 66);
  CHECK(extent_bound({OpId::HFLIP, 0, {}, {}, {}}, false, 32, 1000, 1000) == 32);
  CHECK(extent_bound({OpId::SHARPNESS, 0, {}, {}, {}}, false, 32, 1000, 1000) == 34);
}

}  // namespace
}  // namespace fastaug
