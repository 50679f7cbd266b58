// Statistics of the optical densities of an RGB image of bytes, of which stain matrices are fitted (Macenko et al., A
// method for normalizing histology slides for quantitative analysis, 2009).
#pragma once

#include <cstdint>
#include <vector>

#include "base/image.h"

namespace fastaug {

// The density of each sample; it falls as samples rise. Pixels with a density below `least` are left out.
struct DensityRule {
  const double* of_sample;  // 256
  double least;
};

struct DensityMoments {
  int64_t pixels = 0;
  double sums[3] = {};
  double products[6] = {};  // RR, RG, RB, GG, GB, BB
};

// `kept`, if there is one, gets the samples of the pixels that count, side by side.
DensityMoments density_moments(const View& image, const DensityRule& rule, std::vector<uint8_t>* kept);

// Two numbers of a pixel, by what the density of each channel adds to them, or, as both of them, the direction of that
// point of the plane: from -2 to 2, and in the order of its atan2.
struct DensityPlane {
  double axes[3][2];
  bool direction;
};

struct DensityRange {
  double low, high;
};

// Of one of the two numbers: how many lie below a range, and those within, in the order of the pixels.
struct DensityValues {
  int64_t below = 0;
  std::vector<double> within;
};

// For every `step`th pixel, row by row, that the rule does not leave out.
void density_values(const View& image, const DensityRule& rule, const DensityPlane& plane,
                    const DensityRange (&ranges)[2], int64_t step, DensityValues (&values)[2]);

// Adds each pixel to the counter of its colour: 2^24 of them, by red, green and blue from the highest bits down.
void count_colours(const View& image, uint32_t* counters);

}  // namespace fastaug
