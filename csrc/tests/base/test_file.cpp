#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/file.h"

namespace fastaug {
namespace {

// A descriptor of a file that has the text and no name.
int file_of(const char* text) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fputs(text, file);
  std::fflush(file);
  const int descriptor = dup(fileno(file));
  std::fclose(file);
  return descriptor;
}

TEST_CASE("file: what is read, and where it ends") {
  const File file(file_of("0123456789"));
  CHECK(file.size() == 10);
  uint8_t out[4] = {};
  CHECK(file.read(3, 4, out) == File::Result::kRead);
  CHECK(std::memcmp(out, "3456", 4) == 0);
  CHECK(file.read(10, 0, out) == File::Result::kRead);
  CHECK(file.read(8, 4, out) == File::Result::kEnded);
  CHECK(file.read(uint64_t{1} << 40, 1, out) == File::Result::kEnded);
}

TEST_CASE("file: one that cannot be read") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const File writes(ends[1]);
  uint8_t out[1];
  CHECK(writes.size() == 0);
  CHECK(writes.read(0, 1, out) == File::Result::kFailed);
  close(ends[0]);
}

}  // namespace
}  // namespace fastaug
