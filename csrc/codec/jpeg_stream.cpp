#include "codec/jpeg_stream.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "codec/jpeg_codes.h"
#include "codec/jpeg_markers.h"

namespace fastaug::codec::jpeg {
namespace {

using namespace std::string_view_literals;

constexpr int kTables = 4;

struct Steps {
  bool defined = false;
  uint16_t values[kJpegBlock] = {};
};

// Tables as segments define them, one after the other.
struct Tables {
  Steps steps[kTables];
  CodeLengths dc[kTables];
  CodeLengths ac[kTables];

  bool read_steps(Bytes content) {
    const uint8_t* p = content.data;
    for (const uint8_t* const end = p + content.size; p < end;) {
      const int bytes = 1 + (*p >> 4), place = *p & 15;
      if (bytes > 2 || place >= kTables || end - p < 1 + bytes * kJpegBlock) return false;
      ++p;
      Steps& into = steps[place];
      into.defined = true;
      for (int k = 0; k < kJpegBlock; ++k, p += bytes) {
        into.values[kJpegZigzag[k]] = static_cast<uint16_t>(bytes == 1 ? p[0] : p[0] << 8 | p[1]);
      }
    }
    return true;
  }

  bool read_codes(Bytes content) {
    const uint8_t* p = content.data;
    for (const uint8_t* const end = p + content.size; p < end;) {
      const int kind = *p >> 4, place = *p & 15;
      if (kind > 1 || place >= kTables || end - p < 17) return false;
      ++p;
      CodeLengths& into = (kind == 0 ? dc : ac)[place];
      int count = 0;
      for (int k = 0; k < 16; ++k) count += into.counts[k] = p[k];
      p += 16;
      if (count > 256 || end - p < count) return false;
      std::copy_n(p, count, into.symbols);
      std::fill(into.symbols + count, std::end(into.symbols), uint8_t{0});
      into.defined = true;
      p += count;
    }
    return true;
  }

  // False for all other segments.
  bool read(const Segment& segment) {
    if (segment.marker == kDqt) return read_steps(segment.content);
    return segment.marker == kDht && read_codes(segment.content);
  }
};

bool is_silent(uint8_t marker) { return (marker >= kApp0 && marker <= kApp15) || marker == kCom; }

// A stream of tables alone.
bool read_tables(Bytes bytes, Tables* tables) {
  if (!begins(bytes, "\xff\xd8"sv)) return false;
  Walk walk(bytes);
  while (const std::optional<Segment> segment = walk.next()) {
    if (!is_silent(segment->marker) && !tables->read(*segment)) return false;
  }
  return begins({bytes.data + walk.at(), bytes.size - walk.at()}, "\xff\xd9"sv);
}

// What tells libjpeg whether three components are YCbCr (jdapimin.c, default_decompress_parms).
struct Marks {
  bool jfif = false;
  bool adobe = false;
  int transform = 0;
  bool sound = true;

  void read(const Segment& segment) {
    const Bytes content = segment.content;
    if (segment.marker == kApp0 && content.size >= 14 && begins(content, "JFIF\0"sv)) {
      jfif = true;
      sound &= content.data[5] == 1;  // libjpeg warns of another version
    } else if (segment.marker == kApp0 + 14 && content.size >= 12 && begins(content, "Adobe"sv)) {
      adobe = true;
      transform = content.data[11];
    }
  }
};

// Tables of the files that a thread decoded last: making one takes as long as decoding some hundred blocks, and most
// files have those of the standard's Annex K, or those of the file before. (Two of each are what baseline files have.)
struct Kept {
  template <class Codes>
  struct One {
    CodeLengths lengths;
    Codes codes;
  };
  One<JpegCodes> dc[2];
  One<JpegPairs> ac[2];
};
constinit thread_local Kept kept{};

bool make(const CodeLengths& lengths, JpegCodes* codes) { return make_codes(lengths, true, codes); }
bool make(const CodeLengths& lengths, JpegPairs* codes) { return make_pairs(lengths, codes); }

// Null where there is no such table, or it is none.
template <class Codes>
const Codes* codes_of(const CodeLengths& lengths, int place, Kept::One<Codes> (&known)[2], Arena& arena) {
  if (!lengths.defined) return nullptr;
  if (place >= 2) {
    auto* codes = reinterpret_cast<Codes*>(arena.bytes(sizeof(Codes)));
    return make(lengths, codes) ? codes : nullptr;
  }
  Kept::One<Codes>& one = known[place];
  if (!(one.lengths == lengths)) {
    one.lengths.defined = false;
    if (!make(lengths, &one.codes)) return nullptr;
    one.lengths = lengths;
  }
  return &one.codes;
}

// The frame's components, as far as the decoder goes: all of full size, or chroma halved across, or both ways.
class Reader {
 public:
  explicit Reader(Stream* stream) : stream_(*stream) {}

