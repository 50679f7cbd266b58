// The end of a stage for a pixel: its colours, its statistics, and its place in memory.
#pragma once

#include "cuda/tile/colour.h"
#include "pixel/store.h"

namespace fastaug::cuda {

// Finishes pixels, and gathers statistics of the last ones.
template <class Spec>
class TileStore : protected TileColour<Spec> {
  using Base = TileColour<Spec>;

 public:
  using Base::Base;

 protected:
  using Base::kMost, Base::blob_, Base::p_, Base::step_, Base::address, Base::bodies, Base::buffer, Base::channels_of,
      Base::colour, Base::columns, Base::counts, Base::each_channel, Base::has_end, Base::has_flag,
      Base::has_statistics, Base::has_step, Base::has_sums, Base::histogram, Base::is, Base::own, Base::rows,
      Base::takes_statistics;

  // Statistics of the pixels that a thread made.
  struct Seen {
    uint32_t sum;
    uint32_t low[kMost];
    uint32_t high[kMost];
  };

  struct Finish {
    Extent rows;
    Extent columns;
    const Body* body;
    int count;
    int channels;  // that enter
    int after;     // that leave
    bool last;
    bool floats;      // they are stored as floats
    int statistics;   // that are taken
    uint8_t* shared;  // where pixel (0, 0) would be in the buffer, unless it is the last stage
    int pitch;
    uint8_t* memory;  // where it is, or would be, else; null: nowhere
    int64_t row_stride;
    int64_t pixel_stride;
    int64_t channel_stride;
    StoreForm form[kMost];  // of floats
    Seen seen;
    TorchOrder order;  // of parts of a sum
  };

  // `k`: the step, or -1 for the pixels that are read.
  FASTAUG_FN Finish finish_of(int stage, int k) const {
    Finish f{};
    f.last = k == p_.steps - 1;
    f.rows = rows(k + 1);
    f.columns = columns(k + 1);
    int first = k < 0 ? 0 : p_.read_colours;
    for (int j = 0; j < k; ++j) first += step_[j].colours;
    f.body = bodies() + first;
    f.count = k < 0 ? p_.read_colours : step_[k].colours;
    f.channels = channels_of(k < 0 ? p_.channels : step_[k].channels);
    f.after = f.count > 0 ? channels_of(f.body[f.count - 1].after) : f.channels;
    if (!f.last) {
      f.pitch = (f.columns.end - f.columns.begin) * word_bytes(f.after);
      f.shared = buffer(stage) - (f.rows.begin * f.pitch + f.columns.begin * word_bytes(f.after));
    } else {
      f.floats = has_end(kStore) && p_.end == kStore && dtype() != static_cast<int>(DType::kUint8);
      f.statistics = has_statistics() ? p_.statistics : kNoStatistics;
      if (!has_end(kLookOnly) || p_.end != kLookOnly) f.memory = address(p_.to);
      if (f.floats) each_channel(kMost, [&](int c) { f.form[c] = p_.form[c]; });
      f.row_stride = p_.to.row_stride;
      f.pixel_stride = p_.to.pixel_stride;
      f.channel_stride = p_.to.channel_stride;
    }
    if (has_flag(kHasGrayParts)) f.order = torch_order(int64_t{p_.shown.height} * p_.shown.width);
    if (has_flag(kHasExtremes)) {
      each_channel(kMost, [&](int c) { f.seen.low[c] = 255; });
      each_channel(kMost, [&](int c) { f.seen.high[c] = 0; });
    }
    return f;
  }

  template <int kKind>
  FASTAUG_FN void put(Finish& f, int y, int x, uint8_t* pixel) const {
    constexpr bool kHasColours = has_step(kKind, kColoured);
    if ((kHasColours && f.count > 0) || f.floats) {
      float v[kMost] = {};
      each_channel(f.channels, [&](int c) { v[c] = to_float(pixel[c]); });
      int channels = f.channels;
      if (kHasColours) {
        for (int k = 0; k < f.count; ++k) channels = colour(f.body[k], channels, v);
      }
      if (has_end(kStore) && f.floats) return store_floats(f, y, x, v);
      each_channel(f.after, [&](int c) { pixel[c] = to_byte(v[c]); });
    }
    if (!f.last) {
      uint32_t word = 0;
      each_channel(f.after, [&](int c) { word |= static_cast<uint32_t>(pixel[c]) << (8 * c); });
      return store_word(word, f.after, f.shared + y * f.pitch + x * word_bytes(f.after));
    }
    if (has_statistics()) look(f, y, x, pixel);
    if (has_end(kLookOnly) && f.memory == nullptr) return;
    uint8_t* to = f.memory + y * f.row_stride + x * f.pixel_stride;
    each_channel(f.after, [&](int c) { to[c * f.channel_stride] = pixel[c]; });
  }

