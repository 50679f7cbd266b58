#include "execute/densities.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fastaug {
namespace {

// Pixels that are looked at together, of bytes that lie `across` and `next` apart.
constexpr int kBlock = 1024;

struct Pixels {
  const uint8_t* data;
  ptrdiff_t across, next;
  int count;

  const uint8_t* at(int k) const { return data + k * across; }
};

// The largest sample that a pixel with no density below the least may have; -1 where there is none.
int brightest(const DensityRule& rule) {
  int sample = 255;
  while (sample >= 0 && rule.of_sample[sample] < rule.least) --sample;
  return sample;
}

// each(pixels) for every block of an image whose pixels all count.
template <class Each>
void for_all(const View& image, const Each& each) {
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; x += kBlock) {
      each(Pixels{image.at(y, x, 0), image.pixel_stride, image.channel_stride, std::min(kBlock, image.width - x)});
    }
  }
}

// Half a block of pixels at most is asked at a time, so that there is room for all when there was for half.
constexpr int kAsked = kBlock / 2;

// Pixels side by side, and room for the fourth byte of a word.
struct Block {
  uint8_t data[3 * kBlock + 1];
  int count = 0;
};

// Adds the pixels that count of `size` pixels to a block that has room for all. No branch depends on samples: nobody
// foresees where tissue begins.
void keep(const uint8_t* p, ptrdiff_t across, ptrdiff_t next, int size, int most, Block& block) {
  int count = block.count;
  for (int k = 0; k < size; ++k, p += across) {
    const uint8_t r = p[0], g = p[next], b = p[2 * next];
    uint8_t* to = block.data + 3 * count;
    to[0] = r;
    to[1] = g;
    to[2] = b;
    count += static_cast<int>(r <= most) & static_cast<int>(g <= most) & static_cast<int>(b <= most);
  }
  block.count = count;
}

// The same of pixels whose samples lie side by side, as words of which each may be read as a whole.
void keep_words(const uint8_t* p, ptrdiff_t across, int size, int most, Block& block) {
  constexpr uint32_t kOnes = 0x010101, kLow = 0x7f7f7f, kHigh = 0x808080;
  // It carries into the high bit where the lower ones are more than those of `most`.
  const uint32_t rest = kLow - static_cast<uint32_t>(most & 0x7f) * kOnes;
  const uint32_t either = most < 128 ? kHigh : 0;
  int count = block.count;
  for (int k = 0; k < size; ++k, p += across) {
    uint32_t pixel;
    std::memcpy(&pixel, p, sizeof(pixel));
    std::memcpy(block.data + 3 * count, &pixel, sizeof(pixel));
    const uint32_t carry = (pixel & kLow) + rest;
    const uint32_t beyond = (carry & pixel) | ((carry | pixel) & either);
    count += (beyond & kHigh) == 0 ? 1 : 0;
  }
  block.count = count;
}

// each(pixels) for every block of the pixels that count, which are put side by side first.
template <class Each>
void for_blocks(const View& image, const DensityRule& rule, int64_t step, const Each& each) {
  const int most = brightest(rule);
  if (most < 0) return;
  if (most == 255 && step == 1) return for_all(image, each);
  const ptrdiff_t across = step * image.pixel_stride, next = image.channel_stride;
  Block block;
  const auto done = [&] {
    each(Pixels{block.data, 3, 1, block.count});
    block.count = 0;
  };
  int64_t x = 0;  // of the next pixel, counted from the row's first
  for (int y = 0; y < image.height; ++y) {
    while (x < image.width) {
      const int64_t rest = (image.width - x + step - 1) / step;
      const uint8_t* p = image.at(y, static_cast<int>(x), 0);
      const int size = static_cast<int>(std::min<int64_t>(rest, kAsked));
      // The last of a row has no other pixel after it.
      const int last = x + (size - 1) * step == image.width - 1 ? 1 : 0;
      const int words = next == 1 && image.pixel_stride >= 3 ? size - last : 0;
      keep_words(p, across, words, most, block);
      keep(p + words * across, across, next, size - words, most, block);
      x += size * step;
      if (block.count > kBlock - kAsked) done();
    }
    x -= image.width;
  }
  if (block.count > 0) done();
}

// In the order of atan2(y, x).
double direction_of(double x, double y) {
  constexpr double kTiny = 1e-300;  // no direction is 0 / 0
  const double share = y / (std::fabs(x) + std::fabs(y) + kTiny);
  const double turned = std::copysign(2.0, y) - share;
  return x < 0.0 ? turned : share;
}

