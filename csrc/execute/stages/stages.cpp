#include "execute/stages/stages.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace fastaug {
namespace {

Planes offset(const Planes& planes, int columns) {
  Planes result;
  for (int c = 0; c < kMaxChannels; ++c) result.row[c] = planes.row[c] + columns;
  return result;
}

class SourceStage final : public Stage {
 public:
  SourceStage(Context& context, const View& view, Region wanted, const uint8_t* const* rows)
      : kernels_(context.kernels), view_(view), rows_(rows) {
    region = wanted;
    channels = view.channels;
    if (pillow_la()) spare_ = make_planes(context.arena, region.width);
    if (packed() && view.pixel_stride > 2) pixel_stride = static_cast<int>(view.pixel_stride);
    fetched_ = region.y;
    long_ = kAhead * view.pixel_stride * region.width > kRoom;
    // Whole rows of packed pixels follow each other, and the processor sees that by itself.
    scattered_ = view.pixel_stride > 1 && view.channel_stride == 1 &&
                 view.row_stride - view.pixel_stride * region.width >= kLine;
  }

  void row(int y, const Planes& dst) override {
    const uint8_t* src = fetched(y);
    if (view_.pixel_stride == 1) {
      for (int c = 0; c < channels; ++c) std::memcpy(dst.row[c], src + c * view_.channel_stride, region.width);
    } else if (packed()) {
      kernels_.deinterleave(src, static_cast<int>(view_.pixel_stride), channels, region.width, dst.row);
    } else if (pillow_la()) {
      uint8_t* const planes[] = {dst.row[0], spare_.row[0], spare_.row[1], dst.row[1]};
      kernels_.deinterleave(src, 4, 4, region.width, planes);
    } else {
      for (int c = 0; c < channels; ++c) {
        const uint8_t* p = src + c * view_.channel_stride;
        for (int x = 0; x < region.width; ++x, p += view_.pixel_stride) dst.row[c][x] = *p;
      }
    }
  }

  const uint8_t* pixels(int y) override { return fetched(y); }

 private:
  bool packed() const {
    return view_.channel_stride == 1 && view_.pixel_stride >= channels && view_.pixel_stride <= kMaxChannels;
  }

  const uint8_t* fetched(int y) {
    if (scattered_) fetch_until(std::min(y + kAhead, region.y + region.height));
    return first(y);
  }

  const uint8_t* first(int y) const {
    return rows_ == nullptr ? view_.at(y, region.x, 0) : rows_[y] + region.x * view_.pixel_stride;
  }

  static constexpr int kAhead = 12;
  static constexpr ptrdiff_t kLine = 64;
  static constexpr ptrdiff_t kRoom = 8192;

  // Parts of rows of a large image each lie on a page of their own: without this, each row waits for its first line.
  // Long rows go into the second-level cache: so many leave no room in the first for those that are worked on.
  void fetch_until(int last) {
    for (; fetched_ < last; ++fetched_) {
      const uint8_t* p = first(fetched_);
      const uint8_t* const end = p + view_.pixel_stride * (region.width - 1);
      // Some processors drop a prefetch whose page is not in the TLB; a load brings the page in.
      static_cast<void>(*static_cast<const volatile uint8_t*>(p));
      if (long_) {
        for (p += kLine; p <= end; p += kLine) __builtin_prefetch(p, 0, 2);
      } else {
        for (p += kLine; p <= end; p += kLine) __builtin_prefetch(p, 0, 3);
      }
    }
  }

  // Pillow keeps LA as L, L, L, A.
  bool pillow_la() const { return channels == 2 && view_.pixel_stride == 4 && view_.channel_stride == 3; }

  const Kernels& kernels_;
  View view_;
  const uint8_t* const* rows_;
  Planes spare_;
  bool scattered_;
  bool long_;
  int fetched_;
};

// A window: columns and rows of the input where it has them, fill elsewhere.
class WindowStage final : public Stage {
 public:
  WindowStage(Stage* input, const Op& op, Shape in, Region wanted) : input_(input), top_(op.i[0]), height_(in.height) {
    region = wanted;
    channels = input->channels;
    in_order = input->in_order;
    std::copy_n(op.fill, kMaxChannels, fill_);
    // Columns of the region that show the input: [begin_, end_), relative to the region.
    begin_ = std::clamp(-op.i[1] - region.x, 0, region.width);
    end_ = std::clamp(in.width - op.i[1] - region.x, begin_, region.width);
  }

