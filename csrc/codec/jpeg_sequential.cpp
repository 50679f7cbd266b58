#include "codec/jpeg_sequential.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "codec/jpeg_stream.h"
#include "codec/jpeg_window.h"
#include "codec/scan_index.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

constexpr int kSide = 8;  // samples of a block, across and down

// MCUs whose coefficients are kept at a time: with the tables they stay in the first cache.
constexpr int kTogether = 16;

// Bytes of a file from which on it has no index, whose places are bits in 32 of them.
constexpr size_t kMostIndexed = size_t{1} << 29;

// Bytes before a row of samples, of which the last one is a copy of the first sample.
constexpr ptrdiff_t kBefore = 64;

int divided_up(int value, int unit) { return (value + unit - 1) / unit; }

uint8_t* bytes_of(Arena& arena, ptrdiff_t count) { return arena.bytes(static_cast<size_t>(count)); }

// One component: coefficients of some MCUs, and samples of two rows of MCUs, of which every other one is in the same
// place.
struct Plane {
  int across;  // blocks of an MCU
  int down;
  int width;  // samples of the image
  int height;
  int from;  // the first column in memory
  ptrdiff_t stride;
  uint8_t* samples;
  int blocks;  // in a row of them in memory
  int16_t* coefs;
  uint8_t* last;

  uint8_t* row(int y) const { return samples + stride * (y % (2 * kSide * down)); }
};

// MCUs that are decoded, and what of them is made.
struct Span {
  int from;
  int to;
};

class Decoder {
 public:
  Decoder(const Stream& stream, Bytes bytes, const Part& part, ScanIndex* index, Arena& arena)
      : stream_(stream),
        part_(part),
        window_(bytes, stream.pixels_from, arena),
        made_(part.stride < 3 ? 1 : stream.channels),
        halved_across_(made_ == 3 && stream.most.across != stream.components[1].sampling.across),
        halved_down_(made_ == 3 && stream.most.down != stream.components[1].sampling.down),
        unit_width_(kSide * stream.most.across),
        unit_height_(kSide * stream.most.down),
        columns_(divided_up(stream.width, unit_width_)),
        rows_(divided_up(stream.height, unit_height_)) {
    const Region& wanted = part.region;
    // Two pixels beyond an edge: the neighbour of a sample of chroma.
    const int margin = halved_across_ ? 2 : 0;
    across_ = {std::max(wanted.x - margin, 0) / unit_width_,
               divided_up(std::min(wanted.x + wanted.width + margin, stream.width), unit_width_)};
    down_ = {wanted.y / unit_height_, divided_up(wanted.y + wanted.height, unit_height_)};
    if (halved_down_) {
      down_.from = std::max(wanted.y - 2, 0) / unit_height_;
      // As libjpeg, which makes both rows of a row of chroma.
      const int below = std::min((wanted.y + wanted.height + 1) / 2 * 2 + 2, stream.height);
      down_.to = divided_up(below, unit_height_);
    }
    make_room(arena);
    if (index == nullptr || bytes.size >= kMostIndexed) return;
    known_ = index->places();
    if (known_ == nullptr) known_ = std::make_shared<ScanPlaces>(int64_t{rows_} * columns_, bytes.size);
  }

  // What is known of the scan now, where it is more than before; else null.
  std::shared_ptr<const ScanPlaces> more() { return std::move(more_); }

  bool run() {
    window_.begin(&scan_);
    left_ = stream_.restart;
    if (known_ != nullptr && !pass_place()) return false;
    if (!skip(int64_t{down_.from} * columns_)) return false;
    int y = part_.region.y;
    const int end = y + part_.region.height;
    for (int row = down_.from; row < down_.to; ++row) {
      if (!skip(across_.from) || !make_samples(row)) return false;
      // Nothing of the last row is missing but its end, which is looked at where the image ends too.
      const bool finished = row + 1 == down_.to && row + 1 < rows_;
      if (!finished && !skip(columns_ - across_.to)) return false;
      if (scan_.range >> 16 != 0) return false;
      // The last row of pixels needs chroma of the next row of MCUs.
      const int lacking = halved_down_ && row + 1 < rows_ ? 1 : 0;
      for (const int ready = std::min((row + 1) * unit_height_ - lacking, end); y < ready; ++y) write_row(y);
    }
    return down_.to < rows_ || window_.is_next(kEoi, &scan_);
  }

