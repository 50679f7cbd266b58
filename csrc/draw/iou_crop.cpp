#include "draw/iou_crop.h"

#include <memory>
#include <utility>

namespace fastaug {

IouCrop draw_iou_crop(Random& random, const Boxes& boxes, const IouCropLimits& limits,
                      const std::function<void()>& interrupted) {
  constexpr int64_t kPatience = 1 << 12;
  const auto count = static_cast<size_t>(boxes.count());
  const auto within = std::make_unique<bool[]>(count);
  // Every product is of float32, and the numbers of Python's are rounded to it first.
  const auto part = [](int64_t whole, float of) { return static_cast<int64_t>(static_cast<float>(whole) * of); };
  int64_t patience = kPatience;
  const auto wait = [&] {
    if (--patience > 0) return;
    patience = kPatience;
    interrupted();
  };
  for (;; wait()) {
    const auto option = random.randint(0, static_cast<int64_t>(limits.options.size()));
    const double least = limits.options[static_cast<size_t>(option)];
    if (least >= 1.0) return {IouCrop::Outcome::kNone, 0, 0, 0, 0, {}};
    for (int64_t trial = 0; trial < limits.trials; ++trial, wait()) {
      const float wide = random.scaled(limits.scale[0], limits.scale[1]);
      const float high = random.scaled(limits.scale[0], limits.scale[1]);
      const int64_t width = part(limits.width, wide), height = part(limits.height, high);
      if (height == 0) return {IouCrop::Outcome::kDivisionByZero, 0, 0, 0, 0, {}};
      const double aspect = static_cast<double>(width) / static_cast<double>(height);
      if (!(limits.aspect[0] <= aspect && aspect <= limits.aspect[1])) continue;
      const float across = random.rand(), down = random.rand();
      const int64_t left = part(limits.width - width, across), top = part(limits.height - height, down);
      if (width == 0) continue;
      if (!boxes.overlap(left, top, left + width, top + height, least, within.get())) continue;
      return {IouCrop::Outcome::kCrop, top, left, height, width, {within.get(), within.get() + count}};
    }
  }
}

}  // namespace fastaug
