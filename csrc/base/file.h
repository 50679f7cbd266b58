// A file that is read at places: what the systems differ in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fastaug {

// Any threads, and processes that were forked, read it at places of their own. Closed with its last reader.
class File {
 public:
  enum class Result : uint8_t { kRead, kEnded, kFailed };

  // Takes the descriptor over.
  explicit File(int descriptor);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  // When it was opened; 0 where that could not be found out.
  uint64_t size() const { return size_; }
  Result read(uint64_t offset, size_t size, uint8_t* out) const;

 private:
  const int descriptor_;
  const uint64_t size_;
};

struct FileBytes {
  std::unique_ptr<uint8_t[]> data{};
  size_t size = 0;
};

// Larger files of images are read only up to the end of their image, which is Python's to do.
constexpr uint64_t kAtOnce = 16 << 20;

// True if read_file() reads on this system.
bool can_read_files();

// The bytes of a regular file of at most `most`. Nothing of any other, or where reading fails.
FileBytes read_file(const char* path, uint64_t most);

}  // namespace fastaug
