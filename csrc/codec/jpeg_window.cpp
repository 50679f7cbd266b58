#include "codec/jpeg_window.h"

#include <algorithm>
#include <cstring>

namespace fastaug::codec::jpeg {
namespace {

// Together with the tables and a few MCUs, what the first two caches hold; and many times what an MCU may take.
constexpr ptrdiff_t kSize = 32768;

}  // namespace

Window::Window(Bytes bytes, size_t from, Arena& arena)
    : source_(bytes.data),
      from_(bytes.data + from),
      source_end_(bytes.data + bytes.size),
      memory_(arena.bytes(kSize + kJpegPad)),
      end_(memory_),
      found_at_(from_) {}

void Window::fill(JpegScan* scan) {
  if (ended_) return;
  passed_ += scan->next - memory_;
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

bool Window::at_marker(JpegScan* scan) {
  fill(scan);
  return ended_ && left(*scan) >= 0 && left(*scan) < 8;
}

bool Window::is_next(uint8_t marker, JpegScan* scan) {
  if (!at_marker(scan)) return false;
  return source_end_ - from_ >= 2 && from_[0] == 0xff && from_[1] == marker;
}

void Window::begin(JpegScan* scan) {
  ended_ = false;
  end_ = memory_;
  passed_ = found_ = 0;
  found_at_ = from_;
  scan->bits = 0;
  scan->count = 0;
  scan->next = memory_;
  fill(scan);
}

bool Window::seek(uint64_t bit, JpegScan* scan) {
  if (bit / 8 >= static_cast<uint64_t>(source_end_ - source_)) return false;
  from_ = source_ + bit / 8;
  begin(scan);
  const auto used = static_cast<int>(bit % 8);
  if (used == 0) return true;
  if (end_ == memory_) return false;
  scan->bits = uint64_t{*scan->next++} << (56 + used);
  scan->count = 8 - used;
  return true;
}

uint64_t Window::bit(const JpegScan& scan) {
  const ptrdiff_t bits = (passed_ + (scan.next - memory_)) * 8 - scan.count;
  for (const ptrdiff_t wanted = bits / 8; found_ < wanted;) {
    const ptrdiff_t most = wanted - found_;
    const auto* stuffed = static_cast<const uint8_t*>(std::memchr(found_at_, kFill, static_cast<size_t>(most)));
    const ptrdiff_t plain = stuffed == nullptr ? most : stuffed - found_at_ + 1;
    found_ += plain;
    found_at_ += plain + (stuffed != nullptr);
  }
  return static_cast<uint64_t>(found_at_ - source_) * 8 + static_cast<uint64_t>(bits % 8);
}

void Window::pass(JpegScan* scan) {
  from_ += 2;
  begin(scan);
}

}  // namespace fastaug::codec::jpeg
