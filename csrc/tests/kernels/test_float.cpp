// Fast mode's colour against the same formulas in double, unrounded from op to op.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/float_colour.h"
#include "tests/support/guard.h"
#include "tests/support/scale.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::GuardedRows;
using test::Random;
using test::Side;

// Levels by which float32 may miss the formula over a run of ops. A turn of the hue multiplies what came before by six.
constexpr double kFloatError = 0.01;
// By which one op in 16 bits may, beside what it makes of the errors before it.
constexpr double kShortError = 7.0 / 257;

Op make_op(OpId id, double factor = 0.0, int number = 0, uint16_t flags = 0) {
  Op op{};
  op.id = id;
  op.f[0] = factor;
  op.i[0] = number;
  op.flags = flags;
  return op;
}

double luma(const double* v) { return (19595.0 * v[0] + 38470.0 * v[1] + 7471.0 * v[2]) / 65536.0; }

double blend(double degenerate, double v, double factor) {
  return std::clamp(degenerate + factor * (v - degenerate), 0.0, 255.0);
}

// The textbook's way to HSV and back.
void turn_hue(double turn, double* v) {
  const double top = std::max({v[0], v[1], v[2]});
  const double range = top - std::min({v[0], v[1], v[2]});
  if (range == 0.0) return;
  double h = v[0] == top   ? (v[1] - v[2]) / range
             : v[1] == top ? 2.0 + (v[2] - v[0]) / range
                           : 4.0 + (v[0] - v[1]) / range;
  h += 6.0 * turn;
  h -= 6.0 * std::floor(h / 6.0);
  const double base[] = {5.0, 3.0, 1.0};
  for (int c = 0; c < 3; ++c) {
    const double k = std::fmod(base[c] + h, 6.0);
    v[c] = top - range * std::clamp(std::min(k, 4.0 - k), 0.0, 1.0);
  }
}

// One op on a pixel; returns the number of channels after it.
int apply(const Op& op, double mean, int channels, double* v) {
  const int colors = channels - ((op.flags & kHasAlpha) != 0 ? 1 : 0);
  const double factor = op.f[0];
  switch (op.id) {
    case OpId::BRIGHTNESS:
      for (int c = 0; c < colors; ++c) v[c] = blend(0.0, v[c], factor);
      return channels;
    case OpId::CONTRAST:
      for (int c = 0; c < colors; ++c) v[c] = blend(mean, v[c], factor);
      return channels;
    case OpId::SATURATION: {
      const double gray = luma(v);
      for (int c = 0; c < 3; ++c) v[c] = blend(gray, v[c], factor);
      return channels;
    }
    case OpId::HUE:
      turn_hue(factor, v);
      if (channels == 4) v[3] = 255.0;
      return channels;
    case OpId::LUMA:
      v[0] = luma(v);
      return 1;
    default:  // REPLICATE
      for (int c = 1; c < op.i[0]; ++c) v[c] = v[0];
      return op.i[0];
  }
}

struct Run {
  std::vector<Op> ops;
  std::vector<float> means;
  int channels = 0;

  int operator()(const uint8_t* const* planes, int x, double* v) const {
    for (int c = 0; c < channels; ++c) v[c] = planes[c][x];
    int now = channels;
    for (size_t k = 0; k < ops.size(); ++k) now = apply(ops[k], means[k], now, v);
    return now;
  }
  int count() const { return static_cast<int>(ops.size()); }

  // True if vectors of 16 bits hold it: all factors of blends are from 0 to 2.
  bool is_short() const {
    return std::all_of(ops.begin(), ops.end(),
                       [](const Op& op) { return op.id == OpId::HUE || (op.f[0] >= 0.0 && op.f[0] <= 2.0); });
  }

  // Levels by which these kernels may miss the formulas.
  double tolerance(const Kernels& tested) const {
    if (&tested == kernels("scalar") || !is_short()) return kFloatError;
    double error = 0.0;
    for (const Op& op : ops) {
      // By how much an op can grow differences. A turned channel is a sum of three, and of five half a circle away.
      double growth = op.id == OpId::HUE ? 5.0 : 1.0;
      if (op.id == OpId::BRIGHTNESS || op.id == OpId::CONTRAST) growth = op.f[0];
      if (op.id == OpId::SATURATION) growth = op.f[0] + std::fabs(1.0 - op.f[0]);
      error = growth * error + kShortError;
    }
    return error + kFloatError;
  }
};

