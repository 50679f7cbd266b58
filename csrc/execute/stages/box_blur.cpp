#include "pixel/box_blur.h"

#include <algorithm>
#include <cstring>

#include "execute/stages/stages.h"

namespace fastaug {
namespace {

class BoxBlurStage final : public Stage {
 public:
  BoxBlurStage(Context& context, Stage* input, const Op& op, Region wanted)
      : context_(context), input_(input), across_(box_blur(op, false)), down_(box_blur(op, true)) {
    region = wanted;
    channels = input->channels;
  }

  void row(int y, const Planes& dst) override {
    if (stride_ == 0) make_all();
    const ptrdiff_t offset = (y - input_->region.y) * stride_ + (region.x - input_->region.x);
    for (int c = 0; c < channels; ++c) {
      std::memcpy(dst.row[c], planes_.row[c] + offset, static_cast<size_t>(region.width));
    }
  }

 private:
  // Where the input was cut off inside the image, its border repeats instead of what was there. That is seen as far as
  // the blur reaches, and so much more of the input there is.
  void make_all() {
    const Region in = input_->region;
    stride_ = (ptrdiff_t{in.width} + kRowPad + 63) / 64 * 64;
    const ptrdiff_t rows = (ptrdiff_t{in.height} + kBoxRows - 1) / kBoxRows * kBoxRows;
    for (int c = 0; c < channels; ++c) planes_.row[c] = context_.arena.bytes(static_cast<size_t>(rows * stride_));
    Planes to = make_planes(context_.arena, in.width);  // of which the last may be of use to the input alone
    for (int y = 0; y < in.height; ++y) {
      for (int c = 0; c < channels; ++c) to.row[c] = planes_.row[c] + y * stride_;
      input_->row(in.y + y, to);
    }
    const int line = (std::max(in.width, in.height) + kBoxRows - 1) / kBoxRows * kBoxRows;
    uint8_t* scratch = context_.arena.bytes(2 * size_t{kBoxLanes} * static_cast<size_t>(line));
    const Kernels& kernels = context_.kernels;
    for (int c = 0; c < channels; ++c) {
      if (!across_.is_nothing()) {
        kernels.box_blur_across(across_, planes_.row[c], stride_, in.height, in.width, scratch);
      }
      if (!down_.is_nothing()) {
        kernels.box_blur_down(down_, planes_.row[c], stride_, in.height, in.width, scratch);
      }
    }
  }

  Context& context_;
  Stage* input_;
  BoxBlur across_;
  BoxBlur down_;
  Planes planes_;  // of the input's region, once they are made
  ptrdiff_t stride_ = 0;
};

}  // namespace

Stage* box_blur_stage(Context& context, Stage* input, const Op& op, Region region) {
  return context.arena.make<BoxBlurStage>(context, input, op, region);
}

}  // namespace fastaug