 private:
  void make_room(Arena& arena) {
    scan_ = {};
    const int columns = across_.to - across_.from;
    for (int c = 0; c < stream_.channels; ++c) {
      const Component& component = stream_.components[c];
      Plane& plane = planes_[c];
      plane.across = component.sampling.across;
      plane.down = component.sampling.down;
      plane.width = divided_up(stream_.width * plane.across, stream_.most.across);
      plane.height = divided_up(stream_.height * plane.down, stream_.most.down);
      plane.from = across_.from * plane.across * kSide;
      const bool made = c < made_;
      plane.stride = kBefore + (ptrdiff_t{columns} * plane.across * kSide + kRowPad + 63) / 64 * 64;
      if (made) plane.samples = bytes_of(arena, plane.stride * 2 * kSide * plane.down) + kBefore;
      // One block that may be spoiled, and one that may be read. Where nothing is made of a component, all its blocks
      // go to the same place: to pass over them would gain a hundredth.
      plane.blocks = made ? std::min(kTogether, columns) * plane.across + 2 : 0;
      const int blocks = std::max(plane.blocks * plane.down, plane.across + 1);
      plane.coefs = reinterpret_cast<int16_t*>(bytes_of(arena, ptrdiff_t{blocks} * kJpegBlock * 2));
      plane.last = bytes_of(arena, blocks);
      for (int v = 0; v < plane.down; ++v) {
        for (int h = 0; h < plane.across; ++h) {
          scan_.block[scan_.blocks++] = {component.dc, component.ac, c, nullptr, nullptr, made ? plane.across : 0};
        }
      }
      wide_[c] = halved_across_ && c > 0 ? bytes_of(arena, ptrdiff_t{part_.region.width} + 2 + kRowPad) : nullptr;
    }
  }

  // Goes on by MCUs, which do what `decode` does with each.
  template <class Decode>
  bool advance(int64_t count, const Decode& decode) {
    while (count > 0) {
      int some = static_cast<int>(std::min<int64_t>(count, 1 << 30));
      if (stream_.restart != 0) {
        if (left_ == 0 && !restart()) return false;
        some = std::min(some, left_);
      }
      if (known_ != nullptr) some = static_cast<int>(std::min<int64_t>(some, known_->step() - at_ % known_->step()));
      if (scan_.next > window_.limit()) window_.fill(&scan_);
      const int done = decode(some);
      if (done < 0 || window_.left(scan_) < 0 || (done == 0 && window_.ended())) return false;
      count -= done;
      left_ -= done;
      at_ += done;
      if (known_ != nullptr && at_ % known_->step() == 0 && !pass_place()) return false;
    }
    return true;
  }

  // Before an MCU that the index has a place for: compares it, or takes it down. False where it is another.
  bool pass_place() {
    const int64_t number = at_ / known_->step();
    ScanPlace place = {window_.bit(scan_), {}};
    for (int c = 0; c < stream_.channels; ++c) place.dc[c] = static_cast<int16_t>(scan_.predictors[c]);
    if (number < known_->count()) return known_->at(number) == place;
    if (more_ == nullptr) more_ = std::make_shared<ScanPlaces>(*known_);
    more_->add(place);
    return true;
  }

  // To the last place of the index before an MCU that lies ahead, if there is one.
  bool leap(int64_t to) {
    const int64_t number = std::min(to / known_->step(), known_->count() - 1);
    if (number < 0 || number * known_->step() <= at_) return true;
    const ScanPlace place = known_->at(number);
    if (!window_.seek(place.bit, &scan_)) return false;
    for (int c = 0; c < 3; ++c) scan_.predictors[c] = static_cast<uint32_t>(int32_t{place.dc[c]});
    at_ = number * known_->step();
    if (stream_.restart == 0) return true;
    // At the end of an interval its marker is still to come.
    const int64_t interval = (at_ - 1) / stream_.restart;
    left_ = static_cast<int>((interval + 1) * stream_.restart - at_);
    next_restart_ = static_cast<int>(interval % 8);
    return true;
  }

  bool restart() {
    if (!window_.is_next(static_cast<uint8_t>(kRst0 + next_restart_), &scan_)) return false;
    window_.pass(&scan_);
    next_restart_ = (next_restart_ + 1) % 8;
    left_ = stream_.restart;
    std::fill(std::begin(scan_.predictors), std::end(scan_.predictors), 0u);
    return true;
  }

  bool skip(int64_t count) {
    const int64_t to = at_ + count;
    if (known_ != nullptr && !leap(to)) return false;
    return advance(to - at_, [&](int some) { return kernels_.jpeg_skip(&scan_, some, window_.limit()); });
  }

