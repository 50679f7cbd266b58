// Stages: one reads pixels, and each step makes pixels of those before it.
#pragma once

#include "cuda/tile/store.h"
#include "pixel/blur.h"
#include "pixel/smooth.h"
#include "pixel/tap.h"
#include "pixel/torch_tap.h"

namespace fastaug::cuda {

// Makes the pixels of a stage.
template <class Spec>
class TileStep : protected TileStore<Spec> {
  using Base = TileStore<Spec>;

 public:
  using Base::Base;

 protected:
  using Base::kMost, Base::blob_, Base::p_, Base::scratch_, Base::step_, Base::buffer, Base::channels_of, Base::columns,
      Base::direct, Base::each_channel, Base::each_pixel, Base::finish_of, Base::has_flag, Base::has_step, Base::leave,
      Base::origin, Base::read, Base::rows, typename Base::Finish, typename Base::Origin;

  FASTAUG_FN void make(int stage, int thread, int threads) {
    if (stage == 0 && !direct()) {
      Finish finish = finish_of(0, -1);
      const Origin from = origin();
      each_pixel(finish.rows, finish.columns, thread, threads, [&](int y, int x) {
        uint8_t pixel[kMost] = {};
        read(from, y, x, pixel);
        this->template put<kStepKinds>(finish, y, x, pixel);
      });
      return leave(finish);
    }
    const int k = stage - (direct() ? 0 : 1);
    const bool from_source = k == 0 && direct();
    if (has_flag(kHasDirect) && from_source) return step(k, stage, Unread{*this, origin()}, thread, threads);
    if (has_flag(kHasShared) || !from_source) step(k, stage, shared_input(k, stage), thread, threads);
  }

  // Pixels that a step reads.
  struct Unread {
    static constexpr bool kDirect = true;
    const TileStep& tile;
    Origin from;

    FASTAUG_FN void at(int y, int x, uint8_t* pixel) const { tile.read(from, y, x, pixel); }

    // Pixels one after the other, from (y, x) on.
    struct Walk {
      const Unread& source;
      int y, x, by_y, by_x;

      FASTAUG_FN void next(int, uint8_t* pixel) {
        source.at(y, x, pixel);
        y += by_y;
        x += by_x;
      }
    };
    FASTAUG_FN Walk across(int y, int x) const { return {*this, y, x, 0, 1}; }
    FASTAUG_FN Walk down(int y, int x) const { return {*this, y, x, 1, 0}; }
  };
  struct Buffer {
    static constexpr bool kDirect = false;
    const uint8_t* data;
    Extent rows;
    Extent columns;
    int channels;

    FASTAUG_FN const uint8_t* pointer(int y, int x) const {
      return data + ((y - rows.begin) * (columns.end - columns.begin) + (x - columns.begin)) * word_bytes(channels);
    }
    FASTAUG_FN void at(int y, int x, uint8_t* pixel) const {
      const uint32_t word = load_word(pointer(y, x), channels);
      each_channel(channels, [&](int c) { pixel[c] = byte_of(word, c); });
    }

    struct Walk {
      const uint8_t* p;
      int by;

      FASTAUG_FN void next(int count, uint8_t* pixel) {
        const uint32_t word = load_word(p, count);
        each_channel(count, [&](int c) { pixel[c] = byte_of(word, c); });
        p += by;
      }
    };
    FASTAUG_FN Walk across(int y, int x) const { return {pointer(y, x), word_bytes(channels)}; }
    FASTAUG_FN Walk down(int y, int x) const {
      return {pointer(y, x), (columns.end - columns.begin) * word_bytes(channels)};
    }
  };
  FASTAUG_FN Buffer shared_input(int k, int stage) const {
    return {buffer(stage - 1), rows(k), columns(k), channels_of(step_[k].channels)};
  }

