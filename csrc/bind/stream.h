// Draws from a generator of torch.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <optional>

#include "draw/random.h"

namespace fastaug::bind {

// True if torch draws categories as Random::choice does. To be asked when draws are plain, as they are for who holds a
// stream.
bool torch_chooses_so();

// One generator and its state, shared by everything that draws from the generator.
//
// A thread acquires the state, draws, and releases it, which writes it back; others wait meanwhile. After a fork the
// child keeps what its own thread holds, and what other threads held is free.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Of a torch.Generator on the CPU.
  static std::shared_ptr<Stream> of(const pybind11::object& generator);

  // True if torch would now draw plain float32 on the CPU, by its own functions, and nobody watches its calls.
  static bool plain();

  // How it would round them; nothing where only torch draws as torch does.
  static std::optional<UniformForm> plain_form();

  // To be called before users can put functions of theirs in the place of torch's.
  static void look_up_torch();

  // To be called once, before there are streams.
  static void survive_forks();

  explicit Stream(pybind11::object generator);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // True if this thread holds it. A thread holds one stream at most.
  bool held() const { return current == this; }

  // Waits until no other thread holds it, and gives up the interpreter for as long. Releases what else this thread
  // holds. False, and nothing changed, when only torch itself can draw what torch would draw.
  bool acquire();

  // If this thread holds it, writes the state back and lets others have it.
  void release();

  // The same, but nothing was drawn since it was acquired.
  void forget();

  // Releases what this thread holds, if anything.
  static void release_here() {
    if (current != nullptr) current->release();
  }

  // For the thread that holds it.
  Random random;
  UniformForm form;

 private:
  // Tells a state from any that torch leaves after drawing from it.
  struct Mark {
    uint64_t seed, next, first;
    int32_t left, seeded;
    uint8_t normals[sizeof(GeneratorState::normals)];

    Mark() = default;
    explicit Mark(const GeneratorState& state);
    bool operator==(const Mark&) const = default;
  };

  void write_back();
  void let_go();

  static thread_local Stream* current;

  const pybind11::object generator_;
  std::mutex mutex_;              // locked while a thread holds the stream
  std::shared_ptr<Stream> self_;  // while it is held
  pybind11::object tensor_;       // the state
  Mark mark_{};                   // of the state that was acquired
  bool alone_ = false;            // there was no other thread then
};

}  // namespace fastaug::bind
