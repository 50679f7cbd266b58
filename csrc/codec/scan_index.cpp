#include "codec/scan_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

namespace fastaug::codec {
namespace {

// The least distance of two places: nearer ones would gain nothing.
constexpr int64_t kLeastStep = 4;

// An index as it is saved: these, a version among them; size and hash of the file; step; places; the hash of all that.
constexpr char kMagic[8] = {'f', 'a', 's', 't', 'a', 'u', 'g', '1'};
constexpr size_t kHead = sizeof kMagic + 3 * 8;
constexpr size_t kTail = 8;

template <class Number>
Number read(const uint8_t* from) {
  Number value = 0;
  for (size_t k = 0; k < sizeof value; ++k) value = static_cast<Number>(value | Number{from[k]} << (8 * k));
  return value;
}

template <class Number>
void append(Number value, std::vector<uint8_t>* to) {
  for (size_t k = 0; k < sizeof value; ++k) to->push_back(static_cast<uint8_t>(value >> (8 * k)));
}

}  // namespace

uint64_t hash_of(Bytes bytes) {
  constexpr int kLanes = 8;
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, odd
  uint64_t lanes[kLanes];
  for (int k = 0; k < kLanes; ++k) lanes[k] = kFactor * static_cast<uint64_t>(k + 1);
  const auto mix = [](uint64_t hash, uint64_t word) { return std::rotl(hash ^ word, 29) * kFactor; };
  const uint8_t* p = bytes.data;
  size_t left = bytes.size;
  for (; left >= 8 * kLanes; left -= 8 * kLanes, p += 8 * kLanes) {
    uint64_t words[kLanes];
    std::memcpy(words, p, sizeof words);
    for (int k = 0; k < kLanes; ++k) {
      if constexpr (std::endian::native != std::endian::little) words[k] = __builtin_bswap64(words[k]);
      lanes[k] = mix(lanes[k], words[k]);
    }
  }
  uint64_t hash = bytes.size;
  for (const uint64_t lane : lanes) hash = mix(hash, lane);
  for (; left > 0; --left) hash = mix(hash, *p++);
  hash ^= hash >> 32;
  return hash * kFactor;
}

ScanPlaces::ScanPlaces(int64_t mcus, size_t bytes) {
  const int64_t most = (static_cast<int64_t>(bytes / 100) - int64_t{kHead + kTail}) / int64_t{kSize};
  step_ = std::max(kLeastStep, mcus / std::max<int64_t>(most, 1) + 1);
}

ScanPlace ScanPlaces::at(int64_t k) const {
  const uint8_t* p = bytes_.data() + static_cast<size_t>(k) * kSize;
  ScanPlace place;
  place.bit = read<uint32_t>(p);
  for (int c = 0; c < 3; ++c) place.dc[c] = static_cast<int16_t>(read<uint16_t>(p + 4 + 2 * c));
  return place;
}

void ScanPlaces::add(const ScanPlace& place) {
  append(static_cast<uint32_t>(place.bit), &bytes_);
  for (const int16_t dc : place.dc) append(static_cast<uint16_t>(dc), &bytes_);
}

std::shared_ptr<ScanIndex> ScanIndex::load(Bytes saved) {
  if (saved.size < kHead + kTail || std::memcmp(saved.data, kMagic, sizeof kMagic) != 0) return nullptr;
  const size_t places = saved.size - kHead - kTail;
  const uint8_t* const head = saved.data + sizeof kMagic;
  const auto step = read<uint64_t>(head + 16);
  if (places % ScanPlaces::kSize != 0 || step == 0 || step > UINT32_MAX) return nullptr;
  if (read<uint64_t>(saved.data + kHead + places) != hash_of({saved.data, kHead + places})) return nullptr;
  const auto index = std::make_shared<ScanIndex>();
  index->file_ = {read<uint64_t>(head), read<uint64_t>(head + 8)};
  std::vector<uint8_t> bytes(saved.data + kHead, saved.data + kHead + places);
  index->places_ = std::make_shared<ScanPlaces>(static_cast<int64_t>(step), std::move(bytes));
  return index;
}

std::vector<uint8_t> ScanIndex::save() const {
  const std::lock_guard<std::mutex> guard(lock_);
  const File file = file_.value_or(File());
  std::vector<uint8_t> saved(std::begin(kMagic), std::end(kMagic));
  append(file.size, &saved);
  append(file.hash, &saved);
  append(places_ == nullptr ? uint64_t{1} : static_cast<uint64_t>(places_->step()), &saved);
  if (places_ != nullptr) saved.insert(saved.end(), places_->bytes().begin(), places_->bytes().end());
  append(hash_of({saved.data(), saved.size()}), &saved);
  return saved;
}

bool ScanIndex::is_of(Bytes file) {
  const File asked = {file.size, hash_of(file)};
  const std::lock_guard<std::mutex> guard(lock_);
  if (!file_) file_ = asked;
  return *file_ == asked;
}

std::shared_ptr<const ScanPlaces> ScanIndex::places() const {
  const std::lock_guard<std::mutex> guard(lock_);
  return places_;
}

void ScanIndex::offer(std::shared_ptr<const ScanPlaces> places) {
  const std::lock_guard<std::mutex> guard(lock_);
  if (places_ == nullptr || places->count() > places_->count()) places_ = std::move(places);
}

void ScanIndex::drop() {
  const std::lock_guard<std::mutex> guard(lock_);
  places_ = nullptr;
}

}  // namespace fastaug::codec
