#include "core/store.h"

#include <cstring>

namespace fastaug {
namespace {

class Store {
 public:
  Store(Context& context, const Target& target, const StoreOptions& options, int channels)
      : kernels_(context.kernels), target_(target), options_(options), channels_(channels) {
    scratch_ = make_planes(context.arena, target.width);
    if (target.dtype == DType::kFloat32 && target.pixel_stride != sizeof(float)) {
      floats_ = reinterpret_cast<float*>(context.arena.bytes(static_cast<size_t>(target.width) * sizeof(float)));
    }
    packed_ = target.dtype == DType::kUint8 && target.channel_stride == 1 && target.pixel_stride <= kMaxChannels &&
              (target.pixel_stride == target.channels || (target.fill_gaps && target.pixel_stride > target.channels));
  }

  void row(int y, const Planes& planes) {
    const int out_y = options_.vflip ? target_.height - 1 - y : y;
    auto* base = static_cast<uint8_t*>(target_.data) + out_y * target_.row_stride;
    if (target_.dtype == DType::kFloat32) {
      for (int c = 0; c < channels_; ++c) float_plane(c, planes.row[c], base + c * target_.channel_stride);
    } else if (packed_) {
      packed_row(planes, base);
    } else {
      for (int c = 0; c < channels_; ++c) byte_plane(planes.row[c], base + c * target_.channel_stride);
    }
  }

 private:
  void float_plane(int c, const uint8_t* src, uint8_t* dst) {
    const int width = target_.width;
    if (target_.pixel_stride == sizeof(float)) {
      kernels_.store_float(options_.normalize, c, src, width, options_.hflip, reinterpret_cast<float*>(dst));
      return;
    }
    kernels_.store_float(options_.normalize, c, src, width, options_.hflip, floats_);
    for (int x = 0; x < width; ++x, dst += target_.pixel_stride) std::memcpy(dst, floats_ + x, sizeof(float));
  }

  void byte_plane(const uint8_t* src, uint8_t* dst) {
    const int width = target_.width;
    if (target_.pixel_stride == 1) {
      if (options_.hflip) {
        kernels_.reverse(src, width, dst);
      } else {
        std::memcpy(dst, src, static_cast<size_t>(width));
      }
      return;
    }
    for (int x = 0; x < width; ++x, dst += target_.pixel_stride) *dst = src[options_.hflip ? width - 1 - x : x];
  }

  void packed_row(const Planes& planes, uint8_t* dst) {
    const uint8_t* row[kMaxChannels];
    for (int c = 0; c < channels_; ++c) {
      row[c] = planes.row[c];
      if (options_.hflip) {
        kernels_.reverse(planes.row[c], target_.width, scratch_.row[c]);
        row[c] = scratch_.row[c];
      }
    }
    if (channels_ == 2 && target_.channels == 4) {  // Pillow's LA
      row[3] = row[1];
      row[1] = row[2] = row[0];
    }
    kernels_.interleave(row, target_.channels, static_cast<int>(target_.pixel_stride), target_.width, dst);
  }

  const Kernels& kernels_;
  const Target& target_;
  const StoreOptions& options_;
  int channels_;
  bool packed_ = false;
  Planes scratch_;
  float* floats_ = nullptr;
};

}  // namespace

void store_rows(Context& context, Stage* input, const Target& target, const StoreOptions& options) {
  Store store(context, target, options, input->channels);
  const Planes planes = make_planes(context.arena, target.width);
  for (int y = 0; y < target.height; ++y) {
    input->row(y, planes);
    store.row(y, planes);
  }
}

}  // namespace fastaug
