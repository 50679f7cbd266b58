#include "places/boxes.h"

#include <algorithm>

namespace fastaug {
namespace {

// Integers are rounded down.
template <class T>
T half(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value >> 1;
  } else {
    return value / T{2};
  }
}

// Four numbers of a box along both axes: [axis] and [axis + 2].
template <class T>
void convert_box(T* box, BoxFormat from, BoxFormat to) {
  if (from == to) return;
  for (int axis = 0; axis < 2; ++axis) {
    T &first = box[axis], &second = box[axis + 2];
    switch (from) {
      case BoxFormat::kXyxy:
        second = minus(second, first);
        if (to == BoxFormat::kCxcywh) first = half(plus(plus(first, first), second));
        break;
      case BoxFormat::kXywh:
        if (to == BoxFormat::kCxcywh) {
          first = plus(first, half(second));
        } else {
          second = plus(second, first);
        }
        break;
      case BoxFormat::kCxcywh: {
        // Integers go through float32, and what is cut off there is missing in width and height.
        const auto size = static_cast<Real<T>>(second);
        const Real<T> start = static_cast<Real<T>>(first) - size / Real<T>{2};
        const T end = as_coordinate<T>(start + size);
        first = as_coordinate<T>(start);
        if (to == BoxFormat::kXyxy) {
          second = end;
        } else if (std::is_integral_v<T>) {
          second = minus(end, first);
        }
        break;
      }
    }
  }
}

template <class T>
void clamp_box(T* box, BoxFormat format, Canvas canvas) {
  Real<T> real[4];
  for (int i = 0; i < 4; ++i) real[i] = static_cast<Real<T>>(box[i]);
  convert_box(real, format, BoxFormat::kXyxy);
  const Real<T> ends[] = {static_cast<Real<T>>(canvas.width), static_cast<Real<T>>(canvas.height)};
  for (int i = 0; i < 4; ++i) real[i] = clamped(real[i], Real<T>{0}, ends[i % 2]);
  convert_box(real, BoxFormat::kXyxy, format);
  for (int i = 0; i < 4; ++i) box[i] = as_coordinate<T>(real[i]);
}

template <class T, class Change>
void for_each(std::vector<T>& values, const Change& change) {
  for (size_t i = 0; i < values.size(); i += 4) change(values.data() + i);
}

// XYXY around the mapped corners of XYXY.
template <class T, class Map>
void wrap_corners(T* box, const Map& map) {
  const Point<T> corners[] = {map({box[0], box[1]}), map({box[2], box[1]}), map({box[2], box[3]}),
                              map({box[0], box[3]})};
  T low[] = {corners[0].x, corners[0].y}, high[] = {corners[0].x, corners[0].y};
  for (const auto& [x, y] : corners) {
    const T ends[] = {x, y};
    for (int axis = 0; axis < 2; ++axis) {
      // One NaN makes both NaN.
      if (std::isnan(low[axis])) continue;
      if (!(ends[axis] >= low[axis])) low[axis] = ends[axis];
      if (!(ends[axis] <= high[axis])) high[axis] = ends[axis];
    }
  }
  for (int i = 0; i < 2; ++i) {
    box[i] = low[i];
    box[i + 2] = high[i];
  }
}

template <class T>
void mirror(std::vector<T>& values, BoxFormat format, int axis, int64_t size) {
  const T end = static_cast<T>(size);
  const auto mirrored = [end](T value) { return negative(minus(value, end)); };
  for_each(values, [&](T* box) {
    T &first = box[axis], &second = box[axis + 2];
    if (format == BoxFormat::kXyxy) {
      first = mirrored(first);
      second = mirrored(second);
      std::swap(first, second);
    } else {
      first = mirrored(format == BoxFormat::kXywh ? plus(first, second) : first);
    }
  });
}

template <class T>
void move(std::vector<T>& values, BoxFormat format, T x, T y) {
  const int numbers = format == BoxFormat::kXyxy ? 4 : 2;
  for_each(values, [=](T* box) {
    for (int i = 0; i < numbers; ++i) box[i] = plus(box[i], i % 2 == 0 ? x : y);
  });
}

}  // namespace

int64_t Boxes::count() const {
  return std::visit([](const auto& values) { return static_cast<int64_t>(values.size() / 4); }, values_);
}