  void row(int y, const Planes& dst) override {
    const int source = y + top_;
    const bool shown = begin_ < end_ && source >= 0 && source < height_;
    if (shown) input_->row(source, offset(dst, begin_));
    for (int c = 0; c < channels; ++c) {
      const auto left = static_cast<size_t>(shown ? begin_ : region.width);
      std::memset(dst.row[c], fill_[c], left);
      if (shown) std::memset(dst.row[c] + end_, fill_[c], static_cast<size_t>(region.width - end_));
    }
  }

 private:
  Stage* input_;
  int top_;
  int height_;
  int begin_;
  int end_;
  uint8_t fill_[kMaxChannels];
};

class IndexStage final : public Stage {
 public:
  IndexStage(Context& context, Stage* input, const std::vector<int32_t>& rows, const std::vector<int32_t>& columns,
             Region wanted)
      : kernels_(context.kernels), input_(input) {
    region = wanted;
    channels = input->channels;
    in_order = input->in_order;
    rows_.assign(rows.begin() + region.y, rows.begin() + region.y + region.height);
    columns_.assign(columns.begin() + region.x, columns.begin() + region.x + region.width);
    for (int32_t& column : columns_) column -= input->region.x;
    straight_ = std::adjacent_find(columns_.begin(), columns_.end(), [](int a, int b) { return b != a + 1; }) ==
                    columns_.end() &&
                columns_[0] == 0 && input->region.width == region.width;
    if (!straight_) find_runs();
    cached_ = make_planes(context.arena, input->region.width);
  }

  void row(int y, const Planes& dst) override {
    const int source = rows_[static_cast<size_t>(y - region.y)];
    if (straight_ && source != have_) {
      // Rows that repeat are rare where columns do not move, except in padding; those come from the copy below.
      input_->row(source, dst);
      const bool repeats = y + 1 < region.y + region.height && rows_[static_cast<size_t>(y + 1 - region.y)] == source;
      if (repeats) {
        for (int c = 0; c < channels; ++c) std::memcpy(cached_.row[c], dst.row[c], static_cast<size_t>(region.width));
        have_ = source;
      }
      return;
    }
    if (source != have_) {
      input_->row(source, cached_);
      have_ = source;
    }
    for (int c = 0; c < channels; ++c) {
      if (straight_) {
        std::memcpy(dst.row[c], cached_.row[c], static_cast<size_t>(region.width));
      } else {
        auto table = tables_.begin();
        for (const Run& run : runs_) {
          if (run.step == 0) {
            // Later runs overwrite samples that it writes past the run.
            kernels_.take(*table++, cached_.row[c], dst.row[c] + run.begin);
          } else {
            move(run, cached_.row[c], dst.row[c]);
          }
        }
      }
    }
  }

 private:
  // Columns [begin, begin + size) of the output, whose samples lie `step` apart, or anywhere when step is 0.
  struct Run {
    int begin;
    int size;
    int step;
  };
  // Shorter ones are not worth their calls.
  static constexpr int kShortest = 16;

  // Mirrored images are one long run, reflected borders a few; a resize has none.
  void find_runs() {
    for (int x = 0, end = 0; x < region.width; x = end) {
      const auto column = [&](int k) { return columns_[static_cast<size_t>(k)]; };
      const int step = x + 1 < region.width ? column(x + 1) - column(x) : 0;
      for (end = x + 1; end < region.width && column(end) - column(end - 1) == step;) ++end;
      const bool runs = std::abs(step) == 1 && end - x >= kShortest;
      if (!runs && !runs_.empty() && runs_.back().step == 0) {
        runs_.back().size += end - x;
      } else {
        runs_.push_back({x, end - x, runs ? step : 0});
      }
    }
    for (const Run& run : runs_) {
      const std::span columns(columns_);
      if (run.step == 0)
        tables_.emplace_back(columns.subspan(static_cast<size_t>(run.begin), static_cast<size_t>(run.size)));
    }
  }

