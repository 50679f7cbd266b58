// Indexes of JPEG streams: with one, regions are what they are without, whatever the index says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "codec/jpeg_sequential.h"
#include "codec/jpeg_window.h"
#include "codec/scan_index.h"
#include "codec/source.h"
#include "tests/support/jpeg_decoding.h"
#include "tests/support/scale.h"

namespace fastaug::codec {
namespace {

using fastaug::test::cases;
using fastaug::test::find_marker;
using fastaug::test::Guarded;
using fastaug::test::JpegOptions;
using fastaug::test::Random;
using fastaug::test::write_jpeg;
using test::all_of;
using test::bytes_of;
using test::converted;
using test::crop;
using test::decode_plainly;
using test::decoded_by;
using test::File;
using test::header_of;
using test::kTaken;
using test::Pixels;
using test::pixels_of;
using test::random_region;

JpegOptions options_of(Random& random) {
  JpegOptions options;
  do {
    options.sampling = kTaken[random.between(0, static_cast<int>(std::size(kTaken)) - 1)];
    options.channels = static_cast<int>(options.sampling.size()) / 2;
  } while (options.channels == 4);  // of which there is no index
  options.restart = random.between(0, 1) == 0 ? random.between(1, 30) : 0;
  options.quality = random.between(60, 100);
  return options;
}

Pixels sequentially(const File& file, Region region, int stride, ScanIndex* index) {
  Beside beside;
  beside.index = index;
  return decoded_by(jpeg::run_sequential, file, region, stride, beside);
}

Region last_of(const Header& header) { return {header.height - 1, header.width - 1, 1, 1}; }

// Of the whole scan.
std::shared_ptr<ScanIndex> index_of(const File& file) {
  auto index = std::make_shared<ScanIndex>();
  CHECK(index->is_of(bytes_of(file)));
  REQUIRE_FALSE(sequentially(file, last_of(header_of(file)), 3, index.get()).empty());
  return index;
}

TEST_CASE("scan index: regions are the same with it, and fill it as far as they go") {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const JpegOptions options = options_of(random);
    const int most = round % 3 == 0 ? 500 : 120;
    const File file = write_jpeg(random.between(1, most), random.between(5, most), options, random.next());
    const Header header = header_of(file);
    const Pixels whole = decode_plainly(file);
    const Pixels gray = decode_plainly(file, true);
    CAPTURE(round);
    ScanIndex index;
    CHECK(index.is_of(bytes_of(file)));
    int64_t count = 0;
    for (int k = 0; k < 12; ++k) {
      const Region region = k == 11 ? all_of(header) : random_region(random, header);
      REQUIRE(sequentially(file, region, header.channels, &index) == crop(whole, header, region));
      const std::shared_ptr<const ScanPlaces> places = index.places();
      REQUIRE(places != nullptr);
      CHECK(places->count() >= std::max<int64_t>(count, 1));
      count = places->count();
      if (k % 4 == 0) REQUIRE(sequentially(file, region, 1, &index) == crop(gray, luma_of(header), region));
    }
    // By parts or at once, the places are the same ones.
    CHECK(index.places()->bytes() == index_of(file)->places()->bytes());
    CHECK(index.save() == index_of(file)->save());
    // A hundredth, but where not even one place goes into that.
    if (count > 1) CHECK(index.save().size() * 100 <= file.size() + 100 * ScanPlaces::kSize);
  }
}

TEST_CASE("scan index: rows above a region are passed over") {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const File file = write_jpeg(300, 300, options_of(random), random.next());
    const Header header = header_of(file);
    const auto index = index_of(file);
    const size_t begin = find_marker(file, 0xda) + 14;
    const Region region = {250, 200, 30, 60};
    const Pixels expected = crop(decode_plainly(file), header, region);
    File other = file;
    std::fill_n(other.begin() + static_cast<ptrdiff_t>(begin + 100), (file.size() - begin) / 3, uint8_t{0x5a});
    CAPTURE(round);
    CHECK(sequentially(other, region, header.channels, index.get()) == expected);
    CHECK(sequentially(other, region, header.channels, nullptr) != expected);
  }
}

