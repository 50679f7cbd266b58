#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/archive.h"

namespace fastaug {
namespace {

// A file that is removed at the end.
struct Written {
  explicit Written(const std::string& text) {
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(descriptor);
  }
  ~Written() { std::remove(path); }

  int64_t time() const {
    struct stat status{};
    REQUIRE(stat(path, &status) == 0);
#if defined(__APPLE__)
    const struct timespec& written = status.st_mtimespec;
#else
    const struct timespec& written = status.st_mtim;
#endif
    return int64_t{written.tv_sec} * 1'000'000'000 + written.tv_nsec;
  }

  char path[32] = "/tmp/fastaug-archive-XXXXXX";
};

bool holds(const FileBytes& bytes, const char* text) {
  return bytes.size == std::strlen(text) && std::memcmp(bytes.data.get(), text, bytes.size) == 0;
}

TEST_CASE("archive: parts of it") {
  const Written file("0123456789");
  const Archive archive(file.path, 10, file.time());
  CHECK(holds(archive.read(3, 4), "3456"));
  CHECK(holds(archive.read(0, 10), "0123456789"));
  CHECK(archive.read(7, 4).size == 0);
  CHECK(archive.read(11, 1).size == 0);
  CHECK(archive.read(3, 0).size == 0);
  CHECK(archive.read(UINT64_MAX, SIZE_MAX).size == 0);
}

TEST_CASE("archive: not what it was") {
  const Written file("0123456789");
  CHECK(Archive(file.path, 9, file.time()).read(3, 4).size == 0);
  CHECK(Archive(file.path, 10, file.time() + 1).read(3, 4).size == 0);
  CHECK(Archive("/tmp", 10, file.time()).read(3, 4).size == 0);
  CHECK(Archive("/tmp/fastaug-no-such-file", 10, 0).read(3, 4).size == 0);
  const Archive archive(file.path, 10, file.time());
  CHECK(archive.read(3, 4).size == 4);
  REQUIRE(truncate(file.path, 5) == 0);  // while it is open
  CHECK(archive.read(3, 4).size == 0);
  CHECK(holds(archive.read(0, 5), "01234"));
}

TEST_CASE("archive: more of them than stay open") {
  const Written file("0123456789");
  std::vector<std::unique_ptr<Archive>> archives;
  for (int k = 0; k < 600; ++k) archives.push_back(std::make_unique<Archive>(file.path, 10, file.time()));
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& archive : archives) CHECK(holds(archive->read(9, 1), "9"));
  }
  archives.erase(archives.begin(), archives.begin() + 500);
  for (const auto& archive : archives) CHECK(holds(archive->read(1, 2), "12"));
}

}  // namespace
}  // namespace fastaug
