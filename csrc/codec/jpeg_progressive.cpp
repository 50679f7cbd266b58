#include "codec/jpeg_progressive.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "codec/jpeg_stream.h"
#include "codec/jpeg_window.h"
#include "kernels/kernels.h"

namespace fastaug::codec::jpeg {
namespace {

// Bytes of coefficients and of their places; libjpeg does with larger images what it can. An arena keeps as much.
constexpr int64_t kMostBytes = int64_t{1} << 27;

// libjpeg's limit of a bit's number (jdphuff.c).
constexpr int kMostLow = 13;

constexpr int8_t kNotYet = -1;

// The blocks of one component.
struct Blocks {
  int across;  // of an MCU
  int down;
  int columns;  // of the image in a scan of its own
  int rows;
  int stride;  // of the image in MCUs
  // Those that are kept.
  Span kept_columns;
  Span kept_rows;
  int16_t* coefs;
  uint64_t* places;         // of all blocks
  int8_t lows[kJpegBlock];  // by place in zigzag order, the last bit that scans have had: 0 where all are there

  int16_t* at(int row, int column) const {
    const int width = kept_columns.to - kept_columns.from;
    return coefs + (ptrdiff_t{row - kept_rows.from} * width + column - kept_columns.from) * kJpegBlock;
  }
  bool keeps(int row) const { return row >= kept_rows.from && row < kept_rows.to; }
};

class Decoder {
 public:
  Decoder(Scans* scans, Bytes bytes, const Part& part, Arena& arena)
      : scans_(*scans),
        stream_(*scans->stream()),
        window_(bytes, stream_.pixels_from, arena),
        rows_(stream_, part, arena) {}

  bool run(Arena& arena) {
    if (!make_room(arena)) return false;
    Scan scan{};
    int64_t blocks = 0;
    for (int c = 0; c < stream_.channels; ++c) blocks += int64_t{blocks_[c].columns} * blocks_[c].rows;
    size_t at = stream_.pixels_from;
    for (int scans = 1;; ++scans, at = window_.marker()) {
      const Scans::Next next = scans_.next(at, &scan);
      if (next == Scans::Next::kEnd) return is_complete() && make_rows(arena);
      if (next == Scans::Next::kDoubt || too_dear(scans, blocks) || !follows(scan) || !read(scan)) return false;
    }
  }

 private:
  bool make_room(Arena& arena) {
    int64_t kept = 0, all = 0;
    for (int c = 0; c < stream_.channels; ++c) {
      const Sampling& sampling = stream_.components[c].sampling;
      Blocks& blocks = blocks_[c];
      blocks.across = sampling.across;
      blocks.down = sampling.down;
      blocks.columns = divided_up(divided_up(stream_.width * sampling.across, stream_.most.across), kSide);
      blocks.rows = divided_up(divided_up(stream_.height * sampling.down, stream_.most.down), kSide);
      blocks.stride = rows_.columns() * sampling.across;
      const bool made = c < rows_.made();
      const Span across = rows_.across(), down = rows_.down();
      blocks.kept_columns = {across.from * sampling.across, made ? across.to * sampling.across : 0};
      blocks.kept_rows = {down.from * sampling.down, made ? down.to * sampling.down : 0};
      std::fill(std::begin(blocks.lows), std::end(blocks.lows), kNotYet);
      all += count_of(blocks);
      if (made) kept += kept_of(blocks);
    }
    if (kept * kJpegBlock * 2 + all * 8 > kMostBytes) return false;
    for (int c = 0; c < stream_.channels; ++c) {
      Blocks& blocks = blocks_[c];
      const auto count = static_cast<size_t>(count_of(blocks)) * sizeof(uint64_t);
      blocks.places = reinterpret_cast<uint64_t*>(arena.bytes(count));
      std::memset(blocks.places, 0, count);
      if (c >= rows_.made()) continue;
      // One block more that may be read.
      const auto bytes = static_cast<size_t>(kept_of(blocks) + 1) * kJpegBlock * sizeof(int16_t);
      blocks.coefs = reinterpret_cast<int16_t*>(arena.bytes(bytes));
      std::memset(blocks.coefs, 0, bytes);
    }
    return true;
  }