TEST_CASE("scan index: what is saved comes back, and nothing else") {
  const File file = write_jpeg(200, 300, JpegOptions());
  const auto index = index_of(file);
  const std::vector<uint8_t> saved = index->save();
  const auto loaded = ScanIndex::load({saved.data(), saved.size()});
  REQUIRE(loaded != nullptr);
  CHECK(loaded->save() == saved);
  CHECK(loaded->is_of(bytes_of(file)));
  CHECK(loaded->places()->step() == index->places()->step());
  File other = file;
  other[other.size() / 2] ^= 1;
  CHECK_FALSE(loaded->is_of(bytes_of(other)));
  other = file;
  other.push_back(0);
  CHECK_FALSE(loaded->is_of(bytes_of(other)));

  for (size_t size = 0; size < saved.size(); ++size) {
    Guarded part(size);
    std::copy_n(saved.begin(), size, part.data());
    REQUIRE(ScanIndex::load({part.data(), size}) == nullptr);
  }
  for (size_t at = 0; at < saved.size(); ++at) {
    std::vector<uint8_t> changed = saved;
    changed[at] ^= 0x10;
    REQUIRE(ScanIndex::load({changed.data(), changed.size()}) == nullptr);
  }
  // One without places is of a file all the same.
  ScanIndex empty;
  CHECK(empty.is_of(bytes_of(file)));
  const std::vector<uint8_t> nothing = empty.save();
  const auto none = ScanIndex::load({nothing.data(), nothing.size()});
  REQUIRE(none != nullptr);
  CHECK(none->places()->count() == 0);
  CHECK(sequentially(file, last_of(header_of(file)), 3, none.get()).size() == 3);
}

TEST_CASE("scan index: a step of none is no index") {
  std::vector<uint8_t> saved = ScanIndex().save();
  for (const uint64_t step : {uint64_t{0}, uint64_t{1} << 32}) {
    for (size_t k = 0; k < 8; ++k) saved[24 + k] = static_cast<uint8_t>(step >> (8 * k));
    const uint64_t hash = hash_of({saved.data(), saved.size() - 8});
    for (size_t k = 0; k < 8; ++k) saved[saved.size() - 8 + k] = static_cast<uint8_t>(hash >> (8 * k));
    CHECK(ScanIndex::load({saved.data(), saved.size()}) == nullptr);
  }
}

// The places of an index, one of them another.
std::shared_ptr<const ScanPlaces> changed(const ScanPlaces& places, int64_t number, ScanPlace place) {
  auto result = std::make_shared<ScanPlaces>(places.step(), std::vector<uint8_t>());
  for (int64_t k = 0; k < places.count(); ++k) result->add(k == number ? place : places.at(k));
  return result;
}

TEST_CASE("scan index: a place that is wrong is found by whoever comes by, and the index is given up") {
  Random random(2);
  for (int round = 0; round < 40; ++round) {
    JpegOptions options = options_of(random);
    options.quality = 100;
    const File file = write_jpeg(random.between(150, 300), random.between(150, 300), options, random.next());
    const Header header = header_of(file);
    const auto sound = index_of(file)->places();
    REQUIRE(sound->count() > 3);
    const int64_t number = random.between(0, static_cast<int>(sound->count()) - 1);
    ScanPlace place = sound->at(number);
    if (round % 2 == 0) {
      place.bit += static_cast<uint64_t>(random.between(1, 9));
    } else {
      place.dc[random.between(0, header.channels - 1)] ^= 1;
    }
    ScanIndex index;
    CHECK(index.is_of(bytes_of(file)));
    index.offer(changed(*sound, number, place));
    CAPTURE(round);
    CHECK(sequentially(file, all_of(header), 3, &index).empty());
    CHECK(index.places() == nullptr);
    // Nobody is the worse for it.
    index.offer(changed(*sound, number, place));
    Arena arena;
    Beside beside;
    beside.index = &index;
    Verdict verdict;
    const Pixels whole = pixels_of(file, header, all_of(header), header.channels, &verdict, beside);
    CHECK(whole == decode_plainly(file));
  }
}