// A run that an image with so many channels can meet.
Run random_run(Random& random, int channels, int length) {
  Run run;
  run.channels = channels;
  int now = channels;
  const auto add = [&](const Op& op) {
    run.ops.push_back(op);
    run.means.push_back(static_cast<float>(random.between(0, 255)));
    now = op.id == OpId::LUMA ? 1 : op.id == OpId::REPLICATE ? op.i[0] : now;
  };
  while (run.count() < length) {
    const double factor = random.between(0, 3) == 0 ? random.unit() * 3.0 - 0.5 : 0.5 + random.unit();
    const uint16_t flags = now % 2 == 0 && random.between(0, 1) == 1 ? kHasAlpha : uint16_t{0};
    const int kind = random.between(0, now >= 3 ? 5 : 2);
    if (kind == 0) add(make_op(OpId::BRIGHTNESS, factor, 0, flags));
    if (kind == 1) add(make_op(OpId::CONTRAST, factor, 0, flags));
    if (kind == 2 && now == 1) add(make_op(OpId::REPLICATE, 0.0, random.between(1, kMaxChannels)));
    if (kind == 3) add(make_op(OpId::SATURATION, factor));
    if (kind == 4) add(make_op(OpId::HUE, random.unit() * 2.0 - 1.0));
    if (kind == 5 && random.between(0, 3) == 0) add(make_op(OpId::LUMA));
  }
  return run;
}

void fill(GuardedRows& rows, int width, Random& random) {
  for (int c = 0; c < kMaxChannels; ++c) random.fill(rows[c], static_cast<size_t>(width));
  // Grey and saturated pixels are corners of the formulas.
  for (int x = 0; x < width; x += random.between(1, 9)) {
    for (int c = 1; c < kMaxChannels; ++c) rows[c][x] = random.between(0, 2) == 0 ? rows[0][x] : 255;
  }
}

// What is left of the run's bound by pointwise_float.
double worst_float(const Kernels& tested, const Run& run, int width, Random& random) {
  GuardedRows rows(kMaxChannels, width);
  fill(rows, width, random);
  std::vector<double> wanted;
  int channels = 0;
  for (int x = 0; x < width; ++x) {
    double v[kMaxChannels];
    channels = run(rows.get_const(), x, v);
    wanted.insert(wanted.end(), v, v + channels);
  }
  tested.pointwise_float(run.ops.data(), run.means.data(), run.count(), run.channels, rows.get(), width);
  REQUIRE(rows.intact());
  double worst = 0.0;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const auto x = k / static_cast<size_t>(channels);
    const int c = static_cast<int>(k) % channels;
    worst = std::max(worst, std::fabs(rows[c][x] - wanted[k]));
  }
  return worst;
}

FloatStore some_store(bool normalize) {
  FloatStore store;
  store.normalize = normalize;
  for (int c = 0; c < kMaxChannels; ++c) {
    store.mean[c] = 0.4f + 0.05f * static_cast<float>(c);
    store.std[c] = 0.2f + 0.03f * static_cast<float>(c);
  }
  return store;
}

// In levels.
double worst_store(const Kernels& tested, const Run& run, const FloatStore& store, int width, bool reversed, Side side,
                   Random& random) {
  GuardedRows rows(kMaxChannels, width, side);
  fill(rows, width, random);
  std::vector<Guarded> foreign;
  std::vector<float*> to;
  double v[kMaxChannels];
  const int channels = run(rows.get_const(), 0, v);
  for (int c = 0; c < channels; ++c) {
    foreign.emplace_back(static_cast<size_t>(width) * sizeof(float), side);
    to.push_back(reinterpret_cast<float*>(foreign.back().data()));
  }
  tested.pointwise_store(store, run.ops.data(), run.means.data(), run.count(), run.channels, rows.get_const(), width,
                         reversed, to.data());
  double worst = 0.0;
  for (int c = 0; c < channels; ++c) {
    REQUIRE(foreign[static_cast<size_t>(c)].intact());
    for (int x = 0; x < width; ++x) {
      run(rows.get_const(), x, v);
      double got = to[static_cast<size_t>(c)][reversed ? width - 1 - x : x];
      if (store.normalize) got = got * store.std[c] + store.mean[c];
      worst = std::max(worst, std::fabs(255.0 * got - v[c]));
    }
  }
  return worst;
}

