#include "codec/jpeg_frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "codec/exif.h"
#include "codec/jpeg_markers.h"

namespace fastaug::codec::jpeg {
namespace {

using namespace std::string_view_literals;

// libjpeg's default for progressive files is 10 scans, and the most searched for by an optimiser is 64 candidates, of
// which it writes a dozen: no encoder comes near this.
constexpr int kMostScans = 500;

// Blocks gone through in all scans together: each costs time, even where a scan holds next to no data. Allows 32 scans
// of the largest image that Pillow opens by default (178,956,970 pixels, 4.2 million blocks at 4:2:0), 90 of an image
// of 8000 x 8000, and the 500 of anything below 11 million pixels.
constexpr int64_t kMostWork = int64_t{32} * 4'194'304;

Bytes without(Bytes bytes, size_t count) { return {bytes.data + count, bytes.size - count}; }

// Layouts whose regions were compared with whole images, and those with Pillow's: every component of full size, or the
// second and third smaller by 2 across, 2 down, 2 both ways, or 4 across.
bool usual(const Frame& frame) {
  const Sampling& luma = frame.samplings[0];
  const Sampling& chroma = frame.samplings[1];
  if (chroma != frame.samplings[2] || luma != frame.most) return false;
  if (frame.components == 4 && frame.samplings[3] != luma) return false;
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

// Start of a frame of any kind: the markers between are DHT, JPG and DAC.
bool is_sof(uint8_t marker) { return (marker & 0xf0) == kSof0 && marker != kDht && marker != 0xc8 && marker != 0xcc; }

uint32_t big_endian(const uint8_t* p, int bytes) {
  uint32_t value = 0;
  for (int k = 0; k < bytes; ++k) value = value << 8 | p[k];
  return value;
}

// True if the resources of a segment of Photoshop's lie in it, one behind the other, until something else follows.
bool holds_resources(Bytes content, size_t at) {
  constexpr size_t kResolution = 0x03ed, kOfResolution = 14;
  const auto left = [&] { return content.size - at; };
  while (begins(without(content, at), "8BIM"sv)) {
    at += 4;
    if (left() < 3) return false;
    const uint32_t code = big_endian(content.data + at, 2);
    const size_t name = size_t{1} + content.data[at + 2];
    at += 2;
    if (left() < name + 1) return false;
    at += name + ((at + name) & 1);
    if (left() < 4) return false;
    const size_t size = big_endian(content.data + at, 4);
    at += 4;
    if (left() < size || (code == kResolution && size < kOfResolution)) return false;
    at += size;
    if ((at & 1) != 0 && left() > 0) ++at;
  }
  return true;
}

// True if Pillow (JpegImagePlugin.APP and SOF) may look for a field behind the end of a segment, and raise or not: its
// versions differ in that.
bool is_short(const Segment& segment) {
  const Bytes content = segment.content;
  switch (segment.marker) {
    case kApp0:
      return begins(content, "JFIF"sv) && content.size < 7;
    case kApp2:
      return begins(content, "ICC_PROFILE\0"sv) && content.size < 14;
    case kApp13:
      if (constexpr auto kPhotoshop = "Photoshop 3.0\0"sv; begins(content, kPhotoshop)) {
        return !holds_resources(content, kPhotoshop.size());
      }
      return false;
    case kApp14:
      return begins(content, "Adobe"sv) && content.size < 7;
    default:
      return false;
  }
}

}  // namespace

bool read_sof(Bytes content, Frame* frame) {
  if (content.size < 6) return false;
  const uint8_t* p = content.data;
  Header& header = frame->header;
  header.bits = p[0];
  header.height = p[1] << 8 | p[2];
  header.width = p[3] << 8 | p[4];
  frame->components = p[5];
  header.channels = std::min(frame->components, 3);
  header.inks = frame->components == 4;
  if (header.bits != 8 || header.height == 0 || header.width == 0) return false;
  if (frame->components != 1 && frame->components != 3 && frame->components != 4) return false;
  if (content.size != 6 + 3 * static_cast<size_t>(frame->components)) return false;
  for (int i = 0; i < frame->components; ++i) {
    frame->ids[i] = p[6 + 3 * i];
    Sampling& sampling = frame->samplings[i];
    sampling = {p[7 + 3 * i] >> 4, p[7 + 3 * i] & 15};
    frame->steps[i] = p[8 + 3 * i];
    if (sampling.across < 1 || sampling.across > 4 || sampling.down < 1 || sampling.down > 4) return false;
    frame->most.across = std::max(frame->most.across, sampling.across);
    frame->most.down = std::max(frame->most.down, sampling.down);
  }
  return frame->components == 1 || usual(*frame);
}

int64_t Frame::blocks() const {
  int64_t count = 0;
  for (int i = 0; i < components; ++i) {
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
    if (!segment->tidy || is_short(*segment)) return {};
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
        frame.header.sequential = !progressive && content.data[0] == frame.components;
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

bool too_dear(int64_t scans, int64_t blocks) {
  return scans > kMostScans || scans * blocks > std::max(kMostWork, blocks);
}

int count_scans(Bytes bytes, size_t from) {
  int scans = 1;
  for (Walk walk(bytes, from); scans <= kMostScans;) {
    const std::optional<Segment> segment = walk.next();
    if (!segment) break;
    scans += segment->marker == kSos;
  }
  return scans;
}

Announced read_announced(Bytes bytes) {
  Announced announced;
  for (Walk walk(bytes); announced.scans <= kMostScans;) {
    const std::optional<Segment> segment = walk.next();
    if (!segment) break;
    announced.scans += segment->marker == kSos;
    if (!is_sof(segment->marker) || segment->content.size < 6) continue;
    const uint8_t* p = segment->content.data;
    const int64_t blocks = blocks_of(p[1] << 8 | p[2]) * blocks_of(p[3] << 8 | p[4]) * p[5];
    announced.blocks = std::max(announced.blocks, blocks);
  }
  return announced;
}

Bytes find_segment(Bytes bytes, uint8_t marker) {
  for (Walk walk(bytes); const std::optional<Segment> segment = walk.next();) {
    if (segment->marker == marker) return segment->content;
    if (segment->marker == kSos) break;
  }
  return {};
}

size_t find_end(Bytes bytes) {
  Walk walk(bytes);
  while (const std::optional<Segment> segment = walk.next()) {
    if (segment->marker == kEoi) return walk.at();
  }
  return kNoEnd;
}

}  // namespace fastaug::codec::jpeg
