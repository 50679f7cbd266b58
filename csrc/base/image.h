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

// Up to here float32 has all integers.
constexpr int64_t kMostOfFloat32 = int64_t{1} << 24;

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

// How a result lies in patches: squares of `side` pixels, `stride` bytes apart. They follow one another row by row of
// blocks of `merge` x `merge` of them, and row by row inside of a block. Each holds its samples `copies` times,
// `copy_stride` bytes apart.
struct Patches {
  int side = 0;  // 0: there are none
  int merge = 1;
  int copies = 1;
  ptrdiff_t stride = 0;
  ptrdiff_t copy_stride = 0;

  // The place of patch (y, x) among those of a result with `columns` of them in a row.
  int64_t place(int y, int x, int columns) const {
    const int64_t block = int64_t{y / merge} * (columns / merge) + x / merge;
    return (block * merge + y % merge) * merge + x % merge;
  }
};

// Where a result goes. Strides are in bytes, as in View, or inside of a patch. Only samples are written, unless
// `fill_gaps` says that the bytes between pixels belong to the image too: they become 255, as Pillow leaves the fourth
// byte of an RGB pixel.
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
  Patches patches{};

  uint8_t* at(int y, int x, int c) const {
    ptrdiff_t patch = 0;
    if (patches.side != 0) {
      patch = patches.place(y / patches.side, x / patches.side, width / patches.side) * patches.stride;
      y %= patches.side;
      x %= patches.side;
    }
    return static_cast<uint8_t*>(data) + patch + y * row_stride + x * pixel_stride + c * channel_stride;
  }
};

}  // namespace fastaug
