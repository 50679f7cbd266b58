// The format is that of CompuServe's GIF89a; what a file leaves open is answered as giflib 5 answers it.
#include "codec/gif.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace fastaug::codec::gif {
namespace {

constexpr int kMostCodes = 4096;
constexpr int kMostBits = 12;

constexpr const char* kTooShort = "GIF data end too early";

Verdict deferred(const char* reason, size_t offset = Verdict::kNowhere) { return {Outcome::kDeferred, reason, offset}; }

// Bytes of a file in their order. What is read beyond the end is 0, and ended() says so.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  bool ended() const { return ended_; }
  size_t at() const { return at_; }

  int byte() {
    const Bytes one = take(1);
    return one.size == 0 ? 0 : one.data[0];
  }
  int word() {
    const int low = byte();
    return byte() << 8 | low;
  }
  // All of `size` bytes, or none.
  Bytes take(size_t size) {
    if (size > bytes_.size - at_) {
      ended_ = true;
      return {};
    }
    at_ += size;
    return {bytes_.data + at_ - size, size};
  }
  Bytes colours(int flags) { return (flags & 0x80) == 0 ? Bytes{} : take(size_t{3} * (size_t{2} << (flags & 7))); }

  // The sub-blocks from here to the empty one, and that.
  Bytes blocks() {
    const size_t begin = at_;
    while (!ended_) {
      const int size = byte();
      if (size == 0) break;
      take(static_cast<size_t>(size));
    }
    return {bytes_.data + begin, at_ - begin};
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
  bool ended_ = false;
};

// Of a graphic control extension, for the image behind it.
struct Control {
  bool found = false;  // the first one counts
  int disposal = 0;
  int transparent = -1;
};

void read_extension(Reader& reader, Control& control) {
  constexpr int kGraphicControl = 0xf9;
  const int label = reader.byte();
  const Bytes blocks = reader.blocks();
  if (label != kGraphicControl || blocks.size < 2 || control.found) return;
  control.found = true;
  const uint8_t* fields = blocks.data + 1;
  if (blocks.data[0] != 4 || blocks.size < 6) return;
  control.disposal = fields[0] >> 2 & 7;
  if ((fields[0] & 1) != 0) control.transparent = fields[3];
}

Verdict read_frame(Reader& reader, Bytes shared, const Control& control, Frame& frame) {
  const size_t at = reader.at();
  frame.left = reader.word();
  frame.top = reader.word();
  frame.width = reader.word();
  frame.height = reader.word();
  const int flags = reader.byte();
  frame.interlaced = (flags & 0x40) != 0;
  const Bytes own = reader.colours(flags);
  frame.colours = own.size > 0 ? own : shared;
  frame.bits = reader.byte();
  frame.codes = reader.blocks();
  // "Restore to background" is 2. Of the other values 0, 1 and 3 have a meaning, to which the image before is nearest.
  frame.on_background = control.disposal == 2 || control.disposal > 3;
  frame.transparent = control.transparent;
  if (reader.ended()) return deferred(kTooShort);
  if (frame.width == 0 || frame.height == 0) return deferred("a GIF image without pixels", at);
  if (frame.colours.size == 0) return deferred("a GIF image without colours", at);
  if (frame.bits > 8) return deferred("GIF codes of too many bits", at);
  return {};
}

// The codes in sub-blocks, the lowest bit first.
class Codes {
 public:
  explicit Codes(Bytes blocks) : blocks_(blocks) {}

  // -1 where there are no more.
  int next(int bits) {
    for (; held_ < bits; held_ += 8) {
      if (left_ == 0) {
        left_ = blocks_.data[at_++];
        // Sub-blocks are whole, and the last one is empty.
        if (left_ == 0) return -1;
      }
      word_ |= uint32_t{blocks_.data[at_++]} << held_;
      --left_;
    }
    const int code = static_cast<int>(word_ & ((1U << bits) - 1));
    word_ >>= bits;
    held_ -= bits;
    return code;
  }

 private:
  Bytes blocks_;
  size_t at_ = 0;
  int left_ = 0;
  uint32_t word_ = 0;
  int held_ = 0;
};

// The image of a frame on its canvas, a row of indices after another in the order of the file.
class Rows {
 public:
  Rows(const File& file, const Frame& frame, uint8_t* canvas) : file_(file), frame_(frame), canvas_(canvas) {
    std::memcpy(colours_.data(), frame.colours.data, std::min(frame.colours.size, colours_.size()));
  }

  void draw(const uint8_t* indices) {
    const int y = frame_.top + next();
    const int width = std::min(frame_.width, file_.width - frame_.left);
    if (y >= file_.height || width <= 0) return;
    uint8_t* pixel = canvas_ + 3 * (ptrdiff_t{file_.width} * y + frame_.left);
    for (int x = 0; x < width; ++x, pixel += 3) {
      if (indices[x] != frame_.transparent) std::memcpy(pixel, &colours_[size_t{3} * indices[x]], 3);
    }
  }

 private:
  // The next row in the file.
  int next() {
    const int y = y_;
    if (!frame_.interlaced) {
      ++y_;
      return y;
    }
    constexpr int kBegins[] = {0, 4, 2, 1};
    constexpr int kSteps[] = {8, 8, 4, 2};
    y_ += kSteps[pass_];
    while (y_ >= frame_.height && pass_ < 3) y_ = kBegins[++pass_];
    return y;
  }

  const File& file_;
  const Frame& frame_;
  uint8_t* canvas_;
  int y_ = 0;
  int pass_ = 0;
  std::array<uint8_t, 3 * 256> colours_ = {};  // black, where the file has fewer
};

// LZW's strings, each of which is a string before it and an index more.
class Strings {
 public:
  explicit Strings(int bits) : clear_(1 << bits), bits_(bits) { forget(); }

