#include "execute/store.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "execute/patches.h"

namespace fastaug {
namespace {

template <class Sample>
void scatter_as(const Sample* src, int width, ptrdiff_t stride, uint8_t* dst) {
  for (int x = 0; x < width; ++x, dst += stride) std::memcpy(dst, src + x, sizeof(Sample));
}

// Samples of one channel into pixels that lie `stride` bytes apart.
void scatter(const void* src, size_t size, int width, ptrdiff_t stride, uint8_t* dst) {
  if (size == sizeof(uint32_t)) return scatter_as(static_cast<const uint32_t*>(src), width, stride, dst);
  scatter_as(static_cast<const uint16_t*>(src), width, stride, dst);
}

class ByteRows {
 public:
  ByteRows(Context& context, const Target& target, const StorePlan& plan, const FusedOps&, int channels)
      : kernels_(context.kernels), target_(target), hflip_(plan.hflip), channels_(channels) {
    scratch_ = make_planes(context.arena, target.width);
    packed_ = target.channel_stride == 1 && target.pixel_stride <= kMaxChannels &&
              (target.pixel_stride == target.channels || (target.fill_gaps && target.pixel_stride > target.channels));
  }

  void row(int y, const Planes& planes) {
    if (packed_) return packed_row(planes, target_.at(y, 0, 0));
    for (int c = 0; c < channels_; ++c) plane(planes.row[c], target_.at(y, 0, c));
  }

 private:
  void plane(const uint8_t* src, uint8_t* dst) {
    const int width = target_.width;
    if (target_.pixel_stride == 1) {
      if (hflip_) {
        kernels_.reverse(src, width, dst);
      } else {
        std::memcpy(dst, src, static_cast<size_t>(width));
      }
      return;
    }
    for (int x = 0; x < width; ++x, dst += target_.pixel_stride) *dst = src[hflip_ ? width - 1 - x : x];
  }

