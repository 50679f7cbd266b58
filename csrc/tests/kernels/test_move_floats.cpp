// The kernels that read rows of floats, on every instruction set, sample by sample.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "kernels/kernels.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Guarded;
using test::Random;
using test::Side;

float* floats(Guarded& memory) { return reinterpret_cast<float*>(memory.data()); }

TEST_CASE("move_floats: bits stay as they are, and what is normalised is subtracted and divided, each rounded") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(5);
    for (int width = 1; width < 150; ++width) {
      CAPTURE(width);
      for (int form = 0; form < 4; ++form) {
        CAPTURE(form);
        FloatStore store;
        store.normalize = form % 2 == 1;
        const bool reversed = form / 2 == 1;
        for (int c = 0; c < kMaxChannels; ++c) {
          store.mean[c] = static_cast<float>(random.unit());
          store.std[c] = static_cast<float>(random.unit() + 0.1);
        }
        const int channel = random.between(0, 3);
        const auto size = static_cast<size_t>(width) * sizeof(float);
        Guarded source(size);
        Guarded result(size);
        // Any bits, among them signalling NaNs, where they are only moved.
        random.fill(source.data(), size);
        for (int x = 0; store.normalize && x < width; ++x)
          floats(source)[x] = static_cast<float>(random.unit() * 9 - 4);
        kernels(name)->move_floats(store, channel, floats(source), width, reversed, floats(result));
        bool right = result.intact();
        for (int x = 0; x < width; ++x) {
          const int from = reversed ? width - 1 - x : x;
          if (store.normalize) {
            volatile float centred = floats(source)[from] - store.mean[channel];
            const float wanted = centred / store.std[channel];
            right = right && std::memcmp(&wanted, floats(result) + x, sizeof wanted) == 0;
          } else {
            right = right && std::memcmp(source.data() + 4 * from, result.data() + 4 * x, sizeof(float)) == 0;
          }
        }
        REQUIRE(right);
      }
    }
  }
}

TEST_CASE("deinterleave_float: every float, and not one more") {
  for (const char* name : available_isas()) {
    CAPTURE(name);
    Random random(6);
    for (int width = 1; width < 100; ++width) {
      CAPTURE(width);
      for (int channels = 2; channels <= kMaxChannels; ++channels) {
        CAPTURE(channels);
        Guarded source(static_cast<size_t>(width * channels) * sizeof(float));
        random.fill(source.data(), source.size());
        std::vector<Guarded> planes;
        float* to[kMaxChannels] = {};
        for (int c = 0; c < channels; ++c) {
          planes.emplace_back(static_cast<size_t>(width) * sizeof(float));
          to[c] = floats(planes.back());
        }
        kernels(name)->deinterleave_float(floats(source), channels, width, to);
        bool right = true;
        for (int c = 0; c < channels; ++c) {
          right = right && planes[static_cast<size_t>(c)].intact();
          for (int x = 0; x < width; ++x)
            right = right && std::memcmp(to[c] + x, source.data() + 4 * (x * channels + c), sizeof(float)) == 0;
        }
        REQUIRE(right);
      }
    }
  }
}

}  // namespace
}  // namespace fastaug
