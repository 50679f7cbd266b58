// An image without pixels, and the ops that are still to be done to it: fastaug._draft.draft.Draft, and ImageDraft of
// fastaug._draft.leaf, for what is plain.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "program/program.h"
#include "recipe/matrices.h"

namespace fastaug {

// What holds an image.
enum class Container : uint8_t { kPil, kArray, kTensor };

// An image that comes in: of 1 or 3 channels of 8 bits, and neither empty nor of 2^31 pixels or more. A tensor is one
// image, contiguous.
struct Outline {
  Container container = Container::kPil;
  Shape shape{};
  bool pillow = false;  // uint8 tensors are computed by Pillow's rules
  bool v2 = false;      // tensors are computed as torchvision.transforms.v2 does
  bool tagged = false;  // a tensor is of tv_tensors' class of images
};

// The colour of what lies outside an image, for images of one channel and of three; nothing where Python is to say what
// it means.
struct Fill {
  using Bytes = std::array<uint8_t, kMaxChannels>;
  std::optional<Bytes> gray{};
  std::optional<Bytes> rgb{};
  bool pads_tensors = false;  // an int from 0 to 255, or none

  const std::optional<Bytes>& of(int channels) const { return channels == 1 ? gray : rgb; }
};

// By a colour, if nothing.
using Padding = std::optional<PadMode>;

struct Sides {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;

  bool operator==(const Sides&) const = default;
};

// A resize to `height` and `width`, or, where `height` is 0, to a shorter side of `width` and a longer one of at most
// `most`, if that is not 0.
struct Size {
  int64_t height = 0;
  int64_t width = 0;
  int64_t most = 0;

  PlaneSize of(PlaneSize image) const;
};

// How a resize samples.
struct Resample {
  int filter = 0;         // Pillow's number
  uint16_t flags = 0;     // of RESIZE, beside it
  bool exact = false;     // a filter 0 is "nearest-exact"
  bool antialias = true;  // of tensors
  bool warns = false;     // torchvision warns of what is said of antialiasing, but for tensors
};

// An op whose operands are all zero.
inline Op plain(OpId id, uint16_t flags = 0) {
  Op op{};
  op.id = id;
  op.flags = flags;
  return op;
}

// Nothing is said of a method that does what its namesake of Python's Draft does. What is not plain, an error or a
// warning among it, makes the sketch `declined`, and what else is in it does not count any more.
class Sketch {
 public:
  explicit Sketch(const Outline& outline)
      : source_(outline.container),
        container_(outline.container),
        shape_(outline.shape),
        pillow_(outline.pillow),
        v2_(outline.v2),
        tagged_(outline.tagged) {}
  Sketch(const Sketch&) = delete;
  Sketch& operator=(const Sketch&) = delete;

  int height() const { return shape_.height; }
  int width() const { return shape_.width; }
  int channels() const { return shape_.channels; }
  const Shape& shape() const { return shape_; }
  Container container() const { return container_; }
  bool declined() const { return declined_; }
  void decline() { declined_ = true; }

  // Those of pixels, then those of the store.
  Program program() const { return {ops_.data(), static_cast<size_t>(count_)}; }
  bool gives_floats() const { return stored_ > 0; }
  // A tensor of bytes whose result is a view of pixels side by side.
  bool channel_last() const { return channel_last_; }
  // A tensor that is to be of tv_tensors' class of images.
  bool tagged() const { return tagged_; }
  // Whether one job makes the result: it is neither the image itself nor one move of Pillow's or torch's.
  bool is_job() const;

  void hflip();
  void vflip();
  void crop(int64_t top, int64_t left, int64_t height, int64_t width);
  void center_crop(int64_t height, int64_t width);
  void pad(Sides sides, const Fill& fill, Padding mode);
  void resize(const Size& size, const Resample& by);
  void rotate(double angle, int filter, bool expand, std::optional<Vec2> center, const Fill& fill);
  void affine(double angle, Vec2 translate, double scale, Vec2 shear, int filter, std::optional<Vec2> center,
              const Fill& fill);
  // Whether a warp is done here.
  bool warps(int filter, const Fill& fill) const;
  void perspective(const double (&coefficients)[8], int filter, const Fill& fill);

  void adjust_brightness(double factor);
  void adjust_contrast(double factor);
  void adjust_saturation(double factor);
  void adjust_hue(double factor);
  void adjust_sharpness(double factor);
  void grayscale(int channels);
  void invert();
  void posterize(int64_t bits);
  void solarize(double threshold, bool is_float);
  void autocontrast();
  void equalize();
  // Whether a kernel of that size can be applied here.
  bool blurs(int kernel_width, int kernel_height) const;
  void blur(const Op& op);

  void to_float();
  void to_uint8_tensor();
  // v2's ToImage and ToPureTensor.
  void to_image();
  void to_pure_tensor() { tagged_ = false; }
  void to_pil();
  // To float32, or to uint8.
  void convert_dtype(bool to_floats);
  void normalize(const Op& op);
  void erase(int top, int left, int height, int width, const double (&values)[kMaxChannels]);

 private:
  // What Pillow or torch may do by itself if there is nothing else to do.
  enum class First : uint8_t { kNone, kCrop, kOther };

  // Ops before a draft of Python's is done so far.
  static constexpr int kMost = kMaxOps / 2;

  // Whether bytes are what there is so far; and whether pixels can still be moved.
  bool native() const { return stored_ == 0; }
  bool takes_moves() const { return erases_ == 0; }
  bool by_torch() const { return container_ == Container::kTensor && !pillow_; }
  bool is_tensor() const { return container_ == Container::kTensor; }
  int pixel_ops() const { return count_ - stored_ - erases_; }

  // Appends an op of pixels: before those of the store.
  void append(const Op& op);
  void append(OpId id) { append(plain(id)); }
  void append_store(const Op& op);
  void name(First first) {
    if (pixel_ops() == 0) first_ = first;
  }
  void crop_in(int64_t top, int64_t left, int64_t height, int64_t width, bool inside);
  void append_window(int64_t top, int64_t left, int64_t height, int64_t width, const Fill::Bytes& fill);
  void pad_constant(Sides sides, const Fill& fill, PlaneSize size);
  void padded_by_torch();
  void append_float();
  void reshape(int64_t height, int64_t width) {
    shape_.height = static_cast<int>(height);
    shape_.width = static_cast<int>(width);
  }
  bool torch_pads(Sides sides, PadMode mode) const;
  OpId one_of(OpId pillows, OpId torchs, OpId v2s) const { return !by_torch() ? pillows : v2_ ? v2s : torchs; }
  void adjust(OpId id, double factor);

  Container source_, container_;
  Shape shape_;
  bool pillow_ = false, v2_ = false, tagged_ = false, declined_ = false, copied_ = false, channel_last_ = false;
  First first_ = First::kNone;
  int views_ = 0, count_ = 0, stored_ = 0, erases_ = 0;
  // How many ops of pixels there were when v2's tensor, a view of pixels side by side, became a part of a larger one.
  int gaps_ = -1;
  std::array<Op, kMaxOps> ops_;
};

}  // namespace fastaug
