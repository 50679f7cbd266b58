// The kernel tables and the choice among them.
#define FASTAUG_VBMI  // so that HWY_TARGETS names all that any family is built for
#include "kernels/table.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/status.h"
#include "kernels/machine.h"
#include "kernels/targets.h"

namespace fastaug {
namespace {

struct Named {
  Isa isa;
  const char* name;
};
constexpr std::array<Named, 6> kIsas = {{{Isa::kScalar, "scalar"},
                                         {Isa::kSse4, "sse4"},
                                         {Isa::kAvx2, "avx2"},
                                         {Isa::kAvx512, "avx512"},
                                         {Isa::kAvx512Vbmi, "avx512vbmi"},
                                         {Isa::kNeon, "neon"}}};

constexpr bool built(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return true;
    case Isa::kSse4:
      return (HWY_TARGETS & HWY_SSE4) != 0;
    case Isa::kAvx2:
      return (HWY_TARGETS & HWY_AVX2) != 0;
    case Isa::kAvx512:
      return (HWY_TARGETS & HWY_AVX3) != 0;
    case Isa::kAvx512Vbmi:
      return (HWY_TARGETS & HWY_AVX3_DL) != 0;
    case Isa::kNeon:
      return (HWY_TARGETS & HWY_NEON) != 0;
  }
  return false;
}

class Tables {
 public:
  Tables() {
    for (size_t i = 0; i < kIsas.size(); ++i) {
      have_[i] = built(kIsas[i].isa) && machine_has(kIsas[i].isa);
      if (!have_[i]) continue;
      tables_[i].name = kIsas[i].name;
#define FASTAUG_SET(family) set_##family(kIsas[i].isa, &tables_[i]);
      FASTAUG_FAMILIES(FASTAUG_SET)
#undef FASTAUG_SET
    }
  }
  const Kernels* find(const char* name) const {
    for (size_t i = 0; i < kIsas.size(); ++i)
      if (have_[i] && std::strcmp(kIsas[i].name, name) == 0) return &tables_[i];
    return nullptr;
  }
  std::vector<const char*> names() const {
    std::vector<const char*> names;
    for (size_t i = 0; i < kIsas.size(); ++i)
      if (have_[i]) names.push_back(kIsas[i].name);
    return names;
  }

 private:
  std::array<Kernels, kIsas.size()> tables_{};
  std::array<bool, kIsas.size()> have_{};
};

const Tables& tables() {
  static const Tables all;
  return all;
}

const Kernels& choose() {
  const char* wanted = std::getenv("FASTAUG_ISA");
  if (wanted == nullptr || *wanted == '\0') return *tables().find(tables().names().back());
  if (const Kernels* found = tables().find(wanted)) return *found;
  std::string message = "FASTAUG_ISA is '";
  message += wanted;
  message += "'; this build on this machine has:";
  for (const char* name : tables().names()) {
    message += ' ';
    message += name;
  }
  fail(ErrorCode::kValue, message);
}

}  // namespace

const Kernels& kernels() {
  // A throwing initialiser runs, and throws, again at the next call.
  static const Kernels& chosen = choose();
  return chosen;
}

const Kernels* kernels(const char* name) { return tables().find(name); }

std::vector<const char*> available_isas() { return tables().names(); }

}  // namespace fastaug
