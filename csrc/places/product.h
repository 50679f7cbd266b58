// Matrix products of points and maps, as torch computes them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fastaug {

// How torch's product of rows (x, y, 1) and a column adds: which terms it begins and goes on with, and which of the
// later ones are fused with the sum so far. Libraries choose by the processor, the type and the number of rows.
struct ProductForm {
  std::array<uint8_t, 3> order{0, 1, 2};
  std::array<bool, 2> fused{};

  template <class T>
  T operator()(const std::array<T, 3>& row, const T* column) const {
    T sum = row[order[0]] * column[order[0]];
    for (size_t k = 1; k < 3; ++k) {
      const T left = row[order[k]], right = column[order[k]];
      sum = fused[k - 1] ? std::fma(left, right, sum) : sum + left * right;
    }
    return sum;
  }
};

// All there are.
std::vector<ProductForm> product_forms();

// Nothing where torch adds in yet another way.
using ProductFormOf = std::optional<ProductForm> (*)(bool doubles, int64_t rows);

// Who knows torch says so here; until then terms are added in order.
void set_product_forms(ProductFormOf of);
std::optional<ProductForm> product_form(bool doubles, int64_t rows);

}  // namespace fastaug
