// Tables in the scratch that tiles need: tables of steps, the extent of each step's input that a tile needs, lookups. A
// block does a task. On the host this would take longer than all its other work, and mean fifty times as much to copy.
#pragma once

#include "cuda/part.h"
#include "pixel/lane.h"
// After the lanes that its bodies call.
#include "pixel/index.h"
#include "pixel/point.h"
#include "pixel/statistics.h"
#include "pixel/table.h"
#include "pixel/tap.h"
#include "pixel/torch_tap.h"

namespace fastaug::cuda {

// The loop of a lane op over one sample, of an op that is_per_sample.
struct OneSample {
  float* v;

  template <class Do>
  FASTAUG_FN void each(Do body, int, int) const {
    *v = body(*v);
  }
};

class Preparation {
 public:
  FASTAUG_FN Preparation(const uint8_t* blob, uint8_t* scratch, const Task& task)
      : blob_(blob), scratch_(scratch), task_(task), p_(*reinterpret_cast<const Part*>(blob + task.part)) {}

  FASTAUG_FN void run(int thread, int threads) const {
    switch (task_.kind) {
      case Task::kTakeRows:
        return take(true, thread, threads);
      case Task::kTakeColumns:
        return take(false, thread, threads);
      case Task::kScaleRows:
        return scale(true, thread);
      case Task::kScaleColumns:
        return scale(false, thread);
      case Task::kTaps:
        return taps(thread, threads);
      case Task::kTorchTaps:
        return torch_taps(thread, threads);
      case Task::kExtents:
        return extents(thread, threads);
      case Task::kClear:
        return clear(thread, threads);
      case Task::kMean:
        return keep_mean(thread);
      case Task::kLookups:
        return lookups(thread, threads);
    }
  }

 private:
  FASTAUG_FN const Step& step(int k) const { return reinterpret_cast<const Step*>(blob_ + p_.step)[k]; }
  FASTAUG_FN Counts& counts(uint32_t at) const { return *reinterpret_cast<Counts*>(scratch_ + at); }

  FASTAUG_FN void take(bool rows, int thread, int threads) const {
    const Step& s = step(task_.step);
    auto* table = reinterpret_cast<int32_t*>(scratch_ + (rows ? s.rows : s.columns));
    const int begin = rows ? s.begin_row : s.begin_column;
    const int count = rows ? s.row_outputs : s.column_outputs;
    const int in = rows ? s.in_height : s.in_width;
    const int out = rows ? s.out_height : s.out_width;
    if (s.op.id == OpId::NEAREST && static_cast<NearestRule>(s.op.flags) == NearestRule::kPillow) {
      // Each position is the one before it and some more, rounded.
      if (thread != 0) return;
      double position = accumulate(nearest_first(in, out), nearest_scale(in, out), begin);
      for (int k = 0; k < count; ++k, position += nearest_scale(in, out)) table[k] = nearest_clamped(position, in);
      return;
    }
    for (int k = thread; k < count; k += threads) table[k] = source_index(s.op, rows, begin + k, in, out);
  }

  // A WINDOW needs no table.
  static FASTAUG_FN int source_index(const Op& op, bool rows, int k, int in, int out) {
    switch (op.id) {
      case OpId::PAD:
        return pad_position(static_cast<PadMode>(op.flags), k, op.i[rows ? 1 : 0], in);
      case OpId::NEAREST:
        return nearest_position(static_cast<NearestRule>(op.flags), k, in, out);
      case OpId::HFLIP:
      case OpId::VFLIP:
        return rows == (op.id == OpId::VFLIP) ? in - 1 - k : k;
      default:
        fail_on_host("source_index", op.id);
        return k;
    }
  }

  // Pillow, Geometry.c, ImagingScaleAffine.
  FASTAUG_FN void scale(bool rows, int thread) const {
    if (thread != 0) return;
    const Step& s = step(task_.step);
    const double* m = s.op.f;
    auto* table = reinterpret_cast<int32_t*>(scratch_ + (rows ? s.rows : s.columns));
    const int begin = rows ? s.begin_row : s.begin_column;
    const int count = rows ? s.row_outputs : s.column_outputs;
    const double by = rows ? m[4] : m[0];
    double position = rows ? nearest_start_y(m, 0, begin) : nearest_start_x(m, begin, 0);
    for (int k = 0; k < count; ++k, position += by) {
      table[k] = pixel_index(position, rows ? s.in_height : s.in_width);
    }
  }

  // Weights of one output among those of all.
  template <class T>
  struct Weights {
    T* first;
    int by_tap;

