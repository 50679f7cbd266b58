// A draft of a sample: an image without its pixels, and the boxes and points that move with it.
#pragma once

#include <utility>
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

// A draft whose places follow its moves, as in torchvision.transforms.v2.
class SampleDraft : public Draft, private Follower {
 public:
  using Draft::Draft;

  bool later = false;  // a plain tensor comes before the image
  bool pure = false;   // places have become plain tensors

  // On a canvas of the image's size.
  void join(MovingPlaces one) {
    places_.push_back(std::move(one));
    lead(this);
  }
  const std::vector<MovingPlaces>& places() const { return places_; }

  // False where the next transform would take another tensor for the image.
  bool settled() const { return !(pure && !places_.empty()) && !(later && is_tensor() && !tagged); }

  Reason erase(int top, int left, int height, int width, const double* values, int count) {
    if (!places_.empty()) return decline(Reason::kNumber);  // a warning
    return Draft::erase(top, left, height, width, values, count);
  }
  void to_pure_tensor() {
    Draft::to_pure_tensor();
    pure = true;
  }

 private:
  Reason follow(const Move& move, PlaneSize before) override;

  std::vector<MovingPlaces> places_;
};

}  // namespace fastaug
