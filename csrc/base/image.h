// Borrowed, strided images and the geometry of parts of them. Nothing here owns pixels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastaug {

// Channels that one kernel call carries. Images with more are processed in groups of this many.
constexpr int kMaxChannels = 4;

// A rectangle of an image, in that image's pixel coordinates.
struct Region {
  int y = 0;
  int x = 0;
  int height = 0;
  int width = 0;

  bool operator==(const Region&) const = default;
};

enum class DType : uint8_t { kUint8 = 0, kFloat32 = 1, kFloat16 = 2, kBfloat16 = 3 };

inline const char* name_of(DType dtype) {
  static constexpr const char* kNames[] = {"uint8", "float32", "float16", "bfloat16"};
  return kNames[static_cast<int>(dtype)];
}

inline int size_of(DType dtype) { return dtype == DType::kUint8 ? 1 : dtype == DType::kFloat32 ? 4 : 2; }

// An image somewhere in memory, of uint8 or of float32. Strides are in bytes and may be negative; sample (y, x, c) lies
// at data + y * row_stride + x * pixel_stride + c * channel_stride. Packed RGB has pixel_stride 3 and channel_stride 1,
// Pillow's RGB pixel_stride 4, a CHW tensor of bytes pixel_stride 1 and channel_stride height * width. Floats lie at
// addresses that are multiples of four.
struct View {
  const uint8_t* data = nullptr;
  int height = 0;
  int width = 0;
  int channels = 0;
  ptrdiff_t row_stride = 0;
  ptrdiff_t pixel_stride = 0;
  ptrdiff_t channel_stride = 0;
  DType dtype = DType::kUint8;

  const uint8_t* at(int y, int x, int c) const { return data + y * row_stride + x * pixel_stride + c * channel_stride; }
};

// Where a result goes. Strides are in bytes, as in View. Only samples are written, unless `fill_gaps` says that the
// bytes between pixels belong to the image too: they become 255, as Pillow leaves the fourth byte of an RGB pixel.
struct Target {
  void* data = nullptr;
  DType dtype = DType::kUint8;
  int height = 0;
  int width = 0;
  int channels = 0;
  ptrdiff_t row_stride = 0;
  ptrdiff_t pixel_stride = 0;
  ptrdiff_t channel_stride = 0;
  bool fill_gaps = false;
};

}  // namespace fastaug