  static int64_t count_of(const Blocks& blocks) { return int64_t{blocks.stride} * blocks.rows; }
  static int64_t kept_of(const Blocks& blocks) {
    return int64_t{blocks.kept_columns.to - blocks.kept_columns.from} * (blocks.kept_rows.to - blocks.kept_rows.from);
  }

  // True if a scan has the bits that come next: libjpeg warns of all others, or fails.
  bool follows(const Scan& scan) {
    const bool dc = scan.from == 0;
    if (scan.to > 63 || (dc ? scan.to != 0 : scan.to < scan.from || scan.count != 1)) return false;
    if (scan.low > kMostLow || (scan.high != 0 && scan.low != scan.high - 1)) return false;
    for (int i = 0; i < scan.count; ++i) {
      int8_t* lows = blocks_[scan.components[i]].lows;
      if (!dc && lows[0] == kNotYet) return false;
      for (int place = scan.from; place <= scan.to; ++place) {
        if (lows[place] != (scan.high == 0 ? kNotYet : scan.high)) return false;
        lows[place] = static_cast<int8_t>(scan.low);
      }
    }
    return true;
  }

  bool is_complete() const {
    return std::all_of(blocks_, blocks_ + stream_.channels, [](const Blocks& blocks) {
      return std::all_of(std::begin(blocks.lows), std::end(blocks.lows), [](int8_t low) { return low == 0; });
    });
  }

  bool read(const Scan& scan) {
    scan_ = {};
    band_ = {.codes = scan.ac,
             .from = scan.from,
             .to = scan.to,
             .low = scan.low,
             .refines = scan.high != 0,
             .run = 0,
             .coefs = nullptr,
             .places = nullptr};
    if (!window_.seek(uint64_t{scan.data_from} * 8, &scan_)) return false;
    left_ = stream_.restart;
    next_restart_ = 0;
    const bool sound = scan.from != 0    ? read_ac(blocks_[scan.components[0]])
                       : scan.count == 1 ? read_dc_alone(scan)
                                         : read_dc(scan);
    return sound && band_.run == 0 && scan_.range >> 16 == 0 && window_.at_marker(&scan_);
  }

  bool read_ac(Blocks& blocks) {
    for (int row = 0; row < blocks.rows; ++row) {
      band_.places = blocks.places + ptrdiff_t{row} * blocks.stride;
      if (!in_spans(blocks, row, [&](int count, int16_t* coefs) {
            band_.coefs = coefs;
            return advance(count);
          })) {
        return false;
      }
    }
    return true;
  }

  bool read_dc_alone(const Scan& scan) {
    Blocks& blocks = blocks_[scan.components[0]];
    scan_.blocks = 1;
    for (int row = 0; row < blocks.rows; ++row) {
      if (!in_spans(blocks, row, [&](int count, int16_t* coefs) {
            scan_.block[0] = {scan.dc[0], nullptr, 0, coefs, nullptr, 1};
            return advance(count);
          })) {
        return false;
      }
    }
    return true;
  }

  // A row of blocks in the parts of it that are kept or not: `read` gets how many, and where they go.
  template <class Read>
  bool in_spans(const Blocks& blocks, int row, const Read& read) {
    int from = 0;
    if (blocks.keeps(row)) {
      const Span kept = {std::min(blocks.kept_columns.from, blocks.columns),
                         std::min(blocks.kept_columns.to, blocks.columns)};
      if (!read(kept.from, nullptr) || !read(kept.to - kept.from, blocks.at(row, kept.from))) return false;
      from = kept.to;
    }
    return read(blocks.columns - from, nullptr);
  }

