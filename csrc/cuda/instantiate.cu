// Every op, for the device: one kernel per line of program/ops.def, around the bodies that the CPU compiles. An op
// without a device kernel here does not compile. The kernels are plain grid-stride loops over one planar image;
// geometry reads its source through index tables, taps and matrices that the host prepared, as the row kernels do.
#include <cstddef>
#include <cstdint>

#include "cuda/blur.h"
#include "cuda/warp.h"
#include "pixel/lane.h"
#include "program/program.h"
// After the lanes that its bodies call.
#include "pixel/float_colour.h"
#include "pixel/index.h"
#include "pixel/point.h"
#include "pixel/smooth.h"
#include "pixel/store.h"
#include "pixel/table.h"
#include "pixel/taps.h"
#include "pixel/weigh.h"

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
FASTAUG_FN uint8_t to_u8(float v) { return static_cast<uint8_t>(static_cast<int>(v)); }
FASTAUG_FN float load(const DeviceImage& image, int c, int k) { return static_cast<float>(image.plane[c][k]); }

// ---- Pointwise ops on pixel k, in place.

__device__ inline float factor_of(const Operands& p) { return static_cast<float>(p.op.f[0]); }

// The loop of a lane op over the channels of a pixel.
struct Pixel {
  const DeviceImage& image;
  int k;

  FASTAUG_FN void store(int c, float v) const { image.plane[c][k] = to_u8(v); }

  template <class Body>
  FASTAUG_FN void each(Body body, int colours, int) const {
    for (int c = 0; c < colours; ++c) store(c, body(load(image, c, k)));
  }
  template <class Body>
  FASTAUG_FN void together(Body body, int) const {
    float r = load(image, 0, k);
    float g = load(image, 1, k);
    float b = load(image, 2, k);
    body(r, g, b);
    store(0, r);
    store(1, g);
    store(2, b);
  }
  template <class Body>
  FASTAUG_FN void opaque(Body body, int channels) const {
    together(body, channels);
    if (channels == 4) image.plane[3][k] = 255;
  }
  template <class Body>
  FASTAUG_FN void reduce(Body body) const {
    store(0, body(load(image, 0, k), load(image, 1, k), load(image, 2, k)));
  }
  FASTAUG_FN void replicate(int copies) const {
    for (int c = 1; c < copies; ++c) image.plane[c][k] = image.plane[0][k];
  }
  template <class Body>
  FASTAUG_FN void with_alpha(Body body, int channels) const {
    const float alpha = load(image, channels - 1, k);
    for (int c = 0; c < channels - 1; ++c) store(c, body(load(image, c, k), alpha));
  }
};

__device__ void invert(const Operands&, const DeviceImage& image, int k) {
  for (int c = 0; c < image.channels; ++c) image.plane[c][k] = inverted(image.plane[c][k]);
}
__device__ void posterize(const Operands& p, const DeviceImage& image, int k) {
  const int mask = posterize_mask(p.op.i[0]);
  for (int c = 0; c < image.channels; ++c) image.plane[c][k] = posterized(image.plane[c][k], mask);
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
  const Place from = before_turn(p.op.flags, y, x, in.height, in.width);
  for (int c = 0; c < out.channels; ++c) {
    out.plane[c][y * out.width + x] = in.plane[c][from.y * in.width + from.x];
  }
}

// One pass of a resize.
__device__ void mix_taps(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  const int at = p.vertical ? y : x;
  const int32_t* weight = p.weight + static_cast<ptrdiff_t>(at) * p.stride;
  const int step = p.vertical ? in.width : 1;
  const int first = p.vertical ? p.first[at] * in.width + x : y * in.width + p.first[at];
  for (int c = 0; c < out.channels; ++c) {
    const uint8_t* samples = in.plane[c] + first;
    out.plane[c][y * out.width + x] =
        weighted_sum(weight, p.count[at], kWeightBits, [=](int t) { return samples[t * step]; });
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

// Overwrites floats that are finished otherwise.
__device__ void erase(const Operands& p, const DeviceImage&, const DeviceImage& out, int y, int x) {
  if (!erases(p.op, y, x)) return;
  for (int c = 0; c < out.channels; ++c) out.floats[c][y * out.width + x] = static_cast<float>(p.op.f[c]);
}

// ---- Filters: output pixel (y, x).

// blend(smooth, v) makes the sample. At the border, where the smoothed image is the image itself, Pillow's blend
// changes nothing; a border that is to be blended all the same is `blended`.
template <class Body>
__device__ void sharpen(Body blend, bool blended, const Operands& p, const DeviceImage& in, const DeviceImage& out,
                        int y, int x) {
  const bool border = y == 0 || x == 0 || y == in.height - 1 || x == in.width - 1;
  const int colors = colours_of(p.op, in.channels);
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

__device__ void torch_sharpen(const Operands& p, const DeviceImage& in, const DeviceImage& out, int y, int x) {
  sharpen(scalar::TorchSharpness{factor_of(p), scalar::torch_rest(p.op.f[0])}, torch_sharpens(in.height, in.width), p,
          in, out, y, x);
}

// ---- One specialisation per op but lane ops. Pointwise ops work on `out`, which holds their input.

template <OpId kId>
struct DeviceOp {
  static __device__ void run(const Operands& p, const DeviceImage&, const DeviceImage& out, int y, int x) {
    scalar::visit_as<kId>(p.op, p.mean, out.channels, Pixel{out, y * out.width + x});
  }
};

#define FASTAUG_DEVICE_POINTWISE(id, body)                                                                    \
  template <>                                                                                                 \
  struct DeviceOp<OpId::id> {                                                                                 \
    static __device__ void run(const Operands& p, const DeviceImage&, const DeviceImage& out, int y, int x) { \
      body(p, out, y * out.width + x);                                                                        \
    }                                                                                                         \
  };
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
      scalar::visit_float(op, scalar::FloatPixel<float>{v, op.channels});
      channels = op.channels;
    }
    for (int c = 0; c < channels; ++c) image.plane[c][k] = to_u8(v[c] + 0.5f);
  }
}

}  // namespace fastaug::cuda
