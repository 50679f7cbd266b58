// Every op, for the device: one kernel per line of program/ops.def, around the bodies that the CPU compiles. An op
// without a device kernel here does not compile. The kernels are plain grid-stride loops over one planar image;
// geometry reads its source through index tables, taps and matrices that the host prepared, as the row kernels do.
#include <cstddef>
#include <cstdint>

#include "cuda/blur.h"
#include "cuda/warp.h"
#include "pixel/adjust.h"
#include "pixel/lane.h"
#include "program/program.h"
// After the lanes that its bodies call.
#include "pixel/float_colour.h"
#include "pixel/pointwise.h"
#include "pixel/taps.h"

namespace fastaug::cuda {

// A planar uint8 image in device memory, or a float32 one where `floats` is set.
struct DeviceImage {
  uint8_t* plane[kMaxChannels];
  float* floats[kMaxChannels];
  int height;
  int width;
  int channels;
};

// What the host prepares for an op: which operands it needs depends on the op.
struct Operands {
  Op op;
  float mean;             // WholeInput::kMean
  const uint8_t* table;   // GAMMA, AUTOCONTRAST, EQUALIZE: 256 samples per channel
  const int32_t* row;     // geometry: source row per output row, -1 for fill
  const int32_t* column;  // geometry: source column per output column, -1 for fill
  const int32_t* first;   // RESIZE: first source sample, taps and weights per output sample of each axis
  const int32_t* count;
  const int32_t* weight;
  int stride;
  bool vertical;
  WarpOperands warp;  // kWarp
  BlurKernel blur;    // BLUR
};

__device__ inline int first_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int index_step() { return static_cast<int>(gridDim.x * blockDim.x); }
__device__ inline uint8_t to_u8(float v) { return static_cast<uint8_t>(static_cast<int>(v)); }
__device__ inline float load(const DeviceImage& image, int c, int k) { return static_cast<float>(image.plane[c][k]); }

// ---- Pointwise ops on pixel k, in place.

__device__ inline float factor_of(const Operands& p) { return static_cast<float>(p.op.f[0]); }
__device__ inline float rest_of(const Operands& p) { return scalar::torch_rest(p.op.f[0]); }

template <class Body>
__device__ void each_color(Body body, const Operands& p, const DeviceImage& image, int k) {
  const int colors = image.channels - ((p.op.flags & kHasAlpha) != 0 ? 1 : 0);
  for (int c = 0; c < colors; ++c) image.plane[c][k] = to_u8(body(load(image, c, k)));
}

template <class Body>
__device__ void together(Body body, const DeviceImage& image, int k) {
  float r = load(image, 0, k);
  float g = load(image, 1, k);
  float b = load(image, 2, k);
  body(r, g, b);
  image.plane[0][k] = to_u8(r);
  image.plane[1][k] = to_u8(g);
  image.plane[2][k] = to_u8(b);
}

template <class Body>
__device__ void with_alpha(Body body, const DeviceImage& image, int k) {
  const float alpha = load(image, image.channels - 1, k);
  for (int c = 0; c < image.channels - 1; ++c) image.plane[c][k] = to_u8(body(load(image, c, k), alpha));
}

__device__ void brightness(const Operands& p, const DeviceImage& image, int k) {
  each_color(scalar::Brightness{factor_of(p)}, p, image, k);
}
__device__ void contrast(const Operands& p, const DeviceImage& image, int k) {
  each_color(scalar::Contrast{factor_of(p), p.mean}, p, image, k);
}
__device__ void torch_contrast(const Operands& p, const DeviceImage& image, int k) {
  each_color(scalar::TorchContrast{factor_of(p), rest_of(p), p.mean}, p, image, k);
}
__device__ void saturation(const Operands& p, const DeviceImage& image, int k) {
  together(scalar::Saturation{factor_of(p)}, image, k);
}
__device__ void torch_saturation(const Operands& p, const DeviceImage& image, int k) {
  together(scalar::TorchSaturation{factor_of(p), rest_of(p)}, image, k);
}
__device__ void hue(const Operands& p, const DeviceImage& image, int k) {
  together(scalar::Hue{static_cast<float>(p.op.i[0])}, image, k);
  if (image.channels == 4) image.plane[3][k] = 255;
}
__device__ void luma(const Operands&, const DeviceImage& image, int k) {
  image.plane[0][k] = to_u8(scalar::Luma()(load(image, 0, k), load(image, 1, k), load(image, 2, k)));
}
__device__ void replicate(const Operands& p, const DeviceImage& image, int k) {
  for (int c = 1; c < p.op.i[0]; ++c) image.plane[c][k] = to_u8(scalar::Replicate()(load(image, 0, k)));
}
__device__ void premultiply(const Operands&, const DeviceImage& image, int k) {
  with_alpha(scalar::Premultiply(), image, k);
}
__device__ void unpremultiply(const Operands&, const DeviceImage& image, int k) {
  with_alpha(scalar::Unpremultiply(), image, k);
}
__device__ void invert(const Operands&, const DeviceImage& image, int k) {
  for (int c = 0; c < image.channels; ++c) image.plane[c][k] = static_cast<uint8_t>(255 - image.plane[c][k]);
}
__device__ void posterize(const Operands& p, const DeviceImage& image, int k) {
  const int mask = posterize_mask(p.op.i[0]);
  for (int c = 0; c < image.channels; ++c) image.plane[c][k] = static_cast<uint8_t>(image.plane[c][k] & mask);
}
__device__ void solarize(const Operands& p, const DeviceImage& image, int k) {
  const int threshold = solarize_threshold(p.op.f[0]);
  for (int c = 0; c < image.channels; ++c) image.plane[c][k] = solarized(image.plane[c][k], threshold);
}
__device__ void look_up(const Operands& p, const DeviceImage& image, int k) {
  for (int c = 0; c < image.channels; ++c) image.plane[c][k] = p.table[256 * c + image.plane[c][k]];
}
__device__ void to_float(const Operands&, const DeviceImage& image, int k) {
  for (int c = 0; c < image.channels; ++c) image.floats[c][k] = scalar::ToFloat()(load(image, c, k));
}
__device__ void normalize(const Operands& p, const DeviceImage& image, int k) {
  for (int c = 0; c < image.channels; ++c) {
    const scalar::Normalize body{static_cast<float>(p.op.f[c]), static_cast<float>(p.op.f[4 + c])};
    image.floats[c][k] = body(image.floats[c][k]);
  }
}

// ---- Geometry bodies: output pixel (y, x).

__device__ void copy_by_table(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  const int from_y = p.row[y];
  const int from_x = p.column[x];
  for (int c = 0; c < out.channels; ++c) {
    const bool inside = from_y >= 0 && from_x >= 0;
    out.plane[c][y * out.width + x] = inside ? in.plane[c][from_y * in.width + from_x] : p.op.fill[c];
  }
}

__device__ void copy_turned(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  const int turns = p.op.flags & 3;
  const int from_y = turns == 1 ? x : turns == 2 ? in.height - 1 - y : in.height - 1 - x;
  const int from_x = turns == 1 ? in.width - 1 - y : turns == 2 ? in.width - 1 - x : y;
  for (int c = 0; c < out.channels; ++c) {
    out.plane[c][y * out.width + x] = in.plane[c][from_y * in.width + from_x];
  }
}

// One pass of a resize. Pillow, Resample.c, clip8.
__device__ void mix_taps(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  const int at = p.vertical ? y : x;
  const int32_t* weight = p.weight + static_cast<ptrdiff_t>(at) * p.stride;
  for (int c = 0; c < out.channels; ++c) {
    int32_t sum = 1 << (kWeightBits - 1);
    for (int t = 0; t < p.count[at]; ++t) {
      const int source = p.first[at] + t;
      sum += weight[t] * in.plane[c][p.vertical ? source * in.width + x : y * in.width + source];
    }
    const int32_t value = sum >> kWeightBits;
    out.plane[c][y * out.width + x] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

template <OpId kId, int kChannels>
__device__ void warp_to_planes(const Operands& p, const DeviceImage& out, int y, int x) {
  uint8_t pixel[kChannels];
  warp_pixel<kId, kChannels>(p.op, p.warp, y, x, pixel);
  for (int c = 0; c < kChannels; ++c) out.plane[c][y * out.width + x] = pixel[c];
}

template <OpId kId>
__device__ void warp(const Operands& p, const DeviceImage&, const DeviceImage& out, int y, int x) {
  switch (out.channels) {
    case 1:
      return warp_to_planes<kId, 1>(p, out, y, x);
    case 2:
      return warp_to_planes<kId, 2>(p, out, y, x);
    case 3:
      return warp_to_planes<kId, 3>(p, out, y, x);
    default:
      return warp_to_planes<kId, 4>(p, out, y, x);
  }
}

__device__ void blur(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  for (int c = 0; c < out.channels; ++c) {
    out.plane[c][y * out.width + x] = blurred(p.blur, in.plane[c], in.height, in.width, y, x);
  }
}

// Of the finished floats.
__device__ void erase(const Operands& p, const DeviceImage&, const DeviceImage& out, int y, int x) {
  const int32_t* box = p.op.i;
  if (y < box[0] || x < box[1] || y >= box[0] + box[2] || x >= box[1] + box[3]) return;
  for (int c = 0; c < out.channels; ++c) out.floats[c][y * out.width + x] = static_cast<float>(p.op.f[c]);
}

// ---- Filters: output pixel (y, x).

// blend(smooth, v) makes the sample. At the border, where the smoothed image is the image itself, Pillow's blend
// changes nothing; a border that is to be blended all the same is `blended`.
template <class Body>
__device__ void sharpen(Body blend, bool blended, const Operands& p, const DeviceImage& in, const DeviceImage& out,
                        int y, int x) {
  const bool border = y == 0 || x == 0 || y == in.height - 1 || x == in.width - 1;
  const int colors = in.channels - ((p.op.flags & kHasAlpha) != 0 ? 1 : 0);
  for (int c = 0; c < in.channels; ++c) {
    const uint8_t* row = in.plane[c] + y * in.width;
    uint8_t* to = out.plane[c] + y * out.width + x;
    *to = row[x];
    if ((border && !blended) || c >= colors) continue;
    const int smooth = border ? row[x] : smooth_of(smooth_sum(row - in.width, row, row + in.width, x));
    *to = to_u8(blend(static_cast<float>(smooth), static_cast<float>(row[x])));
  }
}

__device__ void pillow_sharpen(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  sharpen(scalar::Sharpness{factor_of(p)}, false, p, in, out, y, x);
}

// torchvision leaves images alone that are all border.
__device__ void torch_sharpen(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  sharpen(scalar::TorchSharpness{factor_of(p), rest_of(p)}, in.height > 2 && in.width > 2, p, in, out, y, x);
}

// ---- One specialisation per op. Pointwise ops work on `out`, which holds their input.

template <OpId kId>
struct DeviceOp;

#define FASTAUG_DEVICE_POINTWISE(id, body)                                                                    \
  template <>                                                                                                 \
  struct DeviceOp<OpId::id> {                                                                                 \
    static __device__ void run(const Operands& p, const DeviceImage&, const DeviceImage& out, int y, int x) { \
      body(p, out, y * out.width + x);                                                                        \
    }                                                                                                         \
  };
FASTAUG_DEVICE_POINTWISE(BRIGHTNESS, brightness)
FASTAUG_DEVICE_POINTWISE(CONTRAST, contrast)
FASTAUG_DEVICE_POINTWISE(TORCH_CONTRAST, torch_contrast)
FASTAUG_DEVICE_POINTWISE(SATURATION, saturation)
FASTAUG_DEVICE_POINTWISE(TORCH_SATURATION, torch_saturation)
FASTAUG_DEVICE_POINTWISE(HUE, hue)
FASTAUG_DEVICE_POINTWISE(LUMA, luma)
FASTAUG_DEVICE_POINTWISE(REPLICATE, replicate)
FASTAUG_DEVICE_POINTWISE(PREMULTIPLY, premultiply)
FASTAUG_DEVICE_POINTWISE(UNPREMULTIPLY, unpremultiply)
FASTAUG_DEVICE_POINTWISE(INVERT, invert)
FASTAUG_DEVICE_POINTWISE(POSTERIZE, posterize)
FASTAUG_DEVICE_POINTWISE(SOLARIZE, solarize)
FASTAUG_DEVICE_POINTWISE(GAMMA, look_up)
FASTAUG_DEVICE_POINTWISE(AUTOCONTRAST, look_up)
FASTAUG_DEVICE_POINTWISE(TORCH_AUTOCONTRAST, look_up)
FASTAUG_DEVICE_POINTWISE(EQUALIZE, look_up)
FASTAUG_DEVICE_POINTWISE(TO_FLOAT, to_float)
FASTAUG_DEVICE_POINTWISE(NORMALIZE, normalize)
#undef FASTAUG_DEVICE_POINTWISE

#define FASTAUG_DEVICE_GEOMETRY(id, body)                                                                        \
  template <>                                                                                                    \
  struct DeviceOp<OpId::id> {                                                                                    \
    static __device__ void run(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) { \
      body(p, in, out, y, x);                                                                                    \
    }                                                                                                            \
  };
FASTAUG_DEVICE_GEOMETRY(WINDOW, copy_by_table)
FASTAUG_DEVICE_GEOMETRY(PAD, copy_by_table)
FASTAUG_DEVICE_GEOMETRY(NEAREST, copy_by_table)
FASTAUG_DEVICE_GEOMETRY(HFLIP, copy_by_table)
FASTAUG_DEVICE_GEOMETRY(VFLIP, copy_by_table)
FASTAUG_DEVICE_GEOMETRY(ROT90, copy_turned)
FASTAUG_DEVICE_GEOMETRY(RESIZE, mix_taps)
FASTAUG_DEVICE_GEOMETRY(AFFINE, warp<OpId::AFFINE>)
FASTAUG_DEVICE_GEOMETRY(PERSPECTIVE, warp<OpId::PERSPECTIVE>)
FASTAUG_DEVICE_GEOMETRY(TORCH_AFFINE, warp<OpId::TORCH_AFFINE>)
FASTAUG_DEVICE_GEOMETRY(BLUR, blur)
FASTAUG_DEVICE_GEOMETRY(SHARPNESS, pillow_sharpen)
FASTAUG_DEVICE_GEOMETRY(TORCH_SHARPNESS, torch_sharpen)
FASTAUG_DEVICE_GEOMETRY(ERASE, erase)
#undef FASTAUG_DEVICE_GEOMETRY

template <OpId kId>
__global__ void run_op(Operands p, DeviceImage in, DeviceImage out) {
  for (int k = first_index(); k < out.height * out.width; k += index_step()) {
    DeviceOp<kId>::run(p, in, out, k / out.width, k % out.width);
  }
}

#define FASTAUG_OP(name, ...) template __global__ void run_op<OpId::name>(Operands, DeviceImage, DeviceImage);
#include "program/ops.def"
#undef FASTAUG_OP

// Fast mode's colour: a run of ops on each pixel, rounded at the end.
__global__ void run_float_ops(const Op* ops, const float* means, int count, DeviceImage image) {
  for (int k = first_index(); k < image.height * image.width; k += index_step()) {
    float v[kMaxChannels];
    int channels = image.channels;
    for (int c = 0; c < channels; ++c) v[c] = load(image, c, k);
    for (int j = 0; j < count; ++j) {
      const scalar::FloatOp op = scalar::float_op(ops[j], means[j], channels);
      scalar::apply_float_op(op, v);
      channels = op.channels;
    }
    for (int c = 0; c < channels; ++c) image.plane[c][k] = to_u8(v[c] + 0.5f);
  }
}

}  // namespace fastaug::cuda