  void packed_row(const Planes& planes, uint8_t* dst) {
    const uint8_t* row[kMaxChannels];
    for (int c = 0; c < channels_; ++c) {
      row[c] = planes.row[c];
      if (hflip_) {
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
  bool hflip_;
  int channels_;
  bool packed_;
  Planes scratch_;
};

// Rows of float32, plane by plane, on their way into the target: there at once where it is planar float32. Else they
// may have to be interleaved, narrowed to 16 bits, and at last cut into patches or, for strides that are neither,
// scattered.
class FloatTarget {
 public:
  FloatTarget(Context& context, const Target& target)
      : kernels_(context.kernels), target_(target), channels_(target.channels) {
    const ptrdiff_t size = size_of(target.dtype);
    narrow_ = target.dtype != DType::kFloat32;
    const bool cut = target.patches.side != 0;
    planar_ = target.pixel_stride == size;
    interleaved_ =
        !planar_ && channels_ > 1 && target.channel_stride == size && target.pixel_stride == channels_ * size;
    far_ = planar_ && !cut && int64_t{target.height} * target.width * target.channels * size >= kFar;
    const auto width = static_cast<size_t>(target.width);
    if (narrow_ || !planar_) {
      for (int c = 0; c < channels_; ++c) floats_[c] = floats(context.arena, width);
    }
    if (interleaved_ && narrow_) pixels_ = floats(context.arena, width * static_cast<size_t>(channels_));
    if (!interleaved_ && !planar_ && narrow_) halves_ = reinterpret_cast<uint16_t*>(context.arena.bytes(width * 2));
    if (!cut) return;
    if (interleaved_) {
      patches_.emplace(context.arena, target, 1, target.width * channels_);
    } else {
      patches_.emplace(context.arena, target, channels_, target.width);
    }
  }

  // Asks for the lines of row y, where there is one that is not likely to be in a cache: a plane's row may begin on
  // another page than the last one ended on, and no hardware prefetcher crosses that. To ask for lines to read is
  // faster than to ask for lines to write.
  void ask(int y) const {
    if (!far_ || y < 0 || y >= target_.height) return;
    const ptrdiff_t bytes = target_.pixel_stride * target_.width;
    for (int c = 0; c < channels_; ++c) {
      const uint8_t* row = target_.at(y, 0, c);
      for (ptrdiff_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at, 0, 2);
    }
  }

  // The addresses of the planes of row y in the target.
  void begin(int y, float** to) const {
    for (int c = 0; c < channels_; ++c) {
      to[c] = floats_[c] != nullptr ? floats_[c] : reinterpret_cast<float*>(row_of(y, c));
    }
  }

  // They are.
  void end(int y, float* const* to) {
    if (interleaved_) {
      interleave(to, row_of(y, 0));
    } else if (floats_[0] != nullptr) {
      for (int c = 0; c < channels_; ++c) plane(to[c], row_of(y, c));
    }
    if (patches_) patches_->done(y);
  }

 private:
  // Targets of fewer bytes stay in the second-level cache from call to call.
  static constexpr int64_t kFar = int64_t{1} << 20;
  static constexpr ptrdiff_t kLine = 64;

  static float* floats(Arena& arena, size_t count) {
    return reinterpret_cast<float*>(arena.bytes(count * sizeof(float)));
  }

  void interleave(const float* const* planes, uint8_t* dst) {
    float* to = narrow_ ? pixels_ : reinterpret_cast<float*>(dst);
    kernels_.interleave_float(planes, channels_, target_.width, to);
    if (narrow_) kernels_.narrow(target_.dtype, to, target_.width * channels_, reinterpret_cast<uint16_t*>(dst));
  }

  // Where row y of channel c lies, in the target or, until they are cut, with others of its patches.
  uint8_t* row_of(int y, int c) const { return patches_ ? patches_->row(y, c) : target_.at(y, 0, c); }

  // One channel to where its pixels do not lie side by side, or are not float32.
  void plane(const float* src, uint8_t* dst) {
    if (!narrow_) return scatter(src, sizeof(float), target_.width, target_.pixel_stride, dst);
    uint16_t* to = planar_ ? reinterpret_cast<uint16_t*>(dst) : halves_;
    kernels_.narrow(target_.dtype, src, target_.width, to);
    if (!planar_) scatter(to, sizeof(uint16_t), target_.width, target_.pixel_stride, dst);
  }

  const Kernels& kernels_;
  const Target& target_;
  int channels_;
  bool narrow_;
  bool planar_;
  bool interleaved_;
  bool far_;
  std::optional<PatchBand> patches_;
  float* floats_[kMaxChannels] = {};  // planes of a row that cannot go to the target at once
  float* pixels_ = nullptr;           // the same row interleaved
  uint16_t* halves_ = nullptr;        // one plane of it, narrowed
};

// Rows of bytes to floats.
class FloatRows {
 public:
  FloatRows(Context& context, const Target& target, const StorePlan& plan, const FusedOps& fused, int in_channels)
      : kernels_(context.kernels),
        out_(context, target),
        width_(target.width),
        hflip_(plan.hflip),
        vflip_(plan.vflip),
        fused_(fused),
        normalize_(plan.normalize),
        in_channels_(in_channels),
        channels_(target.channels) {
    kernels_.prepare_store(channels_, &normalize_);
  }

  void row(int y, const Planes& planes) {
    float* to[kMaxChannels];
    out_.ask(vflip_ ? y - 1 : y + 1);
    out_.begin(y, to);
    convert(planes, to);
    out_.end(y, to);
  }

 private:
  void convert(const Planes& planes, float* const* to) {
    if (fused_.count > 0) {
      kernels_.pointwise_store(normalize_, fused_.ops, fused_.means, fused_.count, in_channels_, planes.row, width_,
                               hflip_, to);
      return;
    }
    for (int c = 0; c < channels_; ++c) {
      kernels_.store_float(normalize_, c, planes.row[c], width_, hflip_, to[c]);
    }
  }

  const Kernels& kernels_;
  FloatTarget out_;
  const int width_;
  const bool hflip_;
  const bool vflip_;
  const FusedOps& fused_;
  FloatStore normalize_;
  int in_channels_;
  int channels_;
};

// Rows of floats, moved and normalised.
class MovedFloats {
 public:
  MovedFloats(Context& context, const View& source, const BlitMap& map, const Target& target, const FloatStore& store)
      : kernels_(context.kernels),
        out_(context, target),
        source_(source),
        map_(map),
        store_(store),
        width_(static_cast<size_t>(target.width)),
        interleaved_(source.channels > 1 && source.channel_stride == kFloat &&
                     source.pixel_stride == source.channels * kFloat) {
    for (int c = 0; c < source.channels; ++c) kernels_.move_floats(store_, c, &kZero, 1, false, &fill_[c]);
    find_run();
    if (gathers_ || source.pixel_stride != kFloat) {
      const auto count = gathers_ ? width_ : end_ - begin_;
      for (int c = 0; c < source.channels; ++c) {
        moved_[c] = reinterpret_cast<float*>(context.arena.bytes(count * sizeof(float)));
      }
    }
  }

  void row(int y) {
    float* to[kMaxChannels];
    out_.begin(y, to);
    const int32_t from = map_.down[static_cast<size_t>(y)];
    const bool shown = from >= 0 && begin_ < end_;
    const float* rows[kMaxChannels];
    if (shown) read(from, rows);
    for (int c = 0; c < source_.channels; ++c) {
      if (!shown) {
        std::fill_n(to[c], width_, fill_[c]);
        continue;
      }
      std::fill_n(to[c], begin_, fill_[c]);
      kernels_.move_floats(store_, c, rows[c], static_cast<int>(end_ - begin_), reversed_, to[c] + begin_);
      std::fill_n(to[c] + end_, width_ - end_, fill_[c]);
    }
    out_.end(y, to);
  }

 private:
  static constexpr ptrdiff_t kFloat = sizeof(float);
  static constexpr float kZero = 0.0f;

  // Columns [begin_, end_) show the source; pixels that are neighbours in it, in one direction, unless gathers_.
  void find_run() {
    const BlitIndex& across = map_.across;
    while (begin_ < width_ && across[begin_] < 0) ++begin_;
    end_ = width_;
    while (end_ > begin_ && across[end_ - 1] < 0) --end_;
    const int32_t step = end_ - begin_ > 1 && across[begin_ + 1] < across[begin_] ? -1 : 1;
    for (size_t x = begin_ + 1; x < end_; ++x)
      gathers_ = gathers_ || across[x] != across[x - 1] + step || across[x] < 0;
    reversed_ = step < 0 && !gathers_;
    if (gathers_) {
      begin_ = 0;
      end_ = width_;
    } else if (begin_ < end_) {
      first_ = std::min(across[begin_], across[end_ - 1]);
    }
  }

  // Planes of columns [begin_, end_), not yet reversed, of a row of the source.
  void read(int32_t from, const float** rows) {
    for (int c = 0; c < source_.channels; ++c) {
      rows[c] = moved_[c] != nullptr ? moved_[c] : reinterpret_cast<const float*>(source_.at(from, first_, c));
    }
    if (moved_[0] == nullptr) return;
    if (interleaved_ && !gathers_) {
      kernels_.deinterleave_float(reinterpret_cast<const float*>(source_.at(from, first_, 0)), source_.channels,
                                  static_cast<int>(end_ - begin_), moved_);
      return;
    }
    for (int c = 0; c < source_.channels; ++c) {
      for (size_t x = begin_; x < end_; ++x) {
        const int32_t column = gathers_ ? map_.across[x] : first_ + static_cast<int32_t>(x - begin_);
        if (column < 0) {
          moved_[c][x - begin_] = 0.0f;
        } else {
          std::memcpy(moved_[c] + (x - begin_), source_.at(from, column, c), sizeof(float));
        }
      }
    }
  }

  const Kernels& kernels_;
  FloatTarget out_;
  const View& source_;
  const BlitMap& map_;
  const FloatStore& store_;
  const size_t width_;
  const bool interleaved_;
  size_t begin_ = 0;
  size_t end_ = 0;
  int32_t first_ = 0;  // the leftmost column of the source that shows
  bool reversed_ = false;
  bool gathers_ = false;
  float fill_[kMaxChannels] = {};    // what zero becomes
  float* moved_[kMaxChannels] = {};  // planes of a row that cannot be read where they lie
};

template <class Sample>
void fill_region(const Target& target, Region region, int c, Sample value) {
  for (int y = region.y; y < region.y + region.height; ++y) {
    uint8_t* dst = target.at(y, region.x, c);
    if (target.pixel_stride == sizeof(Sample)) {
      std::fill_n(reinterpret_cast<Sample*>(dst), region.width, value);
    } else {
      for (int x = 0; x < region.width; ++x, dst += target.pixel_stride) std::memcpy(dst, &value, sizeof value);
    }
  }
}

void erase(const Kernels& kernels, const Target& target, const Erase& op) {
  for (int c = 0; c < target.channels; ++c) {
    if (target.dtype == DType::kFloat32) {
      fill_region(target, op.region, c, op.value[c]);
    } else {
      uint16_t value;
      kernels.narrow(target.dtype, &op.value[c], 1, &value);
      fill_region(target, op.region, c, value);
    }
  }
}

template <class Store>
void pull(Context& context, Stage* input, const Target& target, const StorePlan& plan, const FusedOps& fused) {
  Store store(context, target, plan, fused, input->channels);
  const Planes planes = make_planes(context.arena, target.width);
  for (int y = 0; y < target.height; ++y) {
    input->row(y, planes);
    store.row(plan.vflip ? target.height - 1 - y : y, planes);
  }
}

}  // namespace

void store_rows(Context& context, Stage* input, const Target& target, const StorePlan& plan, const FusedOps& fused) {
  if (target.dtype == DType::kUint8) return pull<ByteRows>(context, input, target, plan, fused);
  pull<FloatRows>(context, input, target, plan, fused);
  for (const Erase& op : plan.erases) erase(context.kernels, target, op);
}

void store_floats(Context& context, const View& source, const BlitMap& map, const Target& target,
                  const StorePlan& plan) {
  MovedFloats rows(context, source, map, target, plan.normalize);
  for (int y = 0; y < target.height; ++y) rows.row(y);
  for (const Erase& op : plan.erases) erase(context.kernels, target, op);
}

}  // namespace fastaug
