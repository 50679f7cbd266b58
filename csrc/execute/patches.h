// Rows of floats into patches, as models of vision and language take them.
#pragma once

#include <cstring>

#include "base/arena.h"
#include "base/image.h"

namespace fastaug {

// Keeps the rows of a row of patches, and then writes patch by patch. In whatever order rows come, those of one row of
// patches follow one another.
class PatchBand {
 public:
  // `planes` rows of `samples` numbers of the target's dtype make a row of the result.
  PatchBand(Arena& arena, const Target& target, int planes, int samples)
      : target_(target),
        planes_(planes),
        side_(target.patches.side),
        row_bytes_(static_cast<size_t>(samples * size_of(target.dtype))),
        piece_(row_bytes_ / static_cast<size_t>(target.width / side_)),
        rows_(static_cast<uint8_t*>(arena.bytes(static_cast<size_t>(planes * side_) * row_bytes_))) {}

  // Where plane c of row y belongs before `done` is called for the row.
  uint8_t* row(int y, int c) const { return rows_ + static_cast<size_t>(c * side_ + y % side_) * row_bytes_; }

  void done(int y) {
    if (++count_ < side_) return;
    count_ = 0;
    // The usual pieces of 14 and 16 floats and halves are a few vectors.
    switch (piece_) {
      case 28:
        return write<28>(y / side_);
      case 32:
        return write<32>(y / side_);
      case 56:
        return write<56>(y / side_);
      case 64:
        return write<64>(y / side_);
      default:
        return write<0>(y / side_);
    }
  }

 private:
  template <size_t kBytes>
  void write(int across) const {
    const size_t piece = kBytes == 0 ? piece_ : kBytes;
    const size_t square = piece * static_cast<size_t>(side_);
    const Patches& patches = target_.patches;
    const int columns = target_.width / side_;
    for (int x = 0; x < columns; ++x) {
      uint8_t* const patch = static_cast<uint8_t*>(target_.data) + patches.place(across, x, columns) * patches.stride;
      for (int c = 0; c < planes_; ++c) {
        uint8_t* const first = patch + c * target_.channel_stride;
        const uint8_t* from = row(0, c) + static_cast<size_t>(x) * piece;
        for (int y = 0; y < side_; ++y, from += row_bytes_) {
          std::memcpy(first + static_cast<size_t>(y) * piece, from, piece);
        }
        for (int k = 1; k < patches.copies; ++k) std::memcpy(first + k * patches.copy_stride, first, square);
      }
    }
  }

  const Target& target_;
  int planes_;
  int side_;
  size_t row_bytes_;
  size_t piece_;  // bytes of a row in one patch
  uint8_t* rows_;
  int count_ = 0;
};

}  // namespace fastaug
