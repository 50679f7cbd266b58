// A draft of a sample: an image without its pixels, and the boxes and points that move with it.
#pragma once

#include <variant>
#include <vector>

#include "draft/draft.h"
#include "places/boxes.h"
#include "places/points.h"

namespace fastaug {

// Boxes or points of a sample.
struct MovingPlaces {
  std::variant<Boxes, Points> numbers;
  bool clamping = false;  // boxes are cut to the canvas where they move
  bool touched = false;   // the result is another object
  bool moved = false;     // with numbers of its own
};

// Each method of geometry is Draft's, and does the same to the places, as in torchvision.transforms.v2.
class SampleDraft : public Draft {
 public:
  using Draft::Draft;

  std::vector<MovingPlaces> places;  // on a canvas of the image's size
  bool later = false;                // a plain tensor comes before the image
  bool pure = false;                 // places have become plain tensors

  // False where the next transform would take another tensor for the image.
  bool settled() const { return !(pure && !places.empty()) && !(later && is_tensor() && !tagged); }

  Reason hflip();
  Reason vflip();
  Reason crop(int64_t top, int64_t left, int64_t height, int64_t width);
  Reason center_crop(int64_t height, int64_t width);
  Reason pad(const Sides& sides, const Fill& fill, Padding by);
  Reason resize(const Size& size, const Resample& by, const Torch& torch);
  Reason rotate(double angle, const Resample& by, bool expand, std::optional<Vec2> center, const Fill& fill,
                const Torch& torch);
  Reason affine(double angle, Vec2 translate, double scale, Vec2 shear, const Resample& by, std::optional<Vec2> center,
                const Fill& fill, const Torch& torch);
  Reason perspective(const Coefficients& coefficients, const Resample& by, const Fill& fill, const Torch& torch);
  Reason erase(int top, int left, int height, int width, const double* values, int count);
  void to_pure_tensor() {
    Draft::to_pure_tensor();
    pure = true;
  }

 private:
  // Calls `move` with all places, and whether they are clamped, where the image was drafted.
  template <class Move>
  Reason follow(Reason reason, const Move& move);
  Vec2 middle() const { return {shape.width * 0.5, shape.height * 0.5}; }
  // True if one has no numbers. It stays as it is then, and its canvas, too, where the others are mapped.
  bool has_empty() const;
};

}  // namespace fastaug