void Boxes::hflip() {
  std::visit([this](auto& values) { mirror(values, format_, 0, canvas_.width); }, values_);
}

void Boxes::vflip() {
  std::visit([this](auto& values) { mirror(values, format_, 1, canvas_.height); }, values_);
}

void Boxes::clamp() {
  std::visit([this](auto& values) { for_each(values, [this](auto* box) { clamp_box(box, format_, canvas_); }); },
             values_);
}

void Boxes::crop(int64_t top, int64_t left, Canvas size, bool clamping) {
  std::visit(
      [=, this]<class T>(std::vector<T>& values) {
        move(values, format_, negative(static_cast<T>(left)), negative(static_cast<T>(top)));
      },
      values_);
  canvas_ = size;
  if (clamping) clamp();
}

void Boxes::pad(int64_t left, int64_t top, int64_t right, int64_t bottom, bool clamping) {
  std::visit(
      [=, this]<class T>(std::vector<T>& values) { move(values, format_, static_cast<T>(left), static_cast<T>(top)); },
      values_);
  canvas_ = {canvas_.height + top + bottom, canvas_.width + left + right};
  if (clamping) clamp();
}

void Boxes::resize(Canvas size) {
  if (size == canvas_) return;
  // float32 for float64 boxes, too.
  const auto across = static_cast<float>(static_cast<double>(size.width) / static_cast<double>(canvas_.width));
  const auto down = static_cast<float>(static_cast<double>(size.height) / static_cast<double>(canvas_.height));
  std::visit(
      [=]<class T>(std::vector<T>& values) {
        const Real<T> ratios[] = {static_cast<Real<T>>(across), static_cast<Real<T>>(down)};
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] = as_coordinate<T>(static_cast<Real<T>>(values[i]) * ratios[i % 2]);
        }
      },
      values_);
  canvas_ = size;
}

bool Boxes::affine(const AffineMap& forth, const AffineMap* back, bool clamping) {
  if (count() == 0) return true;
  return std::visit(
      [&, this]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        const auto form = product_form(std::is_same_v<R, double>, 4 * count());
        const auto canvas = back == nullptr ? std::optional(canvas_) : expanded(canvas_, *back);
        const auto corner = back == nullptr ? std::optional(Point<R>{}) : corner_of<R>(canvas_, forth);
        if (!form || !canvas || !corner) return false;
        const AffineOf<R> map(forth, *form);
        for_each(values, [&, this](T* box) {
          R real[4];
          for (int i = 0; i < 4; ++i) real[i] = static_cast<R>(box[i]);
          convert_box(real, format_, BoxFormat::kXyxy);
          wrap_corners(real, map);
          for (int i = 0; i < 4 && back != nullptr; ++i) real[i] -= i % 2 == 0 ? corner->x : corner->y;
          if (clamping) clamp_box(real, BoxFormat::kXyxy, *canvas);
          convert_box(real, BoxFormat::kXyxy, format_);
          for (int i = 0; i < 4; ++i) box[i] = as_coordinate<T>(real[i]);
        });
        canvas_ = *canvas;
        return true;
      },
      values_);
}

bool Boxes::perspective(const ProjectiveMap& numbers, bool clamping) {
  return std::visit(
      [&, this]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        const auto form = product_form(std::is_same_v<R, double>, 4 * count());
        if (!form) return false;
        const ProjectiveOf<R> map(numbers, *form);
        for_each(values, [&, this](T* box) {
          convert_box(box, format_, BoxFormat::kXyxy);
          R real[4];
          for (int i = 0; i < 4; ++i) real[i] = static_cast<R>(box[i]);
          wrap_corners(real, map);
          if (clamping) clamp_box(real, BoxFormat::kXyxy, canvas_);
          convert_box(real, BoxFormat::kXyxy, format_);
          for (int i = 0; i < 4; ++i) box[i] = as_coordinate<T>(real[i]);
        });
        return true;
      },
      values_);
}

