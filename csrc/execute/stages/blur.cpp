#include "execute/stages/blur.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "plan/neighbourhood.h"

namespace fastaug {
namespace {

// Fills columns [0, begin) and [end, size) of a row from its samples in [begin, end), by reflection.
template <class T>
void reflect_row(T* row, int begin, int end, int size) {
  for (int k = 1; k <= begin; ++k) row[begin - k] = row[begin + k];
  for (int k = 0; k < size - end; ++k) row[end + k] = row[end - 2 - k];
}

class BlurStage final : public Stage {
 public:
  BlurStage(Context& context, Stage* input, const Op& op, Shape in, Region wanted)
      : kernels_(context.kernels), input_(input), weights_(op), kernel_(weights_.kernel()), height_(in.height) {
    region = wanted;
    channels = input->channels;
    in_order = true;
    const int half = kernel_.width / 2;
    const Extent columns = neighbourhood(region.x, region.width, half, in.width);
    // A padded row starts with column region.x - half of the image, and that after `lead` columns that are of no use.
    const int start = region.x - half;
    const int lead = std::max(start - input->region.x, 0);
    padded_ = region.width + 2 * half;
    begin_ = columns.begin - start;
    end_ = columns.end - start;
    write_ = input->region.x - start + lead;
    read_ = lead;
    const int room = std::max(lead + padded_, write_ + input->region.width);
    band_ = std::min(std::max(kBandSamples / region.width, kBandRows), region.height);
    ring_.resize(static_cast<size_t>(std::min(kernel_.height + band_ - 1, in.height)));
    for (Planes& planes : ring_) planes = make_planes(context.arena, room);
    for (auto& rows : rows_) rows.resize(static_cast<size_t>(kernel_.height + band_ - 1));
    done_.resize(static_cast<size_t>(band_));
    for (Planes& planes : done_) planes = make_planes(context.arena, region.width);
    const size_t most = static_cast<size_t>(channels) * static_cast<size_t>(band_) * static_cast<size_t>(region.width);
    samples_ = reinterpret_cast<BlurSample*>(context.arena.bytes(most * sizeof(BlurSample)));
    outs_.resize(static_cast<size_t>(band_));
    begin_band_ = end_band_ = region.y;
  }

  void row(int y, const Planes& dst) override {
    if (y >= end_band_) make_band(y);
    const Planes& done = done_[static_cast<size_t>(y - begin_band_)];
    for (int c = 0; c < channels; ++c) std::memcpy(dst.row[c], done.row[c], static_cast<size_t>(region.width));
  }

 private:
  // A band has at least so many rows, and samples if its rows are short.
  static constexpr int kBandRows = 8;
  static constexpr int kBandSamples = 4096;

  Planes& slot(int y) { return ring_[static_cast<size_t>(y) % ring_.size()]; }

  // Rows of output from y on: as many as it takes to find enough open samples that settling them together pays.
  void make_band(int y) {
    begin_band_ = y;
    end_band_ = std::min(y + band_, region.y + region.height);
    const int half = kernel_.height / 2;
    const Extent rows = neighbourhood(begin_band_, end_band_ - begin_band_, half, height_);
    for (next_ = std::max(next_, rows.begin); next_ < rows.end; ++next_) read_row(next_);
    const int count = end_band_ - begin_band_;
    int found = 0;
    for (int c = 0; c < channels; ++c) {
      for (int i = 0; i < count + kernel_.height - 1; ++i) {
        rows_[c][static_cast<size_t>(i)] = slot(reflect(begin_band_ - half + i, height_)).row[c] + read_;
      }
      for (int k = 0; k < count; ++k) outs_[static_cast<size_t>(k)] = done_[static_cast<size_t>(k)].row[c];
      found += kernels_.blur_rows(kernel_, rows_[c].data(), count, region.width, outs_.data(), samples_ + found);
    }
    kernels_.blur_samples(kernel_, samples_, found);
  }

  void read_row(int y) {
    const Planes& planes = slot(y);
    Planes shifted = planes;
    for (uint8_t*& row : shifted.row) row += write_;
    input_->row(y, shifted);
    for (int c = 0; c < channels; ++c) reflect_row(planes.row[c] + read_, begin_, end_, padded_);
  }

  const Kernels& kernels_;
  Stage* input_;
  BlurWeights weights_;
  BlurKernel kernel_;
  int height_;
  int padded_;  // samples that a row of output needs, with what is reflected
  int begin_;   // where the image's own samples are among them
  int end_;
  int write_;                 // where the input's columns begin in a buffer
  int read_;                  // and the padded row
  std::vector<Planes> ring_;  // input row y lies in slot(y)
  int next_ = 0;              // first input row that has not been read
  std::vector<const uint8_t*> rows_[kMaxChannels];
  int band_;  // rows of output that are made together
  int begin_band_;
  int end_band_;
  std::vector<Planes> done_;
  std::vector<uint8_t*> outs_;  // its rows of one channel
  BlurSample* samples_;         // that are open, of all of them
};

}  // namespace

Stage* blur_stage(Context& context, Stage* input, const Op& op, Shape in, Region region) {
  return context.arena.make<BlurStage>(context, input, op, in, region);
}

void blur_plane(const float* src, int height, int width, const BlurKernel& kernel, float* dst, const Kernels& kernels) {
  // Rows of output for which blur_float_rows is called once.
  constexpr int kBand = 6;
  const int half_height = kernel.height / 2;
  const int half_width = kernel.width / 2;
  const int padded = width + 2 * half_width;
  const size_t stride = static_cast<size_t>(padded) + kRowPad / sizeof(float);
  const int slots = std::min(kernel.height + kBand - 1, height);
  std::vector<float> ring(static_cast<size_t>(slots) * stride);
  std::vector<const float*> rows(static_cast<size_t>(kernel.height + kBand - 1));
  float* out[kBand];
  const auto slot = [&](int y) { return ring.data() + static_cast<size_t>(y % slots) * stride; };
  int next = 0;
  for (int y = 0; y < height; y += kBand) {
    const int count = std::min(kBand, height - y);
    for (const int end = neighbourhood(y, count, half_height, height).end; next < end; ++next) {
      float* row = slot(next);
      std::memcpy(row + half_width, src + static_cast<size_t>(next) * static_cast<size_t>(width),
                  static_cast<size_t>(width) * sizeof(float));
      reflect_row(row, half_width, half_width + width, padded);
    }
    for (int i = 0; i < kernel.height + count - 1; ++i) {
      rows[static_cast<size_t>(i)] = slot(reflect(y - half_height + i, height));
    }
    for (int k = 0; k < count; ++k) out[k] = dst + static_cast<size_t>(y + k) * static_cast<size_t>(width);
    kernels.blur_float_rows(kernel, rows.data(), count, width, out);
  }
}

}  // namespace fastaug
