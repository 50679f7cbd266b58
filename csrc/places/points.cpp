#include "places/points.h"

namespace fastaug {
namespace {

// Numbers at even places are x.
template <class T>
void mirror(std::vector<T>& values, size_t axis, int64_t size) {
  const T last = static_cast<T>(size - 1);
  for (size_t i = axis; i < values.size(); i += 2) values[i] = negative(minus(values[i], last));
}

template <class T>
void move(std::vector<T>& values, T x, T y) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = plus(values[i], i % 2 == 0 ? x : y);
}

template <class T, class Map>
void map_each(std::vector<T>& values, const Map& map) {
  for (size_t i = 0; i < values.size(); i += 2) {
    const auto [x, y] = map(values[i], values[i + 1]);
    values[i] = as_coordinate<T>(x);
    values[i + 1] = as_coordinate<T>(y);
  }
}

}  // namespace

int64_t Points::count() const {
  return std::visit([](const auto& values) { return static_cast<int64_t>(values.size() / 2); }, values_);
}

void Points::hflip() {
  std::visit([this](auto& values) { mirror(values, 0, canvas_.width); }, values_);
}

void Points::vflip() {
  std::visit([this](auto& values) { mirror(values, 1, canvas_.height); }, values_);
}

void Points::crop(int64_t top, int64_t left, Canvas size, bool) {
  std::visit(
      [=]<class T>(std::vector<T>& values) {
        move(values, negative(static_cast<T>(left)), negative(static_cast<T>(top)));
      },
      values_);
  canvas_ = size;
}

void Points::pad(int64_t left, int64_t top, int64_t right, int64_t bottom, bool) {
  std::visit([=]<class T>(std::vector<T>& values) { move(values, static_cast<T>(left), static_cast<T>(top)); },
             values_);
  canvas_ = {canvas_.height + top + bottom, canvas_.width + left + right};
}

void Points::resize(Canvas size) {
  if (size == canvas_) return;
  // float32 for float64 points, too.
  const auto across = static_cast<float>(static_cast<double>(size.width) / static_cast<double>(canvas_.width));
  const auto down = static_cast<float>(static_cast<double>(size.height) / static_cast<double>(canvas_.height));
  std::visit(
      [=]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        map_each(values, [=](T x, T y) {
          return Point<R>{static_cast<R>(x) * static_cast<R>(across), static_cast<R>(y) * static_cast<R>(down)};
        });
      },
      values_);
  canvas_ = size;
}

bool Points::affine(const AffineMap& forth, const AffineMap* back, bool) {
  if (count() == 0) return true;
  return std::visit(
      [&, this]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        const auto form = product_form(std::is_same_v<R, double>, count());
        if (!form) return false;
        const AffineOf<R> map(forth, *form);
        const auto mapped = [&](T x, T y) { return map({static_cast<R>(x), static_cast<R>(y)}); };
        if (back == nullptr) {
          map_each(values, mapped);
          return true;
        }
        const auto canvas = expanded(canvas_, *back);
        const auto corner = corner_of<R>(canvas_, forth);
        if (!canvas || !corner) return false;
        map_each(values, [&](T x, T y) {
          const Point<R> at = mapped(x, y);
          return Point<R>{at.x - corner->x, at.y - corner->y};
        });
        canvas_ = *canvas;
        return true;
      },
      values_);
}

bool Points::perspective(const ProjectiveMap& numbers, bool) {
  return std::visit(
      [&, this]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        const auto form = product_form(std::is_same_v<R, double>, count());
        if (!form) return false;
        const ProjectiveOf<R> map(numbers, *form);
        map_each(values, [&](T x, T y) { return map({static_cast<R>(x), static_cast<R>(y)}); });
        return true;
      },
      values_);
}

void Points::elastic(const Displacement& by, bool) {
  std::visit(
      [&, this]<class T>(std::vector<T>& values) {
        const DisplacedBy<Real<T>> displaced{by, canvas_};
        map_each(values, [&](T x, T y) { return displaced(as_coordinate<int64_t>(x), as_coordinate<int64_t>(y)); });
      },
      values_);
}

void Points::clamp() {
  std::visit(
      [this]<class T>(std::vector<T>& values) {
        using R = Real<T>;
        const auto right = static_cast<R>(canvas_.width - 1), bottom = static_cast<R>(canvas_.height - 1);
        map_each(values, [=](T x, T y) {
          return Point<R>{clamped(static_cast<R>(x), R{0}, right), clamped(static_cast<R>(y), R{0}, bottom)};
        });
      },
      values_);
}

void Points::valid(int64_t group, int64_t groups, bool* out) const {
  std::visit(
      [&, this]<class T>(const std::vector<T>& values) {
        const T width = static_cast<T>(canvas_.width), height = static_cast<T>(canvas_.height);
        const T* at = values.data();
        for (int64_t k = 0; k < groups; ++k) {
          bool good = true;
          for (int64_t i = 0; i < group; ++i, at += 2) {
            good = good && at[0] >= T{0} && at[0] < width && at[1] >= T{0} && at[1] < height;
          }
          out[k] = good;
        }
      },
      values_);
}

void Points::keep(const bool* kept, int64_t group) {
  if (group == 0) return;
  std::visit(
      [&](auto& values) {
        const auto step = static_cast<size_t>(2 * group);
        size_t end = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          if (kept[i / step]) values[end++] = values[i];
        }
        values.resize(end);
      },
      values_);
}

}  // namespace fastaug
