// Where the entropy decoder of a JPEG was, every few MCUs, so that a later region of the same bytes begins near its
// rows and columns and not at the first of them.
//
// An index is of bytes of one size and hash, and tells nothing of others. What it says is believed as far as it lies in
// these bytes; a decoder that comes by a place of it on its way compares, and takes no pixels from one that is wrong.
// That does not make it safe from whoever writes an index for the very file: they may as well write the file.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "codec/codec.h"

namespace fastaug::codec {

// A decoder before an MCU: the next bit, counted from the file's first, and the DC of the last block of each component.
struct ScanPlace {
  uint64_t bit = 0;
  int16_t dc[3] = {};

  bool operator==(const ScanPlace&) const = default;
};

// Place k is that of MCU k * step(), as far as anybody has come.
class ScanPlaces {
 public:
  // Bytes of a place where it is kept.
  static constexpr size_t kSize = 10;

  // Of a scan of so many MCUs in so many bytes: so far apart that all places take no more than a hundredth of the
  // bytes.
  ScanPlaces(int64_t mcus, size_t bytes);
  ScanPlaces(int64_t step, std::vector<uint8_t> places) : step_(step), bytes_(std::move(places)) {}

  int64_t step() const { return step_; }
  int64_t count() const { return static_cast<int64_t>(bytes_.size() / kSize); }
  ScanPlace at(int64_t k) const;
  void add(const ScanPlace& place);
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  int64_t step_;
  std::vector<uint8_t> bytes_;
};

// For all threads.
class ScanIndex {
 public:
  // Without places yet, of the file that is_of() is asked about first.
  ScanIndex() = default;

  // What save() has made; null where these bytes are no such thing, or not all of it.
  static std::shared_ptr<ScanIndex> load(Bytes saved);
  std::vector<uint8_t> save() const;

  bool is_of(Bytes file);

  // Null where there are none.
  std::shared_ptr<const ScanPlaces> places() const;
  // To be kept where there are more than before.
  void offer(std::shared_ptr<const ScanPlaces> places);
  // They were wrong.
  void drop();

 private:
  struct File {
    uint64_t size;
    uint64_t hash;

    bool operator==(const File&) const = default;
  };

  mutable std::mutex lock_;
  std::optional<File> file_;
  std::shared_ptr<const ScanPlaces> places_;
};

// A hash of any bytes; the same on all machines, and not for secrets.
uint64_t hash_of(Bytes bytes);

}  // namespace fastaug::codec
