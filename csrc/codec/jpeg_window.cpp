#include "codec/jpeg_window.h"

#include <algorithm>
#include <cstring>

namespace fastaug::codec::jpeg {
namespace {

// Together with the tables and a few MCUs, what the first two caches hold; and many times what an MCU may take.
constexpr ptrdiff_t kSize = 32768;

}  // namespace

Window::Window(Bytes bytes, size_t from, Arena& arena)
    : from_(bytes.data + from),
      source_end_(bytes.data + bytes.size),
      memory_(arena.bytes(kSize + kJpegPad)),
      end_(memory_) {}

void Window::fill(JpegScan* scan) {
  if (ended_) return;
  const ptrdiff_t kept = end_ - scan->next;
  std::memmove(memory_, scan->next, static_cast<size_t>(kept));
  scan->next = memory_;
  uint8_t* to = memory_ + kept;
  while (to < memory_ + kSize) {
    const auto most = static_cast<size_t>(std::min(memory_ + kSize - to, source_end_ - from_));
    const auto* found = static_cast<const uint8_t*>(std::memchr(from_, kFill, most));
    const size_t plain = found == nullptr ? most : static_cast<size_t>(found - from_);
    std::memcpy(to, from_, plain);
    to += plain;
    from_ += plain;
    if (found == nullptr) {
      ended_ = from_ == source_end_;
    } else if (source_end_ - from_ > 1 && from_[1] == kStuffed) {
      *to++ = kFill;
      from_ += 2;
    } else {
      ended_ = true;
    }
    if (ended_) break;
  }
  end_ = to;
}

bool Window::is_next(uint8_t marker, JpegScan* scan) {
  fill(scan);
  if (!ended_ || left(*scan) < 0 || left(*scan) >= 8) return false;
  return source_end_ - from_ >= 2 && from_[0] == 0xff && from_[1] == marker;
}

void Window::begin(JpegScan* scan) {
  ended_ = false;
  end_ = memory_;
  scan->bits = 0;
  scan->count = 0;
  scan->next = memory_;
  fill(scan);
}

void Window::pass(JpegScan* scan) {
  from_ += 2;
  begin(scan);
}

}  // namespace fastaug::codec::jpeg
