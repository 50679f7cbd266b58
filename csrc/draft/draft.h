// A draft: an image without its pixels, and the ops that are still to be done to it. This is the home of the rule by
// which each op of torchvision's becomes ops of a program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "draft/matrices.h"
#include "program/program.h"

namespace fastaug {

// What holds an image, in the order of fastaug._program.kinds. An encoded image is a source only.
enum class Container : uint8_t { kOther, kPil, kArray, kTensor, kEncoded };

// Pillow's modes of 8-bit samples that the core reads. Of others, Python has the name.
enum class Mode : uint8_t { kNone, kL, kLa, kRgb, kRgba, kCmyk, kYcbcr, kHsv, kOther };

// Pillow's name of a mode; nothing for kNone and kOther.
const char* name_of(Mode mode);
Mode mode_of(std::string_view name);
// The channels of a mode that the core reads; 0 for others.
int channels_of(Mode mode);

inline bool has_alpha(Mode mode) { return mode == Mode::kLa || mode == Mode::kRgba; }

// Why the core does not draft an op.
enum class Reason : uint8_t {
  kNone,      // it does draft it
  kSamples,   // samples that the core does not read, or does not read any longer
  kChannels,  // their number
  kMode,      // Pillow converts, or refuses, this mode
  kShape,     // a plane without channels, or batches of batches
  kNumber,    // an argument of another type, or out of range
  kLibrary,   // Pillow or torch rounds in another way on this machine
  kFull,      // a program holds no more ops
};

// Their names, in that order.
constexpr const char* kReasons[] = {"none", "samples", "channels", "mode", "shape", "number", "library", "full"};

// Pillow's metadata of the result: all of the image's, only what is transparent, none, or those of a JPEG file.
enum class Info : uint8_t { kAll, kTransparency, kNone, kJpeg };

// The samples of masks.
enum class MaskType : uint8_t { kUint8, kBool, kInt16, kInt32, kInt64, kFloat32 };

struct MaskSamples {
  const char* name;  // torch's
  int bytes;
};

// In the order of MaskType.
constexpr std::array<MaskSamples, 6> kMaskSamples{
    {{"uint8", 1}, {"bool", 1}, {"int16", 2}, {"int32", 4}, {"int64", 8}, {"float32", 4}}};

constexpr const MaskSamples& samples_of(MaskType type) { return kMaskSamples[static_cast<size_t>(type)]; }

// An image that comes in.
struct Outline {
  Container container = Container::kPil;
  Shape shape{};
  Mode mode = Mode::kNone;    // of a PIL image
  int leading = 0;            // dimensions of a tensor before its channels
  int64_t images = 1;         // that these have
  bool native = true;         // bytes that the core reads
  bool floats = false;        // float32 samples that the core reads
  bool flat = false;          // without an axis of channels
  bool channel_last = false;  // a tensor is a view of pixels side by side
  bool contiguous = true;     // its axes are in order, without gaps
  bool gaps = false;          // rows or pixels of such a view are parts of larger ones
  bool wide_pixels = false;   // the pixels are
  bool subclass = false;      // a tensor is of a class derived from torch's
  bool transparent = false;   // a PIL image has a transparent colour
  bool commented = false;     // and a comment, which its files would have, too
  MaskType mask = MaskType::kUint8;

