#include "base/archive.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#endif

#include <deque>
#include <mutex>
#include <utility>

namespace fastaug {

Archive::Archive(std::string path, uint64_t size, int64_t written)
    : path_(std::move(path)), size_(size), written_(written), held_(std::make_shared<Held>()) {}

FileBytes Archive::read(uint64_t offset, size_t size) const {
  if (size == 0 || offset > size_ || size > size_ - offset) return {};
  const std::shared_ptr<const File> file = opened();
  if (file == nullptr) return {};
  FileBytes bytes{std::make_unique_for_overwrite<uint8_t[]>(size), size};
  return file->read(offset, size, bytes.data.get()) == File::Result::kRead ? std::move(bytes) : FileBytes{};
}

#if defined(_WIN32)

std::shared_ptr<const File> Archive::open() const { return nullptr; }

#else

std::shared_ptr<const File> Archive::open() const {
  // Without O_NONBLOCK, opening a pipe waits for its other end.
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  auto file = std::make_shared<const File>(descriptor);
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || file->size() != size_) return nullptr;
#if defined(__APPLE__)
  const struct timespec& written = status.st_mtimespec;
#else
  const struct timespec& written = status.st_mtim;
#endif
  return int64_t{written.tv_sec} * 1'000'000'000 + written.tv_nsec == written_ ? file : nullptr;
}

#endif

std::shared_ptr<const File> Archive::opened() const {
  // A process has 1024 descriptors in most systems.
  constexpr size_t kMostOpen = 256;
  static std::mutex mutex;
  static std::deque<std::weak_ptr<Held>> open_ones;
  // Nobody waits: in a forked child, the thread that had the lock may not exist.
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) return open();
  if (held_->file == nullptr) {
    held_->file = open();
    if (held_->file == nullptr) return nullptr;
    open_ones.push_back(held_);
    if (open_ones.size() > kMostOpen) {
      if (const auto oldest = open_ones.front().lock()) oldest->file = nullptr;
      open_ones.pop_front();
    }
  }
  return held_->file;
}

}  // namespace fastaug