    FASTAUG_FN T& operator[](int t) const { return first[static_cast<ptrdiff_t>(t) * by_tap]; }
  };

  FASTAUG_FN void taps(int thread, int threads) const {
    const Step& s = step(task_.step);
    const bool down = s.kind == kDown;
    const TapAxis axis = {s.op.flags & kFilterMask, down ? s.in_height : s.in_width, down ? s.out_height : s.out_width};
    auto* ranges = reinterpret_cast<TapRange*>(scratch_ + (down ? s.rows : s.columns));
    auto* weights = reinterpret_cast<int32_t*>(scratch_ + s.weights);
    const int begin = down ? s.begin_row : s.begin_column;
    const int count = down ? s.row_outputs : s.column_outputs;
    for (int k = thread; k < count; k += threads) {
      ranges[k] =
          taps_of(axis, begin + k, Weights<int32_t>{weights + static_cast<ptrdiff_t>(k) * s.by_output, s.by_tap});
    }
  }

  FASTAUG_FN void torch_taps(int thread, int threads) const {
    const Step& s = step(task_.step);
    auto* rows = reinterpret_cast<TapRange*>(scratch_ + s.rows);
    auto* columns = reinterpret_cast<TapRange*>(scratch_ + s.columns);
    auto* down = reinterpret_cast<float*>(scratch_ + s.weights);
    auto* across = down + static_cast<ptrdiff_t>(s.row_outputs) * s.by_output;
    const TapAxis vertical = {s.op.flags, s.in_height, s.out_height};
    const TapAxis horizontal = {s.op.flags, s.in_width, s.out_width};
    for (int k = thread; k < s.row_outputs + s.column_outputs; k += threads) {
      if (k < s.row_outputs) {
        const Weights<float> to{down + static_cast<ptrdiff_t>(k) * s.by_output, 1};
        rows[k] = torch_taps_of(vertical, s.begin_row + k, to);
      } else {
        const int n = k - s.row_outputs;
        columns[n] = torch_taps_of(horizontal, s.begin_column + n, Weights<float>{across + n, s.column_outputs});
      }
    }
  }

  FASTAUG_FN void extents(int thread, int threads) const {
    for (int k = thread; k < p_.tiles_y + p_.tiles_x; k += threads) {
      const bool rows = k < p_.tiles_y;
      const int tile = rows ? k : k - p_.tiles_y;
      const int tiles = rows ? p_.tiles_y : p_.tiles_x;
      const int length = rows ? p_.tile_height : p_.tile_width;
      auto* table = reinterpret_cast<Extent*>(scratch_ + (rows ? p_.row_extents : p_.column_extents));
      const int begin = rows ? p_.shown.y : p_.shown.x;
      const int end = begin + (rows ? p_.shown.height : p_.shown.width);
      const int from = begin + tile * length;
      Extent extent = {from, from + length < end ? from + length : end};
      table[p_.steps * tiles + tile] = extent;
      for (int n = p_.steps; n-- > 0;) {
        extent = needed(step(n), rows, extent);
        table[n * tiles + tile] = extent;
      }
    }
  }

  FASTAUG_FN Extent needed(const Step& s, bool rows, Extent out) const {
    if ((s.kind == kAcross && rows) || (s.kind == kDown && !rows)) return out;
    if (s.op.id == OpId::AFFINE) return {0, rows ? s.in_height : s.in_width};  // only first, where the source is read
    return source_extent(s.op, rows, out, rows ? s.in_height : s.in_width, rows ? s.out_height : s.out_width);
  }

  FASTAUG_FN void clear(int thread, int threads) const {
    Counts& to = counts(p_.counts);
    if (is_sum(p_.statistics)) {
      if (thread == 0) to.sum = 0;
    } else if (is_parts(p_.statistics)) {
      const int64_t count = torch_order(int64_t{p_.shown.height} * p_.shown.width).size();
      for (int64_t k = thread; k < count; k += threads) gray_parts(&to)[k] = 0;
    } else if (p_.statistics == kExtremes) {
      if (thread >= kMaxChannels) return;
      to.low[thread] = 255;
      to.high[thread] = 0;
    } else {
      for (int k = thread; k < kMaxChannels * 256; k += threads) to.count[k / 256][k % 256] = 0;
    }
  }

  FASTAUG_FN float counted_mean() const {
    Counts& counted = counts(p_.counted);
    if (p_.counts_parts()) return torch_mean(gray_parts(&counted), p_.counted_pixels);
    return mean_of(p_.reduction, counted.sum, p_.counted_pixels, false);
  }