  void move(const Run& run, const uint8_t* from, uint8_t* to) const {
    const int32_t* columns = columns_.data() + run.begin;
    if (run.step == 1) {
      std::memcpy(to + run.begin, from + columns[0], static_cast<size_t>(run.size));
    } else {
      kernels_.reverse(from + columns[run.size - 1], run.size, to + run.begin);
    }
  }

  const Kernels& kernels_;
  Stage* input_;
  std::vector<int32_t> rows_;
  std::vector<int32_t> columns_;
  std::vector<Run> runs_;
  std::vector<TakeTable> tables_;  // of the runs whose step is 0, in their order
  bool straight_ = false;
  int have_ = -1;
  Planes cached_;
};

class ResampleRowStage final : public Stage {
 public:
  ResampleRowStage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region wanted)
      : kernels_(context.kernels),
        input_(input),
        table_(std::move(table)),
        source_(make_planes(context.arena, input->region.width)) {
    region = wanted;
    channels = input->channels;
    in_order = input->in_order;
    const Planes shifted = offset(source_, table_->source_begin - input->region.x);
    for (int c = 0; c < kMaxChannels; ++c) read_[c] = shifted.row[c];
  }

  void row(int y, const Planes& dst) override {
    input_->row(y, source_);
    kernels_.resample_row(table_->row, read_, dst.row, channels);
  }

 private:
  const Kernels& kernels_;
  Stage* input_;
  std::shared_ptr<const AxisTable> table_;
  Planes source_;
  const uint8_t* read_[kMaxChannels];
};

// The same from pixels that lie interleaved, for filters of many taps.
class ResamplePixelsStage final : public Stage {
 public:
  ResamplePixelsStage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region wanted)
      : kernels_(context.kernels), input_(input), table_(std::move(table)) {
    region = wanted;
    channels = input->channels;
    in_order = input->in_order;
    // Behind the last channel of the last pixel there may be nothing, but kernels read beyond it.
    const ptrdiff_t stride = input->pixel_stride;
    size_ = static_cast<size_t>(stride * (input->region.width - 1) + channels);
    source_ = context.arena.bytes(size_ + kRowPad);
    begin_ = source_ + stride * (table_->source_begin - input->region.x);
  }

  static bool takes(const Stage& input, const AxisTable& table) {
    return input.pixel_stride > 0 && input.channels > 2 && table.pixels.out > 0;
  }

  void row(int y, const Planes& dst) override {
    std::memcpy(source_, input_->pixels(y), size_);
    const uint8_t* next = y + 1 < input_->region.y + input_->region.height ? input_->pixels(y + 1) : nullptr;
    kernels_.resample_pixels(table_->pixels, begin_, next, input_->pixel_stride, dst.row, channels);
  }

 private:
  const Kernels& kernels_;
  Stage* input_;
  std::shared_ptr<const AxisTable> table_;
  uint8_t* source_;  // a row of the input
  size_t size_;
  const uint8_t* begin_;
};

