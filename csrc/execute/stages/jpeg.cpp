#include <cstring>

#include "codec/jpeg_filter.h"
#include "execute/stages/stages.h"

namespace fastaug {
namespace {

class JpegStage final : public Stage, private codec::jpeg::PlaneRows {
 public:
  JpegStage(Context& context, Stage* input, const Op& op, Shape in, Region wanted)
      : kernels_(context.kernels),
        input_(input),
        planes_(make_planes(context.arena, input->region.width)),
        filter_(*this, {input->region.height, input->region.width, input->channels},
                {wanted.y - input->region.y, wanted.x - input->region.x, wanted.height, wanted.width}, in.width,
                op.i[0], context.arena) {
    region = wanted;
    channels = input->channels;
    in_order = true;
  }

  void row(int y, const Planes& dst) override {
    const uint8_t* pixels = filter_.row(y - input_->region.y);
    if (channels == 1) {
      std::memcpy(dst.row[0], pixels, static_cast<size_t>(region.width));
    } else {
      kernels_.deinterleave(pixels, channels, channels, region.width, dst.row);
    }
  }

 private:
  void read(int y, uint8_t* const* planes) override {
    Planes to = planes_;  // of which the last may be of use to the input alone
    for (int c = 0; c < channels; ++c) to.row[c] = planes[c];
    input_->row(input_->region.y + y, to);
  }

  const Kernels& kernels_;
  Stage* input_;
  Planes planes_;
  codec::jpeg::Filter filter_;
};

}  // namespace

Stage* jpeg_stage(Context& context, Stage* input, const Op& op, Shape in, Region region) {
  return context.arena.make<JpegStage>(context, input, op, in, region);
}

}  // namespace fastaug
