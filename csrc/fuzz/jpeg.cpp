// JPEG files; what comes before an EOI that a SOI follows at once are the tables of an abbreviated file.
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "codec/codec.h"
#include "codec/jpeg_frame.h"
#include "codec/jpeg_progressive.h"
#include "codec/jpeg_sequential.h"
#include "codec/jpeg_session.h"
#include "codec/scan_index.h"
#include "fuzz/codec_checks.h"
#include "fuzz/fuzz.h"
#include "tests/support/jpeg_scans.h"

using namespace fastaug;
using fuzz::Bits;

namespace {

constexpr uint8_t kSos[] = {0xff, 0xda};
constexpr uint8_t kSplit[] = {0xff, 0xd9, 0xff, 0xd8};

// A marker and what belongs to it; the last one is the scan and all that follows.
using Segments = std::vector<std::vector<uint8_t>>;

Segments segments_of(const uint8_t* data, size_t size) {
  Segments segments;
  size_t at = 2;
  while (at + 4 <= size && data[at] == 0xff && data[at + 1] != 0xda) {
    const size_t length = 2 + (size_t{data[at + 2]} << 8 | data[at + 3]);
    if (length < 4 || length > size - at) break;
    segments.emplace_back(data + at, data + at + length);
    at += length;
  }
  if (at < size) segments.emplace_back(data + at, data + size);
  return segments;
}

// What the decoders of our own make, in the file's channels or of luma alone, libjpeg makes too.
void check_own(codec::Bytes file, codec::Bytes tables, int stride) {
  const std::optional<codec::jpeg::Frame> frame = codec::jpeg::read_frame(file);
  if (!frame || int64_t{frame->header.height} * frame->header.width > 1 << 20) return;
  const codec::Header& header = frame->header;
  if (stride > header.channels) return;
  const ptrdiff_t row = ptrdiff_t{header.width} * stride;
  std::vector<uint8_t> made(static_cast<size_t>(row * header.height));
  const Region all = {0, 0, header.height, header.width};
  Arena arena;
  const codec::Beside beside = {tables, codec::Components::kAsMarked};
  const codec::jpeg::Part part = {all, stride, made.data(), row};
  const auto run = header.sequential ? codec::jpeg::run_sequential : codec::jpeg::run_progressive;
  if (!run(file, beside, part, arena)) return;
  std::vector<uint8_t> expected(made.size());
  const codec::Verdict verdict = codec::jpeg::run({.bytes = file,
                                                   .beside = beside,
                                                   .frame = &*frame,
                                                   .stride = stride,
                                                   .top = 0,
                                                   .height = header.height,
                                                   .crop = 0,
                                                   .crop_width = header.width,
                                                   .rows = expected.data(),
                                                   .row_stride = row});
  fuzz::require(verdict.done(), "libjpeg decodes what is decoded here");
  fuzz::require(made == expected, "pixels are libjpeg's");
}

// A region by the index that the whole image has made is part of the whole; and by one that says anything it is made,
// or not.
void check_index(codec::Bytes file, codec::Bytes tables) {
  const std::optional<codec::jpeg::Frame> frame = codec::jpeg::read_frame(file);
  if (!frame || frame->header.inks || int64_t{frame->header.height} * frame->header.width > 1 << 20) return;
  const int height = frame->header.height, width = frame->header.width;
  codec::ScanIndex index;
  codec::Beside beside = {tables, codec::Components::kAsMarked, &index};
  const auto made = [&](Region region, std::vector<uint8_t>* pixels) {
    const ptrdiff_t row = ptrdiff_t{region.width} * 3;
    pixels->resize(static_cast<size_t>(row * region.height));
    Arena arena;
    return codec::jpeg::run_sequential(file, beside, {region, 3, pixels->data(), row}, arena);
  };
  std::vector<uint8_t> whole, part;
  if (!made({0, 0, height, width}, &whole)) return;
  const Region region = {height / 2, width / 3, height - height / 2, width - width / 3};
  fuzz::require(made(region, &part), "a part of a whole is made by its index");
  for (int y = 0; y < region.height; ++y) {
    const auto* from = whole.data() + (ptrdiff_t{region.y + y} * width + region.x) * 3;
    fuzz::require(std::equal(from, from + 3 * region.width, part.data() + ptrdiff_t{y} * region.width * 3),
                  "a part by an index is that of the whole");
  }
  const size_t places = std::min<size_t>(file.size / codec::ScanPlaces::kSize, 64);
  std::vector<uint8_t> any(file.data, file.data + places * codec::ScanPlaces::kSize);
  const codec::ScanPlace first = index.places()->at(0);
  codec::ScanPlaces wrong(file.size % 7 + 1, {});
  wrong.add(first);
  std::vector<uint8_t> bytes = wrong.bytes();
  bytes.insert(bytes.end(), any.begin(), any.end());
  index.drop();
  index.offer(std::make_shared<codec::ScanPlaces>(wrong.step(), std::move(bytes)));
  made(region, &part);
}

// The walk over markers comes by every scan that libjpeg goes through, and ends where the file can be cut.
void check_walk(codec::Bytes file) {
  constexpr int kMost = 100;
  const int scans = codec::jpeg::read_announced(file).scans;
  fuzz::require(scans >= std::min(test::Scans::of(file, kMost), kMost), "no scan is hidden from the limit");
  const size_t end = codec::jpeg::find_end(file);
  if (end == codec::kNoEnd) return;
  fuzz::require(end <= file.size && codec::jpeg::read_announced({file.data, end}).scans == scans,
                "all scans lie before the end of the image");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* split = std::search(data, data + size, std::begin(kSplit), std::end(kSplit));
  codec::Bytes file = {data, size};
  codec::Bytes tables;
  if (split != data + size) {
    const size_t length = static_cast<size_t>(split - data) + 2;
    tables = {data, length};
    file = {data + length, size - length};
  }
  fuzz::check_file(file, codec::Format::kJpeg, tables);
  check_walk(file);
  for (const int stride : {1, 3}) check_own(file, tables, stride);
  check_index(file, tables);
  return 0;
}

// What libjpeg goes over between segments, and the beginning of what it does not.
constexpr std::initializer_list<uint8_t> kBetween[] = {
    {0xff, 0x01},       {0xff, 0xff}, {0xff, 0x00}, {0xff, 0xe5, 0, 0}, {0xff, 0xfe, 0, 1},
    {0xff, 0xdc, 0, 0}, {0xff, 0xd3}, {0x00, 0x7f}, {0xff, 0xd9},       {0xff, 0xfe, 0, 4, 0xff, 0xda}};

// Half of the time segments are moved, doubled, lost or changed while their lengths stay true, or there is something
// between them.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  if (size < 4 || below(2) == 0) return LLVMFuzzerMutate(data, size, most);
  Segments segments = segments_of(data, size);
  if (segments.empty()) return LLVMFuzzerMutate(data, size, most);
  const size_t k = below(segments.size());
  const size_t other = below(segments.size());
  switch (below(7)) {
    case 0:
      std::swap(segments[k], segments[other]);
      break;
    case 1:
      segments.insert(segments.begin() + static_cast<ptrdiff_t>(other), std::vector<uint8_t>(segments[k]));
      break;
    case 2:
      segments.erase(segments.begin() + static_cast<ptrdiff_t>(k));
      break;
    case 3: {
      // The last one has scans in it, between which it may be too.
      std::vector<uint8_t>& segment = segments[k];
      const std::vector<uint8_t> between = kBetween[below(std::size(kBetween))];
      size_t at = 0;
      for (size_t tries = below(8); k + 1 == segments.size() && tries > 0; --tries) {
        const auto found = std::search(segment.begin() + static_cast<ptrdiff_t>(std::min(at + 1, segment.size())),
                                       segment.end(), std::begin(kSos), std::end(kSos));
        if (found == segment.end()) break;
        at = static_cast<size_t>(found - segment.begin());
      }
      segment.insert(segment.begin() + static_cast<ptrdiff_t>(at), between.begin(), between.end());
      break;
    }
    default: {
      std::vector<uint8_t>& segment = segments[k];
      const bool scan = k + 1 == segments.size();
      const size_t fixed = std::min<size_t>(scan ? 2 : 4, segment.size());
      const size_t length = segment.size() - fixed;
      segment.resize(segment.size() + 64);
      segment.resize(fixed + LLVMFuzzerMutate(segment.data() + fixed, length, length + 64));
      if (!scan && segment.size() >= 4) {
        segment[2] = static_cast<uint8_t>((segment.size() - 2) >> 8);
        segment[3] = static_cast<uint8_t>(segment.size() - 2);
      }
    }
  }
  size_t used = 2;
  for (const std::vector<uint8_t>& segment : segments) {
    const size_t length = std::min(segment.size(), most - used);
    std::copy_n(segment.data(), length, data + used);
    used += length;
  }
  return used;
}
