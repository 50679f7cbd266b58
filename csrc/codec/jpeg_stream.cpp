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
  for (Walk walk(bytes); const std::optional<Segment> segment = walk.next();) {
    if (!segment->tidy) return false;
    if (segment->marker == kEoi) return true;
    if (!is_silent(segment->marker) && !tables->read(*segment)) return false;
  }
  return false;
}

// The markers by which libjpeg decides if three components are YCbCr (jdapimin.c, default_decompress_parms).
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

// The frame's components, as far as the decoder goes: the layouts that read_sof() leaves, of MCUs that are not too
// large.
class Reader {
 public:
  explicit Reader(Stream* stream) : stream_(*stream) {}

  bool read_frame(Bytes content) {
    if (!read_sof(content, &frame_)) return false;
    stream_.height = frame_.header.height;
    stream_.width = frame_.header.width;
    stream_.channels = frame_.components;
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

  // Quantisation, of all components at once.
  bool read_steps(const Tables& tables) {
    for (int i = 0; i < stream_.channels; ++i) {
      const Steps& steps = tables.steps[frame_.steps[i]];
      if (!steps.defined) return false;
      std::copy_n(steps.values, kJpegBlock, stream_.components[i].steps);
    }
    return true;
  }

  // A scan of a progressive file.
  bool read_part(Bytes content, const Tables& tables, Arena& arena, Scan* scan) const {
    if (content.size < 6) return false;
    scan->count = content.data[0];
    if (scan->count < 1 || scan->count > stream_.channels) return false;
    if (content.size != 4 + 2 * static_cast<size_t>(scan->count)) return false;
    const uint8_t* p = content.data + 1 + 2 * scan->count;
    scan->from = p[0];
    scan->to = p[1];
    scan->high = p[2] >> 4;
    scan->low = p[2] & 15;
    p = content.data + 1;
    int component = 0;
    for (int i = 0; i < scan->count; ++i, p += 2, ++component) {
      while (component < stream_.channels && frame_.ids[component] != p[0]) ++component;
      const int dc = p[1] >> 4, ac = p[1] & 15;
      if (component == stream_.channels || dc >= kTables || ac >= kTables) return false;
      scan->components[i] = component;
      scan->dc[i] = nullptr;
      if (scan->from == 0 && scan->high == 0) {
        scan->dc[i] = part_codes(tables.dc[dc], true, arena);
        if (scan->dc[i] == nullptr) return false;
      }
      if (scan->from == 0) continue;
      scan->ac = part_codes(tables.ac[ac], false, arena);
      if (scan->ac == nullptr) return false;
    }
    return true;
  }

  bool is_ycbcr(const Marks& marks, Components components) const {
    if (stream_.channels == 4) return marks.adobe && marks.transform == 2;
    if (components != Components::kAsMarked) return components == Components::kYcbcr;
    if (marks.jfif) return true;
    if (marks.adobe) return marks.transform == 1;
    const auto& ids = frame_.ids;
    return !(ids[0] == 'R' && ids[1] == 'G' && ids[2] == 'B');
  }

 private:
  // Tables of progressive files are those of one scan, and there is no use for pairs.
  static const JpegCodes* part_codes(const CodeLengths& lengths, bool dc, Arena& arena) {
    if (!lengths.defined) return nullptr;
    auto* codes = reinterpret_cast<JpegCodes*>(arena.bytes(sizeof(JpegCodes)));
    return make_codes(lengths, dc, codes) ? codes : nullptr;
  }

  // Of three components or four in one of the layouts that read_sof() leaves.
  bool goes_so_far() const {
    const Sampling& luma = frame_.most;
    const Sampling& chroma = frame_.samplings[1];
    const int large = frame_.components - 2;
    if (large * luma.across * luma.down + 2 * chroma.across * chroma.down > kJpegMostBlocks) return false;
    for (int i = 1; i < frame_.components; ++i) {
      if (std::find(frame_.ids, frame_.ids + i, frame_.ids[i]) != frame_.ids + i) return false;
    }
    // Where samples are halved across, libjpeg is not smooth in rows of two of them or fewer.
    const int chroma_width = (stream_.width * chroma.across + luma.across - 1) / luma.across;
    return luma.across != 2 * chroma.across || chroma_width > 2;
  }

  Stream& stream_;
  Frame frame_{};
};

// Segments up to the first scan's, which is the last that `walk` went by. Nothing where there is any doubt.
std::optional<Segment> read_up_to_scan(Walk* walk, bool progressive, Tables* tables, Marks* marks, Reader* reader,
                                       Stream* stream) {
  bool has_frame = false;
  while (const std::optional<Segment> segment = walk->next()) {
    const Bytes content = segment->content;
    if (!segment->tidy) return {};
    switch (segment->marker) {
      case kSof0:
      case kSof1:
      case kSof2:
        if (has_frame || (segment->marker == kSof2) != progressive || !reader->read_frame(content)) return {};
        has_frame = true;
        break;
      case kDri:
        if (content.size != 2) return {};
        stream->restart = content.data[0] << 8 | content.data[1];
        break;
      case kSos:
        if (!has_frame || !marks->sound) return {};
        return segment;
      default:
        if (is_silent(segment->marker)) {
          marks->read(*segment);
        } else if (!tables->read(*segment)) {
          return {};
        }
    }
  }
  return {};
}

// False where libjpeg takes a number of Adobe's for a mistake.
bool read_colours(const Reader& reader, const Marks& marks, Components components, Stream* stream) {
  if (stream->channels == 1) return true;
  stream->ycbcr = reader.is_ycbcr(marks, components);
  if (stream->channels == 4) return !marks.adobe || marks.transform == 0 || marks.transform == 2;
  return marks.jfif || !marks.adobe || marks.transform <= 1;
}

}  // namespace

