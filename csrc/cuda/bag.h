// The host's plan for a bag of images on a device, made without a pixel and without a device. The images may differ in
// size and in their programs. They go in waves, so that images between two parts stay in a cache. A launch does the
// parts of a wave that have the same features.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "cuda/part.h"
#include "execute/execute.h"
#include "plan/plan.h"

namespace fastaug::cuda {

constexpr int64_t kAlignment = 256;  // of what lies in the scratch

constexpr int64_t aligned(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

struct BagOptions {
  uint32_t rewrites = kExactRewrites;
  // Bytes of scratch after which a wave ends; an image may need more by itself.
  int64_t wave_bytes = int64_t{32} << 20;
  // Bytes of shared memory that a block may have.
  uint32_t shared_bytes = 48 << 10;
};

// One launch, of a block of kThreads threads for each task or tile.
struct Launch {
  int32_t kernel;   // of Bag::features(); -1: the tasks
  uint32_t offset;  // of its tasks or entries in the blob
  int32_t count;    // of them
  int64_t blocks;
  uint32_t shared;
};

class Bag {
 public:
  explicit Bag(const BagOptions& options) : options_(options) {}

  // The next image. Pixels and memory of the result must have the device's addresses; nothing here reads them.
  // False for what no device does: an encoded image, a result in Pillow's own memory (with gaps to fill, or LA as four
  // channels), and a nearest AFFINE with shear whose positions Pillow adds up. Throws Error where make_plan does, and
  // where `shared_bytes` are too few.
  bool add(const Job& job);
  // Ends the last wave.
  void finish();

  // The bytes to copy to the device, aligned to 16 bytes there.
  std::span<const uint8_t> blob() const { return blob_; }
  // Memory on the device, aligned to 256 bytes.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  const std::vector<Features>& features() const { return features_; }
  // In order: each needs those before it to be done.
  const std::vector<Launch>& launches() const { return launches_; }
  size_t waves() const { return waves_; }

 private:
  friend class Lowering;

  // Parts of one wave and level that share a kernel.
  struct Group {
    std::vector<Entry> entries;
    int64_t blocks = 0;
    uint32_t shared = 0;
  };
  struct Level {
    std::vector<Task> tasks;
    std::vector<Group> groups;  // by kernel
  };

  template <class T>
  uint32_t put(std::span<const T> values) {
    const size_t offset = (blob_.size() + 15) / 16 * 16;
    if (offset + values.size_bytes() > kNowhere / 2) {
      fail(ErrorCode::kValue, "a bag of so many images does not fit into one call: its programs take 2 GB");
    }
    blob_.resize(offset + values.size_bytes());
    if (!values.empty()) std::memcpy(blob_.data() + offset, values.data(), values.size_bytes());
    return static_cast<uint32_t>(offset);
  }
  template <class T>
  uint32_t put(const T& value) {
    return put(std::span<const T>(&value, 1));
  }
  uint32_t reserve(int64_t bytes);
  Level& level(size_t number);
  int kernel_of(const Features& features);
  void end_wave();

  BagOptions options_;
  std::vector<uint8_t> blob_;
  std::vector<Features> features_;
  std::vector<Launch> launches_;
  std::vector<Level> levels_;  // of this wave
  size_t used_levels_ = 0;
  int64_t scratch_ = 0;  // of this wave
  int64_t scratch_bytes_ = 0;
  size_t waves_ = 0;
  // Tables that the host makes, in the blob.
  struct HostTaps {
    uint32_t ranges;
    uint32_t weights;
    int32_t bits;  // of the weights
  };
  // By (filter, in, out, whether down, begin, count).
  std::map<std::tuple<int, int, int, bool, int, int>, HostTaps> tables_;
  // The last ones asked for: most images of a bag are normalised alike.
  FloatStore stored_;
  StoreForm forms_[kMaxChannels] = {};
  bool has_forms_ = false;
};

// The region of an image that a program reads on a device. Only this must be copied there.
Region needed_region(Program program, Shape in, uint32_t rewrites);

}  // namespace fastaug::cuda
