// How the filters of resample.cc's rows are laid out for its kernels: the same code for every instruction set.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/kernels.h"

namespace fastaug::resample {

constexpr int kLowBits = 12;

// How a RowTable is laid out; RowTable::layout holds it, packed.
//
// kWindows: a block is 4 outputs, one 128-bit part of a vector. Its samples come from a window of 16 bytes by a table
// lookup, 2 taps per output at a time; when the taps do not all lie in one window, the window moves on by 2 * pairs
// bytes and the lookup stays the same. Four vectors make a batch: with `blocks` blocks to a vector, vector k has the
// blocks k, 4 + k, ... of the batch, the order in which narrow() puts them back in a row. RowTable::base: the window of
// each block, vector by vector. Data, vector by vector: the lookup, then for every pair of taps the high and the low
// weights, or the short ones.
//
// kDots: for strong shrinking. Each output is a dot product of consecutive samples and weights, `blocks` times 8 at a
// time. RowTable::base: first sample of each output. Data, output by output: for every group the high and the low
// weights, or the short ones.
//
// kTwo, for one or two taps, by TwoTaps: a block is 8 outputs, whose samples come from a window of 16 bytes. Two
// vectors make a batch: vector k has the blocks k, 2 + k, ... of it. RowTable::base: as of kWindows. Data, vector by
// vector: the lookup, the high weights as bytes, the low weights as int16.
//
// kWideDigits, for byte permutations (VBMI) and dot products (VNNI): a vector is 16 outputs, and four vectors make a
// batch. They have a window of 128 bytes each or, of one group of taps and where it reaches, share one of 64 or 128;
// then vector k has every fourth block of 4 outputs, from block k on, the order in which packing puts them back in a
// row. RowTable::base: the window of each vector. Data, vector by vector: the lookup, then for every group of four taps
// the weights' digits, as Digits has them, lowest first.
//
// kDigitDots, for those machines too: kDots with weights in digits. A batch is 16 outputs, and each of its 8 vectors
// has 32 samples of two of them: vector k those of outputs k and k + 4, from vector 4 on 8 outputs later, the order in
// which their sums come out in a row. RowTable::base: the first sample of each output, vector by vector. Data, vector
// by vector: for every 32 taps the digits, lowest first.
//
// kPixels, in place of kDots where pixels lie interleaved: a block has the sums of the channels of one output, of two
// taps at a time, and a vector has `blocks` of them, of other taps. RowTable::base: the first pixel of each output.
// Data, output by output: for every 2 * blocks taps the high and the low weights, or the short ones.
struct Layout {
  enum Kind { kWindows, kDots, kTwo, kWideDigits, kDigitDots, kPixels };
  Kind kind;
  int pairs;   // kWindows: pairs of taps in one window, 1..8; kWideDigits: kLong, kShared or both
  int offset;  // of the first byte of data that is aligned to a cache line

  static constexpr int kLong = 1;
  static constexpr int kShared = 2;

