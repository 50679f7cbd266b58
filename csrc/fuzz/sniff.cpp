// Any bytes, and every beginning of them: the header is read without a look past their end. Arrays of NumPy's, which
// are little more than their header, are decoded too.
#include <algorithm>
#include <cstring>
#include <memory>

#include "codec/codec.h"
#include "fuzz/codec_checks.h"
#include "fuzz/fuzz.h"

using namespace fastaug;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Long files are cut in fewer places, all lengths of a header among them.
  const size_t step = 1 + size / 512;
  for (size_t length = 0; length <= size; length += length < 64 ? 1 : step) {
    // Memory of its own: AddressSanitizer sees a byte too far.
    const std::unique_ptr<uint8_t[]> copy(new uint8_t[length]);
    if (length > 0) std::memcpy(copy.get(), data, length);
    const codec::Bytes bytes = {copy.get(), length};
    const codec::Format format = codec::sniff(bytes);
    const codec::Header header = codec::read_header(bytes);
    fuzz::check_header(header);
    fuzz::require(header.format == format, "the header has the format that was sniffed");
  }
  fuzz::require(codec::sniff({data, size}) == codec::sniff({data, std::min<size_t>(size, 16)}),
                "the first bytes alone name the format");
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[size]);
  if (size > 0) std::memcpy(copy.get(), data, size);
  fuzz::check_file({copy.get(), size}, codec::Format::kNpy);
  return 0;
}