class ResampleColumnStage final : public Stage {
 public:
  ResampleColumnStage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region wanted)
      : kernels_(context.kernels), input_(input), table_(std::move(table)) {
    region = wanted;
    channels = input->channels;
    in_order = true;
    const Taps& taps = table_->taps;
    // Weights of zero are cut off the ends of a filter, so the next row's may begin before this one's.
    oldest_.resize(static_cast<size_t>(taps.out));
    for (int k = taps.out, oldest = INT32_MAX; k-- > 0;) {
      oldest = std::min(oldest, taps.first[k]);
      oldest_[static_cast<size_t>(k)] = oldest;
    }
    int most = 1;
    for (int k = 0, end = 0; k < taps.out; ++k) {
      end = std::max(end, taps.first[k] + taps.count[k]);
      most = std::max(most, end - oldest_[static_cast<size_t>(k)]);
    }
    ring_.resize(static_cast<size_t>(most));
    for (Planes& planes : ring_) planes = make_planes(context.arena, region.width);
    rows_.resize(static_cast<size_t>(most));
    next_ = 0;
  }

  void row(int y, const Planes& dst) override {
    const Taps& taps = table_->taps;
    const int k = y - region.y;
    const int first = taps.first[k];
    const int count = taps.count[k];
    const int size = static_cast<int>(ring_.size());
    next_ = std::max(next_, oldest_[static_cast<size_t>(k)]);
    for (; next_ < first + count; ++next_) {
      input_->row(next_ + table_->source_begin, ring_[static_cast<size_t>(next_ % size)]);
    }
    for (int c = 0; c < channels; ++c) {
      for (int t = 0; t < count; ++t)
        rows_[static_cast<size_t>(t)] = ring_[static_cast<size_t>((first + t) % size)].row[c];
      kernels_.resample_column(rows_.data(), taps.weights(k), count, taps.bits, region.width, dst.row[c]);
    }
  }

 private:
  const Kernels& kernels_;
  Stage* input_;
  std::shared_ptr<const AxisTable> table_;
  std::vector<Planes> ring_;  // input row r lies in ring_[r % size], r relative to the table's source_begin
  std::vector<const uint8_t*> rows_;
  std::vector<int> oldest_;  // first input row that this output row or a later one needs
  int next_;                 // first input row that has not been read
};

class PointwiseStage final : public Stage {
 public:
  PointwiseStage(Context& context, Stage* input, const Step* ops, const float* means, int count, int out_channels,
                 bool floats)
      : kernel_(floats ? context.kernels.pointwise_float : context.kernels.pointwise),
        input_(input),
        ops_(bare_ops(context.arena, ops, count)),
        means_(means),
        count_(count) {
    region = input->region;
    channels = out_channels;
    in_order = input->in_order;
  }

  void row(int y, const Planes& dst) override {
    input_->row(y, dst);
    kernel_(ops_, means_, count_, input_->channels, dst.row, region.width);
  }

 private:
  decltype(Kernels::pointwise) kernel_;
  Stage* input_;
  const Op* ops_;
  const float* means_;
  int count_;
};

}  // namespace

Planes make_planes(Arena& arena, int width) {
  // Rows end on a 64-byte boundary plus the pad; a little more keeps equal columns of the planes out of the same cache
  // set.
  const size_t stride = (static_cast<size_t>(width) + kRowPad + 63) / 64 * 64 + 64;
  uint8_t* base = arena.bytes(kMaxChannels * stride);
  Planes planes;
  for (int c = 0; c < kMaxChannels; ++c) planes.row[c] = base + static_cast<size_t>(c) * stride;
  return planes;
}

Op* bare_ops(Arena& arena, const Step* steps, int count) {
  Op* ops = reinterpret_cast<Op*>(arena.bytes(static_cast<size_t>(count) * sizeof(Op)));
  std::uninitialized_copy_n(steps, count, ops);
  return ops;
}

Stage* source_stage(Context& context, const View& view, Region region, const uint8_t* const* rows) {
  return context.arena.make<SourceStage>(context, view, region, rows);
}

Stage* window_stage(Context& context, Stage* input, const Op& op, Shape in, Region region) {
  return context.arena.make<WindowStage>(input, op, in, region);
}

Stage* index_stage(Context& context, Stage* input, const std::vector<int32_t>& rows,
                   const std::vector<int32_t>& columns, Region region) {
  return context.arena.make<IndexStage>(context, input, rows, columns, region);
}

Stage* resample_row_stage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region region) {
  if (ResamplePixelsStage::takes(*input, *table)) {
    return context.arena.make<ResamplePixelsStage>(context, input, std::move(table), region);
  }
  return context.arena.make<ResampleRowStage>(context, input, std::move(table), region);
}

Stage* resample_column_stage(Context& context, Stage* input, std::shared_ptr<const AxisTable> table, Region region) {
  return context.arena.make<ResampleColumnStage>(context, input, std::move(table), region);
}

Stage* pointwise_stage(Context& context, Stage* input, const Step* ops, const float* means, int count, int out_channels,
                       bool floats) {
  return context.arena.make<PointwiseStage>(context, input, ops, means, count, out_channels, floats);
}

}  // namespace fastaug