const Stream* read_stream(Bytes bytes, const Beside& beside, Arena& arena) {
  Tables tables;
  if (beside.tables.size != 0 && !read_tables(beside.tables, &tables)) return nullptr;
  auto* stream = arena.make<Stream>();
  Reader reader(stream);
  Marks marks;
  Walk walk(bytes);
  const std::optional<Segment> scan = read_up_to_scan(&walk, false, &tables, &marks, &reader, stream);
  if (!scan || !reader.read_scan(scan->content, tables, arena)) return nullptr;
  if (!read_colours(reader, marks, beside.components, stream)) return nullptr;
  stream->pixels_from = walk.at();
  return stream;
}

struct Scans::State {
  State(Bytes file, Arena& memory) : bytes(file), arena(memory) {}

  Bytes bytes;
  Arena& arena;
  Stream stream{};
  Reader reader{&stream};
  Tables tables{};
  bool sound = false;
};

Scans::Scans(Bytes bytes, const Beside& beside, Arena& arena) : state_(arena.make<State>(bytes, arena)) {
  State& state = *state_;
  if (beside.tables.size != 0 && !read_tables(beside.tables, &state.tables)) return;
  Marks marks;
  Walk walk(bytes);
  const std::optional<Segment> scan = read_up_to_scan(&walk, true, &state.tables, &marks, &state.reader, &state.stream);
  if (!scan || !state.reader.read_steps(state.tables)) return;
  if (!read_colours(state.reader, marks, beside.components, &state.stream)) return;
  // To the scan's segment itself, before its marker's two bytes and its length's.
  state.stream.pixels_from = walk.at() - scan->content.size - 4;
  state.sound = true;
}

const Stream* Scans::stream() const { return state_->sound ? &state_->stream : nullptr; }

Scans::Next Scans::next(size_t at, Scan* scan) {
  for (Walk walk(state_->bytes, at);;) {
    const std::optional<Segment> segment = walk.next();
    if (!segment || !segment->tidy) return Next::kDoubt;
    if (segment->marker == kEoi) return Next::kEnd;
    if (segment->marker == kSos) {
      scan->data_from = walk.at();
      return state_->reader.read_part(segment->content, state_->tables, state_->arena, scan) ? Next::kScan
                                                                                             : Next::kDoubt;
    }
    // Other segments between scans would have to be taken as libjpeg takes them.
    if (segment->marker != kCom && (segment->marker != kDht || !state_->tables.read(*segment))) return Next::kDoubt;
  }
}

}  // namespace fastaug::codec::jpeg
