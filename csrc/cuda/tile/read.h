// Pixels of the source, as they lie or warped.
#pragma once

#include "cuda/tile/base.h"
#include "pixel/grid.h"
#include "pixel/weigh.h"

namespace fastaug::cuda {

// An image whose channels lie anywhere, as a WarpSource.
struct PlacedPixel {
  const uint8_t* data;
  int64_t stride;

  FASTAUG_FN uint8_t operator[](int c) const { return data[c * stride]; }
};
struct PlacedSource {
  const uint8_t* data;
  int64_t row_stride;
  int64_t column_stride;
  int64_t channel_stride;
  int height;
  int width;

  FASTAUG_FN PlacedPixel at(int y, int x) const { return {data + y * row_stride + x * column_stride, channel_stride}; }
};

// Reads pixels of the source, or warps them.
template <class Spec>
class TileRead : protected TileBase<Spec> {
  using Base = TileBase<Spec>;

 public:
  using Base::Base;

 protected:
  using Base::p_, Base::address, Base::channels_of, Base::each_channel, Base::has_source;

  // Numbers that a thread needs at every pixel of the source, kept in registers.
  struct Origin {
    PlacedSource image;
    FixedMap fixed;
    int shift_y;
    int shift_x;
  };
  FASTAUG_FN Origin origin() const {
    Origin o{};
    o.image = {address(p_.from), p_.from.row_stride, p_.from.pixel_stride, p_.from.channel_stride, p_.height, p_.width};
    o.shift_y = p_.shift_y;
    o.shift_x = p_.shift_x;
    if (has_source(kAffineNearest)) o.fixed = p_.fixed;
    return o;
  }

  template <int kChannels>
  FASTAUG_FN void warped(const Origin& o, int y, int x, uint8_t* pixel) const {
    const PlacedSource& s = o.image;
    y += o.shift_y;
    x += o.shift_x;
    const double* m = p_.warp.f;
    const uint8_t* fill = p_.warp.fill;
    const int source = Spec::kSource >= 0 ? Spec::kSource : p_.source;
    if (has_source(kAffineNearest) && source == kAffineNearest) {
      return nearest_pixel<kChannels>(s, o.fixed.x_at(x, y) >> 16, o.fixed.y_at(x, y) >> 16, fill, pixel);
    }
    if (has_source(kAffineLinear) && source == kAffineLinear) {
      return linear_pixel<kChannels>(s, affine_x(m, x, y), affine_y(m, x, y), fill, pixel);
    }
    if (has_source(kAffineCubic) && source == kAffineCubic) {
      return cubic_pixel<kChannels>(s, affine_x(m, x, y), affine_y(m, x, y), fill, pixel);
    }
    if (has_source(kPerspectiveNearest) && source == kPerspectiveNearest) {
      return perspective_nearest_pixel<kChannels>(s, perspective_at(m, x, y), fill, pixel);
    }
    if (has_source(kPerspectiveLinear) && source == kPerspectiveLinear) {
      return perspective_linear_pixel<kChannels>(s, perspective_at(m, x, y), fill, pixel);
    }
    if (has_source(kPerspectiveCubic) && source == kPerspectiveCubic) {
      return perspective_cubic_pixel<kChannels>(s, perspective_at(m, x, y), fill, pixel);
    }
    if (has_source(kGridNearest) && source == kGridNearest) {
      const GridPoint at = grid_point(p_.map, x, y);
      return grid_nearest_pixel<kChannels>(s, at.x, at.y, outside(), pixel);
    }
    if (has_source(kGridLinear) && source == kGridLinear) {
      const GridPoint at = grid_point(p_.map, x, y);
      return grid_linear_pixel<kChannels>(s, at.x, at.y, outside(), pixel);
    }
    if (has_source(kRoundedAffineLinear) && source == kRoundedAffineLinear) {
      return rounded<kChannels, false>(s, {affine_x(m, x, y), affine_y(m, x, y)}, pixel);
    }
    if (has_source(kRoundedAffineCubic) && source == kRoundedAffineCubic) {
      return rounded<kChannels, true>(s, {affine_x(m, x, y), affine_y(m, x, y)}, pixel);
    }
    if (has_source(kRoundedPerspectiveLinear) && source == kRoundedPerspectiveLinear) {
      return rounded<kChannels, false>(s, perspective_at(m, x, y), pixel);
    }
    if (has_source(kRoundedPerspectiveCubic) && source == kRoundedPerspectiveCubic) {
      return rounded<kChannels, true>(s, perspective_at(m, x, y), pixel);
    }
  }

  FASTAUG_FN GridFill outside() const { return {filling_of(p_.warp), p_.fill}; }
  template <int kChannels, bool kCubic>
  FASTAUG_FN void rounded(const PlacedSource& s, Position at, uint8_t* pixel) const {
    if (warp_lost(s, at.x, at.y)) {
      for (int c = 0; c < kChannels; ++c) pixel[c] = 0;
    } else if (!warp_inside(s, at.x, at.y)) {
      copy_pixel<kChannels>(p_.warp.fill, pixel);
    } else if (kCubic) {
      rounded_cubic_pixel<kChannels>(s, fixed_position(at), pixel);
    } else {
      rounded_linear_pixel<kChannels>(s, fixed_position(at), pixel);
    }
  }

  // Pixel (y, x) of the source.
  FASTAUG_FN void read(const Origin& o, int y, int x, uint8_t* pixel) const {
    if (!has_source(kRead) || (Spec::kSource < 0 && p_.source != kRead)) {
      if constexpr (Spec::kChannels != 0) {
        warped<Spec::kChannels>(o, y, x, pixel);
      } else {
        if (p_.channels == 1) return warped<1>(o, y, x, pixel);
        if (p_.channels == 2) return warped<2>(o, y, x, pixel);
        if (p_.channels == 3) return warped<3>(o, y, x, pixel);
        warped<4>(o, y, x, pixel);
      }
      return;
    }
    const PlacedPixel from = o.image.at(y, x);
    each_channel(channels_of(p_.channels), [&](int c) { pixel[c] = from[c]; });
  }
};

}  // namespace fastaug::cuda