void Boxes::elastic(const Displacement& by, bool clamping) {
  std::visit(
      [&, this]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        const DisplacedBy<R> displaced{by, canvas_};
        for_each(values, [&, this](T* box) {
          convert_box(box, format_, BoxFormat::kXyxy);
          int64_t pixels[4];
          for (int i = 0; i < 4; ++i) {
            if constexpr (std::is_integral_v<T>) {
              pixels[i] = box[i];
            } else {
              pixels[i] = as_coordinate<int64_t>(std::ceil(box[i]));
            }
          }
          const Point<R> corners[] = {displaced(pixels[0], pixels[1]), displaced(pixels[2], pixels[1]),
                                      displaced(pixels[2], pixels[3]), displaced(pixels[0], pixels[3])};
          // As wrap_corners takes them: the n-th corner in its order.
          R real[4] = {};
          int next = 0;
          wrap_corners(real, [&](Point<R>) { return corners[next++]; });
          for (int i = 0; i < 4; ++i) box[i] = as_coordinate<T>(real[i]);
          if (clamping) clamp_box(box, BoxFormat::kXyxy, canvas_);
          convert_box(box, BoxFormat::kXyxy, format_);
        });
      },
      values_);
}

void Boxes::convert(BoxFormat format) {
  std::visit([=, this](auto& values) { for_each(values, [=, this](auto* box) { convert_box(box, format_, format); }); },
             values_);
  format_ = format;
}

void Boxes::valid(const Limit& size, const Limit& area, bool* out) const {
  std::visit(
      [&, this]<class T>(const std::vector<T>& values) {
        const T ends[] = {static_cast<T>(canvas_.width), static_cast<T>(canvas_.height)};
        for (size_t i = 0; i < values.size(); i += 4) {
          T box[4];
          std::copy_n(values.data() + i, 4, box);
          convert_box(box, format_, BoxFormat::kXyxy);
          const T width = minus(box[2], box[0]), height = minus(box[3], box[1]);
          bool good = size.at_most(width) && size.at_most(height) && area.at_most(times(width, height));
          for (int k = 0; k < 4; ++k) good = good && box[k] >= T{0} && box[k] <= ends[k % 2];
          out[i / 4] = good;
        }
      },
      values_);
}

void Boxes::clear_but(const bool* kept) {
  std::visit(
      [&]<class T>(std::vector<T>& values) {
        for (size_t i = 0; i < values.size(); ++i) {
          if (!kept[i / 4]) values[i] = T{0};
        }
      },
      values_);
}

void Boxes::keep(const bool* kept) {
  std::visit(
      [&](auto& values) {
        size_t end = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          if (kept[i / 4]) values[end++] = values[i];
        }
        values.resize(end);
      },
      values_);
}

bool Boxes::overlap(int64_t left, int64_t top, int64_t right, int64_t bottom, double least, bool* within) const {
  return std::visit(
      [&, this]<class T>(const std::vector<T>& values) {
        using R = Real<T>;
        const int64_t sides[] = {left, top, right, bottom};
        const T area = times(minus(static_cast<T>(right), static_cast<T>(left)),
                             minus(static_cast<T>(bottom), static_cast<T>(top)));
        bool any = false, enough = false, unknown = false;
        for (size_t i = 0; i < values.size(); i += 4) {
          T box[4];
          std::copy_n(values.data() + i, 4, box);
          convert_box(box, format_, BoxFormat::kXyxy);
          bool inside = true;
          for (int axis = 0; axis < 2; ++axis) {
            const R middle = R{0.5} * static_cast<R>(plus(box[axis], box[axis + 2]));
            inside = inside && static_cast<R>(sides[axis]) < middle && middle < static_cast<R>(sides[axis + 2]);
          }
          within[i / 4] = inside;
          if (!inside) continue;
          any = true;
          T shared[2];
          for (int axis = 0; axis < 2; ++axis) {
            const T first = std::max(box[axis], static_cast<T>(sides[axis]));
            const T last = std::min(box[axis + 2], static_cast<T>(sides[axis + 2]));
            shared[axis] = std::max(minus(last, first), T{0});
          }
          const T inter = times(shared[0], shared[1]);
          const T own = times(minus(box[2], box[0]), minus(box[3], box[1]));
          const T both = minus(plus(own, area), inter);
          const R part = static_cast<R>(inter) / static_cast<R>(both);
          enough = enough || part >= static_cast<R>(least);
          // The greatest of numbers with NaN is NaN, which is not below anything.
          unknown = unknown || std::isnan(part);
        }
        return any && (enough || unknown || std::isnan(least));
      },
      values_);
}

}  // namespace fastaug