  int pack() const { return kind | pairs << 4 | offset << 8; }
  static Layout unpack(int packed) { return {static_cast<Kind>(packed & 15), packed >> 4 & 15, packed >> 8}; }
};

// Gives `table` room for `size` bytes of zeros; returns where the first aligned one is.
inline int allocate(size_t size, RowTable* table) {
  constexpr size_t kLine = 64;
  table->data.assign(size + kLine, 0);
  return static_cast<int>(-reinterpret_cast<uintptr_t>(table->data.data()) % kLine);
}

// Vectors of weights for the same samples.
inline int parts_of(int bits) { return bits == kWeightBits ? 2 : 1; }

// The second part goes `distance` bytes after the first.
inline void put_weight(int32_t weight, int parts, uint8_t* to, size_t distance) {
  if (parts == 1) {
    const auto whole = static_cast<int16_t>(weight);
    std::memcpy(to, &whole, 2);
    return;
  }
  const int16_t split[2] = {static_cast<int16_t>(weight >> kLowBits),
                            static_cast<int16_t>(weight & ((1 << kLowBits) - 1))};
  std::memcpy(to, &split[0], 2);
  std::memcpy(to + distance, &split[1], 2);
}

// Where the taps lie.
struct Extent {
  int longest = 1;  // taps of one output
  int end = 0;      // after the last source sample
  int spread = 0;   // between the first samples of a block of 4 outputs
};

inline Extent extent_of(const Taps& taps) {
  Extent extent;
  for (int i = 0; i < taps.out; ++i) {
    extent.longest = std::max(extent.longest, taps.count[i]);
    extent.end = std::max(extent.end, taps.first[i] + taps.count[i]);
  }
  for (int i = 0; i < taps.out; i += 4) {
    const auto [low, high] = std::minmax_element(&taps.first[i], taps.first.data() + std::min(i + 4, taps.out));
    extent.spread = std::max(extent.spread, *high - *low);
  }
  return extent;
}

// False when the taps are too far apart. Windows that would leave the row buffer count as too far, too.
template <int blocks>
bool build_windows(const Taps& taps, const Extent& extent, RowTable* table) {
  const int all_pairs = (extent.longest + 1) / 2;
  const int room = (16 - extent.spread) / 2;
  if (room < 1) return false;
  const int windows = (all_pairs + room - 1) / room;
  const int pairs = (all_pairs + windows - 1) / windows;
  if (2 * pairs * (windows - 1) + 16 > kRowPad) return false;

  constexpr int vector_bytes = 16 * blocks;
  const int parts = parts_of(taps.bits);
  const int batches = (taps.out + 16 * blocks - 1) / (16 * blocks);
  const size_t vector_size = static_cast<size_t>(vector_bytes) * (1 + parts * pairs * windows);
  const int offset = allocate(vector_size * 4 * batches, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = windows;
  table->layout = Layout{Layout::kWindows, pairs, offset}.pack();
  table->base.resize(static_cast<size_t>(batches) * 4 * blocks);

  for (int block = 0; block < batches * 4 * blocks; ++block) {
    const int batch = block / (4 * blocks);
    const int place = block % (4 * blocks);
    const int vector = batch * 4 + place % 4;
    uint8_t* data = table->data.data() + offset + vector_size * vector + 16 * (place / 4);
    int32_t& base = table->base[static_cast<size_t>(vector) * blocks + place / 4];
    // The outputs after the last one repeat its block.
    const int begin = std::min(4 * block, (taps.out - 1) / 4 * 4);
    const int outputs = std::min(4, taps.out - begin);
    base = *std::min_element(&taps.first[begin], &taps.first[begin] + outputs);
    for (int i = 0; i < outputs; ++i) {
      const int at = taps.first[begin + i] - base;
      const uint8_t lookup[4] = {static_cast<uint8_t>(at), 0x80, static_cast<uint8_t>(at + 1), 0x80};
      std::memcpy(data + 4 * i, lookup, 4);
      const int32_t* weights = taps.weights(begin + i);
      uint8_t* to = data + vector_bytes + 4 * i;
      for (int t = 0; t < taps.count[begin + i]; ++t, to += 2) {
        put_weight(weights[t], parts, to, vector_bytes);
        if (t % 2 == 1) to += parts * vector_bytes - 4;
      }
    }
  }
  return true;
}

// Taps a and b, whose weights are not negative and add up to one, as 16-bit numbers take them: with b's weight as
// 2^15 high + low,
//
//   (weight_a * a + weight_b * b) / 2^15 = (128 - high) * a + high * b + low * (b - a) / 2^15,
//
// where only the last term has a fraction. Rounded down it may be added to the others: half a level is a whole number
// beside them, and what rounds a result rounds down, too. All of it is from 0 to 128 * 255.
struct TwoTaps {
  int8_t high[2];
  int16_t low;

  // b's weight is less than one.
  TwoTaps(int32_t weight, int bits) {
    const int32_t whole = weight << (kWeightBits - bits);
    const int32_t most = std::max(whole >> 15, 1);
    high[0] = static_cast<int8_t>(128 - most);
    high[1] = static_cast<int8_t>(most);
    low = static_cast<int16_t>(whole - (most << 15));
  }

  static bool fit(const int32_t* weights, int taps, int bits) {
    if (taps == 1) return weights[0] == 1 << bits;
    return taps == 2 && weights[0] > 0 && weights[1] >= 0 && weights[0] + weights[1] == 1 << bits;
  }
};

// False when there are more taps than two, or they are too far apart.
template <int blocks, int window>
bool build_two(const Taps& taps, RowTable* table) {
  for (int i = 0; i < taps.out; ++i) {
    if (!TwoTaps::fit(taps.weights(i), taps.count[i], taps.bits)) return false;
  }
  constexpr int outputs = 8;
  // Blocks that share a window: those of a batch, or none.
  constexpr int together = window == 16 ? 1 : 2 * blocks;
  constexpr size_t vector_bytes = 16 * blocks;
  const int batches = (taps.out + outputs * 2 * blocks - 1) / (outputs * 2 * blocks);
  const int offset = allocate(3 * vector_bytes * 2 * batches, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = 1;
  table->layout = Layout{Layout::kTwo, 1, offset}.pack();
  table->base.resize(static_cast<size_t>(batches) * 2 * blocks);
  int32_t base = 0;
  for (int block = 0; block < batches * 2 * blocks; ++block) {
    const int vector = block / (2 * blocks) * 2 + block % 2;
    const int part = block % (2 * blocks) / 2;
    uint8_t* data = table->data.data() + offset + 3 * vector_bytes * vector + static_cast<ptrdiff_t>(16) * part;
    if (block % together == 0) {
      const int begin = std::min(outputs * block, taps.out - 1);
      const int end = std::min(begin + outputs * together, taps.out);
      base = *std::min_element(&taps.first[begin], taps.first.data() + end);
    }
    table->base[static_cast<size_t>(vector) * blocks + part] = base;
    for (int i = 0; i < outputs; ++i) {
      const int output = std::min(outputs * block + i, taps.out - 1);
      const int at = taps.first[output] - base;
      const bool two = taps.count[output] == 2;
      if (at + 1 >= window) return false;
      const TwoTaps split(two ? taps.weights(output)[1] : 0, taps.bits);
      const uint8_t lookup[2] = {static_cast<uint8_t>(at), static_cast<uint8_t>(at + two)};
      std::memcpy(data + 2 * i, lookup, 2);
      std::memcpy(data + vector_bytes + 2 * i, split.high, 2);
      std::memcpy(data + 2 * vector_bytes + 2 * i, &split.low, 2);
    }
  }
  return true;
}

// A weight as digits of base 256, each from -128 to 127: sum(w * v) is the sum of their dot products with v, each
// shifted by its place, modulo 2^32, exactly.
struct Digits {
  static constexpr int kMost = 3;

  static int count(int bits) { return bits == kWeightBits ? 3 : 2; }
  // True if so many digits are enough.
  static bool fit(int32_t weight, int digits) {
    const int32_t half = digits == 3 ? 0x808080 : 0x8080;
    return weight >= -half && weight < (1 << 8 * digits) - half;
  }

  explicit Digits(int32_t weight) {
    for (int8_t& digit : digits) {
      digit = static_cast<int8_t>(weight & 255);
      weight = (weight - digit) >> 8;
    }
  }
  int8_t digits[kMost];
};

// The output of a lane of a vector.
inline int wide_output(bool shared, int vector, int lane) {
  return shared ? vector / 4 * 64 + lane / 4 * 16 + vector % 4 * 4 + lane % 4 : 16 * vector + lane;
}

inline bool fit_digits(const Taps& taps) {
  const int digits = Digits::count(taps.bits);
  for (int i = 0; i < taps.out; ++i) {
    for (int t = 0; t < taps.count[i]; ++t) {
      if (!Digits::fit(taps.weights(i)[t], digits)) return false;
    }
  }
  return true;
}

// False when taps are too far apart.
inline bool build_wide(const Taps& taps, const Extent& extent, RowTable* table) {
  const int batches = (taps.out + 63) / 64;
  const int digits = Digits::count(taps.bits);
  const int groups = (extent.longest + 3) / 4;
  const int reach = 4 * groups;
  // The least and the greatest first sample of some outputs; those after the last one repeat it.
  const auto firsts = [&](int begin, int outputs) {
    int32_t low = INT32_MAX, high = 0;
    for (int i = begin; i < begin + outputs; ++i) {
      const int32_t first = taps.first[std::min(i, taps.out - 1)];
      low = std::min(low, first);
      high = std::max(high, first);
    }
    return std::pair(low, high);
  };
  const auto longest_window = [&](int outputs) {
    int bytes = 0;
    for (int begin = 0; begin < 64 * batches; begin += outputs) {
      const auto [low, high] = firsts(begin, outputs);
      bytes = std::max(bytes, high - low + reach);
    }
    return bytes;
  };
  constexpr int kBytes = 128;
  const int whole = groups == 1 ? longest_window(64) : INT_MAX;
  if (whole > kBytes && longest_window(16) > kBytes) return false;
  const int window = whole <= kBytes / 2 ? Layout::kShared
                     : whole <= kBytes   ? Layout::kShared | Layout::kLong
                                         : Layout::kLong;
  const bool shared = (window & Layout::kShared) != 0;

  const size_t vector_size = static_cast<size_t>(64) * (1 + digits * groups);
  const int offset = allocate(vector_size * 4 * batches, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = groups;
  table->layout = Layout{Layout::kWideDigits, window, offset}.pack();
  table->base.resize(static_cast<size_t>(4) * batches);
  for (int v = 0; v < 4 * batches; ++v) {
    const int32_t base = shared ? firsts(v / 4 * 64, 64).first : firsts(16 * v, 16).first;
    table->base[v] = base;
    uint8_t* data = table->data.data() + offset + vector_size * v;
    for (int lane = 0; lane < 16; ++lane) {
      const int i = std::min(wide_output(shared, v, lane), taps.out - 1);
      const int at = taps.first[i] - base;
      const int32_t* weights = taps.weights(i);
      uint8_t* lookup = data + 4 * lane;
      for (int t = 0; t < 4; ++t) lookup[t] = static_cast<uint8_t>(at + t);
      for (int t = 0; t < taps.count[i]; ++t) {
        const Digits split(weights[t]);
        uint8_t* to = data + 64 * (1 + digits * (t / 4)) + 4 * lane + t % 4;
        for (int d = 0; d < digits; ++d) to[64 * d] = static_cast<uint8_t>(split.digits[d]);
      }
    }
  }
  return true;
}

// Outputs at the right end start earlier, with zero weights, rather than read past the row.
inline int dots_base(const Taps& taps, const Extent& extent, int output, int reach) {
  return std::min(taps.first[output], std::max(0, extent.end - reach));
}

inline void build_digit_dots(const Taps& taps, const Extent& extent, RowTable* table) {
  constexpr int kTaps = 32;
  constexpr int kOutputs = 16;
  const int digits = Digits::count(taps.bits);
  const int groups = (extent.longest + kTaps - 1) / kTaps;
  const size_t vector_size = static_cast<size_t>(2 * kTaps) * digits * groups;
  const int batches = (taps.out + kOutputs - 1) / kOutputs;
  const int offset = allocate(vector_size * (kOutputs / 2) * batches, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = groups;
  table->layout = Layout{Layout::kDigitDots, 0, offset}.pack();
  table->base.assign(static_cast<size_t>(kOutputs) * batches, 0);
  for (int i = 0; i < taps.out; ++i) {
    const int place = i % kOutputs;
    const int vector = i / kOutputs * (kOutputs / 2) + place / 8 * 4 + place % 4;
    const int half = place / 4 % 2;
    const int base = dots_base(taps, extent, i, kTaps * groups);
    table->base[2 * vector + half] = base;
    uint8_t* data = table->data.data() + offset + vector_size * vector + static_cast<ptrdiff_t>(kTaps) * half;
    for (int t = 0; t < taps.count[i]; ++t) {
      const int at = taps.first[i] - base + t;
      const Digits split(taps.weights(i)[t]);
      uint8_t* to = data + static_cast<ptrdiff_t>(2 * kTaps) * digits * (at / kTaps) + at % kTaps;
      for (int d = 0; d < digits; ++d) to[2 * kTaps * d] = static_cast<uint8_t>(split.digits[d]);
    }
  }
}

// Of kDots and kPixels, whose kernels take the weights of `step` taps at once.
template <int step>
void build_dots(const Taps& taps, const Extent& extent, Layout::Kind kind, RowTable* table) {
  const int groups = (extent.longest + step - 1) / step;
  const int parts = parts_of(taps.bits);
  const size_t group_size = static_cast<size_t>(2) * parts * step;
  const size_t output_size = group_size * groups;
  const int padded_out = (taps.out + 15) / 16 * 16;
  const int offset = allocate(output_size * padded_out, table);
  table->out = taps.out;
  table->bits = taps.bits;
  table->groups = groups;
  table->layout = Layout{kind, 0, offset}.pack();
  table->base.assign(padded_out, 0);
  for (int i = 0; i < taps.out; ++i) {
    const int base = dots_base(taps, extent, i, step * groups);
    table->base[i] = base;
    uint8_t* data = table->data.data() + offset + output_size * i;
    const int32_t* weights = taps.weights(i);
    for (int t = 0; t < taps.count[i]; ++t) {
      const int at = taps.first[i] - base + t;
      put_weight(weights[t], parts, data + group_size * (at / step) + 2 * (at % step), 2 * step);
    }
  }
}

}  // namespace fastaug::resample
