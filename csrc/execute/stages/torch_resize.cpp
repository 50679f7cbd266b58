// TORCH_RESIZE: bands of rows are filtered along themselves into floats, of which a ring is kept for the pass down.
#include <algorithm>
#include <cstdint>

#include "execute/stages/stages.h"

namespace fastaug {
namespace {

class TorchResizeStage final : public Stage {
 public:
  TorchResizeStage(Context& context, Stage* input, std::shared_ptr<const FloatAxisTable> down,
                   std::shared_ptr<const FloatAxisTable> across, Region wanted)
      : kernels_(context.kernels), input_(input), down_(std::move(down)), across_(std::move(across)) {
    region = wanted;
    channels = input->channels;
    in_order = true;
    skipped_ = across_->source_begin - input->region.x;
    samples_ = across_->source_end - across_->source_begin;
    end_ = down_->source_end - down_->source_begin;
    const FloatTaps& taps = down_->taps;
    // Rows that a band reads ahead must not overwrite the first row that is still needed.
    int most = 1;
    for (int k = 0; k < taps.out; ++k) most = std::max(most, taps.count[static_cast<size_t>(k)]);
    const int band = std::min(kTorchRows, end_);
    ring_ = std::min(most + band - 1, end_);
    stride_ = (static_cast<size_t>(region.width) + kFloatPad + 15) / 16 * 16;
    if (stride_ % 256 == 0) stride_ += 16;  // equal columns of all rows would share a few sets of the cache
    floats_ = floats(context, static_cast<size_t>(ring_) * static_cast<size_t>(channels) * stride_);
    scratch_ = floats(context, static_cast<size_t>(kTorchRows) * static_cast<size_t>(samples_ + kFloatPad));
    for (int k = 0; k < band; ++k) band_[k] = make_planes(context.arena, input->region.width);
    rows_.resize(static_cast<size_t>(most));
  }

  void row(int y, const Planes& dst) override {
    const FloatTaps& taps = down_->taps;
    const int k = y - region.y;
    const int first = taps.first[static_cast<size_t>(k)];
    const int count = taps.count[static_cast<size_t>(k)];
    // Firsts do not decrease, so rows before this one's first are needed no more.
    next_ = std::max(next_, first);
    while (next_ < first + count) read_band();
    for (int c = 0; c < channels; ++c) {
      for (int t = 0; t < count; ++t) rows_[static_cast<size_t>(t)] = slot(first + t, c);
      kernels_.torch_resize_column(rows_.data(), taps.weights(k), count, region.width, dst.row[c]);
    }
  }

 private:
  static float* floats(Context& context, size_t count) {
    return reinterpret_cast<float*>(context.arena.bytes(count * sizeof(float)));
  }

  // Row y of the source that the taps count from.
  float* slot(int y, int c) const {
    return floats_ +
           (static_cast<size_t>(y % ring_) * static_cast<size_t>(channels) + static_cast<size_t>(c)) * stride_;
  }

  void read_band() {
    const int count = std::min(kTorchRows, end_ - next_);
    for (int k = 0; k < count; ++k) input_->row(down_->source_begin + next_ + k, band_[k]);
    for (int c = 0; c < channels; ++c) {
      const uint8_t* from[kTorchRows];
      float* to[kTorchRows];
      for (int k = 0; k < count; ++k) {
        from[k] = band_[k].row[c] + skipped_;
        to[k] = slot(next_ + k, c);
        if (across_->taps.same) kernels_.widen(from[k], samples_, to[k]);
      }
      if (!across_->taps.same) kernels_.torch_resize_rows(across_->taps, from, count, samples_, scratch_, to);
    }
    next_ += count;
  }

  const Kernels& kernels_;
  Stage* input_;
  std::shared_ptr<const FloatAxisTable> down_;
  std::shared_ptr<const FloatAxisTable> across_;
  int skipped_;  // columns of the input before those that the taps count from
  int samples_;
  int end_;   // rows that the taps read
  int ring_;  // rows that are kept
  int next_ = 0;
  size_t stride_;  // floats
  float* floats_;
  float* scratch_;
  Planes band_[kTorchRows];
  std::vector<const float*> rows_;
};

}  // namespace

Stage* torch_resize_stage(Context& context, Stage* input, std::shared_ptr<const FloatAxisTable> down,
                          std::shared_ptr<const FloatAxisTable> across, Region region) {
  return context.arena.make<TorchResizeStage>(context, input, std::move(down), std::move(across), region);
}

}  // namespace fastaug
