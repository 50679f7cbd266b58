// GIF files, whose images are drawn where they are not too many.
#include "codec/gif.h"

#include <algorithm>
#include <memory>

#include "fuzz/fuzz.h"

using namespace fastaug;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const codec::gif::File file = codec::gif::read_file({data, size});
  if (!file.verdict.done()) return 0;
  fuzz::require(!file.frames.empty() && file.height > 0 && file.width > 0, "a sound file has images");
  if (file.pixels() > 1 << 22) return 0;
  const size_t images = static_cast<size_t>(file.height) * static_cast<size_t>(file.width) * file.frames.size();
  const auto drawn = [&](uint8_t before) {
    std::unique_ptr<uint8_t[]> pixels(new uint8_t[3 * images]);
    std::fill_n(pixels.get(), 3 * images, before);
    return codec::gif::draw(file, pixels.get()).done() ? std::move(pixels) : nullptr;
  };
  const auto one = drawn(0), other = drawn(1);
  fuzz::require((one == nullptr) == (other == nullptr), "a file is sound or not");
  if (one != nullptr) fuzz::require(std::equal(one.get(), one.get() + 3 * images, other.get()), "every pixel is drawn");
  return 0;
}
