// The transforms of a pipeline as plain data, and what they draw and draft for an image: the ops that the classes of
// fastaug.transforms draft, by the words that these draw.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "draft/sample.h"
#include "draw/iou_crop.h"
#include "draw/random.h"
#include "program/program.h"

namespace fastaug {

struct Range {
  float low = 0;
  float high = 0;
};

// The arguments of transforms, by the names of their classes. Those that are done with a probability are a Group.
namespace steps {

struct Decode {
  Mode mode;  // to convert to, or kNone
  bool exif;
};
struct ToTensor {};
struct PilToTensor {};
struct ToImage {};
struct ToPureTensor {};
struct ToPilImage {};
struct ConvertImageDtype {
  bool to_floats;  // float32, or else uint8
  bool of_places;  // torchvision casts boxes and points, too
};
// With dtypes by types. torchvision warns, or raises an error, of images that it has none for.
struct ToDtype : ConvertImageDtype {
  bool plain, tagged, video;  // it has one for images that are this
  std::string masks;          // torch's name of theirs; empty where they stay
};
// For images of one channel, of two and so on; none where torch is to say what the arguments mean.
struct Normalize {
  std::array<std::optional<Op>, kMaxChannels> ops;
  bool inplace = false;
};
struct Resize {
  Size size;
  Resample by;
};
struct CenterCrop {
  int height, width;
};
struct Pad {
  Sides sides;
  Fill fill;
  Padding mode;
};
struct Flip {
  bool vertical;
};
struct RandomCrop {
  int height, width;
  std::optional<Sides> padding;
  bool pads_if_needed;
  Fill fill;
  Padding mode;
};
struct RandomCropByAxis : RandomCrop {};
struct ZoomOut {
  double low, high;  // of the canvas's sides, in sides of the image
  Fill fill;
};
struct RandomIouCrop {
  IouCropLimits limits;  // without the image's size
};
struct RandomResizedCrop {
  Size size;
  Resample by;
  Range scale, log_ratio;
  double least, most;  // of width / height
};
struct ScaleJitter {
  Vec2 target;   // that the image is fitted into
  Vec2 factors;  // from x to y, after that
  Resample by;
};
struct RandomResize {
  std::array<int64_t, 2> sizes;  // of the shorter side, from the first to before the second
  Resample by;
};
struct RandomShortestSize {
  std::vector<int64_t> sizes;
  double most;  // of the longer side
  Resample by;
};
struct RandomRotation {
  Range degrees;
  Resample by;
  bool expand;
  std::optional<Vec2> center;
  Fill fill;
};
struct RandomAffine {
  Range degrees;
  std::optional<Vec2> translate;  // shares of the sides
  std::optional<Range> scale, shear_x, shear_y;
  Resample by;
  std::optional<Vec2> center;
  Fill fill;
};
struct Perspective {
  double distortion_scale;
  Resample by;
  Fill fill;
};
struct ColorJitter {
  std::optional<Range> brightness, contrast, saturation, hue;
};
struct ConvertBoundingBoxFormat {
  BoxFormat format;
};
struct ClampBoundingBoxes {
  std::optional<ClampingMode> mode;  // else that of the boxes
};
struct SetClampingMode {
  ClampingMode mode;
};
struct ClampKeyPoints {};
// With the masks of boxes, and with labels if there are any.
struct SanitizeBoundingBoxes {
  Limit size, area;
  bool has_labels;
};
struct SanitizeKeyPoints {
  bool has_labels;
};
struct PhotometricDistort {
  std::array<Range, 4> factors;  // of brightness, contrast, saturation and hue
  double p;
};
struct PermuteChannels {};
struct Grayscale {
  std::optional<int> channels;  // else as many as before
};
// An op that changes nothing but the colours of three channels.
struct Recolour {
  Op op;
};
// What a single op does, as policies name it.
enum class Effect : uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert
};
struct Adjustment {
  Effect effect;
  double number;  // bits, threshold or factor
  bool is_float;
};
struct Jpeg {
  int64_t least, most;  // quality
};
struct GaussianBlur {
  int kernel_width, kernel_height;
  Range sigma;
};
struct Erasing {
  Range scale, log_ratio;
  std::vector<double> values;  // one, or one for each channel
};
struct PolicyOp {
  Effect effect;
  bool is_signed;                  // its strength is negative at half of the draws
  std::vector<double> magnitudes;  // one is drawn if there are several
  // Of a translation by a share of the image's side: in how many numbers, from 0 to the share, the magnitude counts.
  int64_t bins = 0;
  float p = 1;  // in a policy: done if a draw is at most that
};
// RandAugment and TrivialAugmentWide: any of the ops, several times.
struct RandomOps {
  std::vector<PolicyOp> ops;
  int64_t count;
  Resample by;
  Fill fill;
};
// AutoAugment: the two ops of any of the policies.
struct RandomPolicy {
  std::vector<std::array<PolicyOp, 2>> policies;
  Resample by;
  Fill fill;
};
// The others in a row, in random order, and one of them by its weight; the latter two also as Python's random draws.
struct Group;
struct Shuffled;
struct Chosen;
struct ShuffledByPython;
struct ChosenByPython;

using Step =
    std::variant<Decode, ToTensor, PilToTensor, ToImage, ToPureTensor, ToPilImage, ConvertImageDtype, ToDtype,
                 Normalize, Resize, CenterCrop, Pad, Flip, RandomCrop, RandomCropByAxis, ZoomOut, RandomIouCrop,
                 RandomResizedCrop, PhotometricDistort, PermuteChannels, ConvertBoundingBoxFormat, ClampBoundingBoxes,
                 SetClampingMode, ClampKeyPoints, SanitizeBoundingBoxes, SanitizeKeyPoints, ScaleJitter, RandomResize,
                 RandomShortestSize, RandomRotation, RandomAffine, Perspective, ColorJitter, Grayscale, Recolour,
                 Adjustment, GaussianBlur, Jpeg, Erasing, RandomOps, RandomPolicy, Group, Shuffled, Chosen,
                 ShuffledByPython, ChosenByPython>;

struct Group {
  std::optional<double> p;  // done if a draw is below that,
  bool or_equal = false;    // or equal to it
  std::vector<Step> steps;
};
struct Shuffled {
  std::vector<Step> steps;
};
struct Chosen {
  std::vector<float> weights;  // as Random::choice takes them
  std::vector<Step> steps;
};
struct ShuffledByPython {
  std::vector<Step> steps;
};
struct ChosenByPython {
  std::vector<double> weights;  // none if all are alike
  std::vector<Step> steps;
};

}  // namespace steps

using Steps = std::vector<steps::Step>;

// True if any of the steps draws, and if one does from Python's random.
bool draws(const Steps& steps);
bool draws_by_python(const Steps& steps);

// True if one looks for a sample's labels.
bool takes_labels(const Steps& steps);

// Draws and drafts all steps. Where the draft declines one, discard the draws.
void draft(const Steps& steps, SampleDraft& draft, Random& random, UniformForm form, const Torch& torch);

}  // namespace fastaug