  bool read_dc(const Scan& scan) {
    const Span across = rows_.across(), down = rows_.down();
    for (int row = 0; row < rows_.rows(); ++row) {
      const bool kept = row >= down.from && row < down.to;
      const int ends[] = {across.from, across.to, rows_.columns()};
      for (int part = 0, from = 0; part < 3; from = ends[part++]) {
        scan_.blocks = 0;
        for (int i = 0; i < scan.count; ++i) {
          const Blocks& blocks = blocks_[scan.components[i]];
          const bool here = kept && part == 1 && scan.components[i] < rows_.made();
          for (int v = 0; v < blocks.down; ++v) {
            for (int h = 0; h < blocks.across; ++h) {
              int16_t* coefs = here ? blocks.at(row * blocks.down + v, from * blocks.across + h) : nullptr;
              scan_.block[scan_.blocks++] = {scan.dc[i], nullptr, i, coefs, nullptr, blocks.across};
            }
          }
        }
        if (!advance(ends[part] - from)) return false;
      }
    }
    return true;
  }

  // MCUs, or blocks of a scan of one component.
  bool advance(int count) {
    while (count > 0) {
      int some = count;
      if (stream_.restart != 0) {
        if (left_ == 0 && !restart()) return false;
        some = std::min(some, left_);
      }
      if (scan_.next > window_.limit()) window_.fill(&scan_);
      const int done = kernels_.jpeg_band(&scan_, &band_, some, window_.limit());
      if (done < 0 || window_.left(scan_) < 0 || (done == 0 && window_.ended())) return false;
      count -= done;
      left_ -= done;
    }
    return true;
  }

  bool restart() {
    if (band_.run != 0 || !window_.is_next(static_cast<uint8_t>(kRst0 + next_restart_), &scan_)) return false;
    window_.pass(&scan_);
    next_restart_ = (next_restart_ + 1) % 8;
    left_ = stream_.restart;
    std::fill(std::begin(scan_.predictors), std::end(scan_.predictors), 0u);
    return true;
  }

  bool make_rows(Arena& arena) {
    const Span across = rows_.across(), down = rows_.down();
    uint8_t* last = arena.bytes(static_cast<size_t>(across.to - across.from) * 4 + 1);
    for (int row = down.from; row < down.to; ++row) {
      for (int c = 0; c < rows_.made(); ++c) {
        const Blocks& blocks = blocks_[c];
        const int from = blocks.kept_columns.from, count = blocks.kept_columns.to - from;
        for (int v = 0; v < blocks.down; ++v) {
          const int here = row * blocks.down + v;
          // Rows of blocks below the image have DC alone, if anything.
          const uint64_t* places = blocks.places + ptrdiff_t{std::min(here, blocks.rows - 1)} * blocks.stride + from;
          for (int k = 0; k < count; ++k) last[k] = here < blocks.rows ? places[k] != 0 : 0;
          if (!rows_.make(c, here, from, blocks.at(here, from), last, count)) return false;
        }
      }
      rows_.finish(row);
    }
    return true;
  }

  const Kernels& kernels_ = kernels();
  Scans& scans_;
  const Stream& stream_;
  Window window_;
  Rows rows_;
  Blocks blocks_[kMostComponents] = {};
  JpegScan scan_{};
  JpegBand band_{};
  int left_ = 0;  // MCUs up to the next restart
  int next_restart_ = 0;
};

}  // namespace

bool run_progressive(Bytes bytes, const Beside& beside, const Part& part, Arena& arena) {
  Scans scans(bytes, beside, arena);
  const Stream* stream = scans.stream();
  if (stream == nullptr) return false;
  const Region& region = part.region;
  if (region.y + region.height > stream->height || region.x + region.width > stream->width) return false;
  if (part.stride < 3 && !has_luma(*stream)) return false;
  return Decoder(&scans, bytes, part, arena).run(arena);
}

}  // namespace fastaug::codec::jpeg
