#include <doctest/doctest.h>

#include "pixel/store.h"
#include "tests/support/guard.h"

namespace fastaug {
namespace {

using test::Random;

bool keeps_the_bits(const StoreForm& form) {
  for (int v = 0; v < 256; ++v) {
    const auto sample = static_cast<float>(v);
    const float wanted = stored_value(sample, form.normalize, form.mean, form.std, form.multiplied, form.unit_high);
    if (bits_of(stored(form, sample)) != bits_of(wanted)) return false;
  }
  return true;
}

TEST_CASE("a sample without a mean is stored without a division") {
  const StoreForm form = store_form(false, 0.0f, 1.0f);
  CHECK(form.quick);
  CHECK(keeps_the_bits(form));
  const StoreForm multiplied = store_form(false, 0.0f, 1.0f, true);
  CHECK(multiplied.quick);
  CHECK(keeps_the_bits(multiplied));
  CHECK(keeps_the_bits(store_form(false, 0.0f, 1.0f, true, 1.0f)));
}

TEST_CASE("most deviations are divided by without a division, and all have the bits of one") {
  for (float mean : {0.485f, 0.456f, 0.406f, 0.5f, 0.0f})
    for (float std : {0.229f, 0.224f, 0.225f, 0.5f, 1.0f}) {
      CAPTURE(mean);
      CAPTURE(std);
      CHECK(keeps_the_bits(store_form(true, mean, std)));
      CHECK(keeps_the_bits(store_form(true, mean, std, true)));
      CHECK(keeps_the_bits(store_form(true, 255 * mean, 255 * std, true, 1.0f)));
      CHECK(keeps_the_bits(store_form(true, mean, std, true, 1 / 127.5f)));
    }
  Random random(5);
  int quick = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto mean = static_cast<float>(random.unit());
    const auto std = static_cast<float>(0.05 + random.unit());
    const StoreForm form = store_form(true, mean, std);
    quick += form.quick ? 1 : 0;
    CAPTURE(mean);
    CAPTURE(std);
    REQUIRE(keeps_the_bits(form));
  }
  CHECK(quick > 1500);
}

TEST_CASE("where the short form is wrong, it is not taken") {
  // Its reciprocal is infinite, or loses bits that the quotient has.
  for (float std : {1e-42f, -1e-42f, 0x1p-149f, 3e38f}) {
    CAPTURE(std);
    const StoreForm form = store_form(true, 0.5f, std);
    CHECK_FALSE(form.quick);
    CHECK(keeps_the_bits(form));
  }
}

}  // namespace
}  // namespace fastaug
