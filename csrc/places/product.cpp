#include "places/product.h"

#include <algorithm>
#include <atomic>

namespace fastaug {
namespace {

constinit std::atomic<ProductFormOf> asked = nullptr;

}  // namespace

std::vector<ProductForm> product_forms() {
  std::vector<ProductForm> forms;
  ProductForm form;
  do {
    for (const bool second : {false, true}) {
      for (const bool third : {false, true}) forms.push_back({form.order, {second, third}});
    }
  } while (std::ranges::next_permutation(form.order).found);
  return forms;
}

void set_product_forms(ProductFormOf of) { asked = of; }

std::optional<ProductForm> product_form(bool doubles, int64_t rows) {
  const ProductFormOf of = asked;
  return of == nullptr ? ProductForm{} : of(doubles, rows);
}

}  // namespace fastaug
