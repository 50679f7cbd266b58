// A file of which many images are parts, such as a tar file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file.h"

namespace fastaug {

// Any threads, and processes that were forked, read it. It is open from its first use on, until many others are.
class Archive {
 public:
  // As it was when its parts were looked up: its size, and when it was written, in nanoseconds.
  Archive(std::string path, uint64_t size, int64_t written);

  // So many bytes from an offset on. Nothing where reading fails, or the file has changed.
  FileBytes read(uint64_t offset, size_t size) const;

 private:
  struct Held {
    std::shared_ptr<const File> file{};
  };

  std::shared_ptr<const File> open() const;
  std::shared_ptr<const File> opened() const;

  const std::string path_;
  const uint64_t size_;
  const int64_t written_;
  const std::shared_ptr<Held> held_;
};

}  // namespace fastaug
