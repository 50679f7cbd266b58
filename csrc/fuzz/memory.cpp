#include "fuzz/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define FASTAUG_COUNTS_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FASTAUG_COUNTS_MEMORY 1
#endif
#endif

#ifdef FASTAUG_COUNTS_MEMORY
#include <algorithm>

// Of sanitizer/allocator_interface.h, which gcc does not install.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                              void (*on_free)(const volatile void*));
size_t __sanitizer_get_allocated_size(const volatile void* memory);
}

namespace fastaug::fuzz {
namespace {

// Targets run on one thread. What was there before the start and is freed after it makes `held` negative.
ptrdiff_t held = 0;
ptrdiff_t peak = 0;

void allocated(const volatile void*, size_t size) {
  held += static_cast<ptrdiff_t>(size);
  peak = std::max(peak, held);
}

void freed(const volatile void* memory) {
  if (memory != nullptr) held -= static_cast<ptrdiff_t>(__sanitizer_get_allocated_size(memory));
}

}  // namespace

PeakMemory::PeakMemory() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(allocated, freed);
  static_cast<void>(installed);
  held = peak = 0;
}

size_t PeakMemory::bytes() const { return static_cast<size_t>(peak); }

}  // namespace fastaug::fuzz

#else

namespace fastaug::fuzz {
PeakMemory::PeakMemory() = default;
size_t PeakMemory::bytes() const { return 0; }
}  // namespace fastaug::fuzz

#endif
