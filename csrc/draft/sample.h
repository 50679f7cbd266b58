// A draft of a sample: an image without its pixels, and the masks, boxes and points that move with it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "draft/draft.h"
#include "places/boxes.h"
#include "places/points.h"

namespace fastaug {

// A mask, whose planes are the channels of an image without colours. Planes of larger samples than bytes are images,
// and the bytes of a sample their channels.
class MaskDraft : public Draft {
 public:
  using Draft::Draft;

  // torch's name of what the mask is cast to after its moves; empty where it stays.
  std::string dtype{};

  const MaskSamples& samples() const { return samples_of(source.mask); }
  bool is_wide() const { return samples().bytes > 1; }
  // True if torch converts all samples of integers to float32 for a move, and back.
  bool is_rounded() const { return rounded_; }
  // How many of a sample's bytes hold the fills of all moves; those of larger samples are the signs of their integers.
  int fill_bytes() const { return fill_bytes_; }

  // Does what an image has done that has a size `after`, but takes the nearest pixels, and the fill of masks.
  template <class HowT>
  Reason follow(HowT how, Canvas after);

 private:
  // Nothing where torch may convert it.
  std::optional<Fill> fill_of(const Fill& given, bool rounds);
  std::optional<Fill> wide_fill(const Fill& fill);
  // True if torch computes the ops from this one on in float32.
  bool rounds_from(int op) const;

  bool rounded_ = false;
  int fill_bytes_ = 1;
};

// How boxes are cut to the canvas where they move. Of those that are not turned, both ways are one.
enum class ClampingMode : uint8_t { kNone, kSoft, kHard };

// What follows the image of a sample.
struct Following {
  std::variant<Boxes, Points, std::unique_ptr<MaskDraft>> leaf;
  ClampingMode clamping = ClampingMode::kNone;  // of boxes
  bool touched = false;                         // the result is another object
  bool moved = false;                           // with numbers of its own
  bool listed = true;                           // boxes and points in rows, and masks of planes
};

// Which boxes, or points, stay.
struct Sanitized {
  std::vector<uint8_t> kept;
  bool masks;   // these are the planes of masks,
  bool labels;  // and the rows of labels, too
};

// A draft whose moves are followed, as in torchvision.transforms.v2.
class SampleDraft : public Draft, private Follower {
 public:
  using Draft::Draft;

  bool nested = false;   // it is in a tuple, list or dictionary
  bool many = false;     // it is one of several images
  bool later = false;    // a plain tensor, or another image, comes before the image
  bool reached = false;  // by a transform other than those that happen by a draw, and do not,
  bool spared = true;    // or by none but those of boxes and points
  int64_t labels = -1;   // their rows; -1 where there are none

  // For one of the image's size.
  void join(Following one) {
    following_.push_back(std::move(one));
    lead(this);
  }
  const std::vector<Following>& following() const { return following_; }
  bool is_followed() const { return !following_.empty(); }

  bool is_video() const { return tagged && source.video; }

  // False where the next transform would take another tensor for the image.
  bool settled() const { return !(pure && is_followed()) && !(later && is_tensor() && !tagged); }

  // Those that follow, if they are the only ones.
  Boxes* boxes();

  void convert_boxes(BoxFormat format);
  // By their own mode, if none is told. Without a mode they become others of the same numbers.
  void clamp_boxes(std::optional<ClampingMode> by);
  void set_clamping_mode(ClampingMode clamping);
  void clamp_points();

  // Removes boxes that are too small, or not on the canvas. Masks lose the same planes, if they have as many.
  // Declines, as points do, unless there is one leaf of such rows and, if they are told, labels of as many.
  void sanitize_boxes(const Limit& size, const Limit& area, bool with_labels);
  void sanitize_points(bool with_labels);
  const std::optional<Sanitized>& sanitized() const { return sanitized_; }

  // To a dtype of torch's name.
  void cast_masks(const std::string& dtype);

 private:
  Reason follow(const Move& move, PlaneSize before) override;
  // What follows of a type, if it is the only one.
  template <class PlacesT>
  Following* only();
  template <class PlacesT>
  void sanitize(bool with_labels, const auto& valid);

  std::vector<Following> following_;
  std::optional<Sanitized> sanitized_;
};

}  // namespace fastaug