// Most groups have no number within a range.
void add_values(const double* numbers, int count, const DensityRange& range, DensityValues& values) {
  constexpr int kGroup = 8;
  const double low = range.low, high = range.high;
  const int whole = count / kGroup * kGroup;
  for (int first = 0; first < whole; first += kGroup) {
    const double* number = numbers + first;
    int64_t below = 0, above = 0;
    for (int k = 0; k < kGroup; ++k) {
      below += number[k] < low ? 1 : 0;
      above += number[k] > high ? 1 : 0;
    }
    values.below += below;
    if (below + above == kGroup) continue;
    double within[kGroup];
    int found = 0;
    for (int k = 0; k < kGroup; ++k) {
      within[found] = number[k];
      found += static_cast<int>(number[k] >= low) & static_cast<int>(number[k] <= high);
    }
    values.within.insert(values.within.end(), within, within + found);
  }
  for (int k = whole; k < count; ++k) {
    values.below += numbers[k] < low ? 1 : 0;
    if (numbers[k] >= low && numbers[k] <= high) values.within.push_back(numbers[k]);
  }
}

void append(const Pixels& pixels, std::vector<uint8_t>& kept) {
  if (pixels.across == 3 && pixels.next == 1) {
    kept.insert(kept.end(), pixels.data, pixels.data + ptrdiff_t{3} * pixels.count);
    return;
  }
  for (int k = 0; k < pixels.count; ++k) {
    for (int c = 0; c < 3; ++c) kept.push_back(pixels.at(k)[c * pixels.next]);
  }
}

}  // namespace

DensityMoments density_moments(const View& image, const DensityRule& rule, std::vector<uint8_t>* kept) {
  DensityMoments total;
  // Memory that is never written takes no pages.
  if (kept != nullptr) kept->reserve(static_cast<size_t>(image.height) * static_cast<size_t>(image.width) * 3);
  for_blocks(image, rule, 1, [&](const Pixels& pixels) {
    // Blocks have sums of their own, so that little is added to much seldom.
    double sums[9] = {};
    for (int k = 0; k < pixels.count; ++k) {
      const uint8_t* sample = pixels.at(k);
      const double r = rule.of_sample[sample[0]];
      const double g = rule.of_sample[sample[pixels.next]];
      const double b = rule.of_sample[sample[2 * pixels.next]];
      sums[0] += r;
      sums[1] += g;
      sums[2] += b;
      sums[3] += r * r;
      sums[4] += r * g;
      sums[5] += r * b;
      sums[6] += g * g;
      sums[7] += g * b;
      sums[8] += b * b;
    }
    total.pixels += pixels.count;
    if (kept != nullptr) append(pixels, *kept);
    for (int k = 0; k < 3; ++k) total.sums[k] += sums[k];
    for (int k = 0; k < 6; ++k) total.products[k] += sums[3 + k];
  });
  return total;
}

void density_values(const View& image, const DensityRule& rule, const DensityPlane& plane,
                    const DensityRange (&ranges)[2], int64_t step, DensityValues (&values)[2]) {
  struct Point {
    double x, y;
  };
  Point table[3][256];
  for (int c = 0; c < 3; ++c) {
    for (int v = 0; v < 256; ++v) {
      table[c][v] = {rule.of_sample[v] * plane.axes[c][0], rule.of_sample[v] * plane.axes[c][1]};
    }
  }
  for_blocks(image, rule, step, [&](const Pixels& pixels) {
    alignas(64) double numbers[2][kBlock];
    for (int k = 0; k < pixels.count; ++k) {
      const uint8_t* sample = pixels.at(k);
      const Point r = table[0][sample[0]], g = table[1][sample[pixels.next]], b = table[2][sample[2 * pixels.next]];
      numbers[0][k] = r.x + g.x + b.x;
      numbers[1][k] = r.y + g.y + b.y;
    }
    if (plane.direction) {
      for (int k = 0; k < pixels.count; ++k) numbers[0][k] = direction_of(numbers[0][k], numbers[1][k]);
    }
    for (int n = 0; n < 2; ++n) add_values(numbers[plane.direction ? 0 : n], pixels.count, ranges[n], values[n]);
  });
}

void count_colours(const View& image, uint32_t* counters) {
  for_all(image, [&](const Pixels& pixels) {
    for (int k = 0; k < pixels.count; ++k) {
      const uint8_t* sample = pixels.at(k);
      ++counters[sample[0] << 16 | sample[pixels.next] << 8 | sample[2 * pixels.next]];
    }
  });
}

}  // namespace fastaug
