// WebP files made to order. A lossless one has known pixels. A lossy one has those that random bits stand for: each
// string of bits is a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "tests/support/guard.h"

namespace fastaug::test {

inline std::string little_endian(uint32_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += static_cast<char>(value >> (8 * k) & 255);
  return text;
}

inline std::string riff_chunk(const std::string& type, const std::string& data) {
  return type + little_endian(static_cast<uint32_t>(data.size()), 4) + data + std::string(data.size() % 2, '\0');
}

inline std::string riff(const std::string& chunks) {
  return "RIFF" + little_endian(static_cast<uint32_t>(chunks.size() + 4), 4) + "WEBP" + chunks;
}

inline std::string vp8x(int height, int width, uint32_t flags) {
  return riff_chunk("VP8X", little_endian(flags, 4) + little_endian(static_cast<uint32_t>(width - 1), 3) +
                                little_endian(static_cast<uint32_t>(height - 1), 3));
}

// VP8L, RFC 9649, 3: no transforms, and every sample in the eight bits of its own.
struct LosslessWebp {
  int height = 1;
  int width = 1;
  bool alpha = true;             // what the header says; the samples are there all the same
  std::vector<uint8_t> samples;  // RGBA

  LosslessWebp(int tall, int wide, bool has_alpha, Random& random)
      : height(tall),
        width(wide),
        alpha(has_alpha),
        samples(static_cast<size_t>(tall) * static_cast<size_t>(wide) * 4) {
    for (uint8_t& sample : samples) sample = static_cast<uint8_t>(random.between(0, 255));
  }

  std::string chunk() const {
    Writer out;
    out.put(0x2f, 8);
    out.put(static_cast<uint32_t>(width - 1), 14);
    out.put(static_cast<uint32_t>(height - 1), 14);
    out.put(alpha ? 1 : 0, 1);
    out.put(0, 3);  // version
    out.put(0, 3);  // no transform, no cache of colours, one set of codes
    constexpr int kSizes[] = {256 + 24, 256, 256, 256};
    for (const int size : kSizes) {
      out.put(0, 1);
      // Lengths 0 and 8 alone exist, in one bit each; the order of their codes is that of kCodeLengthCodeOrder.
      out.put(12 - 4, 4);
      for (int k = 0; k < 12; ++k) out.put(k == 2 || k == 11 ? 1 : 0, 3);
      out.put(0, 1);  // a length for every symbol
      for (int k = 0; k < size; ++k) out.put(k < 256 ? 1 : 0, 1);
    }
    out.put(1, 4);  // distances: one symbol, 0
    for (size_t k = 0; k < samples.size(); k += 4) {
      for (const size_t c : {1, 0, 2, 3}) out.put_code(samples[k + c]);
    }
    return riff_chunk("VP8L", out.finish());
  }

  std::string bytes() const { return riff(chunk()); }

  uint8_t converted(int y, int x, int c) const {
    if (c == 3 && !alpha) return 255;
    return samples[(static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 4 +
                   static_cast<size_t>(c)];
  }

 private:
  class Writer {
   public:
    void put(uint32_t value, int bits) {
      for (int k = 0; k < bits; ++k) {
        if (used_ % 8 == 0) text_ += '\0';
        text_.back() = static_cast<char>(text_.back() | (value >> k & 1) << (used_ % 8));
        ++used_;
      }
    }
    void put_code(uint8_t value) {
      for (int k = 7; k >= 0; --k) put(value >> k & 1, 1);
    }
    std::string finish() const { return text_; }

   private:
    std::string text_;
    int used_ = 0;
  };
};

// VP8, RFC 6386.
struct LossyWebp {
  int height = 1;
  int width = 1;
  int profile = 0;  // 0: bicubic, which key frames ignore; higher ones filter simply
  bool simple = false;
  int level = 0;  // of the loop filter, to 63
  int sharpness = 0;
  int quality = 40;    // the index of the quantisers, to 127
  std::string alpha;   // the data of ALPH; empty: there is none
  std::string modes;   // behind the header, in the first partition
  std::string tokens;  // the second

  LossyWebp(int tall, int wide, Random& random) : height(tall), width(wide) {
    simple = random.between(0, 1) == 1;
    level = random.between(0, 63);
    sharpness = random.between(0, 7);
    quality = random.between(0, 127);
    const int blocks = (tall + 15) / 16 * ((wide + 15) / 16);
    // More than any macroblock can take.
    for (int k = 0; k < 600 + 100 * blocks; ++k) modes += static_cast<char>(random.between(0, 255));
    for (int k = 0; k < 1200 * blocks; ++k) tokens += static_cast<char>(random.between(0, 255));
  }

  // Alpha that is not compressed, under a filter: 0 none, 1 horizontal, 2 vertical, 3 gradient.
  void add_alpha(int filter, Random& random) {
    alpha = static_cast<char>(filter << 2);
    for (int k = 0; k < height * width; ++k) alpha += static_cast<char>(random.between(0, 255));
  }

  std::string chunk() const {
    Coder out;
    out.put(0, 1);  // colour space
    out.put(0, 1);  // clamping
    out.put(0, 1);  // segments
    out.put(simple ? 1 : 0, 1);
    out.put(level, 6);
    out.put(sharpness, 3);
    out.put(0, 1);  // adjustments of the filter
    out.put(0, 2);  // one partition of tokens
    out.put(quality, 7);
    for (int k = 0; k < 5; ++k) out.put(0, 1);
    for (const char byte : modes) out.put(static_cast<uint8_t>(byte), 8);
    const std::string first = out.finish();
    const uint32_t tag = static_cast<uint32_t>(profile) << 1 | 1 << 4 | static_cast<uint32_t>(first.size()) << 5;
    return riff_chunk("VP8 ", little_endian(tag, 3) + "\x9d\x01\x2a" + little_endian(static_cast<uint32_t>(width), 2) +
                                  little_endian(static_cast<uint32_t>(height), 2) + first + tokens);
  }

  std::string bytes() const {
    if (alpha.empty()) return riff(chunk());
    return riff(vp8x(height, width, 0x10) + riff_chunk("ALPH", alpha) + chunk());
  }

 private:
  // 7.3, of even chances alone.
  class Coder {
   public:
    void put(int value, int bits) {
      for (int k = bits - 1; k >= 0; --k) put_bit((value >> k & 1) != 0);
    }
    std::string finish() {
      for (int k = 0; k < 32; ++k) put_bit(false);
      return text_;
    }

   private:
    void put_bit(bool bit) {
      const uint32_t split = 1 + ((range_ - 1) * 128 >> 8);
      if (bit) bottom_ += split;
      range_ = bit ? range_ - split : split;
      while (range_ < 128) {
        range_ <<= 1;
        if ((bottom_ >> 31 & 1) != 0) carry();
        bottom_ <<= 1;
        if (--left_ == 0) {
          text_ += static_cast<char>(bottom_ >> 24);
          bottom_ &= (1u << 24) - 1;
          left_ = 8;
        }
      }
    }
    void carry() {
      size_t k = text_.size();
      while (k > 0 && text_[--k] == '\xff') text_[k] = '\0';
      ++text_[k];
    }

    std::string text_;
    uint32_t range_ = 255;
    uint32_t bottom_ = 0;
    int left_ = 24;
  };
};

}  // namespace fastaug::test