  bool read_frame(Bytes content) {
    if (!read_sof(content, &frame_)) return false;
    stream_.height = frame_.header.height;
    stream_.width = frame_.header.width;
    stream_.channels = frame_.header.channels;
    // One component alone has full size whatever its factors are.
    const bool alone = stream_.channels == 1;
    stream_.most = alone ? Sampling() : frame_.most;
    for (int i = 0; i < stream_.channels; ++i) {
      stream_.components[i].sampling = alone ? Sampling() : frame_.samplings[i];
      if (frame_.steps[i] >= kTables) return false;
    }
    return alone || goes_so_far();
  }

  bool read_scan(Bytes content, const Tables& tables, Arena& arena) {
    const int channels = stream_.channels;
    if (content.size != 4 + 2 * static_cast<size_t>(channels) || content.data[0] != channels) return false;
    const uint8_t* p = content.data + 1;
    for (int i = 0; i < channels; ++i, p += 2) {
      Component& component = stream_.components[i];
      const Steps& steps = tables.steps[frame_.steps[i]];
      if (p[0] != frame_.ids[i] || !steps.defined) return false;
      std::copy_n(steps.values, kJpegBlock, component.steps);
      const int dc = p[1] >> 4, ac = p[1] & 15;
      if (dc >= kTables || ac >= kTables) return false;
      component.dc = codes_of(tables.dc[dc], dc, kept.dc, arena);
      component.ac = codes_of(tables.ac[ac], ac, kept.ac, arena);
      if (component.dc == nullptr || component.ac == nullptr) return false;
    }
    // All coefficients at once, with all of their bits.
    return p[0] == 0 && p[1] == 63 && p[2] == 0;
  }

  bool is_ycbcr(const Marks& marks, Components components) const {
    if (components != Components::kAsMarked) return components == Components::kYcbcr;
    if (marks.jfif) return true;
    if (marks.adobe) return marks.transform == 1;
    const auto& ids = frame_.ids;
    return !(ids[0] == 'R' && ids[1] == 'G' && ids[2] == 'B');
  }

 private:
  // Of three components in one of the layouts that read_sof() leaves.
  bool goes_so_far() const {
    const Sampling& luma = frame_.most;
    const Sampling& chroma = frame_.samplings[1];
    const auto& ids = frame_.ids;
    const int across = luma.across / chroma.across, down = luma.down / chroma.down;
    if (across > 2 || down > across) return false;
    if (luma.across * luma.down + 2 * chroma.across * chroma.down > kJpegMostBlocks) return false;
    if (ids[0] == ids[1] || ids[1] == ids[2] || ids[0] == ids[2]) return false;
    // libjpeg is not smooth where there are two samples of chroma in a row or fewer.
    const int chroma_width = (stream_.width * chroma.across + luma.across - 1) / luma.across;
    return across == 1 || chroma_width > 2;
  }

  Stream& stream_;
  Frame frame_{};
};

}  // namespace

const Stream* read_stream(Bytes bytes, const Beside& beside, Arena& arena) {
  Tables tables;
  if (beside.tables.size != 0 && !read_tables(beside.tables, &tables)) return nullptr;
  auto* stream = arena.make<Stream>();
  Reader reader(stream);
  Marks marks;
  bool has_frame = false;
  for (Walk walk(bytes); const std::optional<Segment> segment = walk.next();) {
    const Bytes content = segment->content;
    switch (segment->marker) {
      case kSof0:
      case kSof1:
        if (has_frame || !reader.read_frame(content)) return nullptr;
        has_frame = true;
        break;
      case kDri:
        if (content.size != 2) return nullptr;
        stream->restart = content.data[0] << 8 | content.data[1];
        break;
      case kSos:
        if (!has_frame || !marks.sound || !reader.read_scan(content, tables, arena)) return nullptr;
        if (stream->channels == 3 && !marks.jfif && marks.adobe && marks.transform > 1) return nullptr;
        stream->ycbcr = stream->channels == 3 && reader.is_ycbcr(marks, beside.components);
        stream->pixels_from = walk.at();
        return stream;
      default:
        if (is_silent(segment->marker)) {
          marks.read(*segment);
        } else if (!tables.read(*segment)) {
          return nullptr;
        }
    }
  }
  return nullptr;
}

}  // namespace fastaug::codec::jpeg
