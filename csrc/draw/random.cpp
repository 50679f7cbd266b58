#include "draw/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fastaug {
namespace {

// Matsumoto and Nishimura, mt19937ar.c.
constexpr int kMiddle = 397;

uint32_t twisted(uint64_t upper, uint64_t lower, uint64_t middle) {
  const auto mixed = (static_cast<uint32_t>(upper) & 0x80000000u) | (static_cast<uint32_t>(lower) & 0x7fffffffu);
  const uint32_t odd = 0u - (static_cast<uint32_t>(lower) & 1u);
  return static_cast<uint32_t>(middle) ^ (mixed >> 1) ^ (odd & 0x9908b0dfu);
}

struct Rectangle {
  double sides[2];

  Rectangle(double target, double aspect)
      // Rounds like Python: halves to even.
      : sides{std::nearbyint(std::sqrt(target * aspect)), std::nearbyint(std::sqrt(target / aspect))} {}

  bool operator==(const Rectangle&) const = default;

  bool accepted(const SidesLimits& of) const {
    for (int i = 0; i < 2; ++i) {
      if (of.strict ? !(sides[i] < of.limits[i]) : !(0 < sides[i] && sides[i] <= of.limits[i])) return false;
    }
    return true;
  }
};

}  // namespace

uint64_t mixed(uint64_t state) {
  state += 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

bool GeneratorState::valid() const {
  // `next` may be anything when the words are about to be made anew.
  return seeded == 1 && left >= 1 && left <= kGeneratorWords &&
         (left == 1 || next <= static_cast<uint64_t>(kGeneratorWords + 1 - left));
}

void GeneratorState::start(std::span<GeneratorState> states, const uint64_t* seeds) {
  for (size_t n = 0; n < states.size(); ++n) {
    GeneratorState& state = states[n];
    state.seed = seeds[n];
    state.left = state.seeded = 1;
    state.next = 0;
    state.words[0] = static_cast<uint32_t>(seeds[n]);
    std::ranges::fill(state.normals, uint8_t{0});
  }
  // Each word of a state waits for the one before it, but not for those of other states.
  for (uint32_t k = 1; k < kGeneratorWords; ++k) {
    for (GeneratorState& state : states) {
      const auto last = static_cast<uint32_t>(state.words[k - 1]);
      state.words[k] = 1812433253u * (last ^ (last >> 30)) + k;
    }
  }
}

void Random::twist() {
  uint64_t* const words = state_->words;
  int i = 0;
  for (; i < kGeneratorWords - kMiddle; ++i) words[i] = twisted(words[i], words[i + 1], words[i + kMiddle]);
  for (; i < kGeneratorWords - 1; ++i) {
    words[i] = twisted(words[i], words[i + 1], words[i + kMiddle - kGeneratorWords]);
  }
  words[i] = twisted(words[i], words[0], words[kMiddle - 1]);
  state_->left = kGeneratorWords;
  state_->next = 0;
}

uint32_t Random::next() {
  ++drawn_;
  if (--state_->left == 0) twist();
  auto word = static_cast<uint32_t>(state_->words[state_->next++]);
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

void Random::skip(uint64_t words) {
  for (; words > 0; --words) next();
}

float Random::uniform(float low, float high, UniformForm form) {
  const float part = rand();
  const float range = high - low;
  const float value = form.fused ? std::fma(part, range, low) : part * range + low;
  return form.half_open && value == high ? low : value;
}

std::array<int64_t, 4> Random::zoom_out(int64_t height, int64_t width, double low, double high) {
  const auto part = [](int64_t whole, float of) { return static_cast<int64_t>(static_cast<float>(whole) * of); };
  const float scale = scaled(low, high);
  const int64_t across = part(width, scale) - width, down = part(height, scale) - height;
  const int64_t left = part(across, rand());
  const int64_t top = part(down, rand());
  return {left, top, across - left, down - top};
}

void Random::randperm(int64_t* order, int count) {
  std::iota(order, order + count, int64_t{0});
  for (int i = 0; i < count - 1; ++i) std::swap(order[i], order[i + next() % static_cast<uint32_t>(count - i)]);
}

int64_t Random::choice(const float* weights, int64_t count) {
  // The category of the greatest weight / q, for an exponential draw q each (torch, Distributions.cpp, multinomial).
  constexpr uint64_t kMantissa = (uint64_t{1} << 53) - 1;
  int64_t best = 0;
  float most = -1.0f;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t high = next(), low = next();
    const double part = static_cast<double>((high << 32 | low) & kMantissa) * 0x1p-53;
    const float share = weights[i] / static_cast<float>(-std::log1p(-part));
    // NaN, of 0 / 0, is the greatest.
    if (std::isnan(most) || !(share > most || std::isnan(share))) continue;
    most = share;
    best = i;
  }
  return best;
}

bool Random::sides(const SidesLimits& limits, UniformForm form, const std::function<double(float)>& torch_exp,
                   int64_t sides[2]) {
  // Above the relative error of every exp for float32, and of its result's rounding.
  constexpr double kMargin = 1e-6;
  for (int i = 0; i < 10; ++i) {
    const double target = limits.area * uniform(limits.scale[0], limits.scale[1], form);
    const float power = uniform(limits.log_ratio[0], limits.log_ratio[1], form);
    const double aspect = std::exp(static_cast<double>(power));
    Rectangle rectangle(target, aspect * (1 - kMargin));
    // Both sides are monotonic in the aspect.
    if (rectangle != Rectangle(target, aspect * (1 + kMargin))) rectangle = Rectangle(target, torch_exp(power));
    if (rectangle.accepted(limits)) {
      for (int k = 0; k < 2; ++k) sides[k] = static_cast<int64_t>(rectangle.sides[k]);
      return true;
    }
  }
  return false;
}

}  // namespace fastaug
