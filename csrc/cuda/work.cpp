#include "cuda/work.h"

#include <algorithm>

#include "cuda/bag.h"
#include "cuda/tile/base.h"
#include "pixel/extent.h"
#include "pixel/tap.h"
#include "pixel/torch_tap.h"

namespace fastaug::cuda {
namespace {

// Tiles from large to small: the first whose pixels fit into shared memory is taken.
constexpr int kTiles[][2] = {{32, 32}, {16, 32}, {16, 16}, {8, 16}, {8, 8}, {4, 8}, {4, 4}, {2, 2}, {1, 1}};

constexpr double kStoreWork = 60.0;
// A first step reads the source itself only where that saves so much: it is another loop in the kernel.
constexpr double kDirectShare = 0.8;

double read_work(Source source) {
  switch (source) {
    case kRead:
      return 15.0;
    case kAffineNearest:
    case kPerspectiveNearest:
    case kGridNearest:
      return 40.0;
    case kAffineCubic:
    case kPerspectiveCubic:
      return 520.0;
    case kAffineLinear:
    case kPerspectiveLinear:
    case kGridLinear:
    case kRoundedAffineLinear:
    case kRoundedAffineCubic:
    case kRoundedPerspectiveLinear:
    case kRoundedPerspectiveCubic:
      return 130.0;
    case kSources:
      break;
  }
  return 0.0;
}

// Taps of torch's resize, on average.
double mean_taps(TapAxis axis) { return axis.in == axis.out ? 1.0 : 2.0 * torch_scale(axis).support; }

double step_work(const Step& s, double reads) {
  switch (static_cast<StepKind>(s.kind)) {
    case kTake:
      return 10.0 + reads;
    case kAcross:
    case kDown: {
      const bool down = s.kind == kDown;
      const TapAxis axis = {s.op.flags & kFilterMask, down ? s.in_height : s.in_width,
                            down ? s.out_height : s.out_width};
      return 20.0 + 2.0 * tap_scale(axis).support * (2.0 + reads);
    }
    case kTorchFilter: {
      const double taps = mean_taps({s.op.flags, s.in_width, s.out_width});
      return 20.0 + mean_taps({s.op.flags, s.in_height, s.out_height}) * (6.0 + taps * (4.0 + reads));
    }
    case kBlur:
      return 20.0 + static_cast<double>(s.op.i[0]) * s.op.i[1] * (4.0 + reads);
    case kSharpen:
    case kTorchSharpen:
    case kV2Sharpen:
      return 40.0 + 9.0 * reads;
    case kStepKinds:
      break;
  }
  return 0.0;
}
constexpr double kSharedRead = 6.0;

}  // namespace

double Work::ideal() const {
  double work = kStoreWork * static_cast<double>(area(part_.shown));
  const bool direct = links_.size() > 1 && links_[1].step.kind == kTake;
  if (!direct) work += read_work(static_cast<Source>(part_.source)) * static_cast<double>(area(links_[0].region));
  for (size_t k = 1; k < links_.size(); ++k) {
    const double reads = k == 1 && direct ? read_work(static_cast<Source>(part_.source)) : kSharedRead;
    work += step_work(links_[k].step, reads) * static_cast<double>(area(links_[k].region));
  }
  return work;
}

uint32_t Work::fixed_bytes(size_t begin, size_t end) const {
  size_t colours = begin == 1 ? links_[0].colours.size() : 0;
  for (size_t k = begin; k < end; ++k) colours += links_[k].colours.size();
  return shared_pixels(static_cast<int>(colours), end == links_.size() ? part_.statistics : kNoStatistics);
}

Tiling Work::tiling(size_t begin, size_t end) const {
  const bool takes = end > begin && links_[begin].step.kind == kTake;
  // Colours between the source and a step need the pixels to be read first.
  const bool reads = begin == 1 && !links_[0].colours.empty();
  Tiling best = takes && !reads ? Tiling{} : tiling(begin, end, false);
  if (end > begin && !reads) {
    const Tiling other = tiling(begin, end, true);
    if (other.work < kDirectShare * best.work) best = other;
  }
  return best;
}

Tiling Work::tiling(size_t begin, size_t end, bool direct) const {
  const uint32_t fixed = fixed_bytes(begin, end);
  const Region shown = end == links_.size() ? part_.shown : links_[end - 1].region;
  const double reads = read_work(begin == 1 ? static_cast<Source>(part_.source) : kRead);
  for (const auto& size : kTiles) {
    int rows = std::min(size[0], shown.height);
    int columns = std::min(size[1], shown.width);
    double work = kStoreWork * rows * columns;
    int64_t bytes[2] = {0, 0};
    for (size_t k = end; k-- > begin;) {
      const Step& s = links_[k].step;
      const bool from_source = direct && k == begin;
      work += step_work(s, from_source ? reads : kSharedRead) * rows * columns;
      if (s.kind != kAcross) rows = extent_bound(s.op, true, rows, s.in_height, s.out_height);
      if (s.kind != kDown) columns = extent_bound(s.op, false, columns, s.in_width, s.out_width);
      if (from_source) break;
      const size_t stage = k - begin - (direct ? 1 : 0);  // that makes what step k reads
      int64_t& most = bytes[stage % 2];
      most = std::max(most, int64_t{rows} * columns * word_bytes(s.channels));
    }
    if (!direct) work += reads * rows * columns;
    bytes[0] = aligned(bytes[0], 16);
    bytes[1] = aligned(bytes[1], 16);
    if (fixed + bytes[0] + bytes[1] > shared_bytes_) continue;
    const double tiles = std::ceil(1.0 * shown.height / size[0]) * std::ceil(1.0 * shown.width / size[1]);
    return {size[0], size[1], static_cast<uint32_t>(bytes[0]), static_cast<uint32_t>(bytes[1]), direct, work * tiles};
  }
  return {};
}

}  // namespace fastaug::cuda
