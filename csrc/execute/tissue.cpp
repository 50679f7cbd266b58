#include "execute/tissue.h"

#include <algorithm>

#include "execute/stages/stages.h"

namespace fastaug {
namespace {

// In front of a row of gray, where it goes on beyond its first pixel.
constexpr int kMargin = 64;

using Counts = uint32_t[kHistograms][256];

void add(const Counts& counts, uint32_t (&to)[256]) {
  for (const auto& part : counts) {
    for (int v = 0; v < 256; ++v) to[v] += part[v];
  }
}

}  // namespace

TissueStats tissue_stats(const View& image, int white, int black, const Kernels& kernels, Arena& arena) {
  TissueStats made;
  const int height = image.height, width = image.width;
  Context context = {kernels, arena};
  Stage* const source = source_stage(context, image, {0, 0, height, width});
  const Planes planes = make_planes(arena, width);
  const size_t size = static_cast<size_t>(width) + kRowPad;
  uint8_t* const saturation = arena.bytes(size);
  // The Laplacian of a row waits for the one below.
  uint8_t* gray[3];
  for (uint8_t*& row : gray) row = arena.bytes(kMargin + size) + kMargin;
  Counts of_saturation = {}, of_gray = {};
  for (int y = 0; y < height; ++y) {
    source->row(y, planes);
    uint8_t* const row = gray[y % 3];
    kernels.tissue_row(planes.row, width, white, black, row, saturation, &made.sums);
    kernels.histogram(row, width, of_gray);
    kernels.histogram(saturation, width, of_saturation);
    row[-1] = row[std::min(1, width - 1)];
    row[width] = row[std::max(width - 2, 0)];
    if (y > 0) kernels.laplacian_row(gray[y > 1 ? (y - 2) % 3 : y], gray[(y - 1) % 3], row, width, &made.laplacian);
  }
  const uint8_t* const before = gray[std::max(height - 2, 0) % 3];
  kernels.laplacian_row(before, gray[(height - 1) % 3], before, width, &made.laplacian);
  add(of_saturation, made.saturation);
  add(of_gray, made.gray);
  return made;
}

}  // namespace fastaug