  // Of the call.
  bool pillow = false;  // uint8 tensors are computed by Pillow's rules
  bool v2 = false;      // tensors are computed as torchvision.transforms.v2 does
  bool traced = false;  // torch has to see all that is done to tensors
  bool tagged = false;  // a tensor is of tv_tensors' class of images or of videos
  bool video = false;   // the latter
};

// A number of Python's.
struct Number {
  double value = 0;
  bool is_float = true;
  bool is_plain = true;  // of Python's int or float, exactly
};

// The results of libraries that the core gives, where the library rounds on this machine as the core does: blends and
// warps of Pillow; colours, warps, and v1's resizes of uint8 tensors of torch; v2's bilinear resizes of these, in
// bytes; Pillow's JPEG files, if libjpeg is not as fast.
enum class Rounding : uint8_t { kBlends, kColours, kWarps, kTensorWarps, kBilinear, kBicubic, kBytes, kJpeg };

// A Gaussian kernel of odd sides, and its standard deviations along x and y.
struct Kernel {
  int width = 1, height = 1;
  Vec2 sigma;
};

// What only libraries compute with their roundings, and what they are set to.
class Torch {
 public:
  virtual ~Torch() = default;
  // exp of a float32.
  virtual double exp(float power) const = 0;
  // A BLUR of an image, or of several as one batch; nothing where there is none.
  virtual std::optional<Op> blur(const Kernel& kernel, Shape shape, int64_t images, bool v2) const = 0;
  // The map that takes each of the ends back to its start.
  virtual Coefficients perspective(const Corners& starts, const Corners& ends) const = 0;
  // The size around a mapped image, where float32 decides.
  virtual PlaneSize size_around(const AffineMatrix& map, PlaneSize image, bool v2) const = 0;
  virtual bool follows(Rounding rounding) const = 0;
  // True if torch's matrix product fuses products and sums.
  virtual bool fuses_products() const = 0;
  // True if Pillow resizes the width before the height, always.
  virtual bool width_first() const = 0;
  // True if torch's default dtype is float32.
  virtual bool is_single() const = 0;
  // Draws of Python's random: a number below `count` by its weight, all alike if there are none; and an order.
  virtual int64_t chosen(int64_t count, const std::vector<double>& weights) const = 0;
  virtual std::vector<int64_t> shuffled(int64_t count) const = 0;
  // Lets others run for a moment, and throws if the process is to stop.
  virtual void check_signals() const = 0;
};

// The samples of a colour for every four channels: bytes, or else float32 numbers.
struct Colour {
  std::vector<uint8_t> bytes;
  std::vector<float> numbers;

  size_t groups() const { return (bytes.size() + numbers.size()) / kMaxChannels; }
  void paint(Op& op, size_t group) const;
};

// The colour of what lies outside an image, as Python has it.
struct Fill {
  std::vector<double> values{};  // one, or one for each channel; none is black
  bool is_sequence = false;
  bool is_integer = false;  // one int of Python's
  bool is_plain = true;     // ints and floats of Python's, not NumPy's
  bool is_readable = true;  // numbers
  // Those of PIL images, plain tensors, tagged images, videos and masks, where they differ.
  std::vector<Fill> kinds{};

  // As Pillow reads it: truncated, and clipped to a byte. Nothing where Pillow reads it in other ways, or refuses it.
  std::optional<Colour> bytes(int channels) const;
  // As torch's warps of bytes take it. Nothing where torch may not convert it.
  std::optional<Colour> samples(int channels) const;
  bool is_none() const { return values.empty() && !is_sequence && is_readable; }
  bool fits(int channels) const { return values.size() == 1 || values.size() == static_cast<size_t>(channels); }
};

// By a colour, if nothing.
using Padding = std::optional<PadMode>;

struct Sides {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;

  int least() const { return std::min({left, top, right, bottom}); }
  int most() const { return std::max({left, top, right, bottom}); }
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

// How a resize or a warp samples.
struct Resample {
  int filter = 0;         // Pillow's number
  bool exact = false;     // a filter 0 is "nearest-exact"
  bool antialias = true;  // of resizes of tensors
  bool warns = false;     // torchvision warns of what is said of antialiasing, but for tensors
  bool cropped = false;   // after a crop in one op with it, for which masks are never "nearest-exact"
};

// What geometry does to an image, and to all that follows it.
namespace moves {

struct Flip {
  bool vertical;
};
// With zeros where it reaches beyond the image.
struct Crop {
  int64_t top, left, height, width;
};
struct CenterCrop {
  int64_t height, width;
};
struct Pad {
  Sides sides;
  const Fill* fill;
  Padding by;
};
struct Resize {
  PlaneSize size;
  Resample by;
  const Torch* torch;
};
// Angles are in degrees, counter-clockwise.
struct Rotate {
  double angle;
  Resample by;
  bool expand;
  std::optional<Vec2> center;
  const Fill* fill;
  const Torch* torch;
};
struct Affine {
  double angle;
  Vec2 translate;
  double scale;
  Vec2 shear;
  Resample by;
  std::optional<Vec2> center;
  const Fill* fill;
  const Torch* torch;
};
struct Perspective {
  const Coefficients* coefficients;
  Resample by;
  const Fill* fill;
  const Torch* torch;
};

}  // namespace moves

using Move = std::variant<moves::Flip, moves::Crop, moves::CenterCrop, moves::Pad, moves::Resize, moves::Rotate,
                          moves::Affine, moves::Perspective>;

// What has to move as an image does.
class Follower {
 public:
  // Does what an image of the size `before` has done, or returns the reason why it cannot.
  virtual Reason follow(const Move& move, PlaneSize before) = 0;