  template <class Input>
  FASTAUG_FN void step(int k, int stage, const Input& input, int thread, int threads) {
    const Step& s = step_[k];
    Finish finish = finish_of(stage, k);
    const auto each = [&](auto body) { each_pixel(finish.rows, finish.columns, thread, threads, body); };
    if (can_be<Input>(kTake) && s.kind == kTake) {
      each([&](int y, int x) { take(s, input, finish, y, x); });
    } else if (can_be<Input>(kAcross) && s.kind == kAcross) {
      across(s, input, finish, thread, threads);
    } else if (can_be<Input>(kDown) && s.kind == kDown) {
      each([&](int y, int x) { down(s, input, finish, y, x); });
    } else if (can_be<Input>(kSharpen) && s.kind == kSharpen) {
      const scalar::Sharpness blend{static_cast<float>(s.op.f[0])};
      each([&](int y, int x) { sharpen<kSharpen>(blend, false, s, input, finish, y, x); });
    } else if (can_be<Input>(kTorchSharpen) && s.kind == kTorchSharpen) {
      const auto blend = scalar::blend_by<scalar::TorchBlend>(s.op.f[0]);
      const bool blended = torch_sharpens(s.in_height, s.in_width);
      each([&](int y, int x) { sharpen<kTorchSharpen>(blend, blended, s, input, finish, y, x); });
    } else if (can_be<Input>(kV2Sharpen) && s.kind == kV2Sharpen) {
      const scalar::V2Sharpness blend{scalar::torch_rest(s.op.f[0])};
      each([&](int y, int x) { sharpen<kV2Sharpen>(blend, false, s, input, finish, y, x); });
    } else if (can_be<Input>(kBlur) && s.kind == kBlur) {
      blur(s, input, finish, thread, threads);
    } else if (can_be<Input>(kTorchFilter) && s.kind == kTorchFilter) {
      each([&](int y, int x) { torch_filter(s, input, finish, y, x); });
    }
    leave(finish);
  }

  template <class Input>
  static FASTAUG_FN constexpr bool can_be(int kind) {
    return Input::kDirect ? has_step(kind, kFromSource) : has_step(kind);
  }

  template <class T>
  FASTAUG_FN const T* table(const Step& s, uint32_t at) const {
    return reinterpret_cast<const T*>((s.in_blob != 0 ? blob_ : scratch_) + at);
  }

  template <class Input>
  FASTAUG_FN void take(const Step& s, const Input& input, Finish& finish, int y, int x) {
    int from_y = y + s.op.i[0];
    int from_x = x + s.op.i[1];
    bool shown;
    if (s.rows == kNowhere) {
      shown = from_y >= 0 && from_y < s.in_height && from_x >= 0 && from_x < s.in_width;
    } else {
      from_y = table<int32_t>(s, s.rows)[y - s.begin_row];
      from_x = table<int32_t>(s, s.columns)[x - s.begin_column];
      shown = from_y >= 0 && from_x >= 0;
    }
    uint8_t pixel[kMost] = {};
    if (shown) {
      input.at(from_y, from_x, pixel);
    } else {
      each_channel(channels_of(s.channels), [&](int c) { pixel[c] = s.op.fill[c]; });
    }
    this->template put<kTake>(finish, y, x, pixel);
  }

  // Makes several rows at a time, which share their weights.
  template <class Input>
  FASTAUG_FN void across(const Step& s, const Input& input, Finish& finish, int thread, int threads) {
    constexpr int kRows = 4;
    const int channels = channels_of(s.channels);
    const TapRange* ranges = table<TapRange>(s, s.columns);
    const int32_t* weights = table<int32_t>(s, s.weights);
    const int last = finish.rows.end - 1;
    for (int y = finish.rows.begin + thread / 32 * kRows; y <= last; y += threads / 32 * kRows) {
      const auto row = [&](int j) { return y + j < last ? y + j : last; };
      for (int x = finish.columns.begin + thread % 32; x < finish.columns.end; x += 32) {
        const int n = x - s.begin_column;
        const TapRange range = ranges[n];
        const int32_t* weight = weights + n;
        typename Input::Walk walk[kRows] = {input.across(row(0), range.first), input.across(row(1), range.first),
                                            input.across(row(2), range.first), input.across(row(3), range.first)};
        uint32_t sum[kRows][kMost] = {};
        for (int t = 0; t < range.count; ++t, weight += s.by_tap) {
          FASTAUG_UNROLL
          for (int j = 0; j < kRows; ++j) {
            uint8_t sample[kMost] = {};
            walk[j].next(channels, sample);
            each_channel(channels, [&](int c) { sum[j][c] += static_cast<uint32_t>(*weight) * sample[c]; });
          }
        }
        FASTAUG_UNROLL
        for (int j = 0; j < kRows; ++j) {
          if (y + j > last) continue;
          uint8_t pixel[kMost] = {};
          each_channel(channels, [&](int c) { pixel[c] = clip8(sum[j][c], s.bits); });
          this->template put<kAcross>(finish, y + j, x, pixel);
        }
      }
    }
  }

