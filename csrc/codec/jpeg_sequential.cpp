#include "codec/jpeg_sequential.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "codec/jpeg_window.h"
#include "codec/scan_index.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

// MCUs whose coefficients are kept at a time: with the tables they stay in the first cache.
constexpr int kTogether = 16;

// Bytes of a file from which on it has no index, whose places are bits in 32 of them.
constexpr size_t kMostIndexed = size_t{1} << 29;

// Coefficients of some MCUs, of one component.
struct Blocks {
  int across;  // blocks of an MCU
  int down;
  int count;  // in a row of them in memory
  int16_t* coefs;
  uint8_t* last;
};

class Decoder {
 public:
  Decoder(const Stream& stream, Bytes bytes, const Part& part, ScanIndex* index, Arena& arena)
      : stream_(stream), window_(bytes, stream.pixels_from, arena), rows_(stream, part, arena) {
    make_room(arena);
    if (index == nullptr || bytes.size >= kMostIndexed || stream.channels == 4) return;
    known_ = index->places();
    if (known_ == nullptr) known_ = std::make_shared<ScanPlaces>(int64_t{rows_.rows()} * rows_.columns(), bytes.size);
  }

  // What is known of the scan now, where it is more than before; else null.
  std::shared_ptr<const ScanPlaces> more() { return std::move(more_); }

  bool run() {
    window_.begin(&scan_);
    left_ = stream_.restart;
    if (known_ != nullptr && !pass_place()) return false;
    const Span across = rows_.across(), down = rows_.down();
    if (!skip(int64_t{down.from} * rows_.columns())) return false;
    for (int row = down.from; row < down.to; ++row) {
      if (!skip(across.from) || !make_samples(row)) return false;
      // Nothing of the last row is missing but its end, which is looked at where the image ends too.
      const bool finished = row + 1 == down.to && row + 1 < rows_.rows();
      if (!finished && !skip(rows_.columns() - across.to)) return false;
      if (scan_.range >> 16 != 0) return false;
      rows_.finish(row);
    }
    return down.to < rows_.rows() || window_.is_next(kEoi, &scan_);
  }

 private:
  void make_room(Arena& arena) {
    scan_ = {};
    const int columns = std::min(kTogether, rows_.across().to - rows_.across().from);
    for (int c = 0; c < stream_.channels; ++c) {
      const Component& component = stream_.components[c];
      Blocks& blocks = blocks_[c];
      blocks.across = component.sampling.across;
      blocks.down = component.sampling.down;
      const bool made = c < rows_.made();
      // One block that may be spoiled, and one that may be read. Where nothing is made of a component, all its blocks
      // go to the same place: to pass over them would gain a hundredth.
      blocks.count = made ? columns * blocks.across + 2 : 0;
      const auto count = static_cast<size_t>(std::max(blocks.count * blocks.down, blocks.across + 1));
      blocks.coefs = reinterpret_cast<int16_t*>(arena.bytes(count * kJpegBlock * sizeof(int16_t)));
      blocks.last = arena.bytes(count);
      for (int v = 0; v < blocks.down; ++v) {
        for (int h = 0; h < blocks.across; ++h) {
          scan_.block[scan_.blocks++] = {component.dc, component.ac, c, nullptr, nullptr, made ? blocks.across : 0};
        }
      }
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
    for (int c = 0; c < stream_.channels; ++c) scan_.predictors[c] = static_cast<uint32_t>(int32_t{place.dc[c]});
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
    const Span across = rows_.across();
    for (int column = across.from; column < across.to; column += kTogether) {
      const int count = std::min(kTogether, across.to - column);
      JpegBlocks* block = scan_.block;
      for (int c = 0; c < stream_.channels; ++c) {
        const Blocks& blocks = blocks_[c];
        for (int v = 0; v < blocks.down; ++v) {
          for (int h = 0; h < blocks.across; ++h, ++block) {
            const int first = v * blocks.count + h;
            block->coefs = blocks.coefs + ptrdiff_t{first} * kJpegBlock;
            block->last = blocks.last + first;
          }
        }
      }
      if (!advance(count, [&](int some) { return kernels_.jpeg_blocks(&scan_, some, window_.limit()); })) return false;
      for (int c = 0; c < rows_.made(); ++c) {
        const Blocks& blocks = blocks_[c];
        for (int v = 0; v < blocks.down; ++v) {
          const int first = v * blocks.count;
          if (!rows_.make(c, row * blocks.down + v, column * blocks.across,
                          blocks.coefs + ptrdiff_t{first} * kJpegBlock, blocks.last + first, count * blocks.across)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const Kernels& kernels_ = kernels();
  const Stream& stream_;
  Window window_;
  Rows rows_;
  Blocks blocks_[kMostComponents];
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
  // The bytes may have changed since the caller looked at them.
  if (region.y + region.height > stream->height || region.x + region.width > stream->width) return false;
  if (part.stride < 3 && !has_luma(*stream)) return false;
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