 protected:
  ~Follower() = default;
};

// An op whose operands are all zero.
inline Op plain(OpId id, uint16_t flags = 0) {
  Op op{};
  op.id = id;
  op.flags = flags;
  return op;
}

// How Pillow or torch can do the pending ops: as crops that a tensor begins with, or as the only op.
enum class First : uint8_t { kNone, kCrop, kOp };

// How a draft becomes a result.
enum class Ending : uint8_t {
  kJob,        // of the core
  kUntouched,  // nothing, or a copy
  kLibrary,    // one move of Pillow's or torch's
  kFlip,       // a flip of floats, over which torch goes once, too
  kMapped,     // a tensor or array becomes a PIL image, which may lie over its memory
};

// A rectangle of a tensor.
struct Box {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

// The state of an image after its pending ops. Ops whose rules are in Python read and write it too.
struct DraftState {
  Outline source;
  Container container = Container::kPil;
  Mode mode = Mode::kNone;
  Shape shape{};
  int bands = 0;  // channels of the source
  int leading = 0;
  int64_t images = 1;
  Info info = Info::kAll;
  bool native = true, floats = false, flat = false, channel_last = false, tagged = false;
  bool copied = false;  // torchvision returns a copy, even though there is nothing to do or only a crop
  bool planar = false;  // floats may be handed out plane by plane, though torchvision's would be `channel_last`
  bool pure = false;    // tagged tensors, and all that follows, have become plain ones
  int64_t files = 0;    // of tensors, that torchvision would have written and read, and warned of
  First first = First::kNone;
  Box view{};     // all crops that a tensor begins with, as one
  int views = 0;  // how many of the ops, from the first on, are these
  int gaps = -1;  // how many ops there were when v2's view of pixels became a part of a larger one; -1: it is none
};

// Each method drafts the function of its name, or returns the reason why it drafts nothing. Python raises errors and
// warnings.
class Draft : public DraftState {
 public:
  explicit Draft(const Outline& outline = {}) {
    ops_.reserve(kUsual);
    begin(outline);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // Starts again from another image.
  void begin(const Outline& outline);
  // Has all moves from here on followed. Ops of geometry that are of no move are declined then.
  void lead(Follower* follower) { follower_ = follower; }

  int height() const { return shape.height; }
  int width() const { return shape.width; }
  int channels() const { return shape.channels; }
  // Why one of the methods since `begin` or `resume` did nothing.
  Reason reason() const { return declined_; }
  bool declined() const { return declined_ != Reason::kNone; }
  Reason decline(Reason reason) { return declined_ = reason; }
  void resume() { declined_ = Reason::kNone; }
  bool has_room() const { return length() + kMostAtOnce <= kMaxOps; }

  // True if Pillow or torch would do the only op, a flip.
  bool is_flip() const {
    if (ending() != Ending::kLibrary || first != First::kOp) return false;
    const OpId id = program().front().id;
    return id == OpId::HFLIP || id == OpId::VFLIP;
  }

  // How many ops work on pixels, store, and write into what was stored.
  int pixel_ops() const { return length() - stored_ - erases_; }
  int stored() const { return stored_; }
  int erases() const { return erases_; }
  // Those of pixels, then those of the store. Images of more than four channels have a program for every four.
  int groups() const { return bands > kMaxChannels ? (bands + kMaxChannels - 1) / kMaxChannels : 1; }
  Program program() const { return ops_; }
  std::vector<Op> program_of(int group) const;
  // Op number k of each group, or the only one that all have.
  std::vector<Op> op(int k) const;
  bool gives_floats() const { return stored_ > 0; }
  bool is_tensor() const { return container == Container::kTensor; }
  bool is_pil() const { return container == Container::kPil; }
  // True if uint8 samples are computed as torchvision computes them in tensors, not as Pillow does.
  bool by_torch() const { return is_tensor() && !source.pillow; }
  // True if pixels can still be moved: flips and boxes inside the image.
  bool takes_moves() const { return native || ((stored_ > 0 || floats) && erases_ == 0); }
  Ending ending() const;
  // The result is nobody's yet, and so in the order that takes less time.
  void choose_order() { channel_last = channel_last && !planar; }

  // Appends an op of pixels, before those of the store; one for each group, or the same for all.
  void append(const std::vector<Op>& op);
  void append(const Op& op);
  void append(OpId id) { append(plain(id)); }
  // The same for one that Pillow or torch may do if there is nothing else to do.
  void append_named(const Op& op);
  void append_store(const std::vector<Op>& op);
  // Leaves the ops of pixels out, which nobody will do.
  void forget();
  // No library does the ops by itself any more.
  void unview() {
    first = First::kNone;
    views = 0;
  }
  // Leaves the first `count` channels.
  void keep_channels(int count);
  // torch keeps the channels of a pixel together where it pads and resizes batches, but not of single images.
  void padded_by_torch();
  void reshape(int64_t height, int64_t width) {
    shape.height = static_cast<int>(height);
    shape.width = static_cast<int>(width);
  }

  Reason hflip() { return move(moves::Flip{false}); }
  Reason vflip() { return move(moves::Flip{true}); }
  Reason transpose();
  // Quarter turns counter-clockwise, 0 to 3.
  Reason rot90(int turns);
  Reason crop(int64_t top, int64_t left, int64_t height, int64_t width) {
    return move(moves::Crop{top, left, height, width});
  }

  Reason adjust_brightness(Number factor, const Torch& torch);
  Reason adjust_contrast(Number factor, const Torch& torch);
  Reason adjust_saturation(Number factor, const Torch& torch);
  // `turn` is the factor in Pillow's 8 bits, which wrap.
  Reason adjust_hue(Number factor, int turn, const Torch& torch);
  Reason adjust_sharpness(Number factor, const Torch& torch);
  Reason adjust_gamma(Number gamma, Number gain);
  Reason grayscale(int64_t channels);
  Reason to_rgb();
  // An op that changes nothing but the colours of three channels.
  Reason recolour(const Op& op);
  // Channel k of the result is channel order[k].
  Reason permute_channels(const int (&order)[kMaxChannels], int count);
  Reason invert();
  Reason posterize(int64_t bits);
  Reason solarize(Number threshold, const Torch& torch);
  Reason autocontrast(const Torch& torch);
  Reason equalize();
  // What a JPEG file of this quality leaves.
  Reason jpeg(int64_t quality, const Torch& torch);

  // ToTensor, PILToTensor, ToPILImage; v2's ToImage and ToPureTensor.
  Reason to_float(const Torch& torch);
  Reason to_uint8_tensor();
  Reason to_pil(std::optional<Mode> mode);
  Reason to_image();
  void to_pure_tensor() {
    tagged = false;
    pure = true;
  }
  // To float32, or to uint8; in v2's arithmetic.
  Reason convert_dtype(bool to_floats) { return convert(to_floats, OpId::TO_FLOAT); }
  Reason to_dtype(bool to_floats) { return convert(to_floats, OpId::V2_TO_FLOAT); }
  Reason normalize(const std::vector<Op>& op, bool inplace);
  // Overwrites a box of floats by one value, or by one for each channel.
  Reason erase(int top, int left, int height, int width, const double* values, int count);
  // Bytes become floats, by one of the ops that begin a store.
  void append_float(const Op& op);
  void append_float(OpId id) { append_float(plain(id)); }

  // Cuts out the middle, with zeros around the image if it is too small.
  Reason center_crop(int64_t height, int64_t width) { return move(moves::CenterCrop{height, width}); }
  Reason pad(const Sides& sides, const Fill& fill, Padding by) { return move(moves::Pad{sides, &fill, by}); }
  Reason resize(int64_t height, int64_t width, const Resample& by, const Torch& torch) {
    return move(moves::Resize{{height, width}, by, &torch});
  }
  Reason resize(const Size& size, const Resample& by, const Torch& torch);
  Reason rotate(double angle, const Resample& by, bool expand, std::optional<Vec2> center, const Fill& fill,
                const Torch& torch) {
    return move(moves::Rotate{angle, by, expand, center, &fill, &torch});
  }
  Reason affine(double angle, Vec2 translate, double scale, Vec2 shear, const Resample& by, std::optional<Vec2> center,
                const Fill& fill, const Torch& torch) {
    return move(moves::Affine{angle, translate, scale, shear, by, center, &fill, &torch});
  }
  Reason perspective(const Coefficients& coefficients, const Resample& by, const Fill& fill, const Torch& torch) {
    return move(moves::Perspective{&coefficients, by, &fill, &torch});
  }
  Reason gaussian_blur(const Kernel& kernel, const Torch& torch);

 protected:
  // Drafts one of the moves, and has it followed.
  template <class HowT>
  Reason move(const HowT& how) {
    const PlaneSize before{shape.height, shape.width};
    Follower* const follower = std::exchange(follower_, nullptr);
    const Reason reason = drafted(how);
    follower_ = follower;
    if (follower == nullptr || reason != Reason::kNone) return reason;
    const Reason left = follower->follow(how, before);
    return left == Reason::kNone ? left : decline(left);
  }

 private:
  // Ops that a method appends, and those of most programs.
  static constexpr int kMostAtOnce = 4;
  static constexpr size_t kUsual = 8;

  int length() const { return static_cast<int>(ops_.size()); }

  // An op that differs between groups: its number, and those of the groups after the first.
  struct Grouped {
    int number;
    std::vector<Op> others;
  };

  bool is_batched() const { return channel_last && (leading > 1 || (leading == 1 && images == 1)); }
  bool is_transparent() const { return source.transparent && (info == Info::kAll || info == Info::kTransparency); }
  bool tensor_by_v2() const { return source.v2 && is_tensor(); }
  void insert(int at, const Op& op, std::vector<Op> others);
  void name() {
    if (pixel_ops() == 0) first = First::kOp;
  }
  Reason convert(bool to_floats, OpId id);
  Reason drafted(const moves::Flip& how);
  Reason drafted(const moves::Crop& how);
  Reason drafted(const moves::CenterCrop& how);
  Reason drafted(const moves::Pad& how) { return pad_any(how.sides, own(*how.fill), how.by, false); }
  Reason drafted(const moves::Resize& how);
  Reason drafted(const moves::Rotate& how);
  Reason drafted(const moves::Affine& how);
  Reason drafted(const moves::Perspective& how);
  const Fill& own(const Fill& fill) const {
    return fill.kinds.empty() ? fill : fill.kinds[is_pil() ? 0 : !tagged ? 1 : source.video ? 3 : 2];
  }
  Reason crop_tensor(int64_t top, int64_t left, int64_t height, int64_t width);
  Reason crop_any(int64_t top, int64_t left, int64_t height, int64_t width);
  // Appends an op that shows a colour outside the image. Where it `mixes` pixels, their colours are multiplied by alpha
  // meanwhile.
  void append_filled(const Op& op, const Colour& colour, bool mixes = false);
  // Pads a tensor without an axis of channels only if it is a `plane`.
  Reason pad_any(const Sides& sides, const Fill& fill, Padding by, bool plane);
  Reason pad_by_samples(const Sides& sides, PadMode by);
  Reason pad_by_colour(const Sides& sides, const Fill& fill);
  bool torch_pads(const Sides& sides, PadMode by) const;
  // True if torch samples the image: it is not a plane alone, and has few enough leading dimensions.
  bool is_sampled() const { return !(flat && is_tensor()) && (leading <= 1 || source.v2); }
  Reason rotate_as_pillow(double angle, const Resample& by, bool expand, std::optional<Vec2> center, const Fill& fill,
                          const Torch& torch);
  bool warps_as_pillow(const Resample& by, const Torch& torch) const;
  Reason warp_as_pillow(Op op, const Resample& by, const std::optional<Colour>& colour, const Torch& torch);
  Reason warp_as_torch(Op op, const Resample& by, const Fill& fill, const Torch& torch);
  PlaneSize size_around(const AffineMatrix& map, bool v2, const Torch& torch) const;

  OpId one_of(OpId pillows, OpId torchs, OpId v2s) const { return !by_torch() ? pillows : source.v2 ? v2s : torchs; }
  // The channels of colour that an adjustment reads, 1 or 3; or 0, where it is Python's.
  int colours(const Torch* torch) const;
  // Nothing if samples may be looked up in a table.
  Reason no_table() const;
  bool blends(const Torch& torch) const;
  Reason adjust(OpId id, Number factor, const Torch* torch);

  Reason declined_ = Reason::kNone;
  Follower* follower_ = nullptr;
  int stored_ = 0, erases_ = 0;
  std::vector<Op> ops_;
  std::vector<Grouped> grouped_;
};

}  // namespace fastaug
