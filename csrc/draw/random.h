// Draws from the state of torch's CPU generator, word for word and bit for bit as torch makes them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

namespace fastaug {

constexpr int kGeneratorWords = 624;

// What torch.Generator.get_state() returns for a CPU generator (torch, CPUGeneratorImpl.cpp, CPUGeneratorImplState): a
// Mersenne twister, and the spare normals that torch keeps for its next call of normal_.
struct GeneratorState {
  uint64_t seed;
  int32_t
      left;  // a word is drawn from words[next], unless counting `left` down reaches 0: then all are made anew first
  int32_t seeded;
  uint64_t next;
  uint64_t words[kGeneratorWords];  // of 32 bits each
  uint8_t normals[40];

  bool valid() const;

  // Starts as torch.Generator.manual_seed() does.
  void start(uint64_t from) { start({this, 1}, &from); }
  // Starts each of a few from a seed of its own, in less time than one after the other.
  static void start(std::span<GeneratorState> states, const uint64_t* seeds);
};
static_assert(sizeof(GeneratorState) == 5056);

// A step of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014; the multipliers
// are Stafford's Mix13).
uint64_t mixed(uint64_t state);

// How torch rounds a uniform draw: this differs between its builds, and with the machine.
struct UniformForm {
  bool fused = true;      // by one fused multiply-add, not a multiplication and an addition
  bool half_open = true;  // a draw that is rounded up to the upper limit becomes the lower one
};

// The rectangle of random area and proportions of RandomResizedCrop and RandomErasing.
struct SidesLimits {
  double area;          // of the image
  double limits[2];     // of the sides
  float scale[2];       // the area of the rectangle, as part of the image's
  float log_ratio[2];   // the logarithm of first / second side
  bool strict = false;  // sides must be below their limits; else above 0, and at most their limits
};

// Changes a state in place.
class Random {
 public:
  Random() = default;
  explicit Random(GeneratorState* state) : state_(state) {}

  // What it draws from; null without one.
  const GeneratorState* state() const { return state_; }
  // How many words were drawn.
  uint64_t drawn() const { return drawn_; }
  void skip(uint64_t words);

  // torch.rand(1)
  float rand() { return static_cast<float>(next() & 0xffffff) * 0x1p-24f; }

  // torch.empty(1).uniform_(low, high), for finite low <= high of a finite distance.
  float uniform(float low, float high, UniformForm form);

  // torch.randint(low, low + range, (1,)). From kMaxRange on, torch draws two words, in some versions.
  static constexpr int64_t kMaxRange = int64_t{1} << 28;
  int64_t randint(int64_t low, int64_t range) { return low + next() % static_cast<uint32_t>(range); }

  // torch.randperm(count) into `order`. torch's algorithm is another one from 2^32 / 20 on.
  static constexpr int64_t kMaxPermutation = int64_t{1} << 16;
  void randperm(int64_t* order, int count);

  // low + torch.rand(1) * (high - low), for numbers of Python's.
  float scaled(double low, double high) { return static_cast<float>(low) + rand() * static_cast<float>(high - low); }

  // The border (left, top, right, bottom) that RandomZoomOut draws for an image: of sides that are float32's, scaled by
  // at most kMaxScale.
  static constexpr double kMaxScale = 1 << 8;
  std::array<int64_t, 4> zoom_out(int64_t height, int64_t width, double low, double high);

  // torch.multinomial(torch.tensor(weights), 1): weights from 0 to FLT_MAX, at least one of them above 0.
  static constexpr int64_t kMaxChoices = int64_t{1} << 16;
  int64_t choice(const float* weights, int64_t count);

  // Ten times at most: target = area * uniform(scale), aspect = exp(uniform(log_ratio)) in float32, and the sides
  // round(sqrt(target * aspect)), round(sqrt(target / aspect)); false when none is accepted. scale must not be negative
  // and log_ratio within kMaxLogRatio.
  //
  // No two libraries round exp of a float32 alike, so `torch_exp` is asked where the last bits of the aspect matter.
  static constexpr float kMaxLogRatio = 80.0f;
  bool sides(const SidesLimits& limits, UniformForm form, const std::function<double(float)>& torch_exp,
             int64_t sides[2]);

 private:
  uint32_t next();
  void twist();

  GeneratorState* state_ = nullptr;
  uint64_t drawn_ = 0;
};

}  // namespace fastaug
