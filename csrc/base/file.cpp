#include "base/file.h"

#if defined(_WIN32)
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

#include <utility>

namespace fastaug {
namespace {

uint64_t size_of_file(int descriptor) {
#if defined(_WIN32)
  struct _stat64 status{};
  const bool known = _fstat64(descriptor, &status) == 0;
#else
  struct stat status{};
  const bool known = fstat(descriptor, &status) == 0;
#endif
  return known && status.st_size > 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

// Reads as many bytes as come at once: 0 at the end, -1 if reading fails.
int64_t read_some(int descriptor, uint64_t offset, size_t size, uint8_t* out) {
#if defined(_WIN32)
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  const auto most = static_cast<DWORD>(std::min<size_t>(size, size_t{1} << 30));
  DWORD count = 0;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  if (ReadFile(handle, out, most, &count, &place)) return count;
  return GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
#else
  ssize_t count = -1;
  do {
    count = pread(descriptor, out, size, static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  return count;
#endif
}

}  // namespace

File::File(int descriptor) : descriptor_(descriptor), size_(size_of_file(descriptor)) {}

File::~File() {
#if defined(_WIN32)
  _close(descriptor_);
#else
  close(descriptor_);
#endif
}

File::Result File::read(uint64_t offset, size_t size, uint8_t* out) const {
  while (size > 0) {
    const int64_t count = read_some(descriptor_, offset, size, out);
    if (count <= 0) return count == 0 ? Result::kEnded : Result::kFailed;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<size_t>(count);
    out += count;
  }
  return Result::kRead;
}

#if defined(_WIN32)

// Paths of this system have other characters than bytes.
bool can_read_files() { return false; }
FileBytes read_file(const char*, uint64_t) { return {}; }

#else

bool can_read_files() { return true; }

FileBytes read_file(const char* path, uint64_t most) {
  // Without O_NONBLOCK, opening a pipe waits for its other end.
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  const File file(descriptor);
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || file.size() > most) return {};
  const auto size = static_cast<size_t>(file.size());
  FileBytes bytes{std::make_unique_for_overwrite<uint8_t[]>(size), size};
  return size > 0 && file.read(0, size, bytes.data.get()) == File::Result::kRead ? std::move(bytes) : FileBytes{};
}

#endif

}  // namespace fastaug