  int clear() const { return clear_; }
  int end() const { return clear_ + 1; }
  int code_bits() const { return code_bits_; }

  void forget() {
    size_ = clear_ + 2;
    code_bits_ = bits_ + 1;
    previous_ = kNone;
  }

  // Takes a code that is neither clear() nor end(), and adds the string that it tells of: the one before it, and its
  // own first index. A code may be that of this very string, but of none that is still to come: then it is false.
  bool take(int code) {
    if (code > size_ || (code == size_ && previous_ == kNone)) return false;
    if (previous_ != kNone && size_ < kMostCodes) {
      entries_[size_] = {static_cast<uint16_t>(previous_), static_cast<uint16_t>(length(previous_) + 1),
                         first(previous_), first(code < size_ ? code : previous_)};
      ++size_;
    }
    code_ = previous_ = code;
    if (size_ >= 1 << code_bits_ && code_bits_ < kMostBits) ++code_bits_;
    return true;
  }

  // The string of the code that was taken last: of kMostCodes indices at most.
  int length() const { return length(code_); }
  void write(uint8_t* indices) const {
    int code = code_;
    uint8_t* at = indices + length(code);
    while (code >= clear_) {
      *--at = entries_[code].last;
      code = entries_[code].previous;
    }
    *--at = static_cast<uint8_t>(code);
  }

 private:
  static constexpr int kNone = -1;

  struct Entry {
    uint16_t previous;
    uint16_t length;
    uint8_t first;
    uint8_t last;
  };

  uint8_t first(int code) const { return code < clear_ ? static_cast<uint8_t>(code) : entries_[code].first; }
  int length(int code) const { return code < clear_ ? 1 : entries_[code].length; }

  int clear_;
  int bits_;
  int size_;
  int code_bits_;
  int previous_;
  int code_ = 0;
  std::array<Entry, kMostCodes> entries_;
};

Verdict draw_frame(const File& file, const Frame& frame, uint8_t* canvas) {
  Codes codes(frame.codes);
  Strings strings(frame.bits);
  Rows rows(file, frame, canvas);
  // A row, and what the last string of it has for the next ones.
  const std::unique_ptr<uint8_t[]> indices(new uint8_t[static_cast<size_t>(frame.width) + kMostCodes]);
  int held = 0;
  for (int y = 0; y < frame.height;) {
    const int code = codes.next(strings.code_bits());
    if (code < 0 || code == strings.end()) return deferred(kTooShort);
    if (code == strings.clear()) {
      strings.forget();
      continue;
    }
    if (!strings.take(code)) return deferred("corrupt GIF data");
    strings.write(indices.get() + held);
    held += strings.length();
    if (held < frame.width) continue;
    int drawn = 0;
    for (; held - drawn >= frame.width && y < frame.height; ++y, drawn += frame.width) rows.draw(&indices[drawn]);
    held -= drawn;
    std::memmove(indices.get(), &indices[drawn], static_cast<size_t>(held));
  }
  return {};
}

void fill(uint8_t* pixels, size_t count, const std::array<uint8_t, 3>& colour) {
  for (size_t k = 0; k < count; ++k, pixels += 3) std::memcpy(pixels, colour.data(), 3);
}

}  // namespace

int64_t File::pixels() const {
  int64_t drawn = 0;
  for (const Frame& frame : frames) drawn += int64_t{frame.height} * frame.width;
  return std::max(drawn, int64_t{height} * width * static_cast<int64_t>(frames.size()));
}

File read_file(Bytes bytes) {
  File file;
  Reader reader(bytes);
  const auto fails = [&](const char* reason, size_t offset = Verdict::kNowhere) {
    file.verdict = deferred(reason, offset);
    return file;
  };
  const Bytes signature = reader.take(6);
  if (signature.size == 0 || std::memcmp(signature.data, "GIF", 3) != 0) return fails("not a GIF", 0);
  file.width = reader.word();
  file.height = reader.word();
  const int flags = reader.byte();
  const auto background = static_cast<size_t>(reader.byte());
  reader.byte();  // the shape of pixels
  const Bytes shared = reader.colours(flags);
  if (3 * background < shared.size) std::memcpy(file.background.data(), shared.data + 3 * background, 3);
  constexpr int kExtension = 0x21, kImage = 0x2c, kEnd = 0x3b;
  Control control;
  for (int kind = reader.byte(); kind != kEnd; kind = reader.byte()) {
    if (reader.ended()) return fails(kTooShort);
    if (kind == kExtension) {
      read_extension(reader, control);
    } else if (kind == kImage) {
      Frame frame;
      file.verdict = read_frame(reader, shared, control, frame);
      if (!file.verdict.done()) return file;
      file.frames.push_back(frame);
      control = {};
    } else {
      return fails("not a block of a GIF", reader.at() - 1);
    }
  }
  if (file.frames.empty()) return fails("a GIF without an image");
  file.height = std::max(file.height, file.frames[0].height);
  file.width = std::max(file.width, file.frames[0].width);
  return file;
}

Verdict draw(const File& file, uint8_t* pixels) {
  const size_t count = static_cast<size_t>(file.height) * static_cast<size_t>(file.width);
  const uint8_t* before = nullptr;
  for (const Frame& frame : file.frames) {
    if (before == nullptr || frame.on_background) {
      fill(pixels, count, file.background);
    } else {
      std::memcpy(pixels, before, 3 * count);
    }
    const Verdict verdict = draw_frame(file, frame, pixels);
    if (!verdict.done()) return verdict;
    before = pixels;
    pixels += 3 * count;
  }
  return {};
}

}  // namespace fastaug::codec::gif