  template <class Input>
  FASTAUG_FN void down(const Step& s, const Input& input, Finish& finish, int y, int x) {
    const int channels = channels_of(s.channels);
    const int n = y - s.begin_row;
    const TapRange range = table<TapRange>(s, s.rows)[n];
    const int32_t* weight = table<int32_t>(s, s.weights) + n * s.by_output;
    typename Input::Walk walk = input.down(range.first, x);
    uint32_t sum[kMost] = {};
    for (int t = 0; t < range.count; ++t) {
      uint8_t sample[kMost] = {};
      walk.next(channels, sample);
      each_channel(channels, [&](int c) { sum[c] += static_cast<uint32_t>(weight[t]) * sample[c]; });
    }
    uint8_t pixel[kMost] = {};
    each_channel(channels, [&](int c) { pixel[c] = clip8(sum[c], s.bits); });
    this->template put<kDown>(finish, y, x, pixel);
  }

  // sum = sum + weight * sample for tap t of `count`, as torch_sum does it.
  static FASTAUG_FN float torch_step(int t, int unfused, float sample, float weight, float sum) {
    if (t > unfused) return fused(sample, weight, sum);
    const float product = sample * weight;
    return t == 0 ? product : sum + product;
  }

  // Rows are summed up anew for each pixel: floats between the passes would take four times the shared memory of bytes.
  template <class Input>
  FASTAUG_FN void torch_filter(const Step& s, const Input& input, Finish& finish, int y, int x) {
    const int channels = channels_of(s.channels);
    const int row = y - s.begin_row;
    const int column = x - s.begin_column;
    const TapRange down = table<TapRange>(s, s.rows)[row];
    const TapRange across = table<TapRange>(s, s.columns)[column];
    const float* weights = table<float>(s, s.weights);
    const float* weight = weights + static_cast<ptrdiff_t>(row) * s.by_output;
    const float* first = weights + static_cast<ptrdiff_t>(s.row_outputs) * s.by_output + column;
    const int unfused_down = torch_unfused(down.count);
    const int unfused_across = torch_unfused(across.count);
    float sum[kMost] = {};
    for (int i = 0; i < down.count; ++i) {
      typename Input::Walk walk = input.across(down.first + i, across.first);
      const float* w = first;
      float part[kMost] = {};
      for (int t = 0; t < across.count; ++t, w += s.column_outputs) {
        uint8_t sample[kMost] = {};
        walk.next(channels, sample);
        each_channel(channels,
                     [&](int c) { part[c] = torch_step(t, unfused_across, to_float(sample[c]), *w, part[c]); });
      }
      each_channel(channels, [&](int c) { sum[c] = torch_step(i, unfused_down, part[c], weight[i], sum[c]); });
    }
    uint8_t pixel[kMost] = {};
    each_channel(channels, [&](int c) { pixel[c] = torch_rounded(sum[c]); });
    this->template put<kTorchFilter>(finish, y, x, pixel);
  }

  // blend(smooth, v) makes the sample. At the border, where the smoothed image is the image itself, Pillow's blend
  // changes nothing. `blended`: the border is blended all the same.
  template <int kKind, class Blend, class Input>
  FASTAUG_FN void sharpen(Blend blend, bool blended, const Step& s, const Input& input, Finish& finish, int y, int x) {
    const int channels = channels_of(s.channels);
    const int colours = colours_of(s.op, channels);
    const bool border = y == 0 || x == 0 || y == s.in_height - 1 || x == s.in_width - 1;
    uint8_t pixel[kMost] = {};
    input.at(y, x, pixel);
    int smooth[kMost] = {};
    each_channel(channels, [&](int c) { smooth[c] = pixel[c]; });
    if (!border) {
      each_channel(channels, [&](int c) { smooth[c] = 4 * pixel[c]; });
      for (int k = 0; k < 9; ++k) {
        uint8_t near[kMost] = {};
        input.at(y - 1 + k / 3, x - 1 + k % 3, near);
        each_channel(channels, [&](int c) { smooth[c] += near[c]; });
      }
      each_channel(channels, [&](int c) { smooth[c] = smooth_of(smooth[c]); });
    }
    if (!border || blended) {
      each_channel(channels, [&](int c) {
        if (c < colours) pixel[c] = to_byte(blend(static_cast<float>(smooth[c]), to_float(pixel[c])));
      });
    }
    this->template put<kKind>(finish, y, x, pixel);
  }

