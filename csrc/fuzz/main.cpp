// Runs a fuzz target without libFuzzer:
//
//   fuzz_png [--seconds N] [--seed N] [--keep FOLDER] [file or folder]...
//
// Every file is an input; for N seconds more, so are simple mutations of them, the same ones for the same seed. An
// input that ends the process or takes too long is written to FOLDER first.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"

// The sanitizers ask for them: what they find raises SIGABRT.
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

// A target may have none.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most,
                                                                unsigned int seed);

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kMostBytes = size_t{1} << 18;
// Long under sanitizers on a busy machine, and far from what any input should take.
constexpr unsigned kSecondsPerInput = 30;

std::mt19937 rng;
std::vector<Input> corpus;
std::filesystem::path keep = ".";
const Input* current = nullptr;

size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(rng); }

// Before the process ends in whatever way.
void write_current() {
  if (current == nullptr) return;
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : *current) hash = (hash ^ byte) * 0x100000001b3;
  char name[32];
  std::snprintf(name, sizeof name, "crash-%016llx", static_cast<unsigned long long>(hash));
  const std::filesystem::path path = keep / name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(current->data()), static_cast<std::streamsize>(current->size()));
  std::fprintf(stderr, "%zu bytes written to %s\n", current->size(), path.c_str());
  current = nullptr;
}

extern "C" void on_signal(int number) {
  if (number == SIGALRM) std::fprintf(stderr, "broken: an input takes less than %u seconds\n", kSecondsPerInput);
  write_current();
  std::signal(number, SIG_DFL);
  std::raise(number == SIGALRM ? SIGABRT : number);
}

void run(const Input& input) {
  current = &input;
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
  current = nullptr;
}

void read(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    // In the order of names, so that a seed names the same mutations everywhere.
    std::vector<std::filesystem::path> entries(std::filesystem::directory_iterator(path), {});
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) read(entry);
    return;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path.c_str());
    std::exit(2);
  }
  corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Input mutated(const Input& input) {
  Input data(std::max(kMostBytes, input.size()));
  std::copy(input.begin(), input.end(), data.begin());
  size_t size = input.size();
  for (size_t times = 1 + below(4); times > 0; --times) {
    size = LLVMFuzzerCustomMutator != nullptr
               ? LLVMFuzzerCustomMutator(data.data(), size, data.size(), static_cast<unsigned>(rng()))
               : LLVMFuzzerMutate(data.data(), size, data.size());
  }
  return Input(data.begin(), data.begin() + static_cast<ptrdiff_t>(size));
}

}  // namespace

// One change: a bit, a byte, a number that is often special, a part that is lost, doubled, or of another input.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most) {
  static constexpr uint32_t kMagic[] = {0, 1, 0xff, 0x7f, 0x80, 0xffff, 0x7fff, 0x8000, 0xffffffff, 0x7fffffff};
  if (size == 0) {
    if (most > 0) data[0] = static_cast<uint8_t>(rng());
    return std::min<size_t>(most, 1);
  }
  const size_t at = below(size);
  const size_t length = std::min(size - at, 1 + below(below(4) == 0 ? size : 8));
  switch (below(7)) {
    case 0:
      data[at] ^= static_cast<uint8_t>(1 << below(8));
      return size;
    case 1:
      data[at] = static_cast<uint8_t>(rng());
      return size;
    case 2: {
      const uint32_t number = kMagic[below(std::size(kMagic))];
      const size_t bytes = std::min<size_t>(size - at, size_t{1} << below(3));
      for (size_t k = 0; k < bytes; ++k) data[at + k] = static_cast<uint8_t>(number >> 8 * (bytes - 1 - k));
      return size;
    }
    case 3:
      std::memmove(data + at, data + at + length, size - at - length);
      return size - length;
    case 4: {
      const size_t added = std::min(length, most - size);
      std::memmove(data + at + added, data + at, size - at);
      return size + added;
    }
    case 5:
      return below(8) == 0 ? at : size;
    default: {
      const Input& other = corpus[below(corpus.size())];
      if (other.empty()) return size;
      const size_t from = below(other.size());
      const size_t copied = std::min({other.size() - from, most - at, 1 + below(64)});
      std::copy_n(other.data() + from, copied, data + at);
      return std::max(size, at + copied);
    }
  }
}

int main(int argc, char** argv) {
  double seconds = 0;
  double seed = 1;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const bool valued = argument == "--seconds" || argument == "--seed" || argument == "--keep";
    if (!valued) {
      read(argument);
    } else if (++k == argc) {
      std::fprintf(stderr, "%s needs a value\n", argument.c_str());
      return 2;
    } else if (argument == "--keep") {
      keep = argv[k];
    } else {
      (argument == "--seconds" ? seconds : seed) = std::atof(argv[k]);
    }
  }
  if (corpus.empty()) corpus.emplace_back();
  std::filesystem::create_directories(keep);
  std::signal(SIGABRT, on_signal);
  std::signal(SIGALRM, on_signal);
  rng.seed(static_cast<unsigned>(seed));
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  for (const Input& input : corpus) run(input);
  const double first = elapsed();
  size_t mutations = 0;
  // Time is what the mutations get: files that take long leave them their share.
  for (; elapsed() - first < seconds; ++mutations) run(mutated(corpus[below(corpus.size())]));
  std::printf("%zu inputs in %.1f s, %zu mutations of them in %.1f s\n", corpus.size(), first, mutations,
              elapsed() - first);
  return 0;
}