TEST_CASE("runs in 16 bits and in float32 round what the formulas give") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(1);
    for (int trial = 0; trial < test::cases(2000); ++trial) {
      CAPTURE(trial);
      const Run run = random_run(random, random.between(1, kMaxChannels), random.between(0, 6));
      const Kernels& tested = *kernels(name);
      REQUIRE(worst_float(tested, run, random.between(1, 300), random) <= 0.5 + run.tolerance(tested));
    }
  }
}

TEST_CASE("runs go into the store unrounded, both ways round, exactly as wide as the row") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(2);
    for (int trial = 0; trial < test::cases(1500); ++trial) {
      CAPTURE(trial);
      const Run run = random_run(random, random.between(1, kMaxChannels), random.between(0, 5));
      const int width = trial < 700 ? 1 + trial % 140 : random.between(1, 400);
      const Side side = random.between(0, 1) == 0 ? Side::kFront : Side::kBack;
      const Kernels& tested = *kernels(name);
      REQUIRE(worst_store(tested, run, some_store(trial % 3 != 0), width, trial % 2 == 0, side, random) <=
              run.tolerance(tested));
    }
  }
}

TEST_CASE("every hue turns as in HSV, over all colours") {
  constexpr int kStep = 5;  // 0, 5, ... 255
  const double turns[] = {0.0, 0.1, -0.1, 1.0 / 6.0, 0.4999, 0.5, -0.5, 0.9, 1.0, 7.3};
  constexpr int kWidth = 52;
  GuardedRows rows(kMaxChannels, kWidth);
  std::vector<float> out[3];
  for (auto& plane : out) plane.resize(kWidth);
  float* const to[] = {out[0].data(), out[1].data(), out[2].data()};
  for (const char* name : available_isas()) {
    CAPTURE(name);
    double worst = 0.0;
    for (double turn : turns) {
      const Op op = make_op(OpId::HUE, turn);
      const float mean = 0.0f;
      for (int r = 0; r < 256; r += kStep) {
        for (int g = 0; g < 256; g += kStep) {
          for (int x = 0; x < kWidth; ++x) {
            rows[0][x] = static_cast<uint8_t>(r);
            rows[1][x] = static_cast<uint8_t>(g);
            rows[2][x] = static_cast<uint8_t>(x * kStep);
          }
          kernels(name)->pointwise_store(FloatStore(), &op, &mean, 1, 3, rows.get_const(), kWidth, false, to);
          for (int x = 0; x < kWidth; ++x) {
            double v[] = {static_cast<double>(r), static_cast<double>(g), static_cast<double>(x * kStep)};
            turn_hue(turn, v);
            for (int c = 0; c < 3; ++c) worst = std::max(worst, std::fabs(255.0 * to[c][x] - v[c]));
          }
        }
      }
    }
    CHECK(worst < (std::strcmp(name, "scalar") == 0 ? 0.001 : 0.006));
  }
}

TEST_CASE("runs that 16 bits do not hold are in float32, as near to the formulas as those of plain floats") {
  const std::vector<Op> ops = {make_op(OpId::SATURATION, 2.5), make_op(OpId::HUE, 0.3), make_op(OpId::BRIGHTNESS, 0.7)};
  Run run{ops, std::vector<float>(ops.size()), 3};
  REQUIRE_FALSE(run.is_short());
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(3);
    CHECK(worst_store(*kernels(name), run, FloatStore(), 200, false, Side::kBack, random) <= kFloatError);
    run.ops[0].f[0] = 2.0;
    const double in_shorts = worst_store(*kernels(name), run, FloatStore(), 200, false, Side::kBack, random);
    CHECK((in_shorts > 0.001) == (std::strcmp(name, "scalar") != 0));
    run.ops[0].f[0] = 2.5;
  }
}

