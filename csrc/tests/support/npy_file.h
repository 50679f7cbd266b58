// Files of NumPy's, as numpy.save writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/guard.h"

namespace fastaug::test {

inline std::string npy_header(const std::string& text, int version = 1) {
  std::string head = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) head += static_cast<char>(text.size() >> (8 * k) & 255);
  return head + text;
}

// Of uint8 and of that shape.
inline std::string npy_file(const std::vector<int>& shape, Random& random, int version = 1) {
  std::string sides;
  size_t count = 1;
  for (const int side : shape) {
    sides += std::to_string(side) + ", ";
    count *= static_cast<size_t>(side);
  }
  std::string file = npy_header("{'descr': '|u1', 'fortran_order': False, 'shape': (" + sides + "), }  \n", version);
  for (size_t k = 0; k < count; ++k) file += static_cast<char>(random.between(0, 255));
  return file;
}

}  // namespace fastaug::test