TEST_CASE("scan index: whatever it says, nothing is read outside the file") {
  Random random(3);
  for (int round = 0; round < cases(400); ++round) {
    const JpegOptions options = options_of(random);
    const File file = write_jpeg(random.between(1, 90), random.between(5, 90), options, random.next());
    const Header header = header_of(file);
    auto places = std::make_shared<ScanPlaces>(random.between(1, 20), std::vector<uint8_t>());
    // The first is looked at always.
    ScanPlace place = index_of(file)->places()->at(0);
    for (int k = random.between(0, 60); k >= 0; --k) {
      places->add(place);
      const int bits = static_cast<int>(file.size()) * 8;
      place.bit = random.between(0, 9) == 0 ? random.next() : static_cast<uint32_t>(random.between(0, bits + 64));
      for (int16_t& dc : place.dc) dc = static_cast<int16_t>(random.next());
    }
    ScanIndex index;
    CHECK(index.is_of(bytes_of(file)));
    index.offer(places);
    const Region region = random_region(random, header);
    const Pixels part = sequentially(file, region, 3, &index);
    CHECK((part.empty() == (index.places() == nullptr)));
  }
}

TEST_CASE("scan index: the source of a program asks whose it is") {
  const File file = write_jpeg(160, 200, JpegOptions()), other = write_jpeg(160, 200, JpegOptions(), 2);
  const Header header = header_of(file);
  const Region region = {100, 90, 30, 40};
  auto index = std::make_shared<ScanIndex>();
  const auto made = [&](const File& from) {
    EncodedSource source(bytes_of(from), header, 3, {}, index);
    Arena arena;
    const View view = source.make(region, arena);
    Pixels pixels;
    for (int y = region.y; y < region.y + region.height; ++y) {
      pixels.insert(pixels.end(), view.at(y, region.x, 0), view.at(y, region.x + region.width - 1, 0) + 3);
    }
    return pixels;
  };
  for (int k = 0; k < 3; ++k) {
    CHECK(made(file) == crop(decode_plainly(file), header, region));
    CHECK(made(other) == crop(decode_plainly(other), header, region));
  }
  CHECK(index->is_of(bytes_of(file)));
  CHECK_FALSE(index->is_of(bytes_of(other)));
}

TEST_CASE("scan index: bits of a window, and back to them") {
  Random random(4);
  for (int round = 0; round < 40; ++round) {
    File file(static_cast<size_t>(random.between(1, 70000)));
    random.fill(file.data(), file.size());
    for (size_t at = 0; at + 1 < file.size(); ++at) {
      if (file[at] == 0xff) file[++at] = 0;
    }
    if (file.back() == 0xff) file.back() = 0;
    const size_t from = static_cast<size_t>(random.between(0, std::min<int>(static_cast<int>(file.size()) - 1, 50)));
    if (from > 0 && file[from - 1] == 0xff) continue;  // between the two of a pair
    Arena arena;
    jpeg::Window window(bytes_of(file), from, arena);
    JpegScan scan{};
    window.begin(&scan);
    CHECK(window.bit(scan) == from * 8);
    std::vector<std::pair<uint64_t, uint8_t>> seen;
    while (window.left(scan) > 0) {
      if (!window.ended() && scan.next > window.limit()) window.fill(&scan);
      seen.emplace_back(window.bit(scan), *scan.next);
      scan.next += std::min<ptrdiff_t>(random.between(1, 300), window.left(scan) / 8);
    }
    for (const auto& [bit, byte] : seen) {
      REQUIRE(file[bit / 8] == byte);
      const auto used = static_cast<unsigned>(random.between(0, 7));
      REQUIRE(window.seek(bit + used, &scan));
      CHECK(window.bit(scan) == bit + used);
      if (used > 0) {
        CHECK(scan.bits == uint64_t{byte} << (56 + used));
        CHECK(scan.count == 8 - static_cast<int>(used));
      }
    }
    CHECK_FALSE(window.seek(file.size() * 8, &scan));
    CHECK_FALSE(window.seek(~uint64_t{0}, &scan));
  }
  const File marker = {0xff, 0xd9};
  Arena arena;
  jpeg::Window window(bytes_of(marker), 0, arena);
  JpegScan scan{};
  CHECK(window.seek(0, &scan));
  CHECK_FALSE(window.seek(3, &scan));
}

}  // namespace
}  // namespace fastaug::codec