  // Weight k of a kernel of `size` that is given by its first half and its centre.
  static FASTAUG_FN float mirrored(const float* half, int size, int k) {
    return half[k < size - 1 - k ? k : size - 1 - k];
  }

  // Makes several pixels side by side, which share samples and weights.
  template <class Input>
  FASTAUG_FN void blur(const Step& s, const Input& input, Finish& finish, int thread, int threads) {
    constexpr int kSide = 4;
    const int channels = channels_of(s.channels);
    const int width = s.op.i[0];
    const int height = s.op.i[1];
    const float* across = reinterpret_cast<const float*>(s.op.f);
    const float* down = (s.op.flags & kSquare) != 0 ? across : across + width / 2 + 1;
    const bool fused = (s.op.flags & kUnfused) == 0;
    const int groups = (finish.columns.end - finish.columns.begin + kSide - 1) / kSide;
    const int count = groups * (finish.rows.end - finish.rows.begin);
    // Pixels of a group outside of the tile are not used, but what they read must exist.
    const int most = s.in_width + width / 2 - 1;
    const int end = finish.columns.end + width / 2;
    const int last = (end < s.in_width ? end : s.in_width) - 1;
    for (int k = thread; k < count; k += threads) {
      const int y = finish.rows.begin + k / groups;
      const int x = finish.columns.begin + k % groups * kSide;
      float sum[kSide][kMost] = {};
      const auto add = [&](auto step) {
        for (int i = 0; i < height; ++i) {
          const int from_y = reflect(y - height / 2 + i, s.in_height);
          const float row = mirrored(down, height, i);
          float window[kSide][kMost] = {};
          const auto load = [&](int column, float* to) {
            uint8_t sample[kMost] = {};
            const int from_x = reflect(column < most ? column : most, s.in_width);
            input.at(from_y, from_x < last ? from_x : last, sample);
            each_channel(channels, [&](int c) { to[c] = to_float(sample[c]); });
          };
          FASTAUG_UNROLL
          for (int n = 0; n + 1 < kSide; ++n) load(x - width / 2 + n, window[n]);
          for (int j = 0; j < width; ++j) {
            load(x - width / 2 + j + kSide - 1, window[kSide - 1]);
            const float weight = row * mirrored(across, width, j);
            FASTAUG_UNROLL
            for (int n = 0; n < kSide; ++n) {
              each_channel(channels, [&](int c) { sum[n][c] = step(weight, window[n][c], sum[n][c]); });
            }
            FASTAUG_UNROLL
            for (int n = 0; n + 1 < kSide; ++n) each_channel(channels, [&](int c) { window[n][c] = window[n + 1][c]; });
          }
        }
      };
      if (fused) {
        add([](float weight, float sample, float so_far) { return scalar::blur_step(true, weight, sample, so_far); });
      } else {
        add([](float weight, float sample, float so_far) { return scalar::blur_step(false, weight, sample, so_far); });
      }
      uint32_t packed[kSide] = {};
      FASTAUG_UNROLL
      for (int n = 0; n < kSide; ++n) {
        each_channel(channels,
                     [&](int c) { packed[n] |= static_cast<uint32_t>(scalar::round_blur(sum[n][c])) << (8 * c); });
      }
      // Not unrolled: colours behind it are long.
      FASTAUG_NO_UNROLL
      for (int n = 0; n < kSide && x + n < finish.columns.end; ++n) {
        const uint32_t one = n < 2 ? (n == 0 ? packed[0] : packed[1]) : (n == 2 ? packed[2] : packed[3]);
        uint8_t pixel[kMost] = {};
        each_channel(channels, [&](int c) { pixel[c] = byte_of(one, c); });
        this->template put<kBlur>(finish, y, x + n, pixel);
      }
    }
  }
};

}  // namespace fastaug::cuda