TEST_CASE("instruction sets give the same samples in 16 bits") {
  Random random(4);
  for (int trial = 0; trial < test::cases(200); ++trial) {
    CAPTURE(trial);
    Run run = random_run(random, random.between(1, kMaxChannels), random.between(1, 5));
    if (!run.is_short()) continue;
    const int width = random.between(1, 200);
    GuardedRows given(kMaxChannels, width);
    fill(given, width, random);
    std::vector<uint8_t> wanted;
    for (const char* name : available_isas()) {
      CAPTURE(name);
      if (std::strcmp(name, "scalar") == 0) continue;
      GuardedRows rows(kMaxChannels, width);
      for (int c = 0; c < kMaxChannels; ++c) std::memcpy(rows[c], given[c], static_cast<size_t>(width));
      kernels(name)->pointwise_float(run.ops.data(), run.means.data(), run.count(), run.channels, rows.get(), width);
      double v[kMaxChannels];
      const int channels = run(given.get_const(), 0, v);
      std::vector<uint8_t> got;
      for (int c = 0; c < channels; ++c) got.insert(got.end(), rows[c], rows[c] + width);
      if (wanted.empty()) wanted = got;
      REQUIRE(got == wanted);
    }
  }
}

TEST_CASE("samples that no op changes come back as they were") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    GuardedRows rows(kMaxChannels, 256);
    for (int c = 0; c < 3; ++c)
      for (int v = 0; v < 256; ++v) rows[c][v] = static_cast<uint8_t>(v * (c + 1));
    const std::vector<Op> ops = {make_op(OpId::BRIGHTNESS, 1.0), make_op(OpId::CONTRAST, 1.0),
                                 make_op(OpId::SATURATION, 1.0), make_op(OpId::HUE, 0.0), make_op(OpId::HUE, 1.0)};
    const std::vector<float> means(ops.size(), 99.0f);
    kernels(name)->pointwise_float(ops.data(), means.data(), static_cast<int>(ops.size()), 3, rows.get(), 256);
    bool same = true;
    for (int c = 0; c < 3; ++c)
      for (int v = 0; v < 256; ++v) same &= rows[c][v] == static_cast<uint8_t>(v * (c + 1));
    CHECK(same);
  }
}

TEST_CASE("colours of images and of tensors have the same form in float32, and tables have none") {
  const std::pair<OpId, OpId> pairs[] = {{OpId::CONTRAST, OpId::TORCH_CONTRAST},
                                         {OpId::SATURATION, OpId::TORCH_SATURATION},
                                         {OpId::HUE, OpId::TORCH_HUE},
                                         {OpId::LUMA, OpId::TORCH_LUMA},
                                         {OpId::LUMA, OpId::V2_LUMA},
                                         {OpId::CONTRAST, OpId::V2_CONTRAST},
                                         {OpId::SATURATION, OpId::V2_SATURATION},
                                         {OpId::HUE, OpId::V2_HUE}};
  for (const auto& [of_image, of_tensor] : pairs) {
    CAPTURE(name_of(of_tensor));
    CHECK(has(of_image, Trait::kFloatForm));
    REQUIRE(has(of_tensor, Trait::kFloatForm));
    const scalar::FloatOp a = scalar::float_op(make_op(of_image, 0.3), 77.7f, 3);
    const scalar::FloatOp b = scalar::float_op(make_op(of_tensor, 0.3), 77.7f, 3);
    CHECK(a.kind == b.kind);
    CHECK(a.factor == b.factor);
    CHECK(a.rest == b.rest);
    CHECK(a.kept == b.kept);
    CHECK(a.channels == b.channels);
  }
  CHECK_FALSE(has(OpId::TORCH_GAMMA, Trait::kFloatForm));
  CHECK_FALSE(has(OpId::SOLARIZE, Trait::kFloatForm));
  CHECK_FALSE(has(OpId::RESIZE, Trait::kFloatForm));
}

}  // namespace
}  // namespace fastaug