  // The samples of a row of MCUs, as far as they are wanted.
  bool make_samples(int row) {
    for (int column = across_.from; column < across_.to; column += kTogether) {
      const int count = std::min(kTogether, across_.to - column);
      JpegBlocks* block = scan_.block;
      for (int c = 0; c < stream_.channels; ++c) {
        const Plane& plane = planes_[c];
        for (int v = 0; v < plane.down; ++v) {
          for (int h = 0; h < plane.across; ++h, ++block) {
            const int first = v * plane.blocks + h;
            block->coefs = plane.coefs + ptrdiff_t{first} * kJpegBlock;
            block->last = plane.last + first;
          }
        }
      }
      if (!advance(count, [&](int some) { return kernels_.jpeg_blocks(&scan_, some, window_.limit()); })) return false;
      for (int c = 0; c < made_; ++c) {
        const Plane& plane = planes_[c];
        for (int v = 0; v < plane.down; ++v) {
          const int first = v * plane.blocks;
          uint8_t* to =
              plane.row((row * plane.down + v) * kSide) + ptrdiff_t{column} * plane.across * kSide - plane.from;
          const int blocks = count * plane.across;
          if (!kernels_.jpeg_inverse(plane.coefs + ptrdiff_t{first} * kJpegBlock, plane.last + first,
                                     stream_.components[c].steps, blocks, to, plane.stride)) {
            return false;
          }
        }
      }
    }
    if (halved_across_) repeat_edges(row);
    return true;
  }

  // Beyond an edge of the image chroma goes on as it ends there.
  void repeat_edges(int row) {
    for (int c = 1; c < 3; ++c) {
      const Plane& plane = planes_[c];
      for (int k = 0; k < kSide * plane.down; ++k) {
        uint8_t* samples = plane.row(row * kSide * plane.down + k);
        if (across_.from == 0) samples[-1] = samples[0];
        if (across_.to == columns_) samples[plane.width - plane.from] = samples[plane.width - plane.from - 1];
      }
    }
  }

  // The samples of row y of the image from the region's first column on.
  const uint8_t* samples_of(int c, int y) {
    const Region& region = part_.region;
    const Plane& plane = planes_[c];
    if (c == 0 || !halved_across_) return plane.row(y) + region.x - plane.from;
    const int from = region.x / 2, count = (region.x + region.width + 1) / 2 - from;
    const int here = halved_down_ ? y / 2 : y;
    const auto at = [&](int line) { return plane.row(line) + from - plane.from; };
    const uint8_t* far = nullptr;
    if (halved_down_) far = at(y % 2 == 0 ? std::max(here - 1, 0) : std::min(here + 1, plane.height - 1));
    kernels_.jpeg_upsample(at(here), far, count, wide_[c]);
    return wide_[c] + region.x % 2;
  }

  void write_row(int y) {
    uint8_t* to = part_.rows + part_.row_stride * (y - part_.region.y);
    const int width = part_.region.width, stride = part_.stride;
    const uint8_t* first = samples_of(0, y);
    if (made_ == 1) {
      const uint8_t* const gray[] = {first, first, first};
      kernels_.interleave(gray, stride < 3 ? 1 : 3, stride, width, to);
      return;
    }
    const uint8_t* second = samples_of(1, y);
    const uint8_t* third = samples_of(2, y);
    if (stream_.ycbcr) {
      kernels_.jpeg_colours(first, second, third, width, stride, to);
    } else {
      const uint8_t* const rgb[] = {first, second, third};
      kernels_.interleave(rgb, 3, stride, width, to);
    }
  }

  const Kernels& kernels_ = kernels();
  const Stream& stream_;
  const Part& part_;
  Window window_;
  const int made_;  // components, of which luma is the first
  const bool halved_across_;
  const bool halved_down_;
  const int unit_width_;
  const int unit_height_;
  const int columns_;
  const int rows_;
  Span across_{};
  Span down_{};
  Plane planes_[3];
  uint8_t* wide_[3];
  JpegScan scan_;
  int64_t at_ = 0;  // MCUs before this one
  int left_ = 0;    // MCUs up to the next restart
  int next_restart_ = 0;
  std::shared_ptr<const ScanPlaces> known_;  // null: without an index
  std::shared_ptr<ScanPlaces> more_;
};

}  // namespace

bool run_sequential(Bytes bytes, const Beside& beside, const Part& part, Arena& arena) {
  const Stream* stream = read_stream(bytes, beside, arena);
  if (stream == nullptr) return false;
  const Region& region = part.region;
  // Whoever asked looked at bytes that somebody may have written to since.
  if (region.y + region.height > stream->height || region.x + region.width > stream->width) return false;
  if (part.stride < 3 && stream->channels == 3 && !stream->ycbcr) return false;
  Decoder decoder(*stream, bytes, part, beside.index, arena);
  const bool done = decoder.run();
  if (beside.index == nullptr) return done;
  if (!done) {
    beside.index->drop();
  } else if (std::shared_ptr<const ScanPlaces> more = decoder.more()) {
    beside.index->offer(std::move(more));
  }
  return done;
}

}  // namespace fastaug::codec::jpeg