  template <class Do>
  FASTAUG_FN static uint32_t of_colours(Do body, int channels, const uint8_t* pixel) {
    if constexpr (kMost >= 3) {
      if (channels >= 3) {
        return to_byte(body(to_float(pixel[0]), to_float(pixel[1]), to_float(pixel[2])));
      }
    }
    return pixel[0];
  }

  FASTAUG_FN void look(Finish& f, int y, int x, const uint8_t* pixel) const {
    if (has_flag(kHasLuma) && f.statistics == kLumaSum) f.seen.sum += of_colours(scalar::Luma(), f.after, pixel);
    if (has_flag(kHasGray) && f.statistics == kGraySum) f.seen.sum += of_colours(scalar::TorchGray(), f.after, pixel);
    if (has_flag(kHasV2Gray) && f.statistics == kV2GraySum) f.seen.sum += of_colours(scalar::V2Gray(), f.after, pixel);
    if (has_flag(kHasGrayParts) && is_parts(f.statistics)) {
      // The part shows the whole image. Neighbours go to neighbouring counters: a warp's make one transaction.
      const int64_t n = int64_t{y} * p_.shown.width + x;
      const uint32_t gray = f.statistics == kV2GrayParts ? of_colours(scalar::V2Gray(), f.after, pixel)
                                                         : of_colours(scalar::TorchGray(), f.after, pixel);
      add_to(gray_parts(&counts(p_.counts)) + f.order.place(n), gray);
    }
    if (has_flag(kHasExtremes) && f.statistics == kExtremes) {
      each_channel(f.after, [&](int c) {
        f.seen.low[c] = pixel[c] < f.seen.low[c] ? pixel[c] : f.seen.low[c];
        f.seen.high[c] = pixel[c] > f.seen.high[c] ? pixel[c] : f.seen.high[c];
      });
    }
    if (has_flag(kHasHistogram) && f.statistics == kHistogram) {
      each_channel(f.after, [&](int c) { add_to(histogram() + 256 * c + pixel[c], 1u); });
    }
  }

  // Adds a thread's statistics to the block's.
  FASTAUG_FN void leave(const Finish& f) const {
    if (!f.last || !takes_statistics()) return;
    if (has_sums() && is_sum(p_.statistics)) add_to(&own().sum, f.seen.sum);
    if (has_flag(kHasExtremes) && is(kExtremes)) {
      each_channel(f.after, [&](int c) {
        lower(&own().low[c], f.seen.low[c]);
        raise(&own().high[c], f.seen.high[c]);
      });
    }
  }

  // Adds the block's to the image's.
  FASTAUG_FN void give(int thread, int threads) const {
    Counts& to = counts(p_.counts);
    if (has_sums() && is_sum(p_.statistics) && thread == 0) add_to(&to.sum, uint64_t{own().sum});
    if (has_flag(kHasExtremes) && is(kExtremes) && thread < kMaxChannels) {
      lower(&to.low[thread], own().low[thread]);
      raise(&to.high[thread], own().high[thread]);
    }
    if (has_flag(kHasHistogram) && is(kHistogram)) {
      for (int k = thread; k < kMaxChannels * 256; k += threads) {
        if (histogram()[k] != 0) add_to(&to.count[k / 256][k % 256], histogram()[k]);
      }
    }
  }

  FASTAUG_FN int dtype() const { return Spec::kDType >= 0 ? Spec::kDType : p_.dtype; }

  FASTAUG_FN void store_floats(const Finish& f, int y, int x, float* v) const {
    uint8_t* to = f.memory + y * f.row_stride + x * f.pixel_stride;
    const int channels = channels_of(p_.out_channels);
    each_channel(channels, [&](int c) {
      if (has_flag(kHasFloats) && p_.floats != 0) {
        v[c] = stored_value(v[c], f.form[c].normalize, f.form[c].mean, f.form[c].std, f.form[c].multiplied,
                            f.form[c].unit_high);
      } else {
        v[c] = has_flag(kHasDivision) ? stored(f.form[c], v[c]) : quickly_stored(f.form[c], v[c]);
      }
    });
    if (has_flag(kHasErases)) {
      const Erased* erased = reinterpret_cast<const Erased*>(blob_ + p_.erase);
      for (int k = 0; k < p_.erases; ++k) {
        const Region& r = erased[k].region;
        if (y < r.y || x < r.x || y >= r.y + r.height || x >= r.x + r.width) continue;
        each_channel(channels, [&](int c) { v[c] = erased[k].value[c]; });
      }
    }
    each_channel(channels, [&](int c) {
      uint8_t* sample = to + c * f.channel_stride;
      if (dtype() == static_cast<int>(DType::kFloat32)) {
        *reinterpret_cast<float*>(sample) = v[c];
      } else if (dtype() == static_cast<int>(DType::kFloat16)) {
        *reinterpret_cast<uint16_t*>(sample) = to_float16(v[c]);
      } else {
        *reinterpret_cast<uint16_t*>(sample) = to_bfloat16(v[c]);
      }
    });
  }
};

}  // namespace fastaug::cuda
