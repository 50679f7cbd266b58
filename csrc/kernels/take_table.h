// Which samples of a row Kernels::take picks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace fastaug {

struct TakeTable {
  // Bytes that say where the samples of a block are, and what they count to.
  static constexpr int kPlaces = 64;
  static constexpr int kWindow = 256;

  // Samples at these indices of the source row.
  explicit TakeTable(std::span<const int32_t> of) : index(of.begin(), of.end()) {
    for (const int outputs : {kPlaces, kPlaces / 2, kPlaces / 4}) {
      block = outputs;
      if (lay_out()) return;
    }
    block = 0;
  }

  int width() const { return static_cast<int>(index.size()); }

  std::vector<int32_t> index;
  // Outputs that are picked together, all from a window of the row; 0 where samples are too far from one another.
  int block = 0;
  // Of each block: its first source sample, and how far the last one is from it; and of its outputs how far theirs are,
  // in kPlaces bytes.
  std::vector<int32_t> first;
  std::vector<int32_t> spread;
  std::vector<uint8_t> place;

 private:
  bool lay_out() {
    first.clear();
    spread.clear();
    place.clear();
    const std::span<const int32_t> all(index);
    for (size_t x = 0; x < all.size(); x += static_cast<size_t>(block)) {
      const auto some = all.subspan(x, std::min(static_cast<size_t>(block), all.size() - x));
      const auto [least, most] = std::minmax_element(some.begin(), some.end());
      if (*most - *least >= kWindow) return false;
      first.push_back(*least);
      spread.push_back(*most - *least);
      for (const int32_t sample : some) place.push_back(static_cast<uint8_t>(sample - *least));
      place.resize(first.size() * kPlaces);
    }
    return true;
  }
};

}  // namespace fastaug