  // Lookups do not wait for it, and work it out themselves.
  FASTAUG_FN void keep_mean(int thread) const {
    if (thread != 0) return;
    const float mean = counted_mean();
    uint32_t bits;
    memcpy(&bits, &mean, sizeof(bits));
    counts(p_.counted).sum = bits;
  }

  FASTAUG_FN void lookups(int thread, int threads) const {
    const auto* colours = reinterpret_cast<const Colour*>(blob_ + task_.colour);
    for (int k = thread; k < 256 * task_.channels; k += threads) {
      const int channel = k / 256;
      auto sample = static_cast<uint8_t>(k % 256);
      for (int n = 0; n < task_.count; ++n) sample = looked_up(colours[n], channel, sample);
      scratch_[task_.table + static_cast<uint32_t>(k)] = sample;
    }
  }

  FASTAUG_FN uint8_t looked_up(const Colour& colour, int channel, uint8_t sample) const {
    const Op& op = colour.op;
    switch (op.id) {
      case OpId::INVERT:
        return inverted(sample);
      case OpId::POSTERIZE:
        return posterized(sample, posterize_mask(op.i[0]));
      case OpId::SOLARIZE:
        return solarized(sample, solarize_threshold(op.f[0]));
      case OpId::GAMMA:
      case OpId::TORCH_GAMMA:
        return blob_[colour.host + sample];
      case OpId::AUTOCONTRAST: {
        const Counts& counted = counts(p_.counted);
        return autocontrast_entry(static_cast<int>(counted.low[channel]), static_cast<int>(counted.high[channel]),
                                  sample);
      }
      case OpId::TORCH_AUTOCONTRAST: {
        const Counts& counted = counts(p_.counted);
        return torch_autocontrast_entry(static_cast<int>(counted.low[channel]), static_cast<int>(counted.high[channel]),
                                        sample);
      }
      case OpId::V2_AUTOCONTRAST: {
        const Counts& counted = counts(p_.counted);
        return v2_autocontrast_entry(static_cast<int>(counted.low[channel]), static_cast<int>(counted.high[channel]),
                                     sample);
      }
      case OpId::EQUALIZE:
        return equalized(counts(p_.counted).count[channel], sample);
      default:
        return lane(colour, channel, sample);
    }
  }

  static FASTAUG_FN uint8_t equalized(const uint32_t* count, int sample) {
    int64_t total = 0;
    int64_t below = 0;
    int64_t last = 0;
    for (int v = 0; v < 256; ++v) {
      if (v == sample) below = total;
      total += count[v];
      if (count[v] != 0) last = count[v];
    }
    const int64_t step = equalize_step(total, last);
    return equalize_entry(step, step / 2 + below, sample);
  }

  // False for an op that looks at more than a sample.
  template <OpId kId>
  FASTAUG_FN bool lane_as(const Op& op, float mean, float* v) const {
    if constexpr (is_lane_op(kId) && kHas<kId, Trait::kPerSample>) {
      scalar::visit_as<kId>(op, mean, 1, OneSample{v});
      return true;
    } else {
      return false;
    }
  }

  FASTAUG_FN uint8_t lane(const Colour& colour, int channel, uint8_t sample) const {
    const Op& op = colour.op;
    if (channel >= colours_of(op, colour.channels)) return sample;
    const bool counted = p_.counted != kNowhere && op.id == p_.reduction;
    const float mean = counted ? counted_mean() : 0.0f;
    float v = static_cast<float>(sample);
    switch (op.id) {
#define FASTAUG_OP(name, ...)                                                                \
  case OpId::name:                                                                           \
    if (lane_as<OpId::name>(op, mean, &v)) return static_cast<uint8_t>(static_cast<int>(v)); \
    break;
#include "program/ops.def"
#undef FASTAUG_OP
    }
    fail_on_host("looked_up", op.id);
    return sample;
  }

  const uint8_t* blob_;
  uint8_t* scratch_;
  const Task& task_;
  const Part& p_;
};

// Every op of kTable has a case in looked_up.
static_assert(registry::for_every_op([](OpId id) {
                return registry::follows(has(id, Trait::kTable),
                                         id == OpId::INVERT || id == OpId::POSTERIZE || id == OpId::SOLARIZE ||
                                             id == OpId::GAMMA || id == OpId::TORCH_GAMMA || id == OpId::AUTOCONTRAST ||
                                             id == OpId::TORCH_AUTOCONTRAST || id == OpId::V2_AUTOCONTRAST ||
                                             id == OpId::EQUALIZE);
              }),
              "a table op has no entry for a device");

}  // namespace fastaug::cuda
