#include "codec/jpeg_frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "codec/exif.h"
#include "codec/jpeg_markers.h"

namespace fastaug::codec::jpeg {
namespace {

using namespace std::string_view_literals;

Bytes without(Bytes bytes, size_t count) { return {bytes.data + count, bytes.size - count}; }

// Layouts of three components whose regions were compared with whole images, and those with Pillow's: every component
// of full size, or two equal ones that are smaller by 2 across, 2 down, 2 both ways, or 4 across.
bool usual(const Frame& frame) {
  const Sampling& luma = frame.samplings[0];
  const Sampling& chroma = frame.samplings[1];
  if (chroma != frame.samplings[2] || luma != frame.most) return false;
  if (luma.across % chroma.across != 0 || luma.down % chroma.down != 0) return false;
  const int across = luma.across / chroma.across;
  const int down = luma.down / chroma.down;
  return (across <= 2 && down <= 2) || (across == 4 && down == 1);
}

// Nobody has asked for it: where Pillow would raise, the image stays as it is.
int orientation_of(Bytes exif, Bytes xmp) {
  int orientation = exif_orientation(exif);
  if (orientation == kNoOrientation) orientation = xmp_orientation(xmp);
  return orientation == kNoOrientation || orientation == kUnclearOrientation ? 1 : orientation;
}

int64_t blocks_of(int samples) { return (int64_t{samples} + 7) / 8; }

}  // namespace

bool read_sof(Bytes content, Frame* frame) {
  if (content.size < 6) return false;
  const uint8_t* p = content.data;
  Header& header = frame->header;
  header.bits = p[0];
  header.height = p[1] << 8 | p[2];
  header.width = p[3] << 8 | p[4];
  header.channels = p[5];
  if (header.bits != 8 || header.height == 0 || header.width == 0) return false;
  if (header.channels != 1 && header.channels != 3) return false;
  if (content.size != 6 + 3 * static_cast<size_t>(header.channels)) return false;
  for (int i = 0; i < header.channels; ++i) {
    frame->ids[i] = p[6 + 3 * i];
    Sampling& sampling = frame->samplings[i];
    sampling = {p[7 + 3 * i] >> 4, p[7 + 3 * i] & 15};
    frame->steps[i] = p[8 + 3 * i];
    if (sampling.across < 1 || sampling.across > 4 || sampling.down < 1 || sampling.down > 4) return false;
    frame->most.across = std::max(frame->most.across, sampling.across);
    frame->most.down = std::max(frame->most.down, sampling.down);
  }
  return header.channels == 1 || usual(*frame);
}

int64_t Frame::blocks() const {
  int64_t count = 0;
  for (int i = 0; i < header.channels; ++i) {
    // T.81, A.1.1; one component alone has full size whatever its factors are.
    const int width = (header.width * samplings[i].across + most.across - 1) / most.across;
    const int height = (header.height * samplings[i].down + most.down - 1) / most.down;
    count += blocks_of(width) * blocks_of(height);
  }
  return count;
}

std::optional<Frame> read_frame(Bytes bytes) {
  if (sniff(bytes) != Format::kJpeg) return {};
  Frame frame{};
  frame.header.format = Format::kJpeg;
  bool has_frame = false;
  bool progressive = false;
  Bytes exif, xmp;
  for (Walk walk(bytes); std::optional<Segment> segment = walk.next();) {
    const Bytes content = segment->content;
    switch (segment->marker) {
      case kSof0:
      case kSof1:
      case kSof2:
        if (has_frame || !read_sof(content, &frame)) return {};
        has_frame = true;
        progressive = segment->marker == kSof2;
        break;
      case kSos:
        // Components of this scan first: fewer than the frame's, and others follow.
        if (!has_frame || content.size < 1) return {};
        frame.header.sequential = !progressive && content.data[0] == frame.header.channels;
        frame.header.orientation = orientation_of(exif, xmp);
        frame.header.native = true;
        frame.pixels_from = walk.at();
        return frame;
      case kApp1:
        if (constexpr auto kExif = "Exif\0\0"sv; begins(content, kExif)) {
          if (exif.data != nullptr) return {};  // continued in a second segment
          exif = without(content, kExif.size());
        } else if (constexpr auto kXmp = "http://ns.adobe.com/xap/1.0/\0"sv; begins(content, kXmp)) {
          xmp = without(content, kXmp.size());
        }
        break;
      case kApp2:
        if (begins(content, "MPF\0"sv)) return {};  // several images: Pillow's format MPO
        break;
      case kDht:
      case kDqt:
      case kDri:
      case kCom:
        break;
      default:
        if (segment->marker < kApp0 || segment->marker > kApp15) return {};
    }
  }
  return {};
}

namespace {

// Calls found(marker, content) for every segment from `from` on, until the end of the image or of the bytes.
template <class Found>
void each_segment(Bytes bytes, size_t from, const Found& found) {
  const uint8_t* at = bytes.data + from;
  const uint8_t* const end = bytes.data + bytes.size;
  while ((at = static_cast<const uint8_t*>(std::memchr(at, 0xff, static_cast<size_t>(end - at)))) != nullptr) {
    while (at < end && *at == kFill) ++at;
    if (at == end) break;
    const uint8_t marker = *at++;
    if (marker == kEoi) break;
    if (marker == kStuffed || (marker >= kRst0 && marker <= kRst7)) continue;
    // Others have content, in which nothing is a marker.
    if (end - at < 2) break;
    const ptrdiff_t length = at[0] << 8 | at[1];
    if (length < 2 || length > end - at) break;
    found(marker, Bytes{at + 2, static_cast<size_t>(length - 2)});
    at += length;
  }
}

// Start of a frame of any kind: the markers between are DHT, JPG and DAC.
bool is_sof(uint8_t marker) { return (marker & 0xf0) == kSof0 && marker != kDht && marker != 0xc8 && marker != 0xcc; }

}  // namespace

int count_scans(Bytes bytes, size_t from) {
  int scans = 1;
  each_segment(bytes, from, [&](uint8_t marker, Bytes) { scans += marker == kSos; });
  return scans;
}

Announced read_announced(Bytes bytes) {
  Announced announced;
  if (bytes.size < 2) return announced;
  each_segment(bytes, 2, [&](uint8_t marker, Bytes content) {
    announced.scans += marker == kSos;
    if (!is_sof(marker) || content.size < 6) return;
    const uint8_t* p = content.data;
    const int64_t blocks = blocks_of(p[1] << 8 | p[2]) * blocks_of(p[3] << 8 | p[4]) * p[5];
    announced.blocks = std::max(announced.blocks, blocks);
  });
  return announced;
}

}  // namespace fastaug::codec::jpeg
