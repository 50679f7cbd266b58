// A file that is read at places: what the systems differ in.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace fastaug
